"""Functions from a notebook, or from one file that holds several katas.

A cell that begins with `%%kata NAME` is that kata's file. Without such cells a kata gets what every
cell defines: functions, classes, constants, and the imports that these use. Other statements
(prints, plots, long computations) are left out: a kata's file is loaded for every check.
"""

from __future__ import annotations

import ast
import json
import re

from attention_katas.grading import remarks as m
from attention_katas.grading.files import RefusedFile
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.submission import SIZE_CAP, decode, parse

MAGIC = re.compile(r"%%kata[ \t]+([\w-]+)[^\n]*\n?")


def sources(catalog: Catalog, data: bytes, name: str) -> dict[str, str]:
    """Text of each kata's file, by module, that a notebook or a joint file holds.

    Raises Unreadable or RefusedFile.
    """
    if not name.endswith(".ipynb"):
        return _shared(catalog, needed(definitions(decode(data, name))))
    cells = _cells(data, name)
    if sum(map(len, cells)) > SIZE_CAP:
        raise RefusedFile(m.TooMuchCode(name, SIZE_CAP >> 10))
    own: dict[str, str] = {}
    for cell in cells:
        magic = MAGIC.match(cell.lstrip())
        module = magic[1].replace("-", "_").lower().removesuffix(".py") if magic else ""
        if magic and module in catalog.modules:
            own[module] = cell.lstrip()[magic.end() :]
    whole = "\n\n".join(definitions(text) for text in map(_plain, cells) if text)
    return {**_shared(catalog, needed(whole)), **own}


def _shared(catalog: Catalog, text: str) -> dict[str, str]:
    return {module: text for module, kata in catalog.modules.items() if defines(text, kata)}


def defines(text: str, kata: Kata) -> bool:
    """Whether the text has a function that the kata asks for, as far as can be seen."""
    tree = parse(text)
    if tree is None:
        return any(re.search(rf"^def {name}\b", text, re.M) for name in kata.functions)
    return any(
        isinstance(node, ast.FunctionDef) and node.name in kata.functions for node in tree.body
    )


def _cells(data: bytes, name: str) -> list[str]:
    """Texts of the code cells. Raises RefusedFile."""
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return ["".join(source) for source in code]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RefusedFile(m.NotANotebook(name)) from None


def _plain(cell: str) -> str:
    """A cell without its magics; "" for one in another language, or another kata's own."""
    if cell.lstrip().startswith("%%"):
        return ""
    lines = ("" if re.match(r"\s*[%!?]|.*\?\s*$", line) else line for line in cell.split("\n"))
    return "\n".join(lines)


def definitions(text: str) -> str:
    """The text with only its definitions; the other lines are empty.

    Text that is no Python stays as it is, so that its syntax error is reported.
    """
    tree = parse(text)
    if tree is None:
        return text
    lines, numbers = text.split("\n"), set()
    for node in tree.body:
        if _defines(node):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            numbers |= set(range(first, (node.end_lineno or node.lineno) + 1))
    return "\n".join(line if number in numbers else "" for number, line in enumerate(lines, 1))


def needed(text: str) -> str:
    """The text without its unused imports: a module for plots may not be installed here."""
    tree = parse(text)
    if tree is None:
        return text
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = text.split("\n")
    for node in tree.body:
        if not _is_needed(node, used):
            last = node.end_lineno or node.lineno
            lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
    return "\n".join(lines)


def _is_needed(node: ast.stmt, used: set[str]) -> bool:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return bool(names & (used | {"*"}))


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return not any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))
    return False
