"""What is judged: plain data, keyed by everything that decides the verdict."""

from __future__ import annotations

import ast
import collections
import contextlib
import functools
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from attention_katas.errors import KataError
from attention_katas.grading import VARIABLE
from attention_katas.grading.collect import StudentSubmission
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import blank, taken, versions
from attention_katas.packs.submission import assembled, parse
from attention_katas.service.judge_service import Task
from attention_katas.verdict import data as v

# Scopes of names, the innermost first; None: not mentioned yet.
Names: TypeAlias = "collections.ChainMap[str, str | None]"


# Of the hash of a function's form: there are many, and they are only compared within a kata.
SHORT = 16


@dataclass(frozen=True)
class KataEntry:
    """One kata of one student: a task, or at once the verdict. `source` is "" if there is none."""

    kata: Kata
    found: Task | v.Verdict
    source: str = ""

    @property
    def key(self) -> str:
        if isinstance(self.found, Task):
            return self.found.key
        told = [self.found.kata, self.found.kata_version, self.found.outcome, self.found.message]
        return _digest(["told", *told])


class _Lost(Exception):
    """A file could not be read, and that is not the doing of who handed it in."""


def asked(
    catalog: Catalog, kata: Kata, hand_in: StudentSubmission, seed: int, seconds: float = 120.0
) -> KataEntry:
    """What there is to judge of a kata in a hand-in. seconds: what all its checks may take."""

    def read(name: str) -> str:
        module = name.removesuffix(".py")
        if module in hand_in.lost or (hand_in.fault and module not in hand_in.shown):
            raise _Lost(hand_in.lost.get(module) or hand_in.fault)
        if module in hand_in.unreadable:
            raise hand_in.unreadable[module]
        if module not in hand_in.sources:
            raise FileNotFoundError(name)
        return hand_in.sources[module]

    file = hand_in.shown.get(kata.module, kata.file)
    try:
        found = taken(kata, lambda: assembled(catalog, kata, read(kata.file), read, file), file)
    except _Lost as lost:
        return could_not(kata, file, str(lost))
    source = hand_in.sources.get(kata.module, "")
    if isinstance(found, v.Verdict):
        found.next_step = ""
        return KataEntry(kata, found, source)
    decides = [kata.name, kata.version, seed, seconds, _versions(), found.sources, found.absent]
    return KataEntry(kata, Task(_digest(["task", *decides]), found, seed), source)


def could_not(kata: Kata, file: str, why: str) -> KataEntry:
    """What is not even read, by a fault that is not the student's."""
    return KataEntry(kata, blank(kata, v.COULD_NOT_GRADE, file, why, "mend that, then once more"))


@functools.cache
def _versions() -> dict[str, str]:
    """They are read from the disk, and stay as they are for as long as a class is graded."""
    return versions()


def _digest(what: list[Any]) -> str:
    text = json.dumps(what, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def secret_from(file: Path | None, environment: Mapping[str, str]) -> bytes | None:
    """The secret that decides all inputs, from a file or the environment; None: there is none.

    Raises KataError for an empty one, which everybody could guess.
    """
    if file is not None:
        try:
            secret = file.read_bytes().strip()
        except OSError as error:
            raise KataError(f"the seed file {file} cannot be read: {error.strerror}") from None
        if not secret:
            raise KataError(f"the seed file {file} is empty", "write some secret words into it")
        return secret
    given = environment.get(VARIABLE, "").strip()
    # Unset secrets of GitHub Actions arrive as empty variables.
    return os.fsencode(given) if given else None


def fresh_secret() -> bytes:
    return secrets.token_hex(16).encode()


def seed_of(secret: bytes, kata: Kata) -> int:
    """The seed of a kata: the same for everybody in a class, and of no use for another kata."""
    digest = hmac.new(secret, kata.name.encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:6], "big")


def fingerprint(source: str) -> tuple[str, int]:
    """A hash of the code's form, and its size in nodes of the syntax tree.

    Comments, layout, docstrings, annotations and the names of local variables and functions do not
    count. Short functions come out alike by themselves; the size tells how much that means.
    """
    tree = parse(source)
    if tree is None:
        return "", 0
    names: Names = collections.ChainMap()
    parts: list[str] = []
    try:
        _form(tree, names, parts)
    except (RecursionError, ValueError, MemoryError):  # too deep, or numbers too long to write out
        return "", 0
    return _hashed(parts), len(parts)


def functions(source: str, names: Collection[str]) -> tuple[tuple[str, str, int], ...]:
    """Name, form and size of those of the functions that the source defines, each by itself.

    So code is found again that stands in another file, or among other code.
    """
    tree = parse(source)
    found = {}
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name in names:
            parts: list[str] = []
            with contextlib.suppress(RecursionError):
                _form(node, collections.ChainMap(), parts)
                found[node.name] = (node.name, _hashed(parts)[:SHORT], len(parts))
    return tuple(found.values())


def _hashed(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _form(node: ast.AST, names: Names, parts: list[str]) -> None:
    parts.append(type(node).__name__)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if not isinstance(node, ast.Lambda):
            parts.append(_numbered(node.name, names))
        names = names.new_child(dict.fromkeys(_bound_in(node)))
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment", "ctx", "lineno", "kind"):
            continue
        if field == "body" and isinstance(value, list) and value and _is_docstring(value[0]):
            value = value[1:]
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                _form(item, names, parts)
            elif isinstance(item, str) and field in ("id", "arg"):
                parts.append(_numbered(item, names))
            elif field != "name" or isinstance(node, ast.alias):
                parts.append(repr(item))


def _numbered(name: str, names: Names) -> str:
    """A name by the order in which its scope first mentions it."""
    scope = next((scope for scope in names.maps if name in scope), names.maps[-1])
    if scope.get(name) is None:
        scope[name] = f"{names.maps.index(scope)}.{sum(n is not None for n in scope.values())}"
    return str(scope[name])


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Names of the function's own: parameters, and what it gives a value to."""
    found = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    body = function.body if isinstance(function.body, list) else [function.body]
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def _is_docstring(node: Any) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)
