"""Small matrices side by side: yours and expected, with row sums where rows are weights."""

from __future__ import annotations

import math
from itertools import zip_longest

from rich.text import Text

from attention_katas.reports.glyphs import Glyphs
from attention_katas.verdict import Evidence, Grid

GAP = 4


def side_by_side(evidence: Evidence, glyphs: Glyphs, width: int, colour: bool) -> list[Text]:
    """Yours and expected as lines of text: beside each other if they fit, else below."""
    if evidence.yours is None or evidence.expected is None:
        return []
    both = (evidence.yours, evidence.expected)
    cell = max(len(_number(value)) for grid in both for row in grid.cells for value in row)
    cell = max(cell, len(glyphs.masked))
    yours = _block("yours", evidence.yours, evidence, glyphs, cell, colour, mark=True)
    expected = _block("expected", evidence.expected, evidence, glyphs, cell, colour, mark=False)
    span = max(line.cell_len for line in yours)
    if span + GAP + max(line.cell_len for line in expected) > width:
        return [*yours, Text(""), *expected, *_legend(evidence, glyphs, colour)]
    lines = []
    for left, right in zip_longest(yours, expected, fillvalue=Text("")):
        line = left.copy()
        line.pad_right(span + GAP - left.cell_len)
        lines.append(line.append_text(right))
    return [*lines, *_legend(evidence, glyphs, colour)]


def _block(
    name: str, grid: Grid, evidence: Evidence, glyphs: Glyphs, cell: int, colour: bool, mark: bool
) -> list[Text]:
    lines = [Text(f"{name} {_where(grid)}", style="bold")]
    for i, row in enumerate(grid.cells):
        line = Text("")
        for j, value in enumerate(row):
            wrong = bool(evidence.wrong and evidence.wrong[i][j])
            masked = bool(evidence.masked and evidence.masked[i][j])
            shade = grid.row_sums is not None
            line.append_text(_cell(value, glyphs, cell, colour, mark and wrong, masked, shade))
        if grid.row_sums is not None:
            line.append(f" sum {_number(grid.row_sums[i])}", style="dim")
        line.rstrip()
        lines.append(line)
    return lines


def _cell(
    value: float | str,
    glyphs: Glyphs,
    width: int,
    colour: bool,
    wrong: bool,
    masked: bool,
    shade: bool,
) -> Text:
    """One number: its shade, its digits, and a mark if it is wrong."""
    zero = value == 0
    shown = glyphs.masked if masked and zero else glyphs.zero if zero else _number(value)
    ramp = ""
    if shade:
        known = isinstance(value, float | int) and not zero
        ramp = _shade(float(value), glyphs) if known else " "
    style = "bold red" if wrong and colour else ""
    if value == "nan":
        style = "bold reverse red" if colour else ""
    elif masked and not wrong:
        style = "dim"
    text = Text(" ").append(ramp, style="cyan" if colour else "")
    text.append(shown.rjust(width), style=style)
    return text.append("!" if wrong and not colour else " " if not colour else "")


def _shade(value: float, glyphs: Glyphs) -> str:
    if not 0 <= value <= 1 or math.isnan(value):
        return " "
    return glyphs.ramp[min(int(value * len(glyphs.ramp)), len(glyphs.ramp) - 1)]


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return {"nan": "NaN"}.get(value, value)
    if value == 0:
        return "0"
    if abs(value) >= 1000 or abs(value) < 0.005:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:.2f}"


def _where(grid: Grid) -> str:
    """Which part of the tensor is shown, as an index."""
    if grid.whole and not grid.at:
        return ""
    spans = []
    for origin, size in zip(grid.origin, _window(grid), strict=True):
        spans.append(":" if grid.whole else f"{origin}:{origin + size}")
    if len(grid.shape) == 1:
        spans = spans[1:]
    return "[" + ", ".join([*map(str, grid.at), *spans]) + "]"


def _window(grid: Grid) -> tuple[int, int]:
    return len(grid.cells), len(grid.cells[0]) if grid.cells else 0


def _legend(evidence: Evidence, glyphs: Glyphs, colour: bool) -> list[Text]:
    """What the unusual cells mean; only those that are there."""
    grids = [g for g in (evidence.yours, evidence.expected) if g]
    cells = [value for grid in grids for row in grid.cells for value in row]
    masked = any(cell for row in evidence.masked or () for cell in row)
    parts = []
    if masked:
        parts.append(f"{glyphs.masked} masked")
    if any(value == 0 for value in cells):
        parts.append(f"{glyphs.zero} exactly 0")
    if not colour and evidence.wrong and any(cell for row in evidence.wrong for cell in row):
        parts.append("! wrong")
    return [Text("   ".join(parts), style="dim")] if parts else []
