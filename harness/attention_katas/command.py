"""The entry point of the command `kata`. It imports nothing slow before it handles Ctrl-C."""

import os
import sys


def entry() -> None:
    """Run the command. Ctrl-C ends it with status 130."""
    try:
        _reopen_standard_streams()
        from attention_katas.cli import entry as enter

        enter()
    except KeyboardInterrupt:
        sys.stderr.write("kata: stopped\n")
        sys.exit(130)


def _reopen_standard_streams() -> None:
    """Reopen closed standard streams on /dev/null; otherwise the next open() may become stdout."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
