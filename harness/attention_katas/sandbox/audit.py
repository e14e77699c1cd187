"""Notes on suspicious acts for the teacher, by Python's audit events (`sys.addaudithook`).

This restricts nothing: what it notes is refused by a restriction, or is allowed and unusual. A
hook cannot be removed from Python, but native code can bypass it.
"""

from __future__ import annotations

import sys
from typing import Any

# Events of Python's audit table, and what a verdict calls them.
EVENTS = {
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
# Sources that torch has loaded already: code that opens them wants a copy without the bans.
TORCH_FILES = (
    "torch/nn/functional.py",
    "torch/_refs/__init__.py",
    "torch/_decomp/decompositions.py",
)
IMPORTING = frozenset(("marshal.loads", "code.__new__"))
MAX_NOTES = 50

notes: dict[str, None] = {}  # a set in order of first occurrence


def start() -> None:
    """Take notes in this process from now on. It cannot be undone."""
    # Bound here: a submission could replace the globals of this module.
    descriptions, files, store, max_notes = EVENTS, TORCH_FILES, notes, MAX_NOTES
    caller = sys._getframe

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in descriptions:
            # What Python does to import a module (torch imports some when a tensor is printed).
            if event in IMPORTING and caller(1).f_code.co_filename.startswith("<frozen importlib"):
                return
            description = descriptions[event]
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(files):
            name = arguments[0][-60:].partition("site-packages/")[2]
            description = f"opens {name or 'torch sources'}"
        else:
            return
        if len(store) < max_notes:
            store[description] = None

    sys.addaudithook(note)
