"""The class that bench/grading.py grades: every file its own text, in proportions that are stated.

Files are the references and other right answers of this repository, its known mistakes, and what
students hand in beside those, each written anew for every student: local variables have other
names, and a line on top says whose it is. So no two files are equal but those that are missing or
empty, and nothing that is judged once saves work on another.

Ten students with six katas are one deck of sixty files, and every deck has the same number of each
kind: classes of 10, 100 and 1,000 differ only in size.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from rewrite.respell import STYLES, plain, respell

from attention_katas.authoring.mistakes import HARMLESS, MISTAKE, Mistake, mistakes_in, source_of
from attention_katas.judge.modules import load_module
from attention_katas.packs.catalog import Catalog, Kata

ROOT = Path(__file__).resolve().parents[1]
DECK = 10  # students
RIGHT, WRONG, NOT_STARTED, BROKEN, HOSTILE, HANGING = (
    "right",
    "wrong",
    "not started",
    "broken",
    "hostile",
    "hanging",
)
PROPORTIONS = {RIGHT: 28, WRONG: 18, NOT_STARTED: 6, BROKEN: 4, HOSTILE: 3, HANGING: 1}
# What comes first in the body of the right function. All of them end the same way every time.
ATTACKS = (
    "import os; os._exit(0)",
    "import os; os.kill(os.getppid(), 9)",
    "import os; print(open('/etc/passwd').read(), os.environ)",
    "import subprocess; subprocess.run(['ls', '/'])",
    "import socket; socket.create_connection(('192.0.2.1', 80))",
    "everything = bytearray(1 << 40)",
    "import ctypes; ctypes.string_at(0)",
    "print('x' * (1 << 24))",
    "import sys; sys.exit('all checks passed')",
    "return 0.0",
)
# Right answers that are left out: what needs other files, and an import that every process makes
# anew at the price of seconds.
SKIPPED = ("# sibling:", "torch.utils.checkpoint")
HANGS = ("while True: pass", "import time; time.sleep(86400)")
RUINS = (  # what is made of the right text
    lambda text: text.replace("(", "((", 1),
    lambda text: text.replace("return", "return return", 1),
    lambda text: "import jax.numpy as jnp\n" + text,
    lambda text: text.replace("\ndef ", "\ndef my_", 1),
    lambda text: text + "\nraise RuntimeError('left over from trying things')\n",
    lambda text: "",
)


def deck(number: int, katas: int) -> list[list[str]]:
    """Kinds of the files of ten students, a list for each student; the same for the same number."""
    kinds = [kind for kind, count in PROPORTIONS.items() for _ in range(count)]
    assert len(kinds) == DECK * 6
    random.Random(number).shuffle(kinds)
    return [kinds[at : at + katas] for at in range(0, DECK * katas, katas)]


class Texts:
    """Everything that may be handed in for a kata, kind by kind, in an endless row each."""

    def __init__(self, kata: Kata) -> None:
        self.kata = kata
        reference = kata.reference.read_text(encoding="utf-8")
        entries = [e for e in mistakes_in(load_module(kata.mistakes)) if not e.random]
        variants = [
            path.read_text(encoding="utf-8")
            for path in sorted((ROOT / "tests" / "right" / kata.name).glob("*.py"))
        ]
        right = [_text(reference), *(partial(respell, reference, style) for style in STYLES)]
        right += [_text(text) for text in variants if not any(s in text for s in SKIPPED)]
        right += [partial(_short, kata, entry) for entry in entries if entry.kind == HARMLESS]
        wrong = [partial(_short, kata, entry) for entry in entries if entry.kind == MISTAKE]
        stub = kata.stub.read_text(encoding="utf-8")
        rows: dict[str, list[Callable[[], str | None]]] = {
            RIGHT: right,
            WRONG: wrong,
            NOT_STARTED: [_text(stub), _text(None)],
            BROKEN: [partial(ruin, reference) for ruin in RUINS],
            HOSTILE: [partial(_before, kata, reference, line) for line in ATTACKS],
            HANGING: [partial(_before, kata, reference, line) for line in HANGS],
        }
        self._rows = {kind: _row(f"{kata.name} {kind}", texts) for kind, texts in rows.items()}

    def take(self, kind: str, owner: str) -> str | None:
        """The next text of a kind, as `owner` would write it; None: nothing is handed in."""
        text = next(self._rows[kind])
        return written_by(text, owner) if text and kind != NOT_STARTED else text


def _text(text: str | None) -> Callable[[], str | None]:
    return lambda: text


def _row(name: str, texts: Sequence[Callable[[], str | None]]) -> Iterator[str | None]:
    """All of them again and again, shuffled; each made when it is first asked for."""
    makers = [functools.cache(text) for text in texts]
    random.Random(name).shuffle(makers)
    return (make() for make in itertools.cycle(makers))


def _short(kata: Kata, entry: Mistake) -> str:
    return plain(source_of(kata, entry), kata.functions)


def _before(kata: Kata, text: str, line: str) -> str:
    """The text, with a line as the first of what its last function of the kata does."""
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    functions[kata.functions[-1]].body[:0] = ast.parse(f"def f():\n    {line}").body[0].body  # type: ignore[attr-defined]
    return ast.unparse(tree) + "\n"


def written_by(text: str, owner: str) -> str:
    """The same with other names for what functions keep in local variables, and a line on top."""
    head = f"# {owner}\n"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return head + text
    fixed_names = {*dir(builtins), *(n.arg for n in ast.walk(tree) if isinstance(n, ast.arg))}
    fixed_names |= {n.id for node in tree.body for n in _outside(node) if isinstance(n, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Global | ast.Nonlocal):
            fixed_names.update(node.names)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    spots = sorted(
        (
            (name.lineno, name.col_offset, name.id)
            for function in functions
            for name in _local_names(function, fixed_names)
        ),
        reverse=True,
    )
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for line, column, name in spots:
        at = lines[line - 1]
        end = column + len(name.encode())
        lines[line - 1] = at[:column] + f"{name}_{owner}".encode() + at[end:]
    return head + b"".join(lines).decode()


def _outside(node: ast.stmt) -> Iterable[ast.AST]:
    return () if isinstance(node, ast.FunctionDef) else ast.walk(node)


def _local_names(function: ast.FunctionDef, fixed_names: set[str]) -> list[ast.Name]:
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    # What lies in an f-string has no place of its own before Python 3.12.
    if any(isinstance(n, ast.JoinedStr) for n in ast.walk(function)):
        return []
    inner = {n.name for n in ast.walk(function) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    local = {n.id for n in names if isinstance(n.ctx, ast.Store)} - fixed_names - inner
    return [n for n in names if n.id in local]


class Class:
    """A class of any size: student number n hands in the same, whoever else is there.

    hanging: False takes hostile files in the place of those that hang, which cost ten seconds each.
    """

    def __init__(self, catalog: Catalog, hanging: bool = True) -> None:
        self._hanging = hanging
        self.katas = list(catalog.ready)
        self._texts = {kata.name: Texts(kata) for kata in self.katas}
        self._files: list[dict[str, tuple[str, str | None]]] = []

    def files(self, number: int) -> dict[str, tuple[str, str | None]]:
        """File name -> (kind, text) of a student."""
        while len(self._files) <= number:
            for kinds in deck(len(self._files) // DECK, len(self.katas)):
                owner = f"s{len(self._files):04}"
                if not self._hanging:
                    kinds = [HOSTILE if kind == HANGING else kind for kind in kinds]
                self._files.append(
                    {
                        kata.file: (kind, self._texts[kata.name].take(kind, owner))
                        for kata, kind in zip(self.katas, kinds, strict=True)
                    }
                )
        return self._files[number]

    def write(self, folder: Path, numbers: Iterable[int]) -> dict[str, int]:
        """DIR/<student>/<kata>.py for these students; how many files of each kind, and distinct."""
        count: collections.Counter[str] = collections.Counter()
        texts = set()
        for number in numbers:
            home = folder / f"s{number:04}"
            home.mkdir(parents=True)
            for name, (kind, text) in self.files(number).items():
                count[kind] += 1
                if text is not None:
                    (home / name).write_text(text, encoding="utf-8")
                    texts.add((name, text))
        return {**count, "files": sum(count.values()), "distinct": len(texts)}

    def write_right(self, folder: Path, kata: Kata, students: int) -> None:
        """One kata, right answers only."""
        texts = Texts(kata)
        for number in range(students):
            home = folder / f"s{number:04}"
            home.mkdir(parents=True)
            text = texts.take(RIGHT, f"s{number:04}")
            (home / kata.file).write_text(text or "", encoding="utf-8")
