"""Draws two small matrices side by side, yours and expected, with row sums for weights."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from rich.text import Text

from attention_katas.render.glyphs import Glyphs
from attention_katas.verdict.data import Evidence, Grid

GAP = 3


def side_by_side(evidence: Evidence, glyphs: Glyphs, width: int, colour: bool) -> list[Text]:
    """Yours and expected as lines of text: side by side if they fit, else one below the other."""
    if evidence.yours is None or evidence.expected is None:
        return []
    painter = _Painter(evidence, glyphs, colour, width)
    name = f"gradient of {evidence.gradient_of}, yours" if evidence.gradient_of else "yours"
    name = f"answer{evidence.part}, yours" if evidence.part else name
    yours = painter.block(name, evidence.yours, marked=True)
    expected = painter.block("expected", evidence.expected, marked=False)
    span = max(line.cell_len for line in yours)
    if span + GAP + max(line.cell_len for line in expected) > width:
        return [*yours, Text(""), *expected, *painter.legend()]
    lines = []
    for left, right in zip_longest(yours, expected, fillvalue=Text("")):
        line = left.copy()
        line.pad_right(span + GAP - left.cell_len)
        lines.append(line.append_text(right))
    return [*lines, *painter.legend()]


class _Painter:
    """Draws both grids of the evidence in the same format."""

    def __init__(self, evidence: Evidence, glyphs: Glyphs, colour: bool, room: int) -> None:
        self.evidence, self.glyphs, self.colour = evidence, glyphs, colour
        self.grids = [grid for grid in (evidence.yours, evidence.expected) if grid]
        self.weights = any(grid.row_sums is not None for grid in self.grids)
        values = [value for grid in self.grids for row in grid.cells for value in row]
        self.plain_zero = False
        self.number: Callable[..., str] = _share if self.weights else _number
        if all(value in (0, 1) for value in values):
            self.number = _truth
        # Two digits, unless a wrong number then looks like the right one.
        self.digits = 2 if self.tells_apart(2) else 4
        self.width = max([len(self.text(v)) for v in values] + [len(glyphs.masked)])

        sums = max((len(_number(n)) + 5 for g in self.grids for n in g.row_sums or ()), default=0)
        cell = self.width + 2 + bool(self.weights and glyphs.ramp)
        self.columns = max((room - sums - 3) // cell, 1)

    def text(self, value: float | str) -> str:
        return self.number(value, self.digits)

    def tells_apart(self, digits: int) -> bool:
        """Whether a wrong number looks different from the right one."""
        yours, expected = self.grids[0].cells, self.grids[-1].cells
        wrong = [
            (yours[i][j], expected[i][j])
            for i, row in enumerate(self.evidence.wrong or ())
            for j, cell in enumerate(row)
            if cell
        ]
        looks = (self.number(a, digits) != self.number(b, digits) for a, b in wrong)
        return not wrong or any(looks)

    def block(self, name: str, grid: Grid, *, marked: bool) -> list[Text]:
        lines = [Text(f"{name} {_where(grid)}".rstrip(), style="bold")]
        for i, row in enumerate(grid.cells):
            line = Text("")
            for j, value in enumerate(row[: self.columns]):
                line.append_text(self.cell(value, i, j, marked))
            if len(row) > self.columns:
                line.append(" ..", style="dim")
            if grid.row_sums is not None:
                line.append(f" sum {_number(grid.row_sums[i])}", style="dim")
            line.rstrip()
            lines.append(line)
        return lines

    def cell(self, value: float | str, i: int, j: int, marked: bool) -> Text:
        """One number: its shade, its digits, and a mark if it is wrong."""
        wrong = marked and bool(self.evidence.wrong and self.evidence.wrong[i][j])
        masked = bool(self.evidence.masked and self.evidence.masked[i][j])
        shown = self.text(value)
        if value == 0:
            self.plain_zero |= not masked
            shown = self.glyphs.masked if masked else self.glyphs.zero
        style = ""
        if self.colour and value == "nan":
            style = "bold reverse red"
        elif self.colour and wrong:
            style = "bold red"
        elif masked:
            style = "dim"
        text = Text(" ")
        if self.weights and self.glyphs.ramp:
            text.append(self.shade(value), style="cyan" if self.colour else "")
        text.append(shown.rjust(self.width), style=style)
        if marked and not self.colour:
            text.append("!" if wrong else " ")
        return text

    def shade(self, value: float | str) -> str:
        """A weight as a bar; blank for numbers outside of (0, 1]."""
        if isinstance(value, str) or not 0 < value <= 1:
            return " "
        ramp = self.glyphs.ramp
        return ramp[min(int(value * len(ramp)), len(ramp) - 1)]

    def legend(self) -> list[Text]:
        """The meaning of the unusual cells that are shown."""
        parts = []
        if any(cell for row in self.evidence.masked or () for cell in row):
            parts.append(f"{self.glyphs.masked} masked")
        if self.plain_zero:
            parts.append(f"{self.glyphs.zero} exactly 0")
        if not self.colour and any(cell for row in self.evidence.wrong or () for cell in row):
            parts.append("! wrong")
        return [Text("   ".join(parts), style="dim")] if parts else []


def _number(value: float | str, digits: int = 2) -> str:
    if isinstance(value, str):
        return {"nan": "NaN"}.get(value, value)
    if value == 0:
        return "0"
    if abs(value) >= 1000 or abs(value) < 0.005:
        text = f"{value:.{0 if digits == 2 else 3}e}"
        return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:.{digits}f}"


def _truth(value: float | str, _: int = 2) -> str:
    return "1" if value == 1 else "0"


def _share(value: float | str, digits: int = 2) -> str:
    """A weight between 0 and 1 without its leading zero; anything else as a number."""
    if isinstance(value, str) or not 0 <= value <= 1:
        return _number(value, digits)
    text = f"{value:.{digits}f}"
    return text[:-1] if value > 0.5 and text[0] == "1" else text[1:]


def _where(grid: Grid) -> str:
    """Which part of the tensor is shown: as an index, or as an axis when axes were moved."""
    if grid.along is not None:
        return f"(rows along dim {grid.along})"
    if grid.whole and not grid.at:
        return ""
    spans, sizes = [], ([1, 1, *grid.shape])[-2:]
    for origin, shown, size in zip(grid.origin, _window(grid), sizes, strict=True):
        spans.append(":" if shown == size else f"{origin}:{origin + shown}")
    if len(grid.shape) == 1:
        spans = spans[1:]
    return "[" + ", ".join([*map(str, grid.at), *spans]) + "]"


def _window(grid: Grid) -> tuple[int, int]:
    return len(grid.cells), len(grid.cells[0]) if grid.cells else 0
