"""Known ways of getting masks and attention wrong, and some right ones that look odd."""

import math

import torch

from attention_katas.masked_softmax import (
    billion_fill_softmax,
    hidden_maximum_softmax,
    late_epsilon_softmax,
    late_softmax,
    masked_softmax,
    one_maximum_softmax,
    weak_fill_softmax,
    wide_mask_softmax,
)
from attention_katas.mistakes import harmless, mistake

INF = float("inf")


def _tri(t_q, t_k, like, diagonal=0):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=like.device).tril(diagonal)


def _rule(scores, keep, diagonal=0):
    allowed = _tri(scores.size(-2), scores.size(-1), scores, diagonal)
    return (allowed if keep is None else allowed & keep[:, None, None, :]).expand(scores.shape)


def _attend(q, k, v, causal, scale=None, diagonal=0, dim=-1, soft=None):
    scores = q * (q.size(-1) ** -0.5 if scale is None else scale) @ k.transpose(-2, -1)
    allowed = torch.ones_like(scores, dtype=torch.bool)
    allowed = allowed.tril(diagonal) if causal else allowed
    return (soft(scores, allowed) if soft else masked_softmax(scores, allowed, dim)) @ v


# causal_mask


@mistake(
    "turns the triangle over: a query sees itself and the future",
    of="causal_mask",
    ask="Cover row 0 with your hand: which columns may it use?",
)
def triangle_turned(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu()


@mistake(
    "marks what is forbidden instead of what is allowed",
    of="causal_mask",
    ask='Does True mean "may look" or "must not look" in this function?',
)
def polarity_inverted(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu(1)


@mistake(
    "forbids the diagonal: a word may not look at itself",
    of="causal_mask",
    ask="May a word look at itself? And what is left for the first word if not?",
)
def diagonal_forbidden(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(-1)


@mistake(
    "starts the diagonal one too high: every query sees one word ahead",
    of="causal_mask",
    ask="Print a 4 by 4 mask: which is the first forbidden cell of row 0?",
)
def one_word_ahead(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(1)


@mistake(
    "starts in the bottom right corner when the lengths differ",
    of="causal_mask",
    ask="Query 0 is the first word here. Which keys may the first word see?",
)
def bottom_right(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q)


@mistake(
    "is square, whatever the number of keys",
    of="causal_mask",
    ask="What if there are more keys than queries?",
)
def always_square(t_q, t_k, device=None):
    return torch.ones(t_q, t_q, dtype=torch.bool, device=device).tril()


@mistake(
    "holds numbers instead of truth values",
    of="causal_mask",
    ask="What dtype has your mask, and what would ~ do to it?",
)
def numbers_not_truths(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, device=device).tril()


@mistake(
    "ignores the device that it is asked for",
    of="causal_mask",
    ask="Your function was told a device. Where does it use it?",
)
def mask_ignores_device(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool).tril()


@mistake(
    "cuts its masks from one of fixed size",
    of="causal_mask",
    ask="What does your function give for a longer text than you had in mind?",
)
def cut_from_a_buffer(t_q, t_k, device=None):
    return torch.ones(2048, 2048, dtype=torch.bool, device=device).tril()[:t_q, :t_k]


# masked_weights


@mistake(
    "has no causal mask",
    of="masked_weights",
    ask="Change the last word only. Which rows of weights are allowed to move?",
)
def no_mask(scores, keep=None):
    everything = torch.ones_like(scores, dtype=torch.bool)
    return masked_softmax(
        scores, everything if keep is None else everything & keep[:, None, None, :]
    )


@mistake(
    "masks after the softmax and does not renormalise",
    of="masked_weights",
    ask="Hidden keys have already taken their share; who gets it back?",
)
def mask_after_softmax(scores, keep=None):
    return torch.softmax(scores, -1) * _rule(scores, keep)


@mistake(
    "masks after the softmax and renormalises: NaN when a hidden score towers",
    of="masked_weights",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def renormalises_late(scores, keep=None):
    weights = torch.softmax(scores, -1) * _rule(scores, keep)
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(~_rule(scores, keep).any(-1, keepdim=True), 1)


@mistake(
    "multiplies the scores by the mask: a hidden score becomes 0",
    of="masked_weights",
    ask="What does the exponential turn a score of 0 into?",
)
def fills_with_zero(scores, keep=None):
    return torch.softmax(scores * _rule(scores, keep), -1)


@mistake(
    "hides with -10000, which real scores can undercut",
    of="masked_weights",
    ask='Is your "very small" smaller than everything a model can produce?',
)
def fill_too_weak(scores, keep=None):
    allowed = _rule(scores, keep)
    weights = torch.softmax(scores.masked_fill(~allowed, -1e4), -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@mistake(
    "hides with -1e9, which half precision cannot hold",
    of="masked_weights",
    ask="What is the lowest number your dtype can hold, and is there one that always fits?",
)
def fill_does_not_fit(scores, keep=None):
    allowed = _rule(scores, keep)
    weights = torch.softmax(scores.masked_fill(~allowed, -1e9), -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@mistake(
    "leaves weight in rows that have no key",
    of="masked_weights",
    ask="What should a query with nobody to listen to receive?",
)
def uniform_without_keys(scores, keep=None):
    fill = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), fill), -1)


@mistake(
    "hides with plus infinity",
    of="masked_weights",
    ask="Which infinity does the exponential send to 0?",
)
def wrong_infinity(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), INF), -1)


@mistake(
    "hides what it should keep",
    of="masked_weights",
    ask="masked_fill fills where the mask is True. Is that where you want it?",
)
def hides_the_past(scores, keep=None):
    return masked_softmax(scores, ~_rule(scores, keep))


@mistake(
    "adds the 0/1 mask to the scores",
    of="masked_weights",
    ask="You add 0 to the scores of hidden keys. What have they lost by that?",
)
def adds_the_mask(scores, keep=None):
    return torch.softmax(scores + _rule(scores, keep).to(scores.dtype), -1)


@mistake(
    "lays the padding along the queries",
    of="masked_weights",
    ask="Which axis of the score matrix are the keys on?",
)
def padding_on_queries(scores, keep=None):
    allowed = _tri(scores.size(-2), scores.size(-1), scores)
    if keep is not None:
        allowed = allowed & keep[:, None, : scores.size(-2), None]
    return masked_softmax(scores, allowed.expand(scores.shape))


@mistake(
    "ignores the padding",
    of="masked_weights",
    ask="Add ten padding words; should the answer for a real word change?",
)
def ignores_padding(scores, keep=None):
    return masked_softmax(scores, _rule(scores, None))


@mistake(
    "reads keep the other way round",
    of="masked_weights",
    ask="What does True mean in `keep`: a real key, or one to ignore?",
)
def keep_inverted(scores, keep=None):
    return masked_softmax(scores, _rule(scores, None if keep is None else ~keep))


@mistake(
    "allows a key that only one of the two rules allows",
    of="masked_weights",
    ask="A key has to pass both rules; which connective is that?",
)
def either_rule(scores, keep=None):
    allowed = _tri(scores.size(-2), scores.size(-1), scores)
    allowed = allowed if keep is None else allowed | keep[:, None, None, :]
    return masked_softmax(scores, allowed.expand(scores.shape))


@mistake(
    "forgets the causal mask as soon as there is padding",
    of="masked_weights",
    ask="You have two rules now. Does your code apply both?",
)
def padding_instead_of_causal(scores, keep=None):
    if keep is None:
        return masked_softmax(scores, _rule(scores, None))
    return masked_softmax(scores, keep[:, None, None, :].expand(scores.shape))


@mistake(
    "gives NaN to a query without a key",
    of="masked_weights",
    ask="What is a softmax over nothing but minus infinity?",
)
def nan_without_keys(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -INF), -1)


@mistake(
    "repairs NaN afterwards: the values are right, the gradients are NaN",
    of="masked_weights",
    ask="Your zeros hide a 0/0. What does the way back through it look like?",
)
def nan_repaired_late(scores, keep=None):
    shift = torch.zeros_like(scores).masked_fill(~_rule(scores, keep), -INF)
    shifted = scores + shift
    e = torch.exp(shifted - shifted.amax(-1, keepdim=True))
    return torch.nan_to_num(e / e.sum(-1, keepdim=True))


@mistake(
    "fills the caller's scores in place",
    of="masked_weights",
    ask="Whose tensor did you just write into?",
)
def fills_in_place(scores, keep=None):
    allowed = _rule(scores, keep)
    scores.masked_fill_(~allowed, -INF)
    return masked_softmax(scores, allowed)


@mistake(
    "makes the mask on the default device",
    of="masked_weights",
    ask="On which device does a tensor live that you make from nothing?",
)
def weights_default_device(scores, keep=None):
    allowed = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    allowed = allowed if keep is None else allowed & keep[:, None, None, :]
    return masked_softmax(scores, allowed.expand(scores.shape))


_KEPT = []


@mistake(
    "keeps the mask of its first call",
    of="masked_weights",
    ask="What if the next sentence is shorter?",
)
def keeps_the_first_mask(scores, keep=None):
    if not _KEPT:
        _KEPT.append(_tri(scores.size(-2), scores.size(-1), scores))
    allowed = _KEPT[0] if keep is None else _KEPT[0] & keep[:, None, None, :]
    return masked_softmax(scores, allowed.expand(scores.shape))


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    of="masked_weights",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def weights_epsilon(scores, keep=None):
    return late_epsilon_softmax(scores, _rule(scores, keep))


@mistake(
    "subtracts a maximum that a hidden key may hold",
    of="masked_weights",
    ask="Whose exponential is 1 when the highest score of a row is a hidden one?",
)
def weights_hidden_maximum(scores, keep=None):
    return hidden_maximum_softmax(scores, _rule(scores, keep))


@mistake(
    "subtracts one maximum for the whole tensor",
    of="masked_weights",
    ask="What becomes of a row that lies 1000 below the highest score of another row?",
)
def weights_one_maximum(scores, keep=None):
    return one_maximum_softmax(scores, _rule(scores, keep))


@mistake(
    "adds a mask in float32 to scores of another dtype",
    of="masked_weights",
    ask="What dtype is the sum of half-precision scores and a float32 mask?",
)
def weights_wide_mask(scores, keep=None):
    return wide_mask_softmax(scores, _rule(scores, keep))


@mistake(
    "adds the lowest number to hidden scores instead of putting it in their place",
    of="masked_weights",
    ask="Add the lowest number of float16 to 40000. Is that lower than every visible score?",
)
def adds_the_lowest_number(scores, keep=None):
    allowed = _rule(scores, keep)
    extra = torch.zeros_like(scores).masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores + extra, -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@mistake(
    "flattens with view, which only contiguous scores allow",
    of="masked_weights",
    ask="What does a transposed tensor answer to view, and what to reshape?",
)
def flattens_by_view(scores, keep=None):
    rows = scores.view(-1, scores.size(-1))
    allowed = _rule(scores, keep).reshape(rows.shape)
    return masked_softmax(rows, allowed).view(scores.shape)


_MASKS = {}


@mistake(
    "keeps a mask for each shape, whatever the padding",
    of="masked_weights",
    ask="Two batches of one shape: do they have the same padding?",
)
def mask_by_shape(scores, keep=None):
    if scores.shape not in _MASKS:
        _MASKS[scores.shape] = _rule(scores, keep)
    return masked_softmax(scores, _MASKS[scores.shape])


# scaled_dot_product_attention


@mistake(
    "does not scale the scores",
    of="scaled_dot_product_attention",
    ask="How far apart are the scores, and what does softmax make of a row of such numbers?",
)
def attention_no_scale(q, k, v, causal=True):
    return _attend(q, k, v, causal, 1.0)


@mistake(
    "divides by d_k, not by its root",
    of="scaled_dot_product_attention",
    ask="Without the root, where do all weights go as d_k grows?",
)
def attention_divides_by_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, 1 / q.size(-1))


@mistake(
    "scales by the width of the values",
    of="scaled_dot_product_attention",
    ask="Which two vectors meet in a score, and how long are they?",
)
def attention_value_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, v.size(-1) ** -0.5)


@mistake(
    "scales by the number of keys",
    of="scaled_dot_product_attention",
    ask="What does a longer sentence change about one dot product?",
)
def attention_number_of_keys(q, k, v, causal=True):
    return _attend(q, k, v, causal, k.size(-2) ** -0.5)


@mistake(
    "scales after the softmax",
    of="scaled_dot_product_attention",
    ask="Sum one row of your weights. Which step was to guarantee that sum?",
)
def attention_scales_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, 1.0) * q.size(-1) ** -0.5


@mistake(
    "takes the softmax over the queries",
    of="scaled_dot_product_attention",
    ask="Each query asks for a mixture; along which axis must its weights add up to 1?",
)
def attention_over_queries(q, k, v, causal=True):
    return _attend(q, k, v, causal, dim=-2)


@mistake(
    "takes the softmax over the heads",
    of="scaled_dot_product_attention",
    ask="Do heads compete with each other, or do keys?",
)
def attention_over_heads(q, k, v, causal=True):
    return _attend(q, k, v, causal, dim=1)


@mistake(
    "takes exponentials of the raw scores",
    of="scaled_dot_product_attention",
    ask="What can you subtract from a row so that the largest exponent is 0?",
)
def attention_no_maximum(q, k, v, causal=True):
    e = (q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)).exp()
    e = e.tril() if causal else e
    return e / e.sum(-1, keepdim=True) @ v


@mistake(
    "masks after the softmax",
    of="scaled_dot_product_attention",
    ask="Hidden keys have already taken their share; who gets it back?",
)
def attention_masks_late(q, k, v, causal=True):
    weights = torch.softmax(q * q.size(-1) ** -0.5 @ k.transpose(-2, -1), -1)
    return (weights.tril() if causal else weights) @ v


@mistake(
    "sets hidden scores to 0",
    of="scaled_dot_product_attention",
    ask="0 is a perfectly ordinary score. What comes after the scores?",
)
def attention_zero_scores(q, k, v, causal=True):
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    return torch.softmax(scores.tril() if causal else scores, -1) @ v


@mistake(
    "hides the diagonal as well",
    of="scaled_dot_product_attention",
    ask="May a word look at itself? And what is left for the first word if not?",
)
def attention_hides_diagonal(q, k, v, causal=True):
    return _attend(q, k, v, causal, diagonal=-1)


@mistake(
    "lets every query see one word ahead",
    of="scaled_dot_product_attention",
    ask="Which is the first forbidden cell of row 0 in your mask?",
)
def attention_one_ahead(q, k, v, causal=True):
    return _attend(q, k, v, causal, diagonal=1)


@mistake(
    "ignores causal",
    of="scaled_dot_product_attention",
    ask="Your function was told whether to mask. Where does it use that?",
)
def attention_never_causal(q, k, v, causal=True):
    return _attend(q, k, v, False)


@mistake(
    "always masks",
    of="scaled_dot_product_attention",
    ask="Your function was told whether to mask. Where does it use that?",
)
def attention_always_causal(q, k, v, causal=True):
    return _attend(q, k, v, True)


@mistake(
    "aligns the mask to the bottom right corner",
    of="scaled_dot_product_attention",
    ask="Query 0 is the first word here. Which keys may the first word see?",
)
def attention_bottom_right(q, k, v, causal=True):
    return _attend(q, k, v, causal, diagonal=k.size(-2) - q.size(-2))


@mistake(
    "builds a square mask from the number of queries",
    of="scaled_dot_product_attention",
    ask="What if there are more keys than queries?",
)
def attention_square_mask(q, k, v, causal=True):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if causal:
        size = q.size(-2)
        future = torch.ones(size, size, dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(future, -INF)
    return scores.softmax(-1) @ v


@mistake("has no softmax", of="scaled_dot_product_attention", ask="Can a share be negative?")
def attention_no_softmax(q, k, v, causal=True):
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    return (scores.tril() if causal else scores) @ v


@mistake(
    "gives the weights back instead of the blend",
    of="scaled_dot_product_attention",
    ask="Your weights say how much of each. Of what, and where does that come in?",
)
def attention_returns_weights(q, k, v, causal=True):
    return _attend(q, k, torch.eye(k.size(-2), dtype=k.dtype, device=k.device), causal)


@mistake(
    "blends the keys instead of the values",
    of="scaled_dot_product_attention",
    ask="A key says what a word has; what does it hand over?",
)
def attention_blends_keys(q, k, v, causal=True):
    return _attend(q, k, k, causal)


@mistake(
    "scores the queries against the values",
    of="scaled_dot_product_attention",
    ask="Against which of the three does a query compare itself?",
)
def attention_scores_values(q, k, v, causal=True):
    return _attend(q, v, v, causal)


@mistake(
    "gives the running mean of the values, whatever the query",
    of="scaled_dot_product_attention",
    ask="Ask two different questions. Do you get two different answers?",
)
def attention_plain_mean(q, k, v, causal=True):
    return _attend(q * 0, k * 0, v, causal)


@mistake(
    "always answers in double precision",
    of="scaled_dot_product_attention",
    ask="Which dtype had the inputs, and which has your answer?",
)
def attention_always_double(q, k, v, causal=True):
    return _attend(q.double(), k.double(), v.double(), causal)


@mistake(
    "scales the caller's queries in place",
    of="scaled_dot_product_attention",
    ask="Call your function twice with the same tensors. Why would the second answer differ?",
)
def attention_changes_q(q, k, v, causal=True):
    q *= q.size(-1) ** -0.5
    return _attend(q, k, v, causal, 1.0)


@mistake(
    "cuts the weights off from the graph",
    of="scaled_dot_product_attention",
    ask="Would the projections of queries and keys ever hear about the loss?",
)
def attention_detached(q, k, v, causal=True):
    return _attend(q.detach(), k.detach(), v, causal)


@mistake(
    "makes the mask on the default device",
    of="scaled_dot_product_attention",
    ask="On which device does a tensor live that you make from nothing?",
)
def attention_default_device(q, k, v, causal=True):
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    allowed = torch.ones(scores.shape[-2:], dtype=torch.bool)
    return masked_softmax(scores, allowed.tril() if causal else allowed) @ v


@mistake(
    "drops weights at random",
    of="scaled_dot_product_attention",
    ask="Call your function twice. Should the answers differ?",
)
def attention_dropout(q, k, v, causal=True):
    return torch.nn.functional.dropout(_attend(q, k, v, causal), 0.3, True)


@mistake(
    "hides with -10000, which real scores can undercut",
    of="scaled_dot_product_attention",
    ask='Is your "very small" smaller than everything a model can produce?',
)
def attention_fill_too_weak(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=weak_fill_softmax)


@mistake(
    "hides with -1e9, which half precision cannot hold",
    of="scaled_dot_product_attention",
    ask="What is the lowest number your dtype can hold, and is there one that always fits?",
)
def attention_fill_does_not_fit(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=billion_fill_softmax)


@mistake(
    "masks after the softmax and renormalises: 0/0 when a hidden score towers",
    of="scaled_dot_product_attention",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def attention_renormalises_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    of="scaled_dot_product_attention",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def attention_epsilon(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that a hidden key may hold",
    of="scaled_dot_product_attention",
    ask="Whose exponential is 1 when the highest score of a row is a hidden one?",
)
def attention_hidden_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    of="scaled_dot_product_attention",
    ask="What becomes of a row that lies 1000 below the highest score of another row?",
)
def attention_one_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    of="scaled_dot_product_attention",
    ask="What dtype is the sum of half-precision scores and a float32 mask?",
)
def attention_wide_mask(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=wide_mask_softmax)


# right, though it looks odd


@harmless(
    "fills with the lowest number of the dtype and clears rows without keys", of="masked_weights"
)
def lowest_number(scores, keep=None):
    allowed = _rule(scores, keep)
    weights = torch.softmax(scores.masked_fill(~allowed, torch.finfo(scores.dtype).min), -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@harmless("chooses with where instead of filling", of="masked_weights")
def where_instead_of_fill(scores, keep=None):
    allowed = _rule(scores, keep)
    hidden = torch.where(allowed, scores, torch.full_like(scores, -INF))
    some = allowed.any(-1, keepdim=True)
    return torch.where(
        some, torch.softmax(hidden.where(some, hidden.new_zeros(())), -1), 0 * scores
    )


@harmless("adds minus infinity and keeps rows without keys out of the softmax", of="masked_weights")
def adds_minus_infinity(scores, keep=None):
    allowed = _rule(scores, keep)
    some = allowed.any(-1, keepdim=True)
    extra = torch.zeros_like(scores).masked_fill(~allowed & some, -INF)
    return torch.softmax(scores + extra, -1) * some


@harmless("goes through the queries one at a time", of="masked_weights")
def one_query_at_a_time(scores, keep=None):
    allowed = _rule(scores, keep)
    rows = [masked_softmax(scores[:, :, i], allowed[:, :, i]) for i in range(scores.size(-2))]
    return torch.stack(rows, -2)


@harmless("compares positions instead of drawing a triangle", of="causal_mask")
def compares_positions(t_q, t_k, device=None):
    i = torch.arange(t_q, device=device)[:, None]
    return torch.arange(t_k, device=device)[None, :] <= i


@harmless("is the plain formula with a 0-d root", of="scaled_dot_product_attention")
def plain_formula(q, k, v, causal=True):
    scores = q @ k.transpose(-2, -1) / torch.sqrt(torch.tensor(q.size(-1)))
    if causal:
        rows = torch.arange(q.size(-2), device=q.device)[:, None]
        future = torch.arange(k.size(-2), device=q.device) > rows
        scores = scores.masked_fill(future, -INF)
    return torch.softmax(scores, -1) @ v


@harmless(
    "is written as einsums, with the fourth root on both sides", of="scaled_dot_product_attention"
)
def einsum_fourth_root(q, k, v, causal=True):
    root = q.size(-1) ** -0.25
    scores = torch.einsum("bhid,bhjd->bhij", q * root, k * root)
    if causal:
        allowed = torch.ones_like(scores, dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)


@harmless("goes through blocks of keys with a running maximum", of="scaled_dot_product_attention")
def blocks_of_keys(q, k, v, causal=True):
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -INF)
    top, total, blend = None, 0, 0
    for start in range(0, k.size(-2), 2):
        block, values = scores[..., start : start + 2], v[..., start : start + 2, :]
        highest = block.amax(-1, keepdim=True)
        new = highest if top is None else torch.maximum(top, highest)
        e = torch.exp(block - new)
        shrink = 1 if top is None else torch.exp(top - new)
        total, blend, top = (
            total * shrink + e.sum(-1, keepdim=True),
            blend * shrink + e @ values,
            new,
        )
    return blend / total


@harmless(
    "works in float32 where the input is half, and rounds back", of="scaled_dot_product_attention"
)
def float_inside(q, k, v, causal=True):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    return _attend(q.to(wide), k.to(wide), v.to(wide), causal).to(q.dtype)
