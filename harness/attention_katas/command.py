"""Where the command `kata` begins: before anything is imported that takes a while.

Ctrl-C is met from the first moment on.
"""

import sys


def entry() -> None:
    try:
        from attention_katas.cli import entry as enter

        enter()
    except KeyboardInterrupt:
        sys.stderr.write("kata: stopped\n")
        sys.exit(130)
