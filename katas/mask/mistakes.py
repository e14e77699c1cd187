"""Known mistakes in masks and attention, and right answers that look unusual."""

import torch

from attention_katas.authoring import convention, formula, harmless, mistake
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
    """The weights under both masks, causal and padding."""
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
    "uses the upper triangle: a query sees itself and the future",
    question="Which keys may query 0 attend to, and which does row 0 of your mask allow?",
    function="causal_mask",
    hint="Where to look",
)
def triangle_turned(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu()


@convention(
    "marks the forbidden keys with True, not the allowed ones",
    contract='In this kata True means "may attend", as in F.scaled_dot_product_attention.',
    function="causal_mask",
    hint="Where to look",
)
def polarity_inverted(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu(1)


@mistake(
    "masks the diagonal: a word cannot attend to itself",
    question="May a word attend to itself? If not, which keys are left for the first word?",
    function="causal_mask",
    hint="Where to look",
)
def diagonal_forbidden(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(-1)


@mistake(
    "sets the diagonal one too high: every query sees one word ahead",
    question="Print a 4 by 4 mask. Which is the first forbidden key of row 0?",
    function="causal_mask",
    hint="Where to look",
)
def one_word_ahead(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(1)


@convention(
    "aligns the mask to the bottom right corner when the lengths differ",
    contract="Query i sees keys 0 to i, whatever the lengths (top left, as PyTorch's is_causal).",
    function="causal_mask",
    hint="Where to look",
)
def bottom_right(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q)


@mistake(
    "returns a square mask, whatever the number of keys",
    question="What if there are more keys than queries?",
    function="causal_mask",
    hint="Where to look",
)
def always_square(t_q, t_k, device=None):
    return torch.ones(t_q, t_q, dtype=torch.bool, device=device).tril()


@mistake(
    "has keys as rows and queries as columns",
    question="How many rows should a mask for 3 queries and 5 keys have?",
    function="causal_mask",
    hint="Where to look",
)
def transposed(t_q, t_k, device=None):
    return torch.ones(t_k, t_q, dtype=torch.bool, device=device).tril()


@mistake(
    "masks nothing",
    question="Which keys may query 0 attend to, and which does row 0 of your mask allow?",
    function="causal_mask",
    hint="Where to look",
)
def hides_nothing(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device)


@mistake(
    "lets a word attend only to itself",
    question="Which earlier words may the third word attend to?",
    function="causal_mask",
    hint="Where to look",
)
def only_itself(t_q, t_k, device=None):
    return torch.eye(t_q, t_k, dtype=torch.bool, device=device)


@mistake(
    "has a floating-point dtype instead of bool",
    question="Which dtype does your mask have, and what would ~ do to it?",
    function="causal_mask",
    hint="Where to look",
)
def numbers_not_truths(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, device=device).tril()


@mistake(
    "has an integer dtype instead of bool",
    question="Which dtype does your mask have, and what would ~ do to it?",
    function="causal_mask",
    hint="Where to look",
    same_as="numbers-not-truths",
)
def whole_numbers(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.long, device=device).tril()


@convention(
    "returns an additive mask: 0 and minus infinity",
    contract="In this kata the mask has dtype bool, with True where a query may attend.",
    function="causal_mask",
    hint="Where to look",
)
def additive_mask(t_q, t_k, device=None):
    return torch.full((t_q, t_k), -INF, device=device).triu(1)


@mistake(
    "ignores the argument device",
    question="Where does your function use device?",
    function="causal_mask",
    hint="Where to look",
    shows="nothing",
)
def mask_ignores_device(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool).tril()


@mistake(
    "slices its masks from a buffer of fixed size",
    question="What does your function return for a text longer than the buffer?",
    function="causal_mask",
    hint="Where to look",
)
def cut_from_a_buffer(t_q, t_k, device=None):
    return torch.ones(2048, 2048, dtype=torch.bool, device=device).tril()[:t_q, :t_k]


@mistake(
    "slices its masks from a buffer of fixed size",
    question="What does your function return for a text longer than the buffer?",
    function="causal_mask",
    hint="Where to look",
    same_as="cut-from-a-buffer",
)
def cut_from_a_short_buffer(t_q, t_k, device=None):
    return torch.ones(1024, 1024, dtype=torch.bool, device=device).tril()[:t_q, :t_k]


# masked_weights


@mistake(
    "has no causal mask",
    question="Change the last word only. Which rows of weights may change?",
    function="masked_weights",
    hint="Two masks at once",
)
def no_mask(scores, keep=None):
    return _weigh(scores, keep, past=_ones)


@mistake(
    "uses the upper triangle: a query sees itself and the future",
    question="Which keys may query 0 attend to, and which does row 0 of your mask allow?",
    function="masked_weights",
    hint="Where to look",
)
def weights_turned(scores, keep=None):
    return _weigh(scores, keep, past=lambda scores: _ones(scores).triu())


@mistake(
    "masks the diagonal too: a word cannot attend to itself",
    question="May a word attend to itself? If not, which keys are left for the first word?",
    function="masked_weights",
    hint="Where to look",
)
def weights_hide_diagonal(scores, keep=None):
    return _weigh(scores, keep, past=lambda scores: _ones(scores).tril(-1))


@mistake(
    "lets every query see one word ahead",
    question="Which is the first forbidden key of row 0 in your mask?",
    function="masked_weights",
    hint="Where to look",
)
def weights_one_ahead(scores, keep=None):
    return _weigh(scores, keep, past=lambda scores: _ones(scores).tril(1))


@convention(
    "aligns the mask to the bottom right corner when the lengths differ",
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
    question=(
        "The masked keys have already taken part of the sum. Do the other weights still sum to 1?"
    ),
    function="masked_weights",
    hint="Mask before softmax",
)
def mask_after_softmax(scores, keep=None):
    return _weigh(scores, keep, soft=unshared_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="masked_weights",
    hint="Mask before softmax",
)
def renormalises_late(scores, keep=None):
    return _weigh(scores, keep, soft=late_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="renormalises-late",
)
def renormalises_late_unguarded(scores, keep=None):
    return _weigh(scores, keep, soft=unguarded_late_softmax)


@mistake(
    "gives masked keys a score near 0",
    question="What does the exponential turn a score of 0 into?",
    function="masked_weights",
    hint="Mask before softmax",
)
def fills_with_zero(scores, keep=None):
    return _weigh(scores, keep, soft=zero_fill_softmax)


@mistake(
    "masks with a number close to zero",
    question="Which score gets the weight 0: one close to zero, or one far below zero?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="fills-with-zero",
)
def fills_with_a_tiny_number(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), 1e-9), -1)


@mistake(
    "masks with a number that real scores can fall below, such as -10000",
    question="Is your number lower than every score that a model can produce?",
    function="masked_weights",
    hint="Mask before softmax",
)
def fill_too_weak(scores, keep=None):
    return _weigh(scores, keep, soft=weak_fill_softmax)


@mistake(
    "masks with a number that real scores can fall below, such as -10000",
    question="Is your number lower than every score that a model can produce?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="fill-too-weak",
)
def fill_too_weak_uniform(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -1e4), -1)


@mistake(
    "masks with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number of your dtype, and which value exists in every dtype?",
    function="masked_weights",
    hint="Mask before softmax",
    shows="nothing",
)
def fill_does_not_fit(scores, keep=None):
    return _weigh(scores, keep, soft=billion_fill_softmax)


@mistake(
    "masks with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number of your dtype, and which value exists in every dtype?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="fill-does-not-fit",
)
def fill_far_too_low(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -1e30), -1)


@mistake(
    "masks with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number of your dtype, and which value exists in every dtype?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="fill-does-not-fit",
)
def fill_does_not_fit_uniform(scores, keep=None):
    return torch.softmax(scores.masked_fill(~_rule(scores, keep), -1e9), -1)


@mistake(
    "gives weight to keys in rows whose keys are all masked",
    question="What should a query receive when all of its keys are masked?",
    function="masked_weights",
    hint="When all keys are masked",
    shows="nothing",
)
def uniform_without_keys(scores, keep=None):
    return _weigh(scores, keep, soft=uniform_softmax)


@mistake(
    "masks with plus infinity",
    question="For which infinity is the exponential 0?",
    function="masked_weights",
    hint="Mask before softmax",
)
def wrong_infinity(scores, keep=None):
    return _weigh(scores, keep, soft=wrong_infinity_softmax)


@mistake(
    "masks the allowed keys and keeps the others",
    question="masked_fill fills where the mask is True. Which keys does your mask mark with True?",
    function="masked_weights",
    hint="Where to look",
)
def hides_the_past(scores, keep=None):
    return _weigh(scores, keep, soft=inverted_softmax)


@mistake(
    "masks the allowed keys and keeps the others",
    question="masked_fill fills where the mask is True. Which keys does your mask mark with True?",
    function="masked_weights",
    hint="Where to look",
    same_as="hides-the-past",
)
def hides_the_past_nan(scores, keep=None):
    return torch.softmax(scores.masked_fill(_rule(scores, keep), -INF), -1)


@mistake(
    "adds the mask itself (0 and 1) to the scores",
    question="You add 0 to the scores of masked keys. Does that lower their weights to 0?",
    function="masked_weights",
    hint="Mask before softmax",
)
def adds_the_mask(scores, keep=None):
    return _weigh(scores, keep, soft=added_mask_softmax)


@mistake(
    "has no softmax: returns the masked scores",
    question="Can a weight be negative?",
    function="masked_weights",
    hint="Mask before softmax",
)
def no_softmax_at_all(scores, keep=None):
    return _weigh(scores, keep, soft=no_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="masked_weights",
    hint="When all keys are masked",
    shows="overflow",
)
def weights_no_maximum(scores, keep=None):
    return _weigh(scores, keep, soft=no_maximum_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="masked_weights",
    hint="When all keys are masked",
    same_as="weights-no-maximum",
)
def weights_no_maximum_unguarded(scores, keep=None):
    return _weigh(scores, keep, soft=raw_unguarded_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="masked_weights",
    hint="When all keys are masked",
    same_as="weights-no-maximum",
)
def weights_no_maximum_late(scores, keep=None):
    return _weigh(scores, keep, soft=raw_times_mask_softmax)


@mistake(
    "takes the softmax over the queries",
    question="Along which axis must the weights of one query sum to 1?",
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
    "applies the padding mask to the queries instead of the keys",
    question="Which axis of the score matrix are the keys on?",
    function="masked_weights",
    hint="Two masks at once",
    shows="nothing",
)
def padding_on_queries(scores, keep=None):
    return _weigh(scores, keep, padding=lambda keep, s: keep[:, None, :, None].expand(s.shape))


@mistake(
    "applies the padding mask to the queries instead of the keys",
    question="Which axis of the score matrix are the keys on?",
    function="masked_weights",
    hint="Two masks at once",
    same_as="padding-on-queries",
)
def padding_cut_to_queries(scores, keep=None):
    return _weigh(
        scores, keep, padding=lambda keep, s: keep[:, None, : s.size(-2), None].expand(s.shape)
    )


@mistake(
    "gives padded keys a score of 0 instead of masking them",
    question="What does the exponential turn a score of 0 into?",
    function="masked_weights",
    hint="Two masks at once",
    shows="nothing",
)
def padding_to_zero(scores, keep=None):
    real = scores if keep is None else scores * keep[:, None, None, :]
    return _weigh(real, None)


@mistake(
    "ignores the padding",
    question="Add ten padding words. Should the output for a real word change?",
    function="masked_weights",
    hint="Two masks at once",
    shows="nothing",
)
def ignores_padding(scores, keep=None):
    return _weigh(scores, keep, join=lambda past, real: past)


@convention(
    "reads keep inverted: True as padding",
    contract="In this kata True marks a real key, which may be attended to.",
    function="masked_weights",
    hint="Two masks at once",
    shows="nothing",
)
def keep_inverted(scores, keep=None):
    return _weigh(scores, None if keep is None else ~keep)


@mistake(
    "allows keys that only one of the two masks allows",
    question="Both masks have to allow a key. Which logical operator is that?",
    function="masked_weights",
    hint="Two masks at once",
)
def either_rule(scores, keep=None):
    return _weigh(scores, keep, join=lambda past, real: past | real)


@mistake(
    "forgets the causal mask as soon as there is padding",
    question="There are two masks, causal and padding. Does your code apply both?",
    function="masked_weights",
    hint="Two masks at once",
    shows="nothing",
)
def padding_instead_of_causal(scores, keep=None):
    return _weigh(scores, keep, join=lambda past, real: real)


@mistake(
    "masks the future only when there is padding",
    question="Should the causal mask depend on whether keep is given?",
    function="masked_weights",
    hint="Two masks at once",
)
def causal_only_with_padding(scores, keep=None):
    return _weigh(scores, keep, past=_ones if keep is None else _past)


@convention(
    "gives NaN to a query whose keys are all masked",
    contract="In this kata a query whose keys are all masked gets a row of zeros.",
    function="masked_weights",
    hint="When all keys are masked",
    shows="nothing",
)
def nan_without_keys(scores, keep=None):
    return _weigh(scores, keep, soft=nan_softmax)


@mistake(
    "replaces NaN afterwards: the values are right, the gradients are NaN",
    question="Your zeros replace the result of 0/0. What does the backward pass through 0/0 give?",
    function="masked_weights",
    hint="When all keys are masked",
    shows="nothing",
)
def nan_repaired_late(scores, keep=None):
    shift = torch.zeros_like(scores).masked_fill(~_rule(scores, keep), -INF)
    shifted = scores + shift
    e = torch.exp(shifted - shifted.amax(-1, keepdim=True))
    return torch.nan_to_num(e / e.sum(-1, keepdim=True))


@mistake(
    "detaches the weights from the graph",
    question="Does a gradient of the loss reach the projections of queries and keys?",
    function="masked_weights",
    hint="Almost there",
    shows="gradient",
)
def weights_detached(scores, keep=None):
    return _weigh(scores.detach(), keep)


@mistake(
    "masks the caller's scores in place",
    question="Whose tensor does your function write into?",
    function="masked_weights",
    hint="Mask before softmax",
    shows="nothing",
)
def fills_in_place(scores, keep=None):
    allowed = _rule(scores, keep)
    scores.masked_fill_(~allowed, -INF)
    return masked_softmax(scores, allowed)


@mistake(
    "masks the caller's scores in place",
    question="Whose tensor does your function write into?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="fills-in-place",
)
def fills_in_place_unguarded(scores, keep=None):
    return torch.softmax(scores.masked_fill_(~_rule(scores, keep), -INF), -1)


@mistake(
    "creates the mask on the default device",
    question="On which device does torch create a tensor when you name no device?",
    function="masked_weights",
    hint="Where to look",
    shows="nothing",
)
def weights_default_device(scores, keep=None):
    return _weigh(
        scores,
        keep,
        past=lambda s: torch.ones(s.shape[-2:], dtype=torch.bool).tril().expand(s.shape),
    )


_KEPT = []


@mistake(
    "caches the mask of its first call",
    question="What does your function return if the next sentence is shorter?",
    function="masked_weights",
    hint="Where to look",
    shows="nothing",
)
def keeps_the_first_mask(scores, keep=None):
    if not _KEPT:
        _KEPT.append(torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril())
    return _weigh(scores, keep, past=lambda scores: _KEPT[0].expand(scores.shape))


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="masked_weights",
    hint="Mask before softmax",
)
def weights_epsilon(scores, keep=None):
    return _weigh(scores, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that includes the masked keys",
    question="Which key has the exponential 1 when the highest score of a row is masked?",
    function="masked_weights",
    hint="Mask before softmax",
    same_as="renormalises-late",
)
def weights_hidden_maximum(scores, keep=None):
    return _weigh(scores, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What happens to a row that lies 1000 below the highest score of another row?",
    function="masked_weights",
    hint="When all keys are masked",
)
def weights_one_maximum(scores, keep=None):
    return _weigh(scores, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    function="masked_weights",
    hint="Mask before softmax",
    shows="nothing",
)
def weights_wide_mask(scores, keep=None):
    return _weigh(scores, keep, soft=wide_mask_softmax)


@mistake(
    "adds the lowest number to masked scores instead of replacing them by it",
    question="Add the lowest number of float16 to 40000. Is that lower than every visible score?",
    function="masked_weights",
    hint="Mask before softmax",
)
def adds_the_lowest_number(scores, keep=None):
    allowed = _rule(scores, keep)
    extra = torch.zeros_like(scores).masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores + extra, -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@mistake(
    "flattens with view, which needs contiguous scores",
    question="What does view do with a transposed tensor, and what does reshape do?",
    function="masked_weights",
    hint="Almost there",
    shows="nothing",
)
def flattens_by_view(scores, keep=None):
    rows = scores.view(-1, scores.size(-1))
    allowed = _rule(scores, keep).reshape(rows.shape)
    return masked_softmax(rows, allowed).view(scores.shape)


_MASKS = {}


@mistake(
    "caches one mask for each shape, whatever the padding",
    question="Do two batches of the same shape have the same padding?",
    function="masked_weights",
    hint="Two masks at once",
    shows="nothing",
)
def mask_by_shape(scores, keep=None):
    if scores.shape not in _MASKS:
        _MASKS[scores.shape] = _rule(scores, keep)
    return masked_softmax(scores, _MASKS[scores.shape])


# scaled_dot_product_attention


@mistake(
    "does not scale the scores",
    question="How large is the spread of the scores, and what does softmax do with such a row?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_no_scale(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=1.0)


@mistake(
    "divides by d_k, not by its square root",
    question="Without the square root, what happens to the weights as d_k grows?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_divides_by_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=1 / q.size(-1))


@mistake(
    "multiplies the scores by the square root instead of dividing",
    question="The square root is larger than 1. Should the scores become larger or smaller?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_multiplies(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=q.size(-1) ** 0.5)


@mistake(
    "scales by the width of the values",
    question="Which two vectors give one score, and how long are they?",
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
    question="How many products does one score sum: those of the whole width, or of one head?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_model_width(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=(q.size(-1) * q.size(1)) ** -0.5)


@mistake(
    "scales after the softmax",
    question="Sum one row of your weights. Which step should make that sum 1?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_scales_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, scale=1.0, end=q.size(-1) ** -0.5)


@mistake(
    "takes the softmax over the queries",
    question="Along which axis must the weights of one query sum to 1?",
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
    question="With one sequence in the batch, how many numbers are normalised together?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_over_the_batch(q, k, v, causal=True):
    return _attend(q, k, v, causal, dim=0)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="scaled_dot_product_attention",
    hint="When all keys are masked",
    shows="overflow",
)
def attention_no_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=no_maximum_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="scaled_dot_product_attention",
    hint="When all keys are masked",
    same_as="attention-no-maximum",
)
def attention_no_maximum_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=raw_times_mask_softmax)


@mistake(
    "masks after the softmax",
    question=(
        "The masked keys have already taken part of the sum. Do the other weights still sum to 1?"
    ),
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_masks_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=unshared_softmax)


@mistake(
    "sets masked scores to 0",
    question="0 is an ordinary score. Which weight does softmax give it?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_zero_scores(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=zero_fill_softmax)


@mistake(
    "adds the mask itself (0 and 1) to the scores",
    question="You add 0 to the scores of masked keys. Does that lower their weights to 0?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_adds_the_mask(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=added_mask_softmax)


@mistake(
    "masks with plus infinity",
    question="For which infinity is the exponential 0?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_wrong_infinity(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=wrong_infinity_softmax)


@mistake(
    "uses the upper triangle: a query sees itself and the future",
    question="Which keys may query 0 attend to, and which does row 0 of your mask allow?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_turned(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _ones(scores).triu())


@mistake(
    "masks the allowed keys and keeps the others",
    question="masked_fill fills where the mask is True. Which keys does your mask mark with True?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_hides_the_past(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: ~_past(scores))


@mistake(
    "masks the diagonal too: a word cannot attend to itself",
    question="May a word attend to itself? If not, which keys are left for the first word?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_hides_diagonal(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _ones(scores).tril(-1))


@mistake(
    "lets every query see one word ahead",
    question="Which is the first forbidden key of row 0 in your mask?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_one_ahead(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _ones(scores).tril(1))


@mistake(
    "lets a word attend only to itself",
    question="Which earlier words may the third word attend to?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_only_itself(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=lambda scores: _past(scores).triu())


@mistake(
    "ignores causal",
    question="Where does your function use causal?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_never_causal(q, k, v, causal=True):
    return _attend(q, k, v, causal, past=_ones)


@mistake(
    "always masks",
    question="Where does your function use causal?",
    function="scaled_dot_product_attention",
    hint="Where to look",
)
def attention_always_causal(q, k, v, causal=True):
    return _attend(q, k, v, True)


@convention(
    "aligns the mask to the bottom right corner when the lengths differ",
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
    "multiplies keys by queries: the rows of the scores are keys",
    question="Does row i of the scores belong to query i?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_keys_times_queries(q, k, v, causal=True):
    return _attend(q, k, v, causal, product=lambda q, k: k @ q.transpose(-2, -1))


@mistake(
    "has no softmax",
    question="Can a weight be negative?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_no_softmax(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=no_softmax)


@mistake(
    "returns the weights instead of the blend of values",
    question="Which tensor do the weights multiply, and where does your code use it?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_returns_weights(q, k, v, causal=True):
    return _attend(q, k, torch.eye(k.size(-2), dtype=k.dtype, device=k.device), causal)


@mistake(
    "blends the keys instead of the values",
    question="The keys give the weights. Which tensor do the weights multiply?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_blends_keys(q, k, v, causal=True):
    return _attend(q, k, k, causal)


@mistake(
    "blends the queries instead of the values",
    question="The queries give the weights. Which tensor do the weights multiply?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_blends_queries(q, k, v, causal=True):
    return _attend(q, k, q, causal)


@mistake(
    "scores the queries against the values",
    question="Which of q, k and v is compared with the queries?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_scores_values(q, k, v, causal=True):
    return _attend(q, v, v, causal)


@mistake(
    "swaps keys and values",
    question="Which of the two is compared with the queries, and which is blended?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_keys_and_values_exchanged(q, k, v, causal=True):
    return _attend(q, v, k, causal)


@mistake(
    "scores the keys against themselves",
    question="Where does your code use q?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_scores_keys(q, k, v, causal=True):
    return _attend(k, k, v, causal)


@mistake(
    "gives the running mean of the values, whatever the query",
    question="Change q only. Does your result change?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_plain_mean(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=even_softmax)


@mistake(
    "always returns double precision",
    question="Which dtype do the inputs have, and which does your result have?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    shows="nothing",
)
def attention_always_double(q, k, v, causal=True):
    return _attend(q.double(), k.double(), v.double(), causal)


@mistake(
    "always returns float32",
    question="Which dtype do the inputs have, and which does your result have?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    shows="nothing",
)
def attention_always_float32(q, k, v, causal=True):
    return _attend(q.float(), k.float(), v.float(), causal)


@mistake(
    "rounds intermediate results to half precision",
    question="Which dtype do the inputs have, and in which do you compute?",
    function="scaled_dot_product_attention",
    hint="Almost there",
)
def attention_rounds_to_half(q, k, v, causal=True):
    return _attend(*(t.half().to(t.dtype) for t in (q, k, v)), causal)


@mistake(
    "scales the caller's queries in place",
    question="Call your function twice with the same tensors. Why does the second result differ?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    shows="nothing",
)
def attention_changes_q(q, k, v, causal=True):
    q *= q.size(-1) ** -0.5
    return _attend(q, k, v, causal, scale=1.0)


@mistake(
    "detaches the weights from the graph",
    question="Does a gradient of the loss reach the projections of queries and keys?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    shows="gradient",
)
def attention_detached(q, k, v, causal=True):
    return _attend(q.detach(), k.detach(), v, causal)


@mistake(
    "detaches the result from the graph",
    question="Does a gradient of the loss reach the inputs of your function?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    shows="gradient",
)
def attention_all_detached(q, k, v, causal=True):
    return _attend(q.detach(), k.detach(), v.detach(), causal)


@mistake(
    "creates the mask on the default device",
    question="On which device does torch create a tensor when you name no device?",
    function="scaled_dot_product_attention",
    hint="Where to look",
    shows="nothing",
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
    "applies dropout to the weights",
    question="Call your function twice. Should the results differ?",
    function="scaled_dot_product_attention",
    hint="Almost there",
    random=True,
    shows="nothing",
)
def attention_dropout(q, k, v, causal=True):
    return torch.nn.functional.dropout(_attend(q, k, v, causal), 0.3, True)


@mistake(
    "masks with a number that real scores can fall below, such as -10000",
    question="Is your number lower than every score that a model can produce?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_fill_too_weak(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=weak_fill_softmax)


@mistake(
    "masks with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number of your dtype, and which value exists in every dtype?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
    shows="nothing",
)
def attention_fill_does_not_fit(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=billion_fill_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_renormalises_late(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
)
def attention_epsilon(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that includes the masked keys",
    question="Which key has the exponential 1 when the highest score of a row is masked?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
    same_as="attention-renormalises-late",
)
def attention_hidden_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What happens to a row that lies 1000 below the highest score of another row?",
    function="scaled_dot_product_attention",
    hint="When all keys are masked",
)
def attention_one_maximum(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    function="scaled_dot_product_attention",
    hint="Mask before softmax",
    shows="nothing",
)
def attention_wide_mask(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=wide_mask_softmax)


# right answers that look unusual


@harmless(
    "masks with minus infinity and takes a plain softmax: here every query has a key",
    function="scaled_dot_product_attention",
)
def plain_softmax(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=nan_softmax)


@harmless(
    "masks with the lowest number of the dtype: here every query has a key",
    function="scaled_dot_product_attention",
)
def lowest_fill(q, k, v, causal=True):
    return _attend(q, k, v, causal, soft=uniform_softmax)


@harmless(
    "masks with the lowest number of the dtype and clears rows whose keys are all masked",
    function="masked_weights",
)
def lowest_number(scores, keep=None):
    allowed = _rule(scores, keep)
    weights = torch.softmax(scores.masked_fill(~allowed, torch.finfo(scores.dtype).min), -1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


@harmless("masks with torch.where instead of masked_fill", function="masked_weights")
def where_instead_of_fill(scores, keep=None):
    allowed = _rule(scores, keep)
    hidden = torch.where(allowed, scores, torch.full_like(scores, -INF))
    some = allowed.any(-1, keepdim=True)
    return torch.where(
        some, torch.softmax(hidden.where(some, hidden.new_zeros(())), -1), 0 * scores
    )


@harmless(
    "adds minus infinity and leaves rows whose keys are all masked out of the softmax",
    function="masked_weights",
)
def adds_minus_infinity(scores, keep=None):
    allowed = _rule(scores, keep)
    some = allowed.any(-1, keepdim=True)
    extra = torch.zeros_like(scores).masked_fill(~allowed & some, -INF)
    return torch.softmax(scores + extra, -1) * some


@harmless("loops over the queries", function="masked_weights")
def one_query_at_a_time(scores, keep=None):
    allowed = _rule(scores, keep)
    rows = [masked_softmax(scores[:, :, i], allowed[:, :, i]) for i in range(scores.size(-2))]
    return torch.stack(rows, -2)


@harmless("compares positions instead of calling tril", function="causal_mask")
def compares_positions(t_q, t_k, device=None):
    i = torch.arange(t_q, device=device)[:, None]
    return torch.arange(t_k, device=device)[None, :] <= i


@harmless(
    "is the plain formula with a 0-d tensor as square root", function="scaled_dot_product_attention"
)
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
    "loops over blocks of keys with a running maximum (online softmax)",
    function="scaled_dot_product_attention",
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
