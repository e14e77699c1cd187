"""Tasks for the judge, each with a key made of everything that decides its verdict."""

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

import msgspec

from attention_katas.errors import KataError
from attention_katas.grading import VARIABLE
from attention_katas.grading.collect import StudentSubmission
from attention_katas.grading.remarks import ReadFault
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import attempt, blank, versions
from attention_katas.packs.submission import Submission, Unreadable, assembled, parse
from attention_katas.service.judge_service import Task
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import steps

# Scopes of names, the innermost first; None: not mentioned yet.
Names: TypeAlias = "collections.ChainMap[str, str | None]"


# Of the hash of a function's form: there are many, and they are only compared within a kata.
SHORT = 16


@dataclass(frozen=True)
class KataEntry:
    """One kata of one student.

    work: the task for the judge, or the verdict where there is nothing to judge.
    source: the text of the file; "" if there is none.
    """

    kata: Kata
    work: Task | v.Verdict
    source: str = ""

    @property
    def key(self) -> str:
        if isinstance(self.work, Task):
            return self.work.key
        reason = msgspec.to_builtins(self.work.reason)
        return _digest(["verdict", self.kata.name, self.kata.version, self.work.outcome, reason])


class _ReadFault(Exception):
    """A file cannot be read, and that is not up to the student."""

    def __init__(self, reason: ReadFault) -> None:
        super().__init__(reason)
        self.reason = reason


def kata_entry(
    catalog: Catalog, kata: Kata, submission: StudentSubmission, seed: int, seconds: float = 120.0
) -> KataEntry:
    """The task that a kata of a submission gives. seconds: the limit for all its checks."""

    def read(name: str) -> str:
        return _source(submission, name)

    file = submission.files.get(kata.module, kata.file)
    try:
        work = attempt(kata, lambda: assembled(catalog, kata, read(kata.file), read, file), file)
    except _ReadFault as problem:
        return could_not_grade(kata, file, problem.reason)
    source = submission.sources.get(kata.module, "")
    if isinstance(work, Submission) and not source.strip():
        work = _empty(work)
    if isinstance(work, v.Verdict):
        work.next_step = None
        return KataEntry(kata, work, source)
    absent = msgspec.to_builtins(work.absent)
    decides = [kata.name, kata.version, seed, seconds, _versions(), work.sources, absent]
    return KataEntry(kata, Task(_digest(["task", *decides]), work, seed), source)


def _empty(submission: Submission) -> v.Verdict:
    """The verdict on an empty file. The judge calls it broken; in a class it is not started."""
    kata, file = submission.kata, submission.file
    reason = r.FunctionMissing(kata.file, kata.functions[0], empty=True)
    verdict = blank(kata, v.NOT_STARTED, file, reason)
    verdict.source_hash = submission.digest
    return verdict


def _source(submission: StudentSubmission, name: str) -> str:
    """The text of a kata's file. Raises _ReadFault, Unreadable or FileNotFoundError."""
    module = name.removesuffix(".py")
    fault = submission.unreadable.get(module)
    if fault is None and module not in submission.files:
        fault = submission.error
    if fault is not None:
        raise _ReadFault(fault)
    if module in submission.invalid:
        raise Unreadable(submission.invalid[module])
    if module not in submission.sources:
        raise FileNotFoundError(name)
    return submission.sources[module]


def could_not_grade(kata: Kata, file: str, reason: ReadFault) -> KataEntry:
    """The entry of a kata that is not even read, for a reason that is not up to the student."""
    step = steps.Advice("solve that, then repeat the command")
    return KataEntry(kata, blank(kata, v.COULD_NOT_GRADE, file, reason, step))


@functools.cache
def _versions() -> dict[str, str]:
    """They are read from the disk, and do not change while a class is graded."""
    return versions()


def _digest(parts: list[Any]) -> str:
    text = json.dumps(parts, sort_keys=True)
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
    value = environment.get(VARIABLE, "").strip()
    # Unset secrets of GitHub Actions arrive as empty variables.
    return os.fsencode(value) if value else None


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
    """Name, form and size of each of these functions that the source defines.

    So the same code is recognised in another file, or among other code.
    """
    tree = parse(source)
    forms = {}
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name in names:
            parts: list[str] = []
            with contextlib.suppress(RecursionError):
                _form(node, collections.ChainMap(), parts)
                forms[node.name] = (node.name, _hashed(parts)[:SHORT], len(parts))
    return tuple(forms.values())


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
    """Local names of the function: its parameters, and names that it assigns to."""
    bound = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    body = function.body if isinstance(function.body, list) else [function.body]
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
    return bound


def _is_docstring(node: Any) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)
