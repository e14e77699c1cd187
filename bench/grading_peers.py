"""otter-grader and nbgrader at the same work: one notebook with softmax, one student or several.

The notebook holds a right softmax in NumPy; one check is open and one hidden. Each peer is set up
here as its manual says, in a folder of its own, and then asked by its own command. `bench/setup`
installs them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

SOFTMAX = """import numpy as np


def softmax(x, dim=-1):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)
"""
OPEN = "float(softmax(np.array([1.0, 1.0]))[0]) == 0.5"
HIDDEN = "abs(float(softmax(np.array([[1e3, 0.0], [0.0, 0.0]]), 0).sum()) - 2.0) < 1e-9"
ASSIGNMENT = "softmax"


class Peer:
    """A grader in its environment, prepared for `students` who all handed in the same."""

    name = ""

    def __init__(self, environment: Path, folder: Path, students: int) -> None:
        self.bin, self.folder, self.students = environment.absolute() / "bin", folder, students
        folder.mkdir(parents=True)

    @classmethod
    def is_installed(cls, environment: Path) -> bool:
        return (environment / "bin" / cls.name).is_file()

    def run(self, *arguments: str) -> float:
        """Seconds that a command of the peer takes, the first argument being its name."""
        # The kernel of a notebook is looked for by name: it has to be the environment's.
        environment = {
            **os.environ,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "JUPYTER_PATH": str(self.bin.parent / "share" / "jupyter"),
            "JUPYTER_DATA_DIR": str(self.folder / "jupyter"),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "IPYTHONDIR": str(self.folder / "ipython"),
        }
        started = time.perf_counter()
        process = subprocess.run(
            [str(self.bin / arguments[0]), *arguments[1:]],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        took = time.perf_counter() - started
        assert process.returncode == 0, process.stdout[-3000:]
        return took


class Otter(Peer):
    """`otter run`, without containers. It takes one notebook; a class needs as many commands."""

    name = "otter"

    def __init__(self, environment: Path, folder: Path, students: int) -> None:
        super().__init__(environment, folder, students)
        cases = [
            {"code": f">>> {check}\nTrue", "hidden": hidden, "locked": False}
            for check, hidden in ((OPEN, False), (HIDDEN, True))
        ]
        test = {
            "name": ASSIGNMENT,
            "points": [1, 1],
            "suites": [{"cases": cases, "scored": True, "type": "doctest"}],
        }
        (folder / "tests").mkdir()
        (folder / "tests" / f"{ASSIGNMENT}.py").write_text(
            f"OK_FORMAT = True\n\ntest = {test!r}\n", encoding="utf-8"
        )
        cells = [_code(SOFTMAX, "answer")]
        _write(folder / f"{ASSIGNMENT}.ipynb", cells)
        self.run("otter", "generate", "-t", "tests", "-o", "autograder.zip")

    def one(self) -> float:
        """Seconds from the command's start until the score is written."""
        took = self.run(
            *("otter", "run", "-a", "autograder.zip", "-o", ".", "--no-logo"),
            f"{ASSIGNMENT}.ipynb",
        )
        results = self.folder / "results.json"
        scores = json.loads(results.read_text(encoding="utf-8"))
        score = sum(test.get("score", 0.0) for test in scores["tests"])
        assert score == 2.0, scores
        results.unlink()
        return took


class Nbgrader(Peer):
    """`nbgrader autograde`: a student, or everybody in one command."""

    name = "nbgrader"

    def __init__(self, environment: Path, folder: Path, students: int) -> None:
        super().__init__(environment, folder, students)
        hidden = f"### BEGIN HIDDEN TESTS\nassert {HIDDEN}\n### END HIDDEN TESTS"
        cells = [
            _code(f"### BEGIN SOLUTION\n{SOFTMAX}### END SOLUTION", "answer", {"solution": True}),
            _code(f"assert {OPEN}", "open", {"grade": True, "locked": True, "points": 1}),
            _code(hidden, "hidden", {"grade": True, "locked": True, "points": 1}),
        ]
        home = folder / "source" / ASSIGNMENT
        home.mkdir(parents=True)
        _write(home / f"{ASSIGNMENT}.ipynb", cells)
        self.run("nbgrader", "generate_assignment", ASSIGNMENT)
        shutil.copy(folder / "gradebook.db", folder / "before.db")
        released = folder / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        notebook = json.loads(released.read_text(encoding="utf-8"))
        notebook["cells"][0]["source"] = SOFTMAX
        assert HIDDEN not in released.read_text(encoding="utf-8")
        for number in range(students):
            home = folder / "submitted" / f"s{number:04}" / ASSIGNMENT
            home.mkdir(parents=True)
            (home / released.name).write_text(json.dumps(notebook), encoding="utf-8")

    def one(self) -> float:
        """Seconds for a single student, from the command's start until the score is written."""
        took = self.run("nbgrader", "autograde", ASSIGNMENT, "--student", "s0000")
        self._look(1)
        return took

    def everybody(self) -> float:
        """The same of all students in one command."""
        took = self.run("nbgrader", "autograde", ASSIGNMENT)
        self._look(self.students)
        return took

    def _look(self, students: int) -> None:
        """All have been graded, with all points; and forget it."""
        written = self.folder / "autograded"
        assert len(list(written.glob("*/*/*.ipynb"))) == students
        gradebook = self.folder / "gradebook.db"
        with contextlib.closing(sqlite3.connect(gradebook)) as opened:
            points = [row[0] for row in opened.execute("select auto_score from grade")]
        assert points == [1.0] * 2 * students, points
        shutil.rmtree(written)
        shutil.copy(self.folder / "before.db", gradebook)


PEERS: tuple[type[Peer], ...] = (Otter, Nbgrader)


def _code(source: str, name: str, grading: dict[str, Any] | None = None) -> dict[str, Any]:
    """A cell, with nbgrader's notes if it is to have any."""
    plain = {"grade": False, "locked": False, "solution": False, "task": False}
    notes = {"grade_id": name, "schema_version": 3, **plain, **(grading or {})}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {} if grading is None else {"nbgrader": notes},
        "outputs": [],
        "source": source,
    }


def _write(path: Path, cells: list[dict[str, Any]]) -> None:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
