"""Known ways of getting the scale wrong, and some right ones that look odd."""

import math

import torch

from attention_katas.authoring.mistakes import formula, harmless, mistake


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
    "divides by d_k in all, not by its square root",
    question=(
        "The root keeps the spread constant; without it, where do all weights go as d_k grows?"
    ),
    hint="Which number",
)
def divides_by_width(q, k):
    return _scores(q, k, scale=1 / q.size(-1))


@mistake(
    "divides by the root of the width of all heads together",
    question=(
        "How many products does one score sum up: those of the whole width, or those of one head?"
    ),
    hint="Which number",
)
def model_width(q, k):
    heads = q.size(-3) if q.dim() >= 4 else 1
    return _scores(q, k, scale=(q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the root of the width of all heads together",
    question=(
        "How many products does one score sum up: those of the whole width, or those of one head?"
    ),
    hint="Which number",
    same_as="model-width",
)
def model_width_of_four_axes(q, k):
    heads = q.size(1) if q.dim() == 4 else 1
    return _scores(q, k, scale=(q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the root of the width of all heads together",
    question=(
        "How many products does one score sum up: those of the whole width, or those of one head?"
    ),
    hint="Which number",
    same_as="model-width",
)
def model_width_of_three_axes(q, k):
    heads = q.size(-3) if q.dim() >= 3 else 1
    return _scores(q, k, scale=(q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the root of the number of keys",
    question="What does a longer sentence change about one dot product?",
    hint="Which number",
)
def number_of_keys(q, k):
    return _scores(q, k, scale=k.size(-2) ** -0.5)


@mistake(
    "divides by the root of the number of heads",
    question=(
        "Which grows the spread of a dot product: how many heads there are, or how long a key is?"
    ),
    hint="Which number",
)
def number_of_heads(q, k):
    return _scores(q, k, scale=(q.size(-3) if q.dim() >= 3 else 1) ** -0.5)


@mistake(
    "divides by the root of the number of heads",
    question=(
        "Which grows the spread of a dot product: how many heads there are, or how long a key is?"
    ),
    hint="Which number",
    same_as="number-of-heads",
)
def number_of_heads_of_four_axes(q, k):
    return _scores(q, k, scale=(q.size(1) if q.dim() == 4 else 1) ** -0.5)


@mistake(
    "divides by the root of the size of axis 1, whatever that is",
    question=(
        "Which axis of q holds the entries of one query, however many axes there are in front?"
    ),
    hint="Which number",
)
def axis_one(q, k):
    return _scores(q, k, scale=q.size(1) ** -0.5)


@mistake(
    "multiplies by the root where it should divide",
    question="The root is larger than 1. Do the scores have to become larger or smaller?",
    hint="Which number",
)
def multiplies(q, k):
    return _scores(q, k, scale=q.size(-1) ** 0.5)


@mistake(
    "scales by the fourth root on one side only",
    question="Two factors meet in each product; what do they multiply to in your code?",
    hint="Almost there",
)
def fourth_root_once(q, k):
    return _scores(q, k, scale=q.size(-1) ** -0.25)


@mistake(
    "scales both operands by the full root: twice in all",
    question="Follow one score from the inputs to the end: how many times is it divided?",
    hint="Almost there",
    same_as="divides-by-width",
)
def scales_twice(q, k):
    root = q.size(-1) ** 0.5
    return (q / root) @ (k / root).transpose(-2, -1)


@mistake(
    "cuts the root down to a whole number",
    question="What is the root of 5 in your code?",
    hint="Which number",
)
def whole_number_root(q, k):
    return _scores(q, k, scale=1 / int(q.size(-1) ** 0.5))


@mistake(
    "rounds the divided scores down",
    question="Are scores whole numbers? What does // do to 0.7?",
    hint="Which number",
)
def floor_division(q, k):
    return q @ k.transpose(-2, -1) // q.size(-1) ** 0.5


@mistake(
    "divides by a constant that fits one width only",
    question="Your constant fits vectors of 64 entries; what should it be for others?",
    hint="Which number",
)
def constant_eight(q, k):
    return _scores(q, k, scale=1 / 8)


@mistake(
    "scales the caller's queries in place",
    question="Call your function twice with the same tensors. Why would the second answer differ?",
    hint="Almost there",
)
def changes_its_input(q, k):
    q /= q.size(-1) ** 0.5
    return q @ k.transpose(-2, -1)


@mistake(
    "comes back in double precision",
    question="Which dtype has your divisor, and what does it do to the scores?",
    hint="Almost there",
)
def always_double(q, k):
    return q @ k.transpose(-2, -1) / torch.tensor([q.size(-1)], dtype=torch.float64).sqrt()


@mistake(
    "multiplies in half precision first: overflows where the scaled scores would fit",
    question="Both orders agree on paper; which one has to hold a number too large for the format?",
    hint="Half precision",
)
def divides_last(q, k):
    return _scores(q, k, late=True)


@mistake(
    "takes the width from the wrong axis",
    question="Which axis of q holds the entries of one query?",
    hint="Which number",
)
def wrong_axis(q, k):
    return _scores(q, k, scale=q.size(-2) ** -0.5)


@mistake(
    "divides by how long each vector is: a cosine, whatever their lengths",
    question="If a query gets twice as long, should its scores stay as they are?",
    hint="Which number",
)
def cosine(q, k):
    return _scores(q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True), scale=1.0)


@mistake(
    "swaps axes 1 and 2 of k, which are the right ones only without a head axis",
    question="If somebody adds a head axis, does axis 1 still hold the keys?",
)
def counts_axes_from_the_front(q, k):
    return _scores(q, k, turn=lambda k: k.transpose(1, 2) if k.dim() > 2 else k.transpose(0, 1))


@mistake(
    "reverses every axis of k, not only the last two",
    question="With a batch in front, which two axes should change places, and which must stay?",
)
def reverses_all_axes(q, k):
    return _scores(q, k, turn=lambda k: k.permute(*range(k.dim() - 1, -1, -1)))


@mistake(
    "reshapes k where it has to be transposed",
    question="Does re-reading the same numbers in another shape move a key from a row to a column?",
)
def reshapes_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.reshape(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "reshapes k where it has to be transposed",
    question="Does re-reading the same numbers in another shape move a key from a row to a column?",
    same_as="reshapes-instead-of-transposing",
)
def views_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.view(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "multiplies without transposing k",
    question="Which axis does a matrix product add up over, and what stands there in your k?",
)
def no_transpose(q, k):
    return _scores(q, k, turn=lambda k: k)


@mistake(
    "multiplies the wrong way round: its rows are keys",
    question="Take two small unequal matrices: does row i of the result belong to query i?",
)
def keys_times_queries(q, k):
    return _scores(k, q)


@mistake(
    "cuts the scores off from the graph",
    question="Your numbers are right. Would the query weights ever hear about the loss?",
    hint="Almost there",
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


@harmless("divides by a 0-d tensor, whose root is float32")
def tensor_root(q, k):
    return (q / torch.sqrt(torch.tensor(q.size(-1)))) @ k.transpose(-2, -1)


@harmless("works in float32 where the input is half, and rounds back")
def float_inside(q, k):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    return (q.to(wide) @ k.to(wide).transpose(-2, -1) / math.sqrt(q.size(-1))).to(q.dtype)


@harmless("writes it as an einsum")
def einsum(q, k):
    return torch.einsum("...id,...jd->...ij", q / math.sqrt(q.size(-1)), k)
