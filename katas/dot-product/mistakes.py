"""Known mistakes in the dot product of queries and keys, and right answers that look unusual."""

import torch

from attention_katas.authoring import formula, harmless, mistake


def _last_two(k):
    return k.transpose(-2, -1)


def _unit(x):
    return x / x.norm(dim=-1, keepdim=True)


@formula
def _scores(q, k, *, turn=_last_two):
    return q @ turn(k)


@mistake(
    "reverses every axis of k, not only the last two",
    question="With a batch axis in front, which two axes should be swapped, and which must stay?",
    hint="What must stay",
    shows="nothing",
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
    "swaps axes 1 and 2 of k: right only without a head axis",
    question="With a head axis in front, does axis 1 still hold the keys?",
    hint="What must stay",
    shows="nothing",
)
def counts_axes_from_the_front(q, k):
    return _scores(q, k, turn=lambda k: k.transpose(1, 2) if k.dim() > 2 else k.transpose(0, 1))


@mistake(
    "reshapes k instead of transposing it",
    question="Does a reshape move a key from a row to a column?",
    hint="Almost there",
)
def reshapes_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.reshape(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "reshapes k instead of transposing it",
    question="Does a reshape move a key from a row to a column?",
    hint="Almost there",
    same_as="reshapes-instead-of-transposing",
)
def views_instead_of_transposing(q, k):
    return _scores(q, k, turn=lambda k: k.view(*k.shape[:-2], k.size(-1), k.size(-2)))


@mistake(
    "multiplies in the wrong order: the rows of the result are keys",
    question="Take q and k of different lengths. Does row i of the result belong to query i?",
    hint="Which axes change places",
)
def keys_times_queries(q, k):
    return _scores(k, q)


@mistake(
    "multiplies elementwise instead of taking a matrix product",
    question="Every query is scored against every key. How many scores does one query have?",
    hint="Where to look",
)
def entry_by_entry(q, k):
    return q * k


@mistake(
    "multiplies without transposing k",
    question="Which axes does a matrix product sum over, and what does that axis of your k hold?",
    hint="Which axes change places",
)
def no_transpose(q, k):
    return _scores(q, k, turn=lambda k: k)


@mistake(
    "shares no index in the einsum: multiplies the two sums over features",
    question="Which index should both operands share, so that the einsum sums over it?",
    hint="Which axes change places",
)
def no_shared_letter(q, k):
    return torch.einsum("...id,...je->...ij", q, k)


@mistake(
    "sums over the positions instead of the features",
    question="Which shape should the result have: (positions, positions) or (features, features)?",
    hint="Where to look",
)
def adds_over_positions(q, k):
    return q.transpose(-2, -1) @ k


@mistake(
    "compares position i only with position i",
    question="Where does your code compare query 0 with key 3?",
    hint="Where to look",
)
def only_equal_positions(q, k):
    return (q * k).sum(-1, keepdim=True).expand(*q.shape[:-1], k.size(-2)).clone()


@mistake(
    "gives one score per position: compares position i only with position i",
    question="Every query is scored against every key. How many scores does one query have?",
    hint="Where to look",
)
def one_score_each(q, k):
    return (q * k).sum(-1)


@mistake(
    "normalises the vectors first: a cosine, not a dot product",
    question="If a query becomes twice as long, should its scores stay the same?",
    hint="Where to look",
)
def cosine(q, k):
    return _scores(_unit(q), _unit(k))


@mistake(
    "also divides by the square root of d_k: that is the next kata",
    question=(
        "Read the contract again. What does this function return, and what comes in a later kata?"
    ),
    hint="Where to look",
)
def scales_already(q, k):
    return _scores(q * q.size(-1) ** -0.5, k)


@mistake(
    "also divides by the square root of d_k: that is the next kata",
    question=(
        "Read the contract again. What does this function return, and what comes in a later kata?"
    ),
    hint="Where to look",
    same_as="scales-already",
)
def scales_already_at_the_end(q, k):
    return q @ k.transpose(-2, -1) / q.size(-1) ** 0.5


@mistake(
    "also takes the softmax: that is a later kata",
    question=(
        "Read the contract again. What does this function return, and what comes in a later kata?"
    ),
    hint="Where to look",
)
def softmax_already(q, k):
    e = q @ k.transpose(-2, -1)
    e = (e - e.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


@mistake(
    "detaches the scores from the graph",
    question="Your values are right. Does a gradient of the loss reach q and k?",
    hint="Almost there",
    shows="gradient",
)
def detached(q, k):
    return _scores(q.detach(), k.detach())


@mistake(
    "scales the queries in place before it multiplies",
    question="Call your function twice with the same tensors. Why does the second result differ?",
    hint="Almost there",
    shows="nothing",
)
def changes_its_input(q, k):
    q *= 1.0000001
    return q @ k.transpose(-2, -1)


@mistake(
    "always returns float32",
    question="Which dtype do the queries have, and which do your scores have?",
    hint="Almost there",
    shows="nothing",
)
def always_float32(q, k):
    return q.float() @ k.float().transpose(-2, -1)


@harmless("writes it as an einsum over the feature index")
def einsum(q, k):
    return torch.einsum("...id,...jd->...ij", q, k)


@harmless("multiplies keys by queries and transposes the result back")
def the_other_way_and_back(q, k):
    return (k @ q.transpose(-2, -1)).transpose(-2, -1)


@harmless("works in double precision and rounds back")
def double_inside(q, k):
    return (q.double() @ k.double().transpose(-2, -1)).to(q.dtype)


@harmless("broadcasts every pair and sums the products")
def broadcast(q, k):
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)


@harmless("loops over the keys")
def one_key_at_a_time(q, k):
    return torch.stack([(q * k[..., j : j + 1, :]).sum(-1) for j in range(k.size(-2))], -1)
