"""What an exception says about the axes that met.

torch names sizes; a learner thinks in axes. All sizes differ in most checks, so that a size tells
which axis it is. Nothing is guessed: where a message is not known, there is no symptom.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping

import torch

from attention_katas.judge.proxy import Call
from attention_katas.verdict import symptoms as s

Named = Callable[[int], s.Size]
Reading = Callable[[re.Match[str], Named], "s.Symptom | None"]


def explain(
    call: Call, reference: Callable[..., object], axes: Mapping[str, str]
) -> s.Symptom | None:
    """What the exception of this call means, if its message is a known one.

    axes: the names of the axes of each input, from the right: {"q": "H T_q d_k"}.
    """
    raised = call.raised
    if raised is None:
        return None
    text = f"{raised.type}: {raised.message}"
    for pattern, reading in KNOWN:
        match = re.search(pattern, text)
        if match:
            return reading(match, _named(call, reference, axes))
    return None


def _named(call: Call, reference: Callable[..., object], axes: Mapping[str, str]) -> Named:
    """Adds the name of its axis to a size; none when two axes share it."""
    parameters = list(inspect.signature(reference).parameters)
    arguments = [*zip(parameters, call.args, strict=False), *call.kwargs.items()]
    names_of: dict[int, set[str]] = {}
    for name, value in arguments:
        if isinstance(value, torch.Tensor) and name in axes:
            names = axes[name].split()
            for size, axis in zip(reversed(value.shape), reversed(names), strict=False):
                names_of.setdefault(size, set()).add(axis)
        elif isinstance(value, int) and not isinstance(value, bool) and name in axes:
            names_of.setdefault(value, set()).add(axes[name])
    if any("D" in text.split() for text in axes.values()):
        _add_head_width(names_of)

    def named(size: int) -> s.Size:
        names = names_of.get(size, set())
        return s.Size(size, min(names) if len(names) == 1 else "")

    return named


def _add_head_width(names_of: dict[int, set[str]]) -> None:
    widths = [size for size, names in names_of.items() if "D" in names]
    heads = [size for size, names in names_of.items() if "H" in names]
    if widths and heads and heads[0] and widths[0] % heads[0] == 0:
        names_of.setdefault(widths[0] // heads[0], set()).add("D/H")


def _product(left: s.Size, right: s.Size) -> s.Symptom | None:
    return None if left == right else s.InnerSizesDiffer(left, right)


def _batched(match: re.Match[str], named: Named) -> s.Symptom | None:
    left, inner, right, rows = map(int, match.groups())
    if left != right:
        return s.BatchSizesDiffer(left, right)
    return _product(named(inner), named(rows))


def _shape(match: re.Match[str], named: Named) -> s.Symptom:
    sizes = tuple(map(int, re.findall(r"-?\d+", match[1])))
    return s.ShapeHoldsOther(sizes, entries=int(match[2]))


def _axis(match: re.Match[str], named: Named) -> s.Symptom:
    return s.NoSuchAxis(int(match[3]), first=int(match[1]), last=int(match[2]))


KNOWN: tuple[tuple[str, Reading], ...] = (
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        lambda match, named: _product(named(int(match[2])), named(int(match[3]))),
    ),
    (
        r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        _batched,
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*n (\d+)",
        lambda match, named: s.BroadcastSizesDiffer(
            named(int(match[1])), named(int(match[2])), axis=int(match[3])
        ),
    ),
    (
        r"subscript (\w) has size (\d+) for operand \d+ which does not broadcast "
        r"with previously seen size (\d+)",
        lambda match, named: s.EinsumSizesDiffer(
            match[1], named(int(match[3])), named(int(match[2]))
        ),
    ),
    (
        r"number of subscripts in the equation \((\d+)\) does not match "
        r"the number of dimensions \((\d+)\)",
        lambda match, named: s.EinsumAxes(named=int(match[1]), actual=int(match[2])),
    ),
    (r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", _shape),
    (
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\).*?n (\d+)",
        lambda match, named: s.CannotExpand(
            size=named(int(match[2])), target=named(int(match[1])), axis=int(match[3])
        ),
    ),
    (r"expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)", _axis),
    (
        r"input.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)",
        lambda match, named: s.PermuteAxes(actual=int(match[1]), named=int(match[2])),
    ),
    (r"torch\.return_types\.(max|min)", lambda *_: s.Pitfall("max returns a pair")),
    (
        r"argument 'input' \(position 1\) must be Tensor, not (int|float)",
        lambda *_: s.Pitfall("number, not tensor"),
    ),
    (r"KeyError: '[wWbB]_?[qkvoQKVO]", lambda *_: s.Pitfall("name of a weight")),
    (r"view size is not compatible", lambda *_: s.Pitfall("view after transpose")),
    (
        r"cannot be converted to type .*Half without overflow",
        lambda *_: s.Pitfall("half overflows"),
    ),
    (
        r"expected scalar type|to have the same dtype|same dtype, but got",
        lambda *_: s.Pitfall("two dtypes"),
    ),
    (r"modified by an inplace operation", lambda *_: s.Pitfall("in-place and gradients")),
    (
        r"t\(\) expects a tensor with <= 2 dimensions",
        lambda *_: s.Pitfall("t of more than two axes"),
    ),
    (
        r"only supports boolean masks|expected condition to be a boolean",
        lambda *_: s.Pitfall("mask not bool"),
    ),
    (
        r"~ \(operator.invert\) is only implemented|bitwise_not",
        lambda *_: s.Pitfall("not of numbers"),
    ),
    (
        r"Boolean value of Tensor with more than one value",
        lambda *_: s.Pitfall("one truth value"),
    ),
)
