"""The few numbers of a tensor that are worth showing."""

from __future__ import annotations

import math

import torch

from attention_katas.judge import trees
from attention_katas.verdict.data import Evidence, Grid
from attention_katas.verdict.facts import Cell
from attention_katas.verdict.words.numbers import shape

MOST = 8  # rows and columns that are shown
MOST_TEXT = 300  # characters of how an answer is nested


def compare(
    yours: torch.Tensor,
    expected: torch.Tensor,
    wrong: torch.Tensor,
    *,
    at: list[int] | None = None,
    masked: torch.Tensor | None = None,
    along: int | None = None,
) -> Evidence:
    """Both tensors cut to one window around the entry `at` (default: the first wrong one).

    All tensors have one shape; `wrong` and `masked` are bool.
    along: the axis whose slices sum to one; its slices become the rows, with their sums.
    """
    first = at or (torch.nonzero(wrong)[0].tolist() if wrong.any() else [0] * wrong.dim())
    axis = None if along is None else along % yours.dim()
    if axis is not None and axis != yours.dim() - 1:
        turned = (t if t is None else t.movedim(axis, -1) for t in (yours, expected, wrong, masked))
        yours, expected, wrong, masked = turned  # type: ignore[assignment]
        first = [*first[:axis], *first[axis + 1 :], first[axis]]
    else:
        axis = None
    window = _Window(list(yours.shape), first, axis)
    sums = along is not None
    return Evidence(
        yours=window.grid(yours, sums),
        expected=window.grid(expected, sums),
        wrong=_truths(window.cut(wrong)),
        masked=None if masked is None else _truths(window.cut(masked)),
    )


def _truths(matrix: torch.Tensor) -> list[list[bool]]:
    return [[bool(cell) for cell in row] for row in matrix.tolist()]


class _Window:
    """At most 8 x 8 cells of the last two axes, near a given index."""

    def __init__(self, shape: list[int], first: list[int], along: int | None) -> None:
        self.shape, self.along = shape, along
        self.at = first[:-2]
        rows, columns = ([1, 1, *shape])[-2:]
        row, column = ([0, 0, *first])[-2:]
        self.rows = _span(rows, row)
        self.columns = _span(columns, column)
        self.whole = len(self.rows) == rows and len(self.columns) == columns

    def cut(self, tensor: torch.Tensor) -> torch.Tensor:
        return self._matrix(tensor)[self.rows.start : self.rows.stop][
            :, self.columns.start : self.columns.stop
        ]

    def _matrix(self, tensor: torch.Tensor) -> torch.Tensor:
        matrix = tensor.detach()[tuple(self.at)] if self.at else tensor.detach()
        return matrix.reshape(1, -1) if matrix.dim() < 2 else matrix

    def grid(self, tensor: torch.Tensor, sums: bool) -> Grid:
        rows = self._matrix(tensor)[self.rows.start : self.rows.stop]
        cells = self.cut(tensor) if tensor.is_complex() else self.cut(tensor).double()
        return Grid(
            cells=[[plain(cell) for cell in row] for row in cells.tolist()],
            shape=self.shape,
            at=self.at,
            origin=[self.rows.start, self.columns.start],
            whole=self.whole,
            along=self.along,
            row_sums=[plain(value) for value in _wide(rows).sum(-1).tolist()] if sums else None,
        )


def _span(size: int, around: int) -> range:
    """At most MOST neighbours of `around` in range(size)."""
    start = max(0, min(around - MOST // 2, size - MOST))
    return range(start, min(size, start + MOST))


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.is_complex() else tensor.double()


def plain(value: complex) -> float | str:
    """A number that JSON can hold; a complex one as a string, such as "0.5-1.25j"."""
    if isinstance(value, complex):
        return f"{value.real:.4g}{value.imag:+.4g}j"
    return value if math.isfinite(value) else str(value)


def cell(value: torch.Tensor) -> Cell:
    """The number in a tensor of shape (), as JSON can hold it."""
    number = value.item()
    if isinstance(number, (float, complex)):
        return plain(number)
    return number if isinstance(number, int) else str(number)


def dtype_name(tensor: torch.Tensor) -> str:
    """`float64`, for a tensor of any shape."""
    return str(tensor.dtype).removeprefix("torch.")


def shape_text(tensor: torch.Tensor) -> str:
    """The shape of any tensor, as a learner would write it: `(3,)`."""
    return shape(tuple(tensor.shape))


def type_text(value: object) -> str:
    """Shape and dtype of a tensor, or how tensors are nested."""
    if isinstance(value, torch.Tensor):
        return f"{shape_text(value)} {dtype_name(value)}"
    return trees.structure(value)


def shortened(text: str) -> str:
    """A text that a submission can make as long as it likes, with an end."""
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 3]}..."


def describe(value: object) -> str:
    """An argument in a few words: shape, dtype and range for a tensor."""
    if isinstance(value, (list, tuple)):
        return ", ".join(describe(item) for item in value)
    if isinstance(value, torch.Tensor):
        name = dtype_name(value)
        odd = "" if value.is_contiguous() else ", not contiguous"
        return f"{shape_text(value)} {name}{_range(value)}{odd}{_bits(value)}"
    if isinstance(value, dict):
        parts = (f"{key} {_shapes(item)}" for key, item in value.items())
        return ", ".join(parts)
    return repr(value)


def _shapes(value: object) -> str:
    """The shapes of the tensors in a value."""
    tensors = [tensor for _, tensor in trees.parts(value)]
    return ", ".join(map(shape_text, tensors)) or repr(value)


def _bits(tensor: torch.Tensor) -> str:
    """The rows of a small bool matrix, as 1 and 0."""
    if tensor.dtype is not torch.bool or tensor.dim() != 2 or tensor.numel() > 64:
        return ""
    rows = ("".join(str(int(cell)) for cell in row) for row in tensor.tolist())
    return f": {' '.join(rows)}"


def _range(tensor: torch.Tensor) -> str:
    """The smallest and largest number, and whether some entries are no finite numbers."""
    numbers = tensor.detach()[torch.isfinite(tensor)]
    if not tensor.is_floating_point() or not numbers.numel():
        return ""
    ends = [float(number) for number in (numbers.min(), numbers.max())]
    low, high = (f"{number:.4g}" for number in ends)
    span = f", from {low} to {high}" if low != high else f", around {low}"
    span = f", all {low}" if ends[0] == ends[1] else span
    return span + (", and -inf" if bool(torch.isneginf(tensor).any()) else "")
