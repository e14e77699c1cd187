"""The page as one file that needs no server: real vectors, and the reference's numbers.

The weights are computed in the page, by the formulas in page/reference.js. What formulas cannot
tell (times, means over random vectors) is measured now, on the reference, and frozen.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch

from attention_katas.errors import KataError
from attention_katas.judge.modules import load_module
from attention_katas.lab import examples, json_numbers
from attention_katas.lab.panels import cost, lookup
from attention_katas.packs.catalog import load_catalog

PAGE = Path(__file__).parent / "page"
NAME = "lab.html"
FIRST = "main.js"
LONGEST = 2048
# import x from "./y.js"; import { a, b as c } from "./y.js"; export default ...; export const ...
IMPORT = re.compile(r'^import (?P<what>[^;]+?) from "\./(?P<file>\w+\.js)";\n', re.M)


def write(folder: Path) -> Path:
    """Write the page into `folder`; returns its path. Raises KataError if that cannot be."""
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(page(), encoding="utf-8")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise KataError(message, "kata lab --export ANOTHER_FOLDER") from None
    return path


def page() -> str:
    """The whole page as HTML."""
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    data = json.dumps({"scene": examples.as_json(), "frozen": frozen()}, allow_nan=False)
    data = data.replace("</", "<\\/")
    head = f"<style>\n{style}</style>"
    tail = (
        f'<script type="application/json" id="frozen">{data}</script>\n'
        f'<script type="module">\n{script()}</script>\n</body>'
    )
    html = html.replace('<link rel="stylesheet" href="style.css">', head)
    html = html.replace('<script type="module" src="main.js"></script>\n', "")
    html = html.replace('<link rel="icon" href="icon.svg" type="image/svg+xml">\n', "")
    return html.replace("</body>", tail)


def widget_script() -> str:
    """The page as the one module that anywidget takes."""
    return f'{script("widget.js")}\nexport default modules["widget.js"].default;\n'


def widget_style() -> str:
    """The style sheet for a shadow: its root is the host."""
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    style = re.sub(r":root:not\((.*?)\)", r":host(:not(\1))", style)
    style = re.sub(r':root(\[data-theme="dark"\])', r":host(\1)", style)
    style = re.sub(r"@media (\((?:max|min)-width)", r"@container \1", style)
    return style.replace(":root {", ":host {").replace("body {", ".widget {")


def script(first: str = FIRST) -> str:
    """The modules of the page as one, each in a function of its own, dependencies first."""
    order: list[str] = []

    def visit(name: str) -> None:
        text = (PAGE / name).read_text(encoding="utf-8")
        for found in re.findall(r'(?:from|import\()\s*"\./(\w+\.js)"', text):
            if found not in order:
                visit(found)
        if name not in order:
            order.append(name)

    visit(first)
    parts = [_enclosed(name) for name in order]
    return "const modules = {};\n" + "\n".join(parts)


def _enclosed(name: str) -> str:
    """A module as a function that fills `modules[name]`."""
    text = (PAGE / name).read_text(encoding="utf-8")
    text = IMPORT.sub(_taken, text)
    text = re.sub(r'await import\("\./(\w+\.js)"\)', r'modules["\1"]', text)
    names = re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, re.M)
    text = re.sub(r"^export default ", "const standard = ", text, flags=re.M)
    text = re.sub(r"^export ((?:async )?(?:const|function|class) )", r"\1", text, flags=re.M)
    if "const standard = " in text:
        names.append("default: standard")
    return f'modules["{name}"] = (() => {{\n{text}\nreturn {{ {", ".join(names)} }};\n}})();'


def _taken(match: re.Match[str]) -> str:
    what, file = match.group("what"), match.group("file")
    if not what.startswith("{"):
        what = f"{{ default: {what} }}"
    return f'const {what.replace(" as ", ": ")} = modules["{file}"];\n'


def frozen() -> dict[str, Any]:
    """All vectors, and what was measured on the reference."""
    return {**examples.frozen(), "width": _width(), "cost": _cost()}


def _references() -> dict[str, Any]:
    found = {}
    for kata in load_catalog().ready:
        module = load_module(kata.reference)
        found.update({name: (getattr(module, name), kata) for name in kata.functions})
    return found


def _width() -> dict[str, Any]:
    known = _references()
    curves: dict[str, list[Any]] = {"raw": [], "divided": []}
    for name, function in (("raw", "attention_scores"), ("divided", "scaled_scores")):
        for size in examples.WIDTHS:
            scores = known[function][0](*examples.random_vectors(size)).requires_grad_()
            weights = known["softmax"][0](scores)
            top = torch.zeros_like(weights).scatter(-1, weights.argmax(-1, keepdim=True), 1.0)
            (slope,) = torch.autograd.grad(weights, scores, top)
            told = lookup.measures(scores.detach(), weights.detach(), slope)
            curves[name].append({"d_k": size, "yours": None, "right": told})
    used = ("attention_scores", "softmax", "scaled_scores")
    return {"curves": curves, "steps": {name: _step(name, known) for name in used}}


def _cost() -> list[dict[str, Any]]:
    torch.set_num_threads(1)
    known, points = _references(), []
    for heads in cost.HEADS:
        spent = cost.timed(known["multi_head_attention"][0], cost.many_heads(heads))
        points.append(
            {
                "step": _step("multi_head_attention", known),
                "heads": heads,
                "yours_ms": None,
                "right_ms": json_numbers.number(spent),
                "multiply_adds": cost.multiply_adds(cost.LENGTH, cost.WIDTH, heads),
            }
        )
    for n in (n for n in cost.LENGTHS if n <= LONGEST):
        spent = cost.timed(known["scaled_dot_product_attention"][0], cost.one_head(n))
        points.append(
            {
                "step": _step("scaled_dot_product_attention", known),
                "n": n,
                "yours_ms": None,
                "right_ms": json_numbers.number(spent),
                "yours_mb": None,
                "matrix_mb": cost.matrix_mb(n),
            }
        )
    return points


def _step(function: str, known: dict[str, Any]) -> dict[str, Any]:
    kata = known[function][1]
    file = f"reference/{kata.file}"
    return {"function": function, "file": file, "kata": kata.name, "state": "frozen", "right": []}
