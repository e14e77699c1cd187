"""Descriptors of a sandbox worker: the channel to the judge, and what the code reads and prints."""

from __future__ import annotations

import builtins
import functools
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

from . import frames


def exact_reader(descriptor: int) -> Callable[[int], bytes]:
    """A function that reads exactly n bytes from `descriptor`, or raises EOFError."""
    return frames.exact_reader(functools.partial(os.read, descriptor))


def sender(descriptor: int) -> Callable[[bytes], None]:
    """A function that writes all of its bytes to `descriptor`."""
    write = os.write

    def send(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[write(descriptor, view) :]

    return send


def make_binary(*descriptors: int) -> None:
    """Keep Windows from translating line ends in frames."""
    if sys.platform == "win32":
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)


def capture_output(descriptor: int) -> None:
    """Point stdin at /dev/null, and stdout and stderr at `descriptor`."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    options: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "closefd": False}
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", 1, **options)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, **options)  # type: ignore[misc]
    builtins.input = _no_input
    # torch.utils.checkpoint asks for this folder, and a search would fail: no file can be written.
    tempfile.tempdir = "/tmp"  # noqa: S108
    sys.breakpointhook = _no_breakpoint
    warnings.formatwarning = _short_warning


def _no_breakpoint(*_: Any, **__: Any) -> None:
    raise RuntimeError("breakpoint() does not work here: print instead, it is shown to you")


def _short_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> str:
    """The text of a warning without a path into torch and without a place in C++."""
    return f"{category.__name__}: {str(message).partition(' (Triggered internally')[0]}\n"


def _no_input(*_: Any) -> str:
    raise EOFError("input() is not used here: the judge passes everything as arguments")
