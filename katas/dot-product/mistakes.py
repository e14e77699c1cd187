"""Known ways of getting the dot product of queries and keys wrong, and some odd right ones."""

import torch

from attention_katas.authoring.mistakes import formula, harmless, mistake


def _last_two(k):
    return k.transpose(-2, -1)


def _unit(x):
    return x / x.norm(dim=-1, keepdim=True)


@formula
def _scores(q, k, *, turn=_last_two):
    return q @ turn(k)


@mistake(
    "reverses every axis of k, not only the last two",
    question="With a batch in front, which two axes should change places, and which must stay?",
    hint="What must stay",
)
def reverses_all_axes(q, k):
    return _scores(q, k, turn=lambda k: k.permute(*range(k.dim() - 1, -1, -1)))


@mistake(
    "swaps the first two axes of k",
    question="Which axes of k hold the keys and their features: the first two, or the last two?",
    hint="What must stay",
)
def swaps_the_first_axes(q, k):
    return _scores(q, k, turn=lambda k: k.transpose(0, 1))


@mistake(
    "swaps axes 1 and 2 of k, which are the right ones only without a head axis",
    question="If somebody adds a head axis, does axis 1 still hold the keys?",
    hint="What must stay",
)
def counts_axes_from_the_front(q, k):
    return _scores(q, k, turn=lambda k: k.transpose(1, 2) if k.dim() > 2 else k.transpose(0, 1))


@mistake(
    "reshapes k where it has to be transposed",
    question="Does re-reading the same numbers in another shape move a key from a row to a column?",
    hint="Almost there",
)
def reshapes_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.reshape(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "reshapes k where it has to be transposed",
    question="Does re-reading the same numbers in another shape move a key from a row to a column?",
    hint="Almost there",
    same_as="reshapes-instead-of-transposing",
)
def views_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.view(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "multiplies the wrong way round: its rows are keys",
    question="Take two small unequal matrices: does row i of the result belong to query i?",
    hint="Which axes change places",
)
def keys_times_queries(q, k):
    return _scores(k, q)


@mistake(
    "multiplies entry by entry instead of taking a matrix product",
    question="Every query has to meet every key; how many numbers should one query give?",
    hint="Where to look",
)
def entry_by_entry(q, k):
    return q * k


@mistake(
    "multiplies without transposing k",
    question="Which axis does a matrix product add up over, and what stands there in your k?",
    hint="Which axes change places",
)
def no_transpose(q, k):
    return _scores(q, k, turn=lambda k: k)


@mistake(
    "multiplies the two feature sums: no letter is shared in the einsum",
    question="Which axis should disappear because both operands have it?",
    hint="Which axes change places",
)
def no_shared_letter(q, k):
    return torch.einsum("...id,...je->...ij", q, k)


@mistake(
    "adds up over the positions instead of the features",
    question="What should be left at the end: positions by positions, or features by features?",
    hint="Where to look",
)
def adds_over_positions(q, k):
    return q.transpose(-2, -1) @ k


@mistake(
    "compares position i only with position i",
    question="Query 0 may look for something that key 3 has. Where do the two meet in your code?",
    hint="Where to look",
)
def only_equal_positions(q, k):
    return (q * k).sum(-1, keepdim=True).expand(*q.shape[:-1], k.size(-2)).clone()


@mistake(
    "gives one score for each position: it never meets the other positions",
    question="Every query has to meet every key; how many numbers should one query give?",
    hint="Where to look",
)
def one_score_each(q, k):
    return (q * k).sum(-1)


@mistake(
    "normalises the vectors first: a cosine, not a dot product",
    question="If a query gets twice as long, should its scores stay as they are?",
    hint="Where to look",
)
def cosine(q, k):
    return _scores(_unit(q), _unit(k))


@mistake(
    "divides by the root of d_k as well: that is the next kata",
    question="Read the contract again: what does this function give, and what comes only later?",
    hint="Where to look",
)
def scales_already(q, k):
    return _scores(q * q.size(-1) ** -0.5, k)


@mistake(
    "divides by the root of d_k as well: that is the next kata",
    question="Read the contract again: what does this function give, and what comes only later?",
    hint="Where to look",
    same_as="scales-already",
)
def scales_already_at_the_end(q, k):
    return q @ k.transpose(-2, -1) / q.size(-1) ** 0.5


@mistake(
    "takes the softmax as well: that is a kata of its own",
    question="Read the contract again: what does this function give, and what comes only later?",
    hint="Where to look",
)
def softmax_already(q, k):
    e = q @ k.transpose(-2, -1)
    e = (e - e.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


@mistake(
    "cuts the scores off from the graph",
    question="Your numbers are right. Would the query weights ever hear about the loss?",
    hint="Almost there",
)
def detached(q, k):
    return _scores(q.detach(), k.detach())


@mistake(
    "scales the queries in place before it multiplies",
    question="Call your function twice with the same tensors. Why would the second answer differ?",
    hint="Almost there",
)
def changes_its_input(q, k):
    q *= 1.0000001
    return q @ k.transpose(-2, -1)


@mistake(
    "always answers in float32",
    question="Which dtype did the queries have, and which do your scores have?",
    hint="Almost there",
)
def always_float32(q, k):
    return q.float() @ k.float().transpose(-2, -1)


@harmless("writes it as an einsum over the feature letter")
def einsum(q, k):
    return torch.einsum("...id,...jd->...ij", q, k)


@harmless("multiplies keys by queries and transposes the result back")
def the_other_way_and_back(q, k):
    return (k @ q.transpose(-2, -1)).transpose(-2, -1)


@harmless("works in double precision and rounds back")
def double_inside(q, k):
    return (q.double() @ k.double().transpose(-2, -1)).to(q.dtype)


@harmless("broadcasts every pair and adds up the products")
def broadcast(q, k):
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)


@harmless("goes through the keys one at a time")
def one_key_at_a_time(q, k):
    return torch.stack([(q * k[..., j : j + 1, :]).sum(-1) for j in range(k.size(-2))], -1)
