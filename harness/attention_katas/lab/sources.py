"""What the text of a learner's file shows: which files print, and where the only loop is."""

from __future__ import annotations

import ast
import contextlib

from attention_katas.packs.submission import Submission
from attention_katas.verdict import data as v


def printers(submission: Submission) -> list[str]:
    """Which of the files print; the file itself, if none seems to."""
    files = [f"{name}.py" for name, text in submission.sources.items() if _prints(text)]
    return files or [submission.kata.file]


def _prints(source: str) -> bool:
    with contextlib.suppress(SyntaxError, ValueError):
        names = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
        return any(node.id == "print" for node in names)
    return False


def only_loop(file: str, submission: Submission) -> v.Frame | None:
    """Where the loop of a file stands, if it has just one."""
    source = submission.sources.get(file.removesuffix(".py"), "")
    with contextlib.suppress(SyntaxError, ValueError):
        loops = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.While | ast.For)]
        if len(loops) == 1:
            line = loops[0].lineno
            return v.Frame(file, line, source.splitlines()[line - 1])
    return None
