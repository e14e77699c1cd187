"""Known mistakes in softmax, and right answers that look unusual."""

import torch

from attention_katas.authoring import formula, harmless, mistake


def _shares(e, dim):
    return e / e.sum(dim, keepdim=True)


def _shifted(x, dim):
    return torch.exp(x - x.amax(dim, keepdim=True))


def _row_maximum(x, dim):
    return x.amax(dim, keepdim=True)


@formula
def _softmax(x, dim, *, axis=None, shift=_row_maximum, power=torch.exp, share=_shares):
    dim = dim if axis is None else axis(x, dim)
    return share(power(x - shift(x, dim)), dim)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a whole row so that the largest exponent is 0?",
    hint="Scores of a thousand",
    shows="overflow",
)
def no_maximum(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: 0.0)


@mistake(
    "subtracts the maximum of the whole tensor: rows far below it become 0/0",
    question="Every row needs its own shift. From which row does your maximum come?",
    hint="Scores of a thousand",
    shows="nothing",
)
def one_maximum_for_all(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.max())


@mistake(
    "subtracts the mean: a single large score still overflows",
    question="After your shift, how large can the largest exponent still be?",
    hint="Scores of a thousand",
    shows="overflow",
)
def subtracts_the_mean(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.mean(dim, keepdim=True))


@mistake(
    "subtracts the minimum: the largest score still overflows",
    question="After your shift, how large can the largest exponent still be?",
    hint="Scores of a thousand",
    shows="overflow",
)
def subtracts_the_minimum(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.amin(dim, keepdim=True))


@mistake(
    "subtracts at least 0: rows of very negative scores become 0/0",
    question="In a row of very negative scores, which score should become 0 after the shift?",
    hint="Scores of a thousand",
    shows="nothing",
)
def maximum_clamped_at_zero(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.amax(dim, keepdim=True).clamp(min=0))


@mistake(
    "ignores dim and always takes the last axis",
    question="Where does your function use dim?",
    hint="Which axis",
    shows="nothing",
)
def ignores_dim(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: -1)


@mistake(
    "normalises over the queries instead of the keys",
    question="Along which axis must the weights of one query sum to 1?",
    hint="Which axis",
)
def second_to_last_axis(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: dim - 1 if x.dim() > 1 and dim == -1 else dim)


@mistake(
    "normalises over the queries instead of the keys",
    question="Along which axis must the weights of one query sum to 1?",
    hint="Which axis",
    same_as="second-to-last-axis",
)
def always_second_to_last_axis(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: -2)


@mistake(
    "normalises over the first axis",
    question="With one sequence in the batch, how many numbers are normalised together?",
    hint="Which axis",
)
def first_axis(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: 0)


@mistake(
    "always takes axis 1: right for a matrix, but with four axes, axis 1 holds the heads",
    question="With a head axis in front, does your axis still hold the keys?",
    hint="Which axis",
    shows="nothing",
)
def axis_one(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: min(1, x.dim() - 1))


@mistake(
    "always takes axis 1: right for a matrix, but with four axes, axis 1 holds the heads",
    question="With a head axis in front, does your axis still hold the keys?",
    hint="Which axis",
    same_as="axis-one",
)
def axis_one_always(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: 1)


@mistake(
    "always takes axis 1: right for a matrix, but with four axes, axis 1 holds the heads",
    question="With a head axis in front, does your axis still hold the keys?",
    hint="Which axis",
    same_as="axis-one",
)
def axis_one_by_default(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: 1 if dim == -1 else dim)


@mistake(
    "leaves dim to PyTorch's old default: axis 0 for one or three axes, else axis 1",
    question="Which axis does softmax take without dim, and does it depend on the number of axes?",
    hint="Which axis",
    shows="nothing",
)
def old_default_axis(x, dim=-1):
    return _softmax(x, dim, axis=lambda x, dim: 0 if x.dim() in (1, 3) else 1)


@mistake(
    "normalises over the whole tensor at once",
    question="How many rows of weights are there, and what should each sum to?",
    hint="Which axis",
    shows="rows",
)
def over_everything(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.max(), share=lambda e, dim: e / e.sum())


@mistake(
    "divides by the sum of the whole tensor, not of each slice along dim",
    question="Sum one row of your weights. Which step should make that sum 1?",
    hint="Which axis",
    shows="rows",
)
def sum_of_everything(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e / e.sum())


@mistake(
    "uses row maxima and row sums that lost their axis (no keepdim): they line up with columns",
    question="After amax and sum, does the number of row i still line up with row i?",
    hint="Which axis",
    shows="rows",
)
def no_keepdim(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.amax(dim), share=lambda e, dim: e / e.sum(dim))


@mistake(
    "divides by row sums that lost their axis (no keepdim), so they line up with columns",
    question="After the sum, does the number of row i still line up with row i?",
    hint="Which axis",
    shows="rows",
)
def no_keepdim_in_the_sum(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e / e.sum(dim))


@mistake(
    "does not divide by the sum of the exponentials",
    question="Sum one row. Which step is missing to make it 1?",
    hint="Where to look",
)
def no_division(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e)


@mistake(
    "divides by the largest exponential instead of their sum",
    question="Sum one row. What should it be, and what do you divide by?",
    hint="Where to look",
    same_as="no-division",
)
def divides_by_the_maximum(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e / e.amax(dim, keepdim=True))


@mistake(
    "returns the scores as weights",
    question="Can a weight be negative?",
    hint="Where to look",
)
def no_softmax(x, dim=-1):
    return x.clone()


@mistake(
    "divides the scores by their sum, without exponentials",
    question="What happens to your weights when a score is negative?",
    hint="Where to look",
)
def no_exponential(x, dim=-1):
    return _shares(x, dim)


@mistake(
    "normalises over a new axis of length one: every weight is 1",
    question="If you normalise one number by itself, what do you always get?",
    hint="Which axis",
)
def axis_of_length_one(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e / e)


@mistake(
    "takes powers of two instead of powers of e",
    question="Which base does softmax use, and how does another base change the weights?",
    hint="Where to look",
)
def powers_of_two(x, dim=-1):
    return _softmax(x, dim, power=torch.exp2)


@mistake(
    "negates the scores: the lowest score gets the largest weight",
    question="Which score should get the largest weight, and which one does?",
    hint="Where to look",
)
def minus_the_scores(x, dim=-1):
    return _softmax(-x, dim)


@mistake(
    "returns the logarithms of the weights (log-softmax)",
    question="Can a weight be negative? What is the inverse of a logarithm?",
    hint="Where to look",
)
def logarithms(x, dim=-1):
    return x - x.logsumexp(dim, keepdim=True)


@mistake(
    "adds a small constant to the sum instead of subtracting the maximum",
    question="For a row of very negative scores, how large is the sum compared with your constant?",
    hint="Scores of a thousand",
)
def epsilon_instead_of_maximum(x, dim=-1):
    e = torch.exp(x.clamp(max=80))
    return e / (e.sum(dim, keepdim=True) + 1e-2)


@mistake(
    "adds 1 to the sum: the weights of a row sum to less than one",
    question="The shift scales exponentials and sum by the same factor. Is the added 1 scaled too?",
    hint="Where to look",
)
def one_too_many(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e / (1 + e.sum(dim, keepdim=True)))


@mistake(
    "works in place: overwrites the caller's scores",
    question="Call your function twice with the same tensor. Why does the second result differ?",
    hint="Almost there",
    shows="nothing",
)
def in_place(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    return _shares(x.exp(), dim)


@mistake(
    "detaches the result from the graph",
    question="Take a loss that depends on the weights. Does a gradient reach the scores?",
    hint="Almost there",
    shows="gradient",
)
def detached(x, dim=-1):
    return _softmax(x.detach(), dim)


@mistake(
    "always returns float32",
    question="Which dtype do the scores have, and which do your weights have?",
    hint="Almost there",
    shows="nothing",
)
def always_float32(x, dim=-1):
    return _softmax(x.float(), dim)


@mistake(
    "replaces NaN by zero instead of avoiding it",
    question="Your rows are finite now. Do they still sum to 1?",
    hint="Scores of a thousand",
)
def nan_to_zero(x, dim=-1):
    return torch.nan_to_num(_shares(torch.exp(x), dim), nan=0.0, posinf=0.0)


@mistake(
    "creates a tensor on the default device, whatever the device of its input",
    question="On which device does torch create a tensor when you name no device?",
    shows="nothing",
)
def default_device(x, dim=-1):
    e = _shifted(x, dim)
    return e / (e.sum(dim, keepdim=True) + torch.zeros([1] * x.dim()).to(x.dtype))


@harmless("detaches the maximum: it cancels, so the gradients are right")
def detached_maximum(x, dim=-1):
    return _softmax(x, dim, shift=lambda x, dim: x.amax(dim, keepdim=True).detach())


@harmless("adds 1e-9 to the sum, which is at least 1 after the shift")
def tiny_epsilon(x, dim=-1):
    return _softmax(x, dim, share=lambda e, dim: e / (e.sum(dim, keepdim=True) + 1e-9))


@harmless("uses logsumexp")
def through_logsumexp(x, dim=-1):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))


@harmless("works in double precision and rounds back")
def double_inside(x, dim=-1):
    return _shares(_shifted(x.double(), dim), dim).to(x.dtype)


@harmless("moves the axis to the end and back")
def moves_the_axis(x, dim=-1):
    y = x.transpose(dim, -1)
    return _shares(_shifted(y, -1), -1).transpose(dim, -1)


@harmless("takes the maximum with max() and its indices")
def max_with_indices(x, dim=-1):
    return _shares(torch.exp(x - x.max(dim, keepdim=True).values), dim)


@harmless("loops over the slices")
def one_slice_at_a_time(x, dim=-1):
    y = x.movedim(dim, -1)
    rows = [_shares(_shifted(row, -1), -1) for row in y.reshape(-1, y.size(-1))]
    return torch.stack(rows).reshape(y.shape).movedim(-1, dim)
