"""Where source text comes from, and what can be said of it before it runs.

Nothing here runs or imports the learner's code: files are read as bytes, decoded, and parsed.
"""

from __future__ import annotations

import ast
import collections
import functools
import hashlib
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.verdict import reasons, words

SIZE_CAP = 256 << 10


class Unreadable(Exception):
    """The file cannot be read as source text. `reason` says why."""

    def __init__(self, reason: reasons.Unreadability) -> None:
        super().__init__(words.reason(reason))
        self.reason = reason

    @property
    def line(self) -> int | None:
        """Where in the file, when known."""
        if isinstance(self.reason, reasons.NulByte | reasons.NotUtf8):
            return self.reason.line
        return None


@dataclass(frozen=True)
class Submission:
    """Source text for one kata, with the earlier katas that it imports.

    sources: module name -> text, that of the kata's own module too.
    file: how the file is named to the learner.
    unwritten: module name -> functions that are still the stub.
    absent: module name -> why an imported kata cannot be read.
    """

    kata: Kata
    sources: dict[str, str]
    file: str
    unwritten: dict[str, frozenset[str]] = field(default_factory=dict)
    absent: dict[str, reasons.Unreadability] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.sources[self.kata.module]

    @cached_property
    def digest(self) -> str:
        """Hash of the code that was submitted: the file and what it imports.

        Comments and layout do not count, so that adding a note does not undo a pass.
        """
        digest = hashlib.sha256()
        for name in sorted(self.sources):
            tree = parse(self.sources[name])
            code = self.sources[name] if tree is None else _dump(tree) or self.sources[name]
            digest.update(f"{name}\0{code}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @property
    def not_started(self) -> bool:
        """Every function that the kata asks for is still the stub."""
        return self.unwritten[self.kata.module] >= set(self.kata.functions)


def read_source(path: Path) -> str:
    """The text of a source file. Raises Unreadable, or FileNotFoundError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(reasons.NotAnOrdinaryFile(path.name))
    if status.st_size > SIZE_CAP:
        raise Unreadable(reasons.TooLarge(path.name, SIZE_CAP >> 10))
    return decode(path.read_bytes(), path.name)


def decode(data: bytes, name: str) -> str:
    """Source bytes as text: UTF-8, with or without a byte order mark. Raises Unreadable."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(reasons.Utf16(name))
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise Unreadable(reasons.NulByte(name, line))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Unreadable(reasons.NotUtf8(name, data[error.start], line)) from None
    return text.replace("\r\n", "\n")


def submission(
    catalog: Catalog, kata: Kata, path: Path, siblings: Path | None = None
) -> Submission:
    """The submission in the file `path`; imported katas come from the folder `siblings`.

    Raises Unreadable, or FileNotFoundError when `path` does not exist. A sibling that cannot be
    read is left out: importing it then fails by name, in the learner's own line.
    """
    folder = siblings or path.parent
    read = lambda name: read_source(folder / name)  # noqa: E731
    return assembled(catalog, kata, read_source(path), read, str(path))


def assembled(
    catalog: Catalog, kata: Kata, source: str, read: Callable[[str], str], file: str
) -> Submission:
    """The submission with the text `source`; `read("mask.py")` is the text of another kata's file.

    It may raise Unreadable or OSError.
    """
    sources = {kata.module: source}
    absent: dict[str, reasons.Unreadability] = {}
    waiting = [kata.module]
    while waiting:
        for name in imported(sources[waiting.pop()]) & catalog.modules.keys() - sources.keys():
            try:
                sources[name] = read(f"{name}.py")
            except Unreadable as problem:
                absent[name] = problem.reason
                continue
            except FileNotFoundError:
                absent[name] = reasons.FileMissing(f"{name}.py")
                continue
            except OSError:
                absent[name] = reasons.CannotBeRead(f"{name}.py")
                continue
            waiting.append(name)
    unwritten = {name: still_stub(text, catalog.modules[name]) for name, text in sources.items()}
    return Submission(kata, sources, file, unwritten, absent)


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or None when there is none to be had. Several ask for it: leave it as is."""
    # The tree of 256 KB can take hundreds of megabytes: of large ones only the last is kept.
    return _kept(source) if len(source) < 16 << 10 else _kept_alone(source)


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_kept, _kept_alone = functools.lru_cache(32)(_parsed), functools.lru_cache(1)(_parsed)


def imported(source: str) -> set[str]:
    """Names of the top-level modules that the source imports."""
    tree = parse(source)
    names: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def still_stub(source: str, kata: Kata) -> frozenset[str]:
    """Functions of the kata whose body is the stub's, whatever the comments and docstrings say."""
    if not kata.stub.exists():
        return frozenset()
    stubs, bodies = _bodies(kata.stub.read_text(encoding="utf-8")), _bodies(source)
    return frozenset(
        name for name in kata.functions if name in bodies and bodies[name] == stubs.get(name)
    )


@functools.lru_cache(16)
def _bodies(source: str) -> dict[str, str]:
    """Bodies of the top-level functions whose name is bound just once, wherever that may be."""
    tree = parse(source)
    if tree is None:
        return {}
    bound = collections.Counter(name for node in ast.walk(tree) for name in _binds(node))
    return {
        node.name: "\n".join(_dump(part) for part in _without_docstring(node.body))
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and bound[node.name] == 1
    }


def _dump(node: ast.AST) -> str:
    """The tree as text; "" for one too deep, or with numbers too long, to be written out."""
    try:
        return ast.dump(node)
    except (RecursionError, ValueError, MemoryError):
        return ""


def _binds(node: ast.AST) -> list[str]:
    """The names that a node of a syntax tree gives a meaning to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return []


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if text and isinstance(first.value.value, str) else body  # type: ignore[attr-defined]
