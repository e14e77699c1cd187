"""Start-up: `python -I -B __main__.py MODE MEMORY_MB [HIDDEN...]`.

MODE is "alone" for a single worker, or the descriptor of a fork server's control socket.

It is run as a file and loads this folder as the package `kata_sandbox`, so that the process holds
nothing else of `attention_katas`: no reference, no hidden test, no judge.
"""

from __future__ import annotations

import gc
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load_sandbox() -> None:
    """Import this folder as the package `kata_sandbox`."""
    spec = importlib.util.spec_from_file_location(
        "kata_sandbox", HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["kata_sandbox"] = package
    spec.loader.exec_module(package)


def main(arguments: list[str]) -> None:
    gc.disable()  # until torch is imported: collecting garbage meanwhile takes 0.1 s
    mode, memory_mb, *hidden_paths = arguments
    load_sandbox()
    forkserver = importlib.import_module("kata_sandbox.forkserver")
    paths = [Path(path) for path in hidden_paths]
    if mode == "alone":
        forkserver.serve_alone(paths, int(memory_mb))
        return
    import socket

    control = socket.socket(fileno=int(mode))
    control.set_inheritable(False)
    forkserver.serve_forks(control, paths, int(memory_mb))


if __name__ == "__main__":
    main(sys.argv[1:])
