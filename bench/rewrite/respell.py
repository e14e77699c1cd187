"""The same file in another way of writing: what a learner with other habits would have typed.

    respell(source, "einsum")

A diagnosis must know a mistake by what it does, however it is written. So its bench asks it about
the known mistakes in several styles:

- "einsum": matrix products, transposes and sums are einsums;
- "loops": products, softmax, sums and triangles go through rows and slices;
- "functions": functions of torch in the place of methods and operators, as in NumPy;
- "steps": one operation a line, other names, helpers written out.

What a file does stays the same: values, dtypes, shapes, gradients, exceptions and what happens to
its inputs. Where that is not sure, the text stays as it is.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Collection
from pathlib import Path

from rewrite.styles import calls
from rewrite.styles.functions import Functions
from rewrite.styles.products import EINSUM, LOOPS, Products
from rewrite.styles.steps import Steps

STYLES = ("einsum", "loops", "functions", "steps")
HELPERS = Path(__file__).parent / "styles" / "helpers.py"


def respell(source: str, style: str, public: Collection[str] | None = None) -> str:
    """The source in a style, without docstrings and without what nothing uses.

    public: the functions that have to keep their names; by default those without an underscore
    in front. Raises KeyError for an unknown style, ValueError if a helper's name is taken.
    """
    tree, names = _pruned(source, public)
    if clashes := _mentioned(tree) & _helpers().keys():
        raise ValueError(f"the file has a {clashes.pop()} of its own")
    _STYLES[style](tree, names)
    _add_helpers(tree)
    return ast.unparse(_without_the_unused(ast.fix_missing_locations(tree), names)) + "\n"


def plain(source: str, public: Collection[str] | None = None) -> str:
    """The source as `respell` sees it before it changes anything."""
    return ast.unparse(_pruned(source, public)[0]) + "\n"


def _einsum(tree: ast.Module, _: set[str]) -> None:
    Products(tree, EINSUM).respell(tree)


def _loops(tree: ast.Module, _: set[str]) -> None:
    Products(tree, LOOPS).respell(tree)


def _functions(tree: ast.Module, public: set[str]) -> None:
    Functions(tree, public).respell(tree)


def _steps(tree: ast.Module, public: set[str]) -> None:
    Steps(tree, public).respell()


_STYLES: dict[str, Callable[[ast.Module, set[str]], None]] = {
    "einsum": _einsum,
    "loops": _loops,
    "functions": _functions,
    "steps": _steps,
}


def _pruned(source: str, public: Collection[str] | None) -> tuple[ast.Module, set[str]]:
    tree = ast.parse(source)
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if public is not None:
        names = {*public}
    else:
        names = {name for name in names if not name.startswith("_")}
    return _without_the_unused(tree, names), names


def _without_the_unused(tree: ast.Module, public: set[str]) -> ast.Module:
    """Without replaced definitions, unused names, and repeated imports and constants."""
    body = list(tree.body)
    for place, node in reversed(list(enumerate(body))):
        if not isinstance(node, ast.FunctionDef):
            continue
        again = [n for n in range(place + 1, len(body)) if _defines(body[n], node.name)]
        if again and not any(
            node.name in _at_once(later) for later in body[place + 1 : again[0] + 1]
        ):
            _annotate(body[again[0]], node)
            del body[place]
    body = _once(body)
    names = [_defined(node) for node in body]
    used, live = set(public), set[int]()
    while waiting := [
        place
        for place, name in enumerate(names)
        if place not in live and (name is None or name in used)
    ]:
        live.update(waiting)
        used.update(name for place in waiting for name in _mentioned(body[place]))
    return ast.Module([node for place, node in enumerate(body) if place in live], [])


def _once(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without docstrings, and without imports and constants that are there already."""
    statements: list[ast.stmt] = []
    texts: dict[str, str] = {}  # the last text of every import, and for every constant
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assign):
            text = ast.unparse(node)
            key = _defined(node) or text
            if texts.get(key) == text and (key != text or not isinstance(node, ast.Assign)):
                continue
            texts[key] = text
        statements.append(node)
    return statements


def _defined(node: ast.stmt) -> str | None:
    """The name that a statement is there for, and for nothing else."""
    if isinstance(node, ast.FunctionDef):
        return node.name
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    calls_in_value = [part for part in ast.walk(node.value) if isinstance(part, ast.Call)]
    plain = all(ast.unparse(call.func) == "float" for call in calls_in_value)
    return node.targets[0].id if plain and len(node.targets) == 1 else None


def _annotate(node: ast.stmt, like: ast.FunctionDef) -> None:
    """A learner keeps the annotations of the stub."""
    assert isinstance(node, ast.FunctionDef)
    annotations = {argument.arg: argument.annotation for argument in _arguments(like)}
    for argument in _arguments(node):
        argument.annotation = argument.annotation or annotations.get(argument.arg)


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _defines(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _mentioned(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _at_once(node: ast.stmt) -> set[str]:
    """The names that a statement of a module looks up while the file is loaded."""
    if not isinstance(node, ast.FunctionDef):
        return _mentioned(node)
    parts = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
    return {name for part in parts if part for name in _mentioned(part)}


def _add_helpers(tree: ast.Module) -> None:
    """Put the helpers that are called, and what those call, after the imports."""
    helpers = _helpers()
    names = _mentioned(tree) & helpers.keys()
    for _ in helpers:
        names |= {callee for name in names for callee in helpers[name][1]}
    functions: list[ast.stmt] = [
        copy.deepcopy(node) for name, (node, _) in helpers.items() if name in names
    ]
    if (names or "torch" in _mentioned(tree)) and "torch" not in calls.imported(tree.body):
        functions.insert(0, ast.Import([ast.alias("torch")]))
    imports = [isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body]
    head = len(imports) - imports[::-1].index(True) if any(imports) else 0
    tree.body[head:head] = functions


@functools.cache
def _helpers() -> dict[str, tuple[ast.FunctionDef, set[str]]]:
    """Every helper, with the helpers that it calls."""
    body = ast.parse(HELPERS.read_text(encoding="utf-8")).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    return {
        name: (node, _mentioned(node) & functions.keys() - {name})
        for name, node in functions.items()
    }
