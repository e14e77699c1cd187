"""Known ways of getting softmax wrong, and some right ones that look odd."""

import torch

from attention_katas.mistakes import harmless, mistake


def _shares(e, dim):
    return e / e.sum(dim, keepdim=True)


def _shifted(x, dim):
    return torch.exp(x - x.amax(dim, keepdim=True))


@mistake(
    "takes exponentials of the raw scores, which overflow",
    ask="What can you subtract from a whole row so that the largest exponent is 0?",
)
def no_maximum(x, dim=-1):
    return _shares(torch.exp(x), dim)


@mistake(
    "subtracts the maximum of the whole tensor: rows far below it underflow to 0/0",
    ask="The shift must be safe for every row; which row is your maximum taken from?",
)
def one_maximum_for_all(x, dim=-1):
    return _shares(torch.exp(x - x.max()), dim)


@mistake(
    "subtracts the mean: a lone large score still overflows",
    ask="After your shift, how large can the largest exponent still be?",
)
def subtracts_the_mean(x, dim=-1):
    return _shares(torch.exp(x - x.mean(dim, keepdim=True)), dim)


@mistake(
    "never subtracts less than zero: rows of very negative scores become 0/0",
    ask="For a row of large negative numbers, which number should become 0 after the shift?",
)
def maximum_clamped_at_zero(x, dim=-1):
    return _shares(torch.exp(x - x.amax(dim, keepdim=True).clamp(min=0)), dim)


@mistake(
    "ignores dim and always takes the last axis",
    ask="Your function was told an axis. Where does it use it?",
)
def ignores_dim(x, dim=-1):
    return _shares(_shifted(x, -1), -1)


@mistake(
    "normalises over the queries instead of the keys",
    ask="Each query asks for a mixture; along which axis must its weights add up to 1?",
)
def second_to_last_axis(x, dim=-1):
    dim = dim - 1 if x.dim() > 1 and dim == -1 else dim
    return _shares(_shifted(x, dim), dim)


@mistake(
    "normalises over the first axis",
    ask="With one sample in the batch, how many numbers are normalised together?",
)
def first_axis(x, dim=-1):
    return _shares(_shifted(x, 0), 0)


@mistake(
    "fixes the axis at 1: right for a matrix, heads once there are four axes",
    ask="If somebody adds a head axis, does your axis still mean keys?",
)
def axis_one(x, dim=-1):
    dim = min(1, x.dim() - 1)
    return _shares(_shifted(x, dim), dim)


@mistake(
    "normalises over the whole tensor at once",
    ask="How many rows of weights are there, and what should each add up to?",
)
def over_everything(x, dim=-1):
    e = torch.exp(x - x.max())
    return e / e.sum()


@mistake(
    "shifts along dim, but divides by the sum of everything",
    ask="Add up one row of your weights. Which step was to make that 1?",
)
def sum_of_everything(x, dim=-1):
    e = _shifted(x, dim)
    return e / e.sum()


@mistake(
    "reduces without keeping the axis: row sums line up with columns",
    ask="After the reduction, is the number of row i still lined up with row i?",
)
def no_keepdim(x, dim=-1):
    e = torch.exp(x - x.amax(dim))
    return e / e.sum(dim)


@mistake(
    "takes exponentials and never divides", ask="Add up one row. What is missing to make it 1?"
)
def no_division(x, dim=-1):
    return _shifted(x, dim)


@mistake("gives the scores back as weights", ask="Can a share be negative?")
def no_softmax(x, dim=-1):
    return x.clone()


@mistake(
    "divides the scores by their sum, without exponentials",
    ask="What happens to your weights when a score is negative?",
)
def no_exponential(x, dim=-1):
    return _shares(x, dim)


@mistake(
    "normalises over a new axis of length one: every weight is 1",
    ask="If you normalise a single number, what do you always get?",
)
def axis_of_length_one(x, dim=-1):
    y = x.unsqueeze(-1)
    return _shares(_shifted(y, -1), -1).squeeze(-1)


@mistake(
    "takes powers of two instead of powers of e",
    ask="Which base does softmax have, and what does another one do to how sharp it is?",
)
def powers_of_two(x, dim=-1):
    return _shares(torch.exp2(x - x.amax(dim, keepdim=True)), dim)


@mistake(
    "puts a small constant under the division instead of subtracting the maximum",
    ask="How large is your sum for a row of very negative scores, beside your constant?",
)
def epsilon_instead_of_maximum(x, dim=-1):
    e = torch.exp(x.clamp(max=80))
    return e / (e.sum(dim, keepdim=True) + 1e-2)


@mistake(
    "adds 1 to the sum: the weights of a row sum to less than one",
    ask="Your shift multiplies above and below alike; does the added 1 get that factor too?",
)
def one_too_many(x, dim=-1):
    e = _shifted(x, dim)
    return e / (1 + e.sum(dim, keepdim=True))


@mistake(
    "works in place: the caller's scores are overwritten",
    ask="Call your function twice with the same tensor. Why would the second answer differ?",
)
def in_place(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    return _shares(x.exp(), dim)


@mistake(
    "cuts the result off from the graph",
    ask="Take a loss that depends on the weights; does a gradient arrive?",
)
def detached(x, dim=-1):
    return _shares(_shifted(x, dim), dim).detach()


@mistake(
    "always answers in float32",
    ask="Which dtype did the scores have, and which do your weights have?",
)
def always_float32(x, dim=-1):
    return _shares(_shifted(x.float(), dim), dim)


@mistake(
    "replaces what is not a number by zero instead of avoiding it",
    ask="Your rows are finite now. Do they still sum to 1?",
)
def nan_to_zero(x, dim=-1):
    return torch.nan_to_num(_shares(torch.exp(x), dim), nan=0.0, posinf=0.0)


@mistake(
    "makes a tensor on the default device, wherever its input lives",
    ask="On which device does a tensor live that you make from nothing?",
)
def default_device(x, dim=-1):
    e = _shifted(x, dim)
    return e / (e.sum(dim, keepdim=True) + torch.zeros([1] * x.dim()).to(x.dtype))


@harmless("detaches the maximum: it cancels, so no gradient is lost")
def detached_maximum(x, dim=-1):
    return _shares(torch.exp(x - x.amax(dim, keepdim=True).detach()), dim)


@harmless("adds 1e-9 to the sum, which is at least 1 after the shift")
def tiny_epsilon(x, dim=-1):
    e = _shifted(x, dim)
    return e / (e.sum(dim, keepdim=True) + 1e-9)


@harmless("goes through logsumexp")
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


@harmless("goes through the slices one at a time")
def one_slice_at_a_time(x, dim=-1):
    y = x.movedim(dim, -1)
    rows = [_shares(_shifted(row, -1), -1) for row in y.reshape(-1, y.size(-1))]
    return torch.stack(rows).reshape(y.shape).movedim(-1, dim)
