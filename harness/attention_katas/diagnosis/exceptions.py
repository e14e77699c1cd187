"""What an exception says about the axes that met, in the words of the kata.

torch names sizes; a learner thinks in axes. All sizes differ in most checks, so that a size tells
which axis it is. Nothing is guessed: where a message is not known, nothing is said.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping

import torch

from attention_katas.judge.proxy import Call

Sizes = Callable[[int], str]


def explain(call: Call, reference: Callable[..., object], axes: Mapping[str, str]) -> str:
    """What the exception of this call means, or "".

    axes: the names of the axes of each input, from the right: {"q": "H T_q d_k"}.
    """
    raised = call.raised
    if raised is None:
        return ""
    named = _sizes(call, reference, axes)
    text = f"{raised.type}: {raised.message}"
    for pattern, words in EXPLAINED:
        found = re.search(pattern, text)
        if found:
            return words(found, named)
    return ""


def _sizes(call: Call, reference: Callable[..., object], axes: Mapping[str, str]) -> Sizes:
    """Puts a size into words: "5 (T_k)"; only as a number when two axes share it."""
    parameters = list(inspect.signature(reference).parameters)
    given = [*zip(parameters, call.args, strict=False), *call.kwargs.items()]
    known: dict[int, set[str]] = {}
    for name, value in given:
        if isinstance(value, torch.Tensor) and name in axes:
            names = axes[name].split()
            for size, axis in zip(reversed(value.shape), reversed(names), strict=False):
                known.setdefault(size, set()).add(axis)
        elif isinstance(value, int) and not isinstance(value, bool) and name in axes:
            known.setdefault(value, set()).add(axes[name])
    if "D" in axes.values() or any("D" in text.split() for text in axes.values()):
        _add_head_width(known)

    def say(size: int) -> str:
        names = known.get(size, set())
        return f"{size} ({min(names)})" if len(names) == 1 else str(size)

    return say


def _add_head_width(known: dict[int, set[str]]) -> None:
    widths = [size for size, names in known.items() if "D" in names]
    heads = [size for size, names in known.items() if "H" in names]
    if widths and heads and heads[0] and widths[0] % heads[0] == 0:
        known.setdefault(widths[0] // heads[0], set()).add("D/H")


def _product(left: str, right: str) -> str:
    if left == right:
        return ""
    return (
        "a matrix product adds up over the last axis of its left operand and the second to last of "
        f"its right one, so these two have to be equal; here {left} met {right}"
    )


def _mat(found: re.Match[str], say: Sizes) -> str:
    return _product(say(int(found[2])), say(int(found[3])))


def _batched(found: re.Match[str], say: Sizes) -> str:
    batch, inner, other_batch, other = (int(number) for number in found.groups())
    if batch != other_batch:
        return (
            "the axes in front of the last two say which matrices belong together; "
            f"{batch} on the left met {other_batch} on the right"
        )
    return _product(say(inner), say(other))


def _broadcast(found: re.Match[str], say: Sizes) -> str:
    one, other, axis = int(found[1]), int(found[2]), found[3]
    return (
        f"where two tensors met, axis {axis} of one has size {say(one)}, of the other "
        f"{say(other)}; which axis of each should stand there?"
    )


def _einsum(found: re.Match[str], say: Sizes) -> str:
    return (
        f"in the einsum the letter {found[1]} stands for two axes of different size: "
        f"{say(int(found[3]))} and {say(int(found[2]))}; axes that differ need letters of their own"
    )


def _letters(found: re.Match[str], say: Sizes) -> str:
    return (
        f"the einsum names {found[1]} axes of an operand that has {found[2]}; "
        "'...' stands for any number of axes in front"
    )


def _shape(found: re.Match[str], say: Sizes) -> str:
    sizes = [int(number) for number in re.findall(r"-?\d+", found[1])]
    product = 1
    for size in sizes:
        product *= size
    shown = ", ".join(map(str, sizes))
    if -1 in sizes:
        return f"{found[2]} entries do not fit the shape ({shown}), whatever stands for -1"
    return f"the shape ({shown}) holds {product} entries; the tensor has {found[2]}"


def _expanded(found: re.Match[str], say: Sizes) -> str:
    return (
        f"an axis of size {say(int(found[2]))} cannot become one of {say(int(found[1]))} "
        f"(axis {found[3]}): only axes of size 1 can be expanded"
    )


def _axis(found: re.Match[str], say: Sizes) -> str:
    return (
        f"there is no axis {found[2]}: this tensor has axes {found[1].replace(', ', ' to ')}. "
        "Axes counted from the end (-1, -2) are there however many stand in front"
    )


def _plain(text: str) -> Callable[[re.Match[str], Sizes], str]:
    return lambda found, say: text


TURNED = (
    "this view would have to run across axes that do not lie side by side in memory, as after a "
    "transpose; reshape copies where that is needed"
)
HALF = (
    "the number does not fit half precision (float16 ends at 65504); -inf fits every dtype, "
    "and so does torch.finfo(x.dtype).min"
)
DTYPES = "tensors of two dtypes met; what you make yourself needs the dtype of the inputs"
CUT = (
    "something that the way back needs was overwritten in place; "
    "write `x = x * 2`, not `x *= 2`, for what has a gradient"
)
FLAT = (
    ".t() is for matrices (F.linear applies it to its weight); for the last two axes of any tensor "
    "there is .transpose(-2, -1)"
)
BOOLEAN = (
    "a mask for masked_fill and where has to be of dtype bool; numbers do not say true or false"
)
NOT = "~ turns round truth values, not numbers; what dtype has your mask?"
ONE_TRUTH = "`if`, `and`, `or` and `not` want one truth value; for entries there are & | ~"

PAIR = (
    "x.max(dim) gives two things, the values and where they are; x.max(dim).values or x.amax(dim) "
    "gives the values alone"
)
NUMBER = "torch.sqrt and torch.exp take tensors; for a plain number there are math.sqrt and ** 0.5"
KEY = "the dict of weights has w_q, b_q, w_k, b_k, w_v, b_v, w_o and b_o"


def _permuted(found: re.Match[str], say: Sizes) -> str:
    return (
        f"the tensor has {found[1]} axes and {found[2]} are named; transpose(-2, -1) exchanges the "
        "last two, however many there are"
    )


EXPLAINED: tuple[tuple[str, Callable[[re.Match[str], Sizes], str]], ...] = (
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _mat),
    (
        r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        _batched,
    ),
    (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*n (\d+)", _broadcast),
    (
        r"subscript (\w) has size (\d+) for operand \d+ which does not broadcast "
        r"with previously seen size (\d+)",
        _einsum,
    ),
    (
        r"number of subscripts in the equation \((\d+)\) does not match "
        r"the number of dimensions \((\d+)\)",
        _letters,
    ),
    (r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", _shape),
    (
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\).*?n (\d+)",
        _expanded,
    ),
    (r"expected to be in range of \[([-\d, ]+)\], but got (-?\d+)", _axis),
    (r"input.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)", _permuted),
    (r"torch\.return_types\.(max|min)", _plain(PAIR)),
    (r"argument 'input' \(position 1\) must be Tensor, not (int|float)", _plain(NUMBER)),
    (r"KeyError: '[wWbB]_?[qkvoQKVO]", _plain(KEY)),
    (r"view size is not compatible", _plain(TURNED)),
    (r"cannot be converted to type .*Half without overflow", _plain(HALF)),
    (r"expected scalar type|to have the same dtype|same dtype, but got", _plain(DTYPES)),
    (r"modified by an inplace operation", _plain(CUT)),
    (r"t\(\) expects a tensor with <= 2 dimensions", _plain(FLAT)),
    (r"only supports boolean masks|expected condition to be a boolean", _plain(BOOLEAN)),
    (r"~ \(operator.invert\) is only implemented|bitwise_not", _plain(NOT)),
    (r"Boolean value of Tensor with more than one value", _plain(ONE_TRUTH)),
)
