"""Known mistakes, other conventions and harmless look-alikes, as small functions in mistakes.py.

    @mistake(
        "divides by d_k itself",
        question="How fast does the spread of a dot product grow?",
        hint="Which number",
    )
    def divides_by_d(q, k):
        return _scores(q, k, scale=1 / q.size(-1))

A mistake is judged on the same road as a learner's file: `source_of` writes the file that
somebody who thinks so would have written. The diagnosis compares what a learner's code answers
with what these functions answer.

A file may mark one function of its own as the `formula`: the right way, with its parts as keyword
arguments. Two mistakes that each change another part of it can then be made at once (`together`),
and nobody has to write down all pairs.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from attention_katas.packs.catalog import Kata
from attention_katas.verdict.data import Shows

Function = TypeVar("Function", bound=Callable[..., Any])
ATTRIBUTE = "__kata_mistake__"

MISTAKE = "mistake"
CONVENTION = "another convention"
HARMLESS = "harmless"


@dataclass(frozen=True)
class Mistake:
    """A known way of getting a kata wrong, of following another convention, or an odd right one.

    id: stays the same from version to version.
    title: completes "your function ...".
    question: what a good tutor would ask; for a convention, what the contract of this kata says.
    function: which function of the kata it replaces; "" for the only one.
    kind: MISTAKE, CONVENTION or HARMLESS.
    hint: the title of the level of hints.md that helps.
    same_as: the id of the entry by whose name it goes: the same mistake in another spelling, or
        one that no input tells from it.
    random: its answers differ from call to call.
    shows: what of a picture it shows in: its "answers", in several "rows" only, in large scores
        that "overflow", in the "gradient" only, or in "nothing" that a picture draws.
    """

    id: str
    title: str
    question: str
    function: str
    kind: str = MISTAKE
    hint: str = ""
    same_as: str = ""
    random: bool = False
    shows: Shows = "answers"

    @property
    def harmless(self) -> bool:
        return self.kind == HARMLESS


def mistake(
    title: str,
    *,
    question: str,
    function: str = "",
    hint: str = "",
    same_as: str = "",
    random: bool = False,
    shows: Shows = "answers",
) -> Callable[[Function], Function]:
    """Marks a wrong version of the kata's function `function` (the only one, if it has one).

    random: its answers differ from call to call, and are right on average.
    shows: see Mistake.
    """
    return _marker(title, question, function, MISTAKE, hint, same_as, random, shows)


def convention(
    title: str, *, contract: str, function: str = "", hint: str = "", shows: Shows = "answers"
) -> Callable[[Function], Function]:
    """Marks a version that is right elsewhere: it follows another convention than this kata."""
    return _marker(title, contract, function, CONVENTION, hint, shows=shows)


def harmless(title: str, *, function: str = "") -> Callable[[Function], Function]:
    """Marks a right version that looks wrong: it has to pass."""
    return _marker(title, "", function, HARMLESS)


def _marker(
    title: str,
    question: str,
    function: str,
    kind: str,
    hint: str = "",
    same_as: str = "",
    random: bool = False,
    shows: Shows = "answers",
) -> Callable[[Function], Function]:
    def mark(wrong: Function) -> Function:
        name = wrong.__name__.replace("_", "-")
        setattr(
            wrong,
            ATTRIBUTE,
            Mistake(name, title, question, function, kind, hint, same_as, random, shows),
        )
        return wrong

    return mark


def mistakes_in(module: ModuleType) -> list[Mistake]:
    """The entries of a loaded mistakes.py, in order."""
    return [entry for entry, _ in entries_in(module)]


def entries_in(module: ModuleType) -> list[tuple[Mistake, Callable[..., Any]]]:
    """The entries of a loaded mistakes.py with their functions, in order."""
    entries = ((getattr(value, ATTRIBUTE, None), value) for value in vars(module).values())
    return [(entry, value) for entry, value in entries if isinstance(entry, Mistake)]


# While this is a list, a formula records in it what it was asked for, and computes nothing.
_heard: ContextVar[list[Change] | None] = ContextVar("heard", default=None)


@dataclass(frozen=True)
class Change:
    """What a mistake passes to its formula; `parts` is what it changes, by name."""

    formula: Callable[..., Any]
    args: tuple[Any, ...]
    parts: dict[str, Any]


def formula(function: Function) -> Function:
    """Marks the right formula of a file; its parts are keyword arguments with right defaults.

    Its positional arguments are those of the kata's function, in the same order.
    """

    @functools.wraps(function)
    def called(*args: Any, **parts: Any) -> Any:
        changes = _heard.get()
        if changes is None:
            return function(*args, **parts)
        changes.append(Change(function, args, parts))
        return changes

    return called  # type: ignore[return-value]


def change(function: Callable[..., Any], args: tuple[Any, ...]) -> Change | None:
    """How a mistake changes its formula for these arguments; None if it does something else too."""
    changes: list[Change] = []
    token = _heard.set(changes)
    try:
        returned = function(*args)
    except Exception:  # noqa: BLE001 - it did something with what the formula gave
        return None
    finally:
        _heard.reset(token)
    if returned is not changes or len(changes) != 1 or len(changes[0].args) != len(args):
        return None
    single_change = changes[0]
    moved = {
        f"argument {number}": new
        for number, (old, new) in enumerate(zip(args, single_change.args, strict=True))
        if old is not new
    }
    return Change(single_change.formula, single_change.args, {**single_change.parts, **moved})


_signature = functools.lru_cache(1024)(inspect.signature)


def together(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """All of them at once. Raises TypeError when called where two change the same part."""

    def all_at_once(*args: Any) -> Any:
        merged: dict[str, Any] = {}
        right = None
        for function in functions:
            single_change = change(function, args)
            if single_change is None or merged.keys() & single_change.parts.keys():
                raise TypeError("these cannot be made at once")
            merged |= single_change.parts
            right = single_change.formula
        assert right is not None
        arguments = [merged.pop(f"argument {number}", old) for number, old in enumerate(args)]
        return right(*arguments, **merged)

    all_at_once.__signature__ = _signature(functions[0])  # type: ignore[attr-defined]
    return all_at_once


def source_of(kata: Kata, entry: Mistake) -> str:
    """The file of a learner who makes this mistake: the reference with one function replaced."""
    tree = ast.parse(kata.mistakes.read_text(encoding="utf-8"))
    parts = _helpers(tree, kata.pack.shared)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.replace("_", "-") == entry.id:
            node.decorator_list = []
            node.name = entry.function or kata.functions[0]
            parts.append(node)
    return _file(kata, parts)


def source_of_both(kata: Kata, first: Mistake, second: Mistake) -> str:
    """The file of a learner who makes both mistakes; "" when that cannot be written down.

    It is put together from the text of the two, which have to be a single call of one formula.
    """
    tree = ast.parse(kata.mistakes.read_text(encoding="utf-8"))
    functions = {
        node.name.replace("_", "-"): node for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    helpers = _helpers(tree, kata.pack.shared)
    first_node, second_node = functions[first.id], functions[second.id]
    end, tail = first_node.body[-1], second_node.body[-1]
    if not isinstance(end, ast.Return) or not isinstance(tail, ast.Return):
        return ""
    call, more = end.value, tail.value
    if not isinstance(call, ast.Call) or not isinstance(more, ast.Call):
        return ""
    if ast.dump(call.func) != ast.dump(more.func) or len(call.args) != len(more.args):
        return ""
    names = [argument.arg for argument in first_node.args.args]
    for place, (argument, second_argument) in enumerate(zip(call.args, more.args, strict=True)):
        plain = [
            isinstance(a, ast.Name) and a.id == names[place] for a in (argument, second_argument)
        ]
        if not any(plain):
            return ""
        call.args[place] = second_argument if plain[0] else argument
    if {part.arg for part in call.keywords} & {part.arg for part in more.keywords}:
        return ""
    call.keywords += more.keywords
    first_node.body = [*first_node.body[:-1], *second_node.body[:-1], end]
    first_node.decorator_list = []
    first_node.name = first.function or kata.functions[0]
    return _file(kata, [*helpers, first_node])


def _helpers(tree: ast.Module, shared: Path) -> list[ast.stmt]:
    """What a mistakes.py holds beside its entries, as it would stand in a learner's file."""
    parts = [node for node in tree.body if not _is_own_import(node) and not _is_entry(node)]
    for node in parts:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [d for d in node.decorator_list if not _is_formula(d)]
    return [*_shared_parts(tree, shared, set()), *parts]


def _shared_parts(tree: ast.Module, shared: Path, seen: set[str]) -> list[ast.stmt]:
    """The text of the modules of shared/ that a file imports, and of those that these import."""
    parts: list[ast.stmt] = []
    for name in filter(None, map(_shared_module, tree.body)):
        if name in seen:
            continue
        seen.add(name)
        path = shared.joinpath(*name.split(".")).with_suffix(".py")
        inner = ast.parse(path.read_text(encoding="utf-8"))
        parts += _shared_parts(inner, shared, seen)
        parts += [node for node in inner.body if not _shared_module(node)]
    return parts


def _shared_module(node: ast.stmt) -> str:
    """The module that `from shared.NAME import ...` names; "" for any other statement."""
    module = node.module or "" if isinstance(node, ast.ImportFrom) and not node.level else ""
    return module.removeprefix("shared.") if module.startswith("shared.") else ""


def _file(kata: Kata, parts: list[ast.stmt]) -> str:
    body = ast.unparse(ast.fix_missing_locations(ast.Module(parts, [])))
    return f"{kata.reference.read_text(encoding='utf-8')}\n\n{body}\n"


def _is_formula(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == formula.__name__


def _is_entry(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    names = (
        d.func.id
        for d in node.decorator_list
        if isinstance(d, ast.Call) and isinstance(d.func, ast.Name)
    )
    return any(name in ("mistake", "convention", "harmless") for name in names)


def _is_own_import(node: ast.stmt) -> bool:
    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    return module.startswith("attention_katas") or bool(_shared_module(node))


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
