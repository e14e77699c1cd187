"""Notes on suspicious acts for the teacher, by Python's audit events (`sys.addaudithook`).

This restricts nothing: what it notes is refused by a restriction, or is allowed and unusual. A
hook cannot be removed from Python, but native code can bypass it.
"""

from __future__ import annotations

import sys
from typing import Any

# Events of Python's audit table, and the code that a verdict has for them (`verdict.data.Oddity`).
EVENTS = {
    "ctypes.dlopen": "c-library",
    "ctypes.dlsym": "c-symbol",
    "ctypes.call_function": "c-call",
    "ctypes.string_at": "raw-memory",
    "gc.get_objects": "object-search",
    "gc.get_referrers": "object-search",
    "marshal.loads": "byte-code-load",
    "code.__new__": "byte-code-make",
    "os.fork": "fork",
    "os.forkpty": "fork",
    "os.exec": "program",
    "os.posix_spawn": "program",
    "os.spawn": "program",
    "os.system": "program",
    "subprocess.Popen": "program",
    "os.kill": "signal",
    "signal.pthread_kill": "signal",
    "socket.__new__": "socket",
    "sys.settrace": "tracing",
    "sys.setprofile": "tracing",
    "sys.addaudithook": "audit-hook",
}
# Sources that torch has loaded already: code that opens them wants a copy without the bans.
TORCH_FILES = (
    "torch/nn/functional.py",
    "torch/_refs/__init__.py",
    "torch/_decomp/decompositions.py",
)
SOURCE = "torch-source"
# Everything that can be noted: (code, file).
POSSIBLE = [(code, "") for code in dict.fromkeys(EVENTS.values())] + [
    (SOURCE, file) for file in TORCH_FILES
]
IMPORTING = frozenset(("marshal.loads", "code.__new__"))
MAX_NOTES = 50

# (code, file) of each, as a set in order of first occurrence. file: of torch, else "".
notes: dict[tuple[str, str], None] = {}


def start() -> None:
    """Take notes in this process from now on. It cannot be undone."""
    # Bound here: a submission could replace the globals of this module.
    codes, files, source_code, store, max_notes = EVENTS, TORCH_FILES, SOURCE, notes, MAX_NOTES
    caller = sys._getframe

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in codes:
            # What Python does to import a module (torch imports some when a tensor is printed).
            if event in IMPORTING and caller(1).f_code.co_filename.startswith("<frozen importlib"):
                return
            key = codes[event], ""
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(files):
            key = source_code, next(file for file in files if arguments[0].endswith(file))
        else:
            return
        if len(store) < max_notes:
            store[key] = None

    sys.addaudithook(note)
