"""Things that a teacher may want to look at, noted as Python does them (`sys.addaudithook`).

No lock: what is noted here is refused elsewhere, or is allowed and odd. A hook cannot be taken
off from Python, but code that reaches past Python can go round it.
"""

from __future__ import annotations

import sys
from typing import Any

# Events of Python's audit table, and what they are called in a verdict.
WORTH_A_LOOK = {
    "ctypes.dlopen": "loads a C library",
    "ctypes.dlsym": "looks up a C function",
    "ctypes.call_function": "calls a C function",
    "ctypes.string_at": "reads raw memory",
    "gc.get_objects": "searches all objects",
    "gc.get_referrers": "searches all objects",
    "marshal.loads": "loads byte code",
    "code.__new__": "makes byte code",
    "os.fork": "forks",
    "os.forkpty": "forks",
    "os.exec": "starts a program",
    "os.posix_spawn": "starts a program",
    "os.spawn": "starts a program",
    "os.system": "starts a program",
    "subprocess.Popen": "starts a program",
    "os.kill": "sends a signal",
    "signal.pthread_kill": "sends a signal",
    "socket.__new__": "opens a socket",
    "sys.settrace": "traces code",
    "sys.setprofile": "traces code",
    "sys.addaudithook": "adds an audit hook",
}
# Sources of torch that are loaded from the start: who opens them wants another copy of them.
TORCH = ("torch/nn/functional.py", "torch/_refs/__init__.py", "torch/_decomp/decompositions.py")
IMPORTING = frozenset(("marshal.loads", "code.__new__"))
MOST = 50

noted: dict[str, None] = {}


def start() -> None:
    """From here on, in this process, for good."""
    seen, most, known, sources = noted, MOST, WORTH_A_LOOK, TORCH
    caller = sys._getframe

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in known:
            # What Python does to import a module (torch imports some when a tensor is printed).
            if event in IMPORTING and caller(1).f_code.co_filename.startswith("<frozen importlib"):
                return
            what = known[event]
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(sources):
            what = f"opens {arguments[0][-60:].partition('site-packages/')[2] or 'torch sources'}"
        else:
            return
        if len(seen) < most:
            seen[what] = None

    sys.addaudithook(note)
