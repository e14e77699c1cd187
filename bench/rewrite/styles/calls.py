"""Calls as the styles look at them: `x.sum(-1)` and `torch.sum(x, -1)` are one and the same."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class TensorCall:
    """A call of one of torch's functions on a tensor, as a method or as a function."""

    name: str
    of: ast.expr
    args: list[ast.expr]
    keywords: list[ast.keyword]
    method: bool

    def fits(self, *names: str) -> bool:
        """Whether all that is given are these parameters, in this order."""
        starred = any(isinstance(argument, ast.Starred) for argument in self.args)
        given = {keyword.arg for keyword in self.keywords}
        return not starred and len(self.args) <= len(names) and given <= set(names)

    def has(self, name: str) -> bool:
        """Whether the parameter that comes first, or is called so, is given."""
        return bool(self.args) or any(keyword.arg == name for keyword in self.keywords)

    def only(self, name: str) -> ast.expr | None:
        """The value of this parameter, if that is all that is given."""
        given = [*self.args, *(keyword.value for keyword in self.keywords)]
        return given[0] if len(given) == 1 and self.fits(name) else None


class BodyTransformer(ast.NodeTransformer):
    """Visits what functions do, and neither their annotations nor their defaults."""

    def __init__(self, tree: ast.Module) -> None:
        self.modules = set(imported(ast.walk(tree)))

    def respell(self, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        body: list[ast.stmt] = []
        for statement in node.body:
            made = self.visit(statement)
            body += made if isinstance(made, list) else [made]
        node.body = body
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def tensor_call(self, node: ast.Call) -> TensorCall | None:
        """What is called on which tensor; None for functions of the file and other modules."""
        if not isinstance(node.func, ast.Attribute):
            return None
        name, owner = node.func.attr, node.func.value
        if root(owner) not in self.modules:
            return TensorCall(name, owner, list(node.args), node.keywords, True)
        softmax = name == "softmax" and ast.unparse(owner) in ("F", "torch.nn.functional")
        if ast.unparse(owner) != "torch" and not softmax:
            return None
        if not node.args or isinstance(node.args[0], ast.Starred):
            return None
        return TensorCall(name, node.args[0], list(node.args[1:]), node.keywords, False)


def imported(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that import statements bind."""
    return [
        (alias.asname or alias.name).partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]


def root(node: ast.expr) -> str:
    """The first name of a dotted one: "torch" of torch.nn.functional."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def call(name: str, *args: ast.expr, keywords: Iterable[ast.keyword] = ()) -> ast.Call:
    """A call of a function by its dotted name."""
    first, *rest = name.split(".")
    function: ast.expr = ast.Name(first, ast.Load())
    for attribute in rest:
        function = ast.Attribute(function, attribute, ast.Load())
    return ast.Call(function, list(args), list(keywords))
