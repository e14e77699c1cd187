"""Known mistakes in the scale, and right answers that look unusual."""

import math

import torch

from attention_katas.authoring import formula, harmless, mistake


def _last_two(k):
    return k.transpose(-2, -1)


@formula
def _scores(q, k, *, scale=None, turn=_last_two, late=False):
    scale = q.size(-1) ** -0.5 if scale is None else scale
    return q @ turn(k) * scale if late else (q * scale) @ turn(k)


@mistake(
    "does not scale at all",
    question="What happens to the spread of the scores when d_k goes from 4 to 400?",
    hint="Where to look",
)
def no_scale(q, k):
    return _scores(q, k, scale=1.0)


@mistake(
    "divides by d_k, not by its square root",
    question="The square root keeps the spread constant. Without it, what happens to the weights?",
    hint="Which number",
)
def divides_by_width(q, k):
    return _scores(q, k, scale=1 / q.size(-1))


@mistake(
    "divides by the square root of the width of all heads together",
    question="How many products does one score sum: those of the whole width, or of one head?",
    hint="Which number",
)
def model_width(q, k):
    heads = q.size(-3) if q.dim() >= 4 else 1
    return _scores(q, k, scale=(q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the square root of the width of all heads together",
    question="How many products does one score sum: those of the whole width, or of one head?",
    hint="Which number",
    same_as="model-width",
)
def model_width_of_four_axes(q, k):
    heads = q.size(1) if q.dim() == 4 else 1
    return _scores(q, k, scale=(q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the square root of the width of all heads together",
    question="How many products does one score sum: those of the whole width, or of one head?",
    hint="Which number",
    same_as="model-width",
)
def model_width_of_three_axes(q, k):
    heads = q.size(-3) if q.dim() >= 3 else 1
    return _scores(q, k, scale=(q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the square root of the number of keys",
    question="What does a longer sentence change about one dot product?",
    hint="Which number",
)
def number_of_keys(q, k):
    return _scores(q, k, scale=k.size(-2) ** -0.5)


@mistake(
    "divides by the square root of the number of heads",
    question=(
        "What makes the spread of a dot product grow: the number of heads, or the width of a key?"
    ),
    hint="Which number",
)
def number_of_heads(q, k):
    return _scores(q, k, scale=(q.size(-3) if q.dim() >= 3 else 1) ** -0.5)


@mistake(
    "divides by the square root of the number of heads",
    question=(
        "What makes the spread of a dot product grow: the number of heads, or the width of a key?"
    ),
    hint="Which number",
    same_as="number-of-heads",
)
def number_of_heads_of_four_axes(q, k):
    return _scores(q, k, scale=(q.size(1) if q.dim() == 4 else 1) ** -0.5)


@mistake(
    "divides by the square root of the size of axis 1, whatever axis that is",
    question="Which axis of q holds the entries of one query, for any number of leading axes?",
    hint="Which number",
    shows="nothing",
)
def axis_one(q, k):
    return _scores(q, k, scale=q.size(1) ** -0.5)


@mistake(
    "multiplies by the square root instead of dividing",
    question="The square root is larger than 1. Should the scores become larger or smaller?",
    hint="Which number",
)
def multiplies(q, k):
    return _scores(q, k, scale=q.size(-1) ** 0.5)


@mistake(
    "scales by the fourth root on one side only",
    question="Each product has a factor from q and one from k. By what is their product scaled?",
    hint="Almost there",
)
def fourth_root_once(q, k):
    return _scores(q, k, scale=q.size(-1) ** -0.25)


@mistake(
    "divides both operands by the square root: divides the scores by d_k",
    question="Follow one score from the inputs to the end: how many times is it divided?",
    hint="Almost there",
    same_as="divides-by-width",
)
def scales_twice(q, k):
    root = q.size(-1) ** 0.5
    return (q / root) @ (k / root).transpose(-2, -1)


@mistake(
    "truncates the square root to an integer",
    question="What is the square root of 5 in your code?",
    hint="Which number",
)
def whole_number_root(q, k):
    return _scores(q, k, scale=1 / int(q.size(-1) ** 0.5))


@mistake(
    "rounds the scores down (floor division)",
    question="Are scores integers? What does // do to 0.7?",
    hint="Which number",
)
def floor_division(q, k):
    return q @ k.transpose(-2, -1) // q.size(-1) ** 0.5


@mistake(
    "divides by a constant that is right for one width only",
    question="Your constant is right for one d_k. What should it be for others?",
    hint="Which number",
)
def constant_eight(q, k):
    return _scores(q, k, scale=1 / 8)


@mistake(
    "scales the caller's queries in place",
    question="Call your function twice with the same tensors. Why does the second result differ?",
    hint="Almost there",
    shows="nothing",
)
def changes_its_input(q, k):
    q /= q.size(-1) ** 0.5
    return q @ k.transpose(-2, -1)


@mistake(
    "returns double precision",
    question="Which dtype does your divisor have, and which dtype do the scores get from it?",
    hint="Almost there",
    shows="nothing",
)
def always_double(q, k):
    return q @ k.transpose(-2, -1) / torch.tensor([q.size(-1)], dtype=torch.float64).sqrt()


@mistake(
    "multiplies in half precision first: overflows where the scaled scores would fit",
    question=(
        "Scale first or multiply first: which order has an intermediate result that overflows?"
    ),
    hint="Half precision",
    shows="nothing",
)
def divides_last(q, k):
    return _scores(q, k, late=True)


@mistake(
    "takes d_k from the wrong axis",
    question="Which axis of q holds the entries of one query?",
    hint="Which number",
)
def wrong_axis(q, k):
    return _scores(q, k, scale=q.size(-2) ** -0.5)


@mistake(
    "divides by the length of each vector: a cosine, not a dot product",
    question="If a query becomes twice as long, should its scores stay the same?",
    hint="Which number",
)
def cosine(q, k):
    return _scores(q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True), scale=1.0)


@mistake(
    "swaps axes 1 and 2 of k: right only without a head axis",
    question="With a head axis in front, does axis 1 still hold the keys?",
    shows="nothing",
)
def counts_axes_from_the_front(q, k):
    return _scores(q, k, turn=lambda k: k.transpose(1, 2) if k.dim() > 2 else k.transpose(0, 1))


@mistake(
    "reverses every axis of k, not only the last two",
    question="With a batch axis in front, which two axes should be swapped, and which must stay?",
    shows="nothing",
)
def reverses_all_axes(q, k):
    return _scores(q, k, turn=lambda k: k.permute(*range(k.dim() - 1, -1, -1)))


@mistake(
    "reshapes k instead of transposing it",
    question="Does a reshape move a key from a row to a column?",
)
def reshapes_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.reshape(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "reshapes k instead of transposing it",
    question="Does a reshape move a key from a row to a column?",
    same_as="reshapes-instead-of-transposing",
)
def views_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.view(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "multiplies without transposing k",
    question="Which axes does a matrix product sum over, and what does that axis of your k hold?",
)
def no_transpose(q, k):
    return _scores(q, k, turn=lambda k: k)


@mistake(
    "multiplies in the wrong order: the rows of the result are keys",
    question="Take q and k of different lengths. Does row i of the result belong to query i?",
)
def keys_times_queries(q, k):
    return _scores(k, q)


@mistake(
    "detaches the scores from the graph",
    question="Your values are right. Does a gradient of the loss reach q and k?",
    hint="Almost there",
    shows="gradient",
)
def detached(q, k):
    return _scores(q.detach(), k.detach())


@harmless("scales both operands by the fourth root")
def fourth_root_twice(q, k):
    root = q.size(-1) ** -0.25
    return (q * root) @ (k * root).transpose(-2, -1)


@harmless("scales the keys instead of the queries")
def scales_the_keys(q, k):
    return q @ (k * k.size(-1) ** -0.5).transpose(-2, -1)


@harmless("divides by a 0-d tensor: its square root is float32")
def tensor_root(q, k):
    return (q / torch.sqrt(torch.tensor(q.size(-1)))) @ k.transpose(-2, -1)


@harmless("works in float32 where the input is half, and rounds back")
def float_inside(q, k):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    return (q.to(wide) @ k.to(wide).transpose(-2, -1) / math.sqrt(q.size(-1))).to(q.dtype)


@harmless("writes it as an einsum")
def einsum(q, k):
    return torch.einsum("...id,...jd->...ij", q / math.sqrt(q.size(-1)), k)
