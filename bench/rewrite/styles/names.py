"""Names and their scopes: what a piece of code binds, and the same code with other names."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager


class Renamer(ast.NodeTransformer):
    """Gives names their new ones, but not those that a nested scope has for itself."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        given = node.args
        self._defaults(given)
        node.decorator_list = [self.visit(value) for value in node.decorator_list]
        own = {argument.arg for argument in ast.walk(given) if isinstance(argument, ast.arg)}
        with self._without({*own, *local_to(node.body)}):
            node.body = [self.visit(statement) for statement in node.body]
        return node

    def _defaults(self, given: ast.arguments) -> None:
        given.defaults = [self.visit(value) for value in given.defaults]
        given.kw_defaults = [self.visit(value) if value else None for value in given.kw_defaults]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        with self._without({a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}):
            node.body = self.visit(node.body)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node, node.generators)

    def _comprehension(self, node: ast.expr, generators: list[ast.comprehension]) -> ast.AST:
        outer = self.visit(generators[0].iter)
        bound = {
            part.id
            for generator in generators
            for part in ast.walk(generator.target)
            if isinstance(part, ast.Name)
        }
        with self._without(bound):
            generators[0].iter = ast.Constant(None)
            self.generic_visit(node)
        generators[0].iter = outer
        return node

    @contextmanager
    def _without(self, bound: set[str]) -> Iterator[None]:
        kept = self.names
        self.names = {old: new for old, new in kept.items() if old not in bound}
        try:
            yield
        finally:
            self.names = kept


class Replacer(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, expressions: dict[str, ast.expr]) -> None:
        self.expressions = expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.expressions.get(node.id, node))


def names_in(body: list[ast.stmt]) -> set[str]:
    return {n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)}


def local_to(body: list[ast.stmt]) -> list[str]:
    """The names that statements bind; not those that comprehensions have for themselves."""
    found: list[str] = []

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.append(node.id)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            look(node.generators[0].iter)
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            for child in ast.iter_child_nodes(node):
                look(child)

    for statement in body:
        look(statement)
    return list(dict.fromkeys(found))
