"""Known ways of getting the scale wrong, and some right ones that look odd."""

import math

import torch

from attention_katas.mistakes import harmless, mistake


def _scores(q, k, factor):
    return (q * factor) @ k.transpose(-2, -1)


@mistake(
    "does not scale at all",
    ask="What happens to the spread of the scores when d_k goes from 4 to 400?",
)
def no_scale(q, k):
    return q @ k.transpose(-2, -1)


@mistake(
    "divides by d_k itself, not by its square root",
    ask="The root keeps the spread constant; without it, where do all weights go as d_k grows?",
)
def divides_by_width(q, k):
    return _scores(q, k, 1 / q.size(-1))


@mistake(
    "divides by the root of the width of all heads together",
    ask="How many products does one score sum up: those of the whole width, or those of one head?",
)
def model_width(q, k):
    heads = q.size(-3) if q.dim() >= 4 else 1
    return _scores(q, k, (q.size(-1) * heads) ** -0.5)


@mistake(
    "divides by the root of the number of keys",
    ask="What does a longer sentence change about one dot product?",
)
def number_of_keys(q, k):
    return _scores(q, k, k.size(-2) ** -0.5)


@mistake(
    "divides by the root of the number of heads",
    ask="Which grows the spread of a dot product: how many heads there are, or how long a key is?",
)
def number_of_heads(q, k):
    return _scores(q, k, (q.size(-3) if q.dim() >= 3 else 1) ** -0.5)


@mistake(
    "multiplies by the root where it should divide",
    ask="The root is larger than 1. Do the scores have to become larger or smaller?",
)
def multiplies(q, k):
    return q @ k.transpose(-2, -1) * q.size(-1) ** 0.5


@mistake(
    "scales by the fourth root on one side only",
    ask="Two factors meet in each product; what do they multiply to in your code?",
)
def fourth_root_once(q, k):
    return _scores(q, k, q.size(-1) ** -0.25)


@mistake(
    "scales both operands by the full root: twice in all",
    ask="Follow one score from the inputs to the end: how many times is it divided?",
)
def scales_twice(q, k):
    root = q.size(-1) ** 0.5
    return (q / root) @ (k / root).transpose(-2, -1)


@mistake(
    "cuts the root down to a whole number",
    ask="What is the root of 5 in your code?",
)
def whole_number_root(q, k):
    return _scores(q, k, 1 / int(q.size(-1) ** 0.5))


@mistake(
    "rounds the divided scores down",
    ask="Are scores whole numbers? What does // do to 0.7?",
)
def floor_division(q, k):
    return q @ k.transpose(-2, -1) // q.size(-1) ** 0.5


@mistake(
    "divides by a constant that fits one width only",
    ask="Your constant fits vectors of 64 entries; what should it be for others?",
)
def constant_eight(q, k):
    return _scores(q, k, 1 / 8)


@mistake(
    "scales the caller's queries in place",
    ask="Call your function twice with the same tensors. Why would the second answer differ?",
)
def changes_its_input(q, k):
    q /= q.size(-1) ** 0.5
    return q @ k.transpose(-2, -1)


@mistake(
    "comes back in double precision",
    ask="Which dtype has your divisor, and what does it do to the scores?",
)
def always_double(q, k):
    return q @ k.transpose(-2, -1) / torch.tensor([q.size(-1)], dtype=torch.float64).sqrt()


@mistake(
    "multiplies in half precision first: overflows where the scaled scores would fit",
    ask="Both orders agree on paper; which one has to hold a number too large for the format?",
)
def divides_last(q, k):
    return q @ k.transpose(-2, -1) * q.size(-1) ** -0.5


@mistake(
    "takes the width from the wrong axis",
    ask="Which axis of q holds the entries of one query?",
)
def wrong_axis(q, k):
    return _scores(q, k, q.size(-2) ** -0.5)


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
