"""Known ways of getting masks and attention wrong, and some right ones that look odd."""

import torch

from attention_katas.authoring.mistakes import convention, formula, harmless, mistake
from shared.masked_softmax import (
    added_mask_softmax,
    billion_fill_softmax,
    even_softmax,
    hidden_maximum_softmax,
    inverted_softmax,
    late_epsilon_softmax,
    late_softmax,
    masked_softmax,
    nan_softmax,
    no_maximum_softmax,
    no_softmax,
    one_maximum_softmax,
    raw_times_mask_softmax,
    raw_unguarded_softmax,
    unguarded_late_softmax,
    uniform_softmax,
    unshared_softmax,
    weak_fill_softmax,
    wide_mask_softmax,
    wrong_infinity_softmax,
    zero_fill_softmax,
)

INF = float("inf")


def _ones(same_as):
    return torch.ones(same_as.shape, dtype=torch.bool, device=same_as.device)


def _past(scores):
    return _ones(scores).tril()


def _on_keys(keep, scores):
    return keep[:, None, None, :].expand(scores.shape)


def _both(past, real):
    return past & real


@formula
def _weigh(scores, keep, *, past=_past, padding=_on_keys, join=_both, soft=masked_softmax, dim=-1):
    """The weights under both rules: which keys lie in the past, and which are real."""
    allowed = past(scores)
    if keep is not None:
        allowed = join(allowed, padding(keep, scores))
    return soft(scores, allowed, dim)


def _rule(scores, keep):
    allowed = _past(scores)
    return allowed if keep is None else allowed & keep[:, None, None, :]


def _dots(q, k):
    return q @ k.transpose(-2, -1)


@formula
def _attend(
    q, k, v, causal, *, product=_dots, scale=None, past=_past, soft=masked_softmax, dim=-1, end=None
):
    """Score, scale, mask, softmax, blend."""
    scores = product(q * (q.size(-1) ** -0.5 if scale is None else scale), k)
    blend = soft(scores, past(scores) if causal else _ones(scores), dim) @ v
    return blend if end is None else blend * end


# causal_mask


@mistake(
    "turns the triangle over: a query sees itself and the future",
    question="Cover row 0 with your hand: which columns may it use?",
    function="causal_mask",
    hint="Where to look",
)
def triangle_turned(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu()


@convention(
    "marks what is forbidden instead of what is allowed",
    contract="In this kata True means that a query may attend, as in PyTorch's own attention.",
    function="causal_mask",
    hint="Where to look",
)
def polarity_inverted(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu(1)


@mistake(
    "forbids the diagonal: a word may not look at itself",
    question="May a word look at itself? And what is left for the first word if not?",
    function="causal_mask",
    hint="Where to look",
)
def diagonal_forbidden(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(-1)


@mistake(
    "starts the diagonal one too high: every query sees one word ahead",
    question="Print a 4 by 4 mask: which is the first forbidden cell of row 0?",
    function="causal_mask",
    hint="Where to look",
)
def one_word_ahead(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(1)


@convention(
    "starts in the bottom right corner when the lengths differ",
    contract="Query i sees keys 0 to i, whatever the lengths (top left, as PyTorch's is_causal).",
    function="causal_mask",
    hint="Where to look",
)
def bottom_right(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q)


@mistake(
    "is square, whatever the number of keys",
    question="What if there are more keys than queries?",
    function="causal_mask",
    hint="Where to look",
)
def always_square(t_q, t_k, device=None):
    return torch.ones(t_q, t_q, dtype=torch.bool, device=device).tril()


@mistake(
    "has keys as rows and queries as columns",
    question="How many rows has a mask for 3 queries and 5 keys?",
    function="causal_mask",
    hint="Where to look",
)
def transposed(t_q, t_k, device=None):
    return torch.ones(t_k, t_q, dtype=torch.bool, device=device).tril()


@mistake(
    "hides nothing",
    question="Cover row 0 with your hand: which columns may it use?",
    function="causal_mask",
    hint="Where to look",
)
def hides_nothing(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device)


@mistake(
    "lets a word see itself alone",
    question="Which earlier words may the third word listen to?",
    function="causal_mask",
    hint="Where to look",
)
def only_itself(t_q, t_k, device=None):
    return torch.eye(t_q, t_k, dtype=torch.bool, device=device)


@mistake(
    "holds numbers instead of truth values",
    question="What dtype has your mask, and what would ~ do to it?",
    function="causal_mask",
    hint="Where to look",
)
def numbers_not_truths(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, device=device).tril()


@mistake(
    "holds whole numbers instead of truth values",
    question="What dtype has your mask, and what would ~ do to it?",
    function="causal_mask",
    hint="Where to look",
    same_as="numbers-not-truths",
)
def whole_numbers(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.long, device=device).tril()


@convention(
    "holds what is to be added to scores: 0 and minus infinity",
    contract="In this kata the mask is of dtype bool, True where a query may attend.",
    function="causal_mask",
    hint="Where to look",
)
def additive_mask(t_q, t_k, device=None):
    return torch.full((t_q, t_k), -INF, device=device).triu(1)


@mistake(
    "ignores the device that it is asked for",
    question="Your function was told a device. Where does it use it?",
    function="causal_mask",
    hint="Where to look",
)
def mask_ignores_device(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool).tril()


@mistake(
    "cuts its masks from one of fixed size",
    question="What does your function give for a longer text than you had in mind?",
    function="causal_mask",
    hint="Where to look",
)
def cut_from_a_buffer(t_q, t_k, device=None):
    return torch.ones(2048, 2048, dtype=torch.bool, device=device).tril()[:t_q, :t_k]


@mistake(
    "cuts its masks from one of fixed size",
    question="What does your function give for a longer text than you had in mind?",
    function="causal_mask",
    hint="Where to look",
    same_as="cut-from-a-buffer",
)
def cut_from_a_short_buffer(t_q, t_k, device=None):
    return torch.ones(1024, 1024, dtype=torch.bool, device=device).tril()[:t_q, :t_k]


# masked_weights


@mistake(
    "has no causal mask",
    question="Change the last word only. Which rows of weights are allowed to move?",
    function="masked_weights",
    hint="Two rules at once",
)
def no_mask(scores, keep=None):
    return _weigh(scores, keep, past=_ones)


@mistake(
    "turns the triangle over: a query sees itself and the future",
    question="Cover row 0 with your hand: which columns may it use?",
    function="masked_weights",
    hint="Where to look",
)
def weights_turned(scores, keep=None):
    return _weigh(scores, keep, past=lambda scores: _ones(scores).triu())


@mistake(
    "hides the diagonal as well: a word may not look at itself",
    question="May a word look at itself? And what is left for the first word if not?",
    function="masked_weights",
    hint="Where to look",
)
def weights_hide_diagonal(scores, keep=None):
    return _weigh(scores, keep, past=lambda scores: _ones(scores).tril(-1))


@mistake(
    "lets every query see one word ahead",
    question="Which is the first forbidden cell of row 0 in your mask?",
    function="masked_weights",
    hint="Where to look",
)
def weights_one_ahead(scores, keep=None):
    return _weigh(scores, keep, past=lambda scores: _ones(scores).tril(1))


@convention(
    "starts the mask in the bottom right corner when the lengths differ",
    contract="Query i sees keys 0 to i, whatever the lengths (top left, as PyTorch's is_causal).",
    function="masked_weights",
    hint="Where to look",
)
def weights_bottom_right(scores, keep=None):
    return _weigh(scores, keep, past=lambda s: _ones(s).tril(s.size(-1) - s.size(-2)))


@mistake(
    "makes a square mask from the number of queries",
    question="What if there are more keys than queries?",
    function="masked_weights",
    hint="Where to look",
)
def weights_square(scores, keep=None):
    square = torch.ones(scores.size(-2), scores.size(-2), dtype=torch.bool, device=scores.device)
    return _weigh(scores, keep, past=lambda scores: square.tril())


@mistake(
    "masks after the softmax and does not renormalise",
    question="Hidden keys have already taken their share; who gets it back?",
    function="masked_weights",
    hint="Before, never after",
)
def mask_after_softmax(scores, keep=None):
    return _weigh(scores, keep, soft=unshared_softmax)


@mistake(
    "takes hidden keys out after the exponentials: 0/0 when a hidden score towers",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    function="masked_weights",
    hint="Before, never after",
)
def renormalises_late(scores, keep=None):
    return _weigh(scores, keep, soft=late_softmax)


@mistake(
    "takes hidden keys out after the exponentials: 0/0 when a hidden score towers",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    function="masked_weights",
    hint="Before, never after",
    same_as="renormalises-late",
)
def renormalises_late_unguarded(scores, keep=None):
    return _weigh(scores, keep, soft=unguarded_late_softmax)


@mistake(
    "gives hidden keys a score near 0",
    question="What does the exponential turn a score of 0 into?",
    function="masked_weights",
    hint="Before, never after",
)
def fills_with_zero(scores, keep=None):
    return _weigh(scores, keep, soft=zero_fill_softmax)


@mistake(
    "hides with a number close to zero",
    question="Small in size, or far below zero: which of the two does softmax need?",
    function="masked_weights",
    hint="Before, never after",
    same_as="fills-with-zero",
)
def fills_with_a_tiny_number(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), 1e-9), -1)


@mistake(
    "hides with a number that real scores can undercut, such as -10000",
    question='Is your "very small" smaller than everything a model can produce?',
    function="masked_weights",
    hint="Before, never after",
)
def fill_too_weak(scores, keep=None):
    return _weigh(scores, keep, soft=weak_fill_softmax)


@mistake(
    "hides with a number that real scores can undercut, such as -10000",
    question='Is your "very small" smaller than everything a model can produce?',
    function="masked_weights",
    hint="Before, never after",
    same_as="fill-too-weak",
)
def fill_too_weak_uniform(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -1e4), -1)


@mistake(
    "hides with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number your dtype can hold, and is there one that always fits?",
    function="masked_weights",
    hint="Before, never after",
)
def fill_does_not_fit(scores, keep=None):
    return _weigh(scores, keep, soft=billion_fill_softmax)


@mistake(
    "hides with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number your dtype can hold, and is there one that always fits?",
    function="masked_weights",
    hint="Before, never after",
    same_as="fill-does-not-fit",
)
def fill_far_too_low(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -1e30), -1)


@mistake(
    "hides with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number your dtype can hold, and is there one that always fits?",
    function="masked_weights",
    hint="Before, never after",
    same_as="fill-does-not-fit",
)
def fill_does_not_fit_uniform(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -1e9), -1)


@mistake(
    "leaves weight in rows that have no key",
    question="What should a query with nobody to listen to receive?",
    function="masked_weights",
    hint="Nobody to listen to",
)
def uniform_without_keys(scores, keep=None):
    return _weigh(scores, keep, soft=uniform_softmax)


@mistake(
    "hides with plus infinity",
    question="Which infinity does the exponential send to 0?",
    function="masked_weights",
    hint="Before, never after",
)
def wrong_infinity(scores, keep=None):
    return _weigh(scores, keep, soft=wrong_infinity_softmax)


@mistake(
    "hides what it should keep",
    question="masked_fill fills where the mask is True. Is that where you want it?",
    function="masked_weights",
    hint="Where to look",
)
def hides_the_past(scores, keep=None):
    return _weigh(scores, keep, soft=inverted_softmax)


@mistake(
    "hides what it should keep",
    question="masked_fill fills where the mask is True. Is that where you want it?",
    function="masked_weights",
    hint="Where to look",
    same_as="hides-the-past",
)
def hides_the_past_nan(scores, keep=None):
    return torch.softmax(scores.masked_fill(_rule(scores, keep), -INF), -1)


@mistake(
    "adds the 0/1 mask to the scores",
    question="You add 0 to the scores of hidden keys. What have they lost by that?",
    function="masked_weights",
    hint="Before, never after",
)
def adds_the_mask(scores, keep=None):
    return _weigh(scores, keep, soft=added_mask_softmax)


@mistake(
    "has no softmax: gives masked scores",
    question="Can a share be negative?",
    function="masked_weights",
    hint="Before, never after",
)
def no_softmax_at_all(scores, keep=None):
    return _weigh(scores, keep, soft=no_softmax)


@mistake(
    "takes exponentials of the raw scores, which overflow",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="masked_weights",
    hint="Nobody to listen to",
)
def weights_no_maximum(scores, keep=None):
    return _weigh(scores, keep, soft=no_maximum_softmax)


@mistake(
    "takes exponentials of the raw scores, which overflow",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="masked_weights",
    hint="Nobody to listen to",
    same_as="weights-no-maximum",
)
def weights_no_maximum_unguarded(scores, keep=None):
    return _weigh(scores, keep, soft=raw_unguarded_softmax)


@mistake(
    "takes exponentials of the raw scores",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="masked_weights",
    hint="Nobody to listen to",
    same_as="weights-no-maximum",
)
def weights_no_maximum_late(scores, keep=None):
    return _weigh(scores, keep, soft=raw_times_mask_softmax)


@mistake(
    "takes the softmax over the queries",
    question="Each query asks for a mixture; along which axis must its weights add up to 1?",
    function="masked_weights",
    hint="Where to look",
)
def weights_over_queries(scores, keep=None):
    return _weigh(scores, keep, dim=-2)


@mistake(
    "takes the softmax over the heads",
    question="Do heads compete with each other, or do keys?",
    function="masked_weights",
    hint="Where to look",
)
def weights_over_heads(scores, keep=None):
    return _weigh(scores, keep, dim=1)


@mistake(
    "lays the padding along the queries",
    question="Which axis of the score matrix are the keys on?",
    function="masked_weights",
    hint="Two rules at once",
)
def padding_on_queries(scores, keep=None):
    return _weigh(scores, keep, padding=lambda keep, s: keep[:, None, :, None].expand(s.shape))


@mistake(
    "lays the padding along the queries",
    question="Which axis of the score matrix are the keys on?",
    function="masked_weights",
    hint="Two rules at once",
    same_as="padding-on-queries",
)
def padding_cut_to_queries(scores, keep=None):
    return _weigh(
        scores, keep, padding=lambda keep, s: keep[:, None, : s.size(-2), None].expand(s.shape)
    )


@mistake(
    "gives padded keys a score of 0 instead of hiding them",
    question="What does the exponential turn a score of 0 into?",
    function="masked_weights",
    hint="Two rules at once",
)
def padding_to_zero(scores, keep=None):
    real = scores if keep is None else scores * keep[:, None, None, :]
    return _weigh(real, None)


@mistake(
    "ignores the padding",
    question="Add ten padding words; should the answer for a real word change?",
    function="masked_weights",
    hint="Two rules at once",
)
def ignores_padding(scores, keep=None):
    return _weigh(scores, keep, join=lambda past, real: past)


@convention(
    "reads keep the other way round: True as padding",
    contract="In this kata True means a real key, that may be attended to.",
    function="masked_weights",
    hint="Two rules at once",
)
def keep_inverted(scores, keep=None):
    return _weigh(scores, None if keep is None else ~keep)


@mistake(
    "allows a key that only one of the two rules allows",
    question="A key has to pass both rules; which connective is that?",
    function="masked_weights",
    hint="Two rules at once",
)
def either_rule(scores, keep=None):
    return _weigh(scores, keep, join=lambda past, real: past | real)


@mistake(
    "forgets the causal mask as soon as there is padding",
    question="You have two rules now. Does your code apply both?",
    function="masked_weights",
    hint="Two rules at once",
)
def padding_instead_of_causal(scores, keep=None):
    return _weigh(scores, keep, join=lambda past, real: real)


@mistake(
    "masks the future only when there is padding",
    question="Does your causal rule depend on somebody passing padding?",
    function="masked_weights",
    hint="Two rules at once",
)
def causal_only_with_padding(scores, keep=None):
    return _weigh(scores, keep, past=_ones if keep is None else _past)


@convention(
    "gives NaN to a query without a key",
    contract="In this kata a query that nothing is allowed to gets a row of zeros.",
    function="masked_weights",
    hint="Nobody to listen to",
)
def nan_without_keys(scores, keep=None):
    return _weigh(scores, keep, soft=nan_softmax)


@mistake(
    "repairs NaN afterwards: the values are right, the gradients are NaN",
    question="Your zeros hide a 0/0. What does the way back through it look like?",
    function="masked_weights",
    hint="Nobody to listen to",
)
def nan_repaired_late(scores, keep=None):
    shift = torch.zeros_like(scores).masked_fill(~_rule(scores, keep), -INF)
    shifted = scores + shift
    e = torch.exp(shifted - shifted.amax(-1, keepdim=True))
    return torch.nan_to_num(e / e.sum(-1, keepdim=True))


@mistake(
    "cuts the weights off from the graph",
    question="Would the projections of queries and keys ever hear about the loss?",
    function="masked_weights",
    hint="Almost there",
)
def weights_detached(scores, keep=None):
    return _weigh(scores.detach(), keep)


@mistake(
    "fills the caller's scores in place",
    question="Whose tensor did you just write into?",
    function="masked_weights",
    hint="Before, never after",
)
def fills_in_place(scores, keep=None):
    allowed = _rule(scores, keep)
    scores.masked_fill_(~allowed, -INF)
    return masked_softmax(scores, allowed)


@mistake(
    "fills the caller's scores in place",
    question="Whose tensor did you just write into?",
    function="masked_weights",
    hint="Before, never after",
    same_as="fills-in-place",
)
def fills_in_place_unguarded(scores, keep=None):
    return torch.softmax(scores.masked_fill_(~_rule(scores, keep), -INF), -1)


@mistake(
    "makes the mask on the default device",
    question="On which device does a tensor live that you make from nothing?",
    function="masked_weights",
    hint="Where to look",
)
def weights_default_device(scores, keep=None):
    return _weigh(
        scores,
        keep,
        past=lambda s: torch.ones(s.shape[-2:], dtype=torch.bool).tril().expand(s.shape),
    )


_KEPT = []


@mistake(
    "keeps the mask of its first call",
    question="What if the next sentence is shorter?",
    function="masked_weights",
    hint="Where to look",
)
def keeps_the_first_mask(scores, keep=None):
    if not _KEPT:
        _KEPT.append(torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril())
    return _weigh(scores, keep, past=lambda scores: _KEPT[0].expand(scores.shape))


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    function="masked_weights",
    hint="Before, never after",
)
def weights_epsilon(scores, keep=None):
    return _weigh(scores, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that a hidden key may hold",
    question="Whose exponential is 1 when the highest score of a row is a hidden one?",
    function="masked_weights",
    hint="Before, never after",
    same_as="renormalises-late",
)
def weights_hidden_maximum(scores, keep=None):
    return _weigh(scores, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What becomes of a row that lies 1000 below the highest score of another row?",
    function="masked_weights",
    hint="Nobody to listen to",
)
def weights_one_maximum(scores, keep=None):
    return _weigh(scores, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    function="masked_weights",
    hint="Before, never after",
)
def weights_wide_mask(scores, keep=None):
    return _weigh(scores, keep, soft=wide_mask_softmax)


@mistake(
    "adds the lowest number to hidden scores instead of putting it in their place",
    question="Add the lowest number of float16 to 40000. Is that lower than every visible score?",
    function="masked_weights",
    hint="Before, never after",
)
def adds_the_lowest_number(scores, keep=None):
    allowed = _rule(scores, keep)
    extra = torch.zeros_like(scores).masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores + extra, -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@mistake(
    "flattens with view, which only contiguous scores allow",
    question="What does a transposed tensor answer to view, and what to reshape?",
    function="masked_weights",
    hint="Almost there",
)
def flattens_by_view(scores, keep=None):
    rows = scores.view(-1, scores.size(-1))
    allowed = _rule(scores, keep).reshape(rows.shape)
    return masked_softmax(rows, allowed).view(scores.shape)


_MASKS = {}


@mistake(
    "keeps a mask for each shape, whatever the padding",
    question="Two batches of one shape: do they have the same padding?",
    function="masked_weights",
    hint="Two rules at once",
)
def mask_by_shape(scores, keep=None):
    if scores.shape not in _MASKS:
        _MASKS[scores.shape] = _rule(scores, keep)
    return masked_softmax(scores, _MASKS[scores.shape])


# scaled_dot_product_attention


@mistake(
    "does not scale the scores",
    question="How far apart are the scores, and what does softmax make of a row of such numbers?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_no_scale(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=1.0)


@mistake(
    "divides by d_k, not by its root",
    question="Without the root, where do all weights go as d_k grows?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_divides_by_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=1 / q.size(-1))


@mistake(
    "multiplies the scores by the root instead of dividing",
    question="The root is larger than 1. Do the scores have to become larger or smaller?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_multiplies(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=q.size(-1) ** 0.5)


@mistake(
    "scales by the width of the values",
    question="Which two vectors meet in a score, and how long are they?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_value_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=v.size(-1) ** -0.5)


@mistake(
    "scales by the number of keys",
    question="What does a longer sentence change about one dot product?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_number_of_keys(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=k.size(-2) ** -0.5)


@mistake(
    "scales by the width of all heads together",
    question=(
        "How many products does one score sum up: those of the whole width, or those of one head?"
    ),
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_model_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=(q.size(-1) * q.size(1)) ** -0.5)


@mistake(
    "scales after the softmax",
    question="Sum one row of your weights. Which step was to guarantee that sum?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_scales_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=1.0, end=q.size(-1) ** -0.5)


@mistake(
    "takes the softmax over the queries",
    question="Each query asks for a mixture; along which axis must its weights add up to 1?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_over_queries(q, k, v, causal=True):
    return _attend(q, k, v, causal, dim=-2)


@mistake(
    "takes the softmax over the heads",
    question="Do heads compete with each other, or do keys?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_over_heads(q, k, v, causal=True):
    return _attend(q, k, v, causal, dim=1)


@mistake(
    "takes the softmax over the batch",
    question="With one sample in the batch, how many numbers are normalised together?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_over_the_batch(q, k, v, causal=True):
    return _attend(q, k, v, causal, dim=0)


@mistake(
    "takes exponentials of the raw scores",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="scaled_dot_product_attention",
    hint="Nobody to listen to",
)
def attention_no_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=no_maximum_softmax)


@mistake(
    "takes exponentials of the raw scores",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="scaled_dot_product_attention",
    hint="Nobody to listen to",
    same_as="attention-no-maximum",
)
def attention_no_maximum_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=raw_times_mask_softmax)


@mistake(
    "masks after the softmax",
    question="Hidden keys have already taken their share; who gets it back?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_masks_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=unshared_softmax)


@mistake(
    "sets hidden scores to 0",
    question="0 is a perfectly ordinary score. What comes after the scores?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_zero_scores(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=zero_fill_softmax)


@mistake(
    "adds the 0/1 mask to the scores",
    question="You add 0 to the scores of hidden keys. What have they lost by that?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_adds_the_mask(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=added_mask_softmax)


@mistake(
    "hides with plus infinity",
    question="Which infinity does the exponential send to 0?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_wrong_infinity(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=wrong_infinity_softmax)


@mistake(
    "turns the triangle over: a query sees itself and the future",
    question="Cover row 0 with your hand: which columns may it use?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_turned(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _ones(scores).triu())


@mistake(
    "hides what it should keep",
    question="masked_fill fills where the mask is True. Is that where you want it?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_hides_the_past(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: ~_past(scores))


@mistake(
    "hides the diagonal as well",
    question="May a word look at itself? And what is left for the first word if not?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_hides_diagonal(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _ones(scores).tril(-1))


@mistake(
    "lets every query see one word ahead",
    question="Which is the first forbidden cell of row 0 in your mask?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_one_ahead(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _ones(scores).tril(1))


@mistake(
    "lets a word see itself alone",
    question="Which earlier words may the third word listen to?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_only_itself(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _past(scores).triu())


@mistake(
    "ignores causal",
    question="Your function was told whether to mask. Where does it use that?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_never_causal(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=_ones)


@mistake(
    "always masks",
    question="Your function was told whether to mask. Where does it use that?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_always_causal(q, k, v, causal=True):
    return _attend(q, k, v, True)


@convention(
    "aligns the mask to the bottom right corner",
    contract="Query i sees keys 0 to i, whatever the lengths (top left, as PyTorch's is_causal).",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_bottom_right(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda s: _ones(s).tril(s.size(-1) - s.size(-2)))


@mistake(
    "builds a square mask from the number of queries",
    question="What if there are more keys than queries?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_square_mask(q, k, v, causal=True):
    square = torch.ones(q.size(-2), q.size(-2), dtype=torch.bool, device=q.device)
    return _attend(
        q,
        k,
        v,
        causal,
        past=lambda s: s.new_ones(s.shape, dtype=torch.bool).logical_and_(square.tril()),
    )


@mistake(
    "multiplies keys by queries: its rows are keys",
    question="Does row i of the scores belong to query i?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_keys_times_queries(q, k, v, causal=True):
    return _attend(q, k, v, causal, product=lambda q, k: k @ q.transpose(-2, -1))


@mistake(
    "has no softmax",
    question="Can a share be negative?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_no_softmax(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=no_softmax)


@mistake(
    "gives the weights back instead of the blend",
    question="Your weights say how much of each. Of what, and where does that come in?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_returns_weights(q, k, v, causal=True):
    return _attend(q, k, torch.eye(k.size(-2), dtype=k.dtype, device=k.device), causal)


@mistake(
    "blends the keys instead of the values",
    question="A key says what a word has; what does it hand over?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_blends_keys(q, k, v, causal=True):
    return _attend(q, k, k, causal)


@mistake(
    "blends the queries instead of the values",
    question="A query says what a word looks for; what is handed over?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_blends_queries(q, k, v, causal=True):
    return _attend(q, k, q, causal)


@mistake(
    "scores the queries against the values",
    question="Against which of the three does a query compare itself?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_scores_values(q, k, v, causal=True):
    return _attend(q, v, v, causal)


@mistake(
    "exchanges keys and values",
    question="What is compared, and what is handed over?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_keys_and_values_exchanged(q, k, v, causal=True):
    return _attend(q, v, k, causal)


@mistake(
    "scores the keys against themselves",
    question="Who asks? Where does the query come in?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_scores_keys(q, k, v, causal=True):
    return _attend(k, k, v, causal)


@mistake(
    "gives the running mean of the values, whatever the query",
    question="Ask two different questions. Do you get two different answers?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_plain_mean(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=even_softmax)


@mistake(
    "always answers in double precision",
    question="Which dtype had the inputs, and which has your answer?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_always_double(q, k, v, causal=True):
    return _attend(q.double(), k.double(), v.double(), causal)


@mistake(
    "always answers in float32",
    question="Which dtype had the inputs, and which has your answer?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_always_float32(q, k, v, causal=True):
    return _attend(q.float(), k.float(), v.float(), causal)


@mistake(
    "rounds to half precision on the way",
    question="Which dtype had the inputs, and in which do you compute?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_rounds_to_half(q, k, v, causal=True):
    return _attend(*(t.half().to(t.dtype) for t in (q, k, v)), causal)


@mistake(
    "scales the caller's queries in place",
    question="Call your function twice with the same tensors. Why would the second answer differ?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_changes_q(q, k, v, causal=True):
    q *= q.size(-1) ** -0.5
    return _attend(q, k, v, causal, scale=1.0)


@mistake(
    "cuts the weights off from the graph",
    question="Would the projections of queries and keys ever hear about the loss?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_detached(q, k, v, causal=True):
    return _attend(q.detach(), k.detach(), v, causal)


@mistake(
    "cuts the answer off from the graph",
    question="Would anything before your function ever hear about the loss?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_all_detached(q, k, v, causal=True):
    return _attend(q.detach(), k.detach(), v.detach(), causal)


@mistake(
    "makes the mask on the default device",
    question="On which device does a tensor live that you make from nothing?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_default_device(q, k, v, causal=True):
    return _attend(
        q,
        k,
        v,
        causal,
        past=lambda s: torch.ones(s.shape[-2:], dtype=torch.bool).tril().expand(s.shape),
    )


@mistake(
    "drops weights at random",
    question="Call your function twice. Should the answers differ?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    random=True,
)
def attention_dropout(q, k, v, causal=True):
    return torch.nn.functional.dropout(_attend(q, k, v, causal), 0.3, True)


@mistake(
    "hides with a number that real scores can undercut, such as -10000",
    question='Is your "very small" smaller than everything a model can produce?',
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_fill_too_weak(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=weak_fill_softmax)


@mistake(
    "hides with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number your dtype can hold, and is there one that always fits?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_fill_does_not_fit(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=billion_fill_softmax)


@mistake(
    "takes hidden keys out after the exponentials: 0/0 when a hidden score towers",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_renormalises_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_epsilon(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that a hidden key may hold",
    question="Whose exponential is 1 when the highest score of a row is a hidden one?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
    same_as="attention-renormalises-late",
)
def attention_hidden_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What becomes of a row that lies 1000 below the highest score of another row?",
    function="scaled_dot_product_attention",
    hint="Nobody to listen to",
)
def attention_one_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    function="scaled_dot_product_attention",
    hint="Before, never after",
)
def attention_wide_mask(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=wide_mask_softmax)


# right, though it looks odd


@harmless(
    "hides with minus infinity and takes a plain softmax: here every query has a key",
    function="scaled_dot_product_attention",
)
def plain_softmax(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=nan_softmax)


@harmless(
    "fills with the lowest number of the dtype: here every query has a key",
    function="scaled_dot_product_attention",
)
def lowest_fill(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=uniform_softmax)


@harmless(
    "fills with the lowest number of the dtype and clears rows without keys",
    function="masked_weights",
)
def lowest_number(scores, keep=None):
    allowed = _rule(scores, keep)
    weights = torch.softmax(scores.masked_fill(~allowed, torch.finfo(scores.dtype).min), -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@harmless("chooses with where instead of filling", function="masked_weights")
def where_instead_of_fill(scores, keep=None):
    allowed = _rule(scores, keep)
    hidden = torch.where(allowed, scores, torch.full_like(scores, -INF))
    some = allowed.any(-1, keepdim=True)
    return torch.where(
        some, torch.softmax(hidden.where(some, hidden.new_zeros(())), -1), 0 * scores
    )


@harmless(
    "adds minus infinity and keeps rows without keys out of the softmax", function="masked_weights"
)
def adds_minus_infinity(scores, keep=None):
    allowed = _rule(scores, keep)
    some = allowed.any(-1, keepdim=True)
    extra = torch.zeros_like(scores).masked_fill(~allowed & some, -INF)
    return torch.softmax(scores + extra, -1) * some


@harmless("goes through the queries one at a time", function="masked_weights")
def one_query_at_a_time(scores, keep=None):
    allowed = _rule(scores, keep)
    rows = [masked_softmax(scores[:, :, i], allowed[:, :, i]) for i in range(scores.size(-2))]
    return torch.stack(rows, -2)


@harmless("compares positions instead of drawing a triangle", function="causal_mask")
def compares_positions(t_q, t_k, device=None):
    i = torch.arange(t_q, device=device)[:, None]
    return torch.arange(t_k, device=device)[None, :] <= i


@harmless("is the plain formula with a 0-d root", function="scaled_dot_product_attention")
def plain_formula(q, k, v, causal=True):
    scores = q @ k.transpose(-2, -1) / torch.sqrt(torch.tensor(q.size(-1)))
    if causal:
        rows = torch.arange(q.size(-2), device=q.device)[:, None]
        future = torch.arange(k.size(-2), device=q.device) > rows
        scores = scores.masked_fill(future, -INF)
    return torch.softmax(scores, -1) @ v


@harmless(
    "is written as einsums, with the fourth root on both sides",
    function="scaled_dot_product_attention",
)
def einsum_fourth_root(q, k, v, causal=True):
    root = q.size(-1) ** -0.25
    scores = torch.einsum("bhid,bhjd->bhij", q * root, k * root)
    if causal:
        allowed = torch.ones_like(scores, dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)


@harmless(
    "goes through blocks of keys with a running maximum", function="scaled_dot_product_attention"
)
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
    "works in float32 where the input is half, and rounds back",
    function="scaled_dot_product_attention",
)
def float_inside(q, k, v, causal=True):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    return _attend(q.to(wide), k.to(wide), v.to(wide), causal).to(q.dtype)
