"""Built-ins that a kata wants written by hand, switched off inside the sandbox worker.

A ban sits in PyTorch's dispatcher, on every key that has a kernel for the operator, so that an
alias, `torch.ops`, a thread, `vmap` or a switched-off Python mode all meet it. Composites that
exist only in Python are replaced by name. This teaches "write it yourself"; it is a rule, not a
security boundary (somebody with ctypes can go round it, and the restrictions still hold).

Which built-ins these are is content of a pack (`packs.families`); the judge sends their names.
"""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import torch


class BannedBuiltin(RuntimeError):
    """A built-in was called that this kata asks the learner to write."""

    def __init__(self, called: str, family: str) -> None:
        super().__init__(f"{called} is switched off in this kata")
        self.called = called
        self.family = family


@dataclass(frozen=True)
class Family:
    """A set of built-ins that answer the same question.

    name: what a kata.toml calls it.
    operators: dispatcher names.
    python: dotted names of Python composites, replaced where they exist.
    """

    name: str
    operators: tuple[str, ...]
    python: tuple[str, ...]

    @property
    def public(self) -> str:
        """The name a learner would know it by."""
        return f"PyTorch's built-in {self.name}"


# The banned built-ins that were called in this process since the list was last cleared.
called_here: list[str] = []

# Keys that carry no kernel worth replacing, or that must stay as they are.
_SKIPPED_KEYS = {"debug", "Meta", "Functionalize", "Python", "BackendSelect", "PythonDispatcher"}
_KEY_LINE = re.compile(r"^(\w+)(?:\[alias\])?: registered at")


def install(families: Iterable[Mapping[str, Any]]) -> None:
    """Switch off these families in this process, for good.

    Each call is noted in `called_here`, so that code which swallows the exception is still seen.
    families: the fields of `Family`, each. The judge sends them: they are content of a pack.
    """
    for fields in families:
        family = Family(fields["name"], tuple(fields["operators"]), tuple(fields["python"]))
        for operator in family.operators:
            _ban_operator(operator, family)
        for dotted in family.python:
            _ban_python(dotted, family)
        _ban_recipes(family)


def registered_keys(operator: str) -> list[str]:
    """The dispatch keys on which this build of torch has a kernel for `operator`."""
    try:
        dump = torch._C._dispatch_dump(operator)
    except RuntimeError:
        return []
    keys = (match.group(1) for line in dump.splitlines() if (match := _KEY_LINE.match(line)))
    return [key for key in keys if key not in _SKIPPED_KEYS]


def _ban_operator(operator: str, family: Family) -> None:
    namespace, _, op = operator.partition("::")

    def refuse(*_: Any, **__: Any) -> NoReturn:
        called_here.append(operator)
        raise BannedBuiltin(f"{family.public} ({operator})", family.name)

    for key in registered_keys(operator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library = torch._C._dispatch_library("IMPL", namespace, key, __file__, 0)
            library.impl(op, key, refuse)
        # Leaked on purpose: a handle that Python can reach could be found and reset.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def _ban_python(dotted: str, family: Family) -> None:
    path, _, attribute = dotted.rpartition(".")
    owner = _loaded(path)
    if owner is None or not hasattr(owner, attribute):
        return
    called = dotted.removesuffix(".forward")

    def refuse(*_: Any, **__: Any) -> NoReturn:
        called_here.append(called)
        raise BannedBuiltin(called, family.name)

    setattr(owner, attribute, refuse)


def _loaded(path: str) -> Any:
    """The module or class at `path` if it is imported already; importing it could cost seconds."""
    owner: Any = torch
    for part in path.split(".")[1:]:
        owner = getattr(owner, part, None)
    return owner


def _ban_recipes(family: Family) -> None:
    """Replace the entries of the decomposition tables for the banned operators."""
    banned = {operator.partition("::")[2] for operator in family.operators}
    banned |= {operator + ".default" for operator in banned if "." not in operator}

    def refuse(*_: Any, **__: Any) -> NoReturn:
        called_here.append("torch._decomp")
        raise BannedBuiltin(f"{family.public} (torch._decomp)", family.name)

    for table in torch._decomp.global_decomposition_table.values():
        for operator in list(table):
            if getattr(operator, "namespace", "") == "aten" and (
                str(operator).removeprefix("aten.") in banned
            ):
                table[operator] = refuse
