"""Names that no kata may take: commands of `kata`, and modules that its file would hide."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from pathlib import Path

# As on the command line; a test compares.
COMMANDS = frozenset({
    "init", "list", "show", "run", "watch", "hint", "reset", "solution", "progress", "checkpoint",
    "grade", "classroom", "lab", "doctor", "daemon", "dev",
})  # fmt: skip
# Names that Windows keeps for itself, what this program needs, and what a pack's content imports.
RESERVED = frozenset({
    "con", "aux", "nul", "prn",
    "attention_katas", "torch", "numpy", "pytest", "conftest", "reference", "shared",
})  # fmt: skip


def trouble(module: str) -> str:
    """Why no kata may have this module name; "" when it may."""
    if module.replace("_", "-") in COMMANDS:
        return "is a command of kata"
    if module in RESERVED or module in sys.stdlib_module_names:
        return "means something else in Python"
    if _is_installed(module):
        return "is the name of an installed module, which its file would hide"
    return ""


def _is_installed(module: str) -> bool:
    return importlib.machinery.PathFinder.find_spec(module, trusted_path()) is not None


def trusted_path() -> list[str]:
    """sys.path without the current folder, which may be a workspace or somebody's clone."""
    here = Path.cwd().resolve() if _cwd_exists() else None
    return [
        entry
        for entry in sys.path
        if entry and os.path.isabs(entry) and (here is None or Path(entry).resolve() != here)
    ]


def _cwd_exists() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False
