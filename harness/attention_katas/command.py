"""Where the command `kata` begins: before anything is imported that takes a while.

Ctrl-C is met from the first moment on.
"""

import os
import sys


def entry() -> None:
    try:
        _open_what_is_closed()
        from attention_katas.cli import entry as enter

        enter()
    except KeyboardInterrupt:
        sys.stderr.write("kata: stopped\n")
        sys.exit(130)


def _open_what_is_closed() -> None:
    """Else the next file that is opened gets the number of a standard stream, and its fate."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
