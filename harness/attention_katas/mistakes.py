"""Known mistakes and harmless look-alikes, as small functions in a kata's mistakes.py.

    @mistake("divides by d_k itself", ask="How fast does the spread of a dot product grow?")
    def divides_by_d(q, k): ...

A mistake is judged on the same road as a learner's file: `source_of` writes the file that
somebody who thinks so would have written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from attention_katas.catalog import Kata

Function = TypeVar("Function", bound=Callable[..., Any])
ATTRIBUTE = "__kata_mistake__"
SHARED = Path(__file__).with_name("masked_softmax.py")


@dataclass(frozen=True)
class Mistake:
    """A known way of getting a kata wrong, or right in an odd way (`harmless`).

    title completes "your function ..."; ask is the question that a good tutor would put.
    """

    id: str
    title: str
    ask: str
    of: str
    harmless: bool


def mistake(title: str, *, ask: str, of: str = "") -> Callable[[Function], Function]:
    """Marks a wrong version of the kata's function `of` (the only one, if it has one)."""
    return _marker(title, ask, of, harmless=False)


def harmless(title: str, *, of: str = "") -> Callable[[Function], Function]:
    """Marks a right version that looks wrong: it has to pass."""
    return _marker(title, "", of, harmless=True)


def _marker(title: str, ask: str, of: str, harmless: bool) -> Callable[[Function], Function]:
    def mark(function: Function) -> Function:
        name = function.__name__.replace("_", "-")
        setattr(function, ATTRIBUTE, Mistake(name, title, ask, of, harmless))
        return function

    return mark


def mistakes_in(module: ModuleType) -> list[Mistake]:
    """The entries of a loaded mistakes.py, in order."""
    found = (getattr(value, ATTRIBUTE, None) for value in vars(module).values())
    return [entry for entry in found if isinstance(entry, Mistake)]


def source_of(kata: Kata, entry: Mistake) -> str:
    """The file of a learner who makes this mistake: the reference with one function replaced."""
    tree = ast.parse(kata.mistakes.read_text(encoding="utf-8"))
    parts = [node for node in tree.body if not _is_own_import(node) and not _is_entry(node)]
    if any(_is_own_import(node, "masked_softmax") for node in tree.body):
        parts = [*ast.parse(SHARED.read_text(encoding="utf-8")).body, *parts]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.replace("_", "-") == entry.id:
            node.decorator_list = []
            node.name = entry.of or kata.functions[0]
            parts.append(node)
    body = ast.unparse(ast.Module(parts, []))
    return f"{kata.reference.read_text(encoding='utf-8')}\n\n{body}\n"


def _is_entry(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    names = (
        d.func.id
        for d in node.decorator_list
        if isinstance(d, ast.Call) and isinstance(d.func, ast.Name)
    )
    return any(name in ("mistake", "harmless") for name in names)


def _is_own_import(node: ast.stmt, name: str = "") -> bool:
    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    return module.startswith("attention_katas") and module.endswith(name)


# What must not earn a single check: answers that do not depend on what was asked.
FAKES = {
    "zeros": "torch.zeros_like(right)",
    "ones": "torch.ones_like(right)",
    "a copy of the input": "(args[0].clone() if args[0].shape == right.shape else right * 0)",
    "a uniform row": "torch.full_like(right, 1.0 / max(right.shape[-1], 1))",
    "NaN": "(torch.full_like(right, float('nan')) if right.is_floating_point() else ~right)",
}


def fake_source(kata: Kata, path: Path, answer: str) -> str:
    """A file in which every function gives a made-up answer of the right shape and dtype."""
    lines = [path.read_text(encoding="utf-8"), "import torch"]
    for name in kata.functions:
        lines += [
            f"_right_{name} = {name}",
            f"def {name}(*args, **kwargs):",
            f"    right = _right_{name}(*args, **kwargs)",
            f"    return {answer}",
        ]
    return "\n".join(lines) + "\n"
