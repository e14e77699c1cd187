"""Known mistakes in multi-head attention, and right answers that look unusual."""

import torch
import torch.nn.functional as F

from attention_katas.authoring import convention, formula, harmless, mistake
from shared.masked_softmax import (
    added_mask_softmax,
    billion_fill_softmax,
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
    zero_fill_softmax,
)


def _split(x, heads):
    batch, length, width = x.shape
    if width % heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


def _view(x, heads):
    batch, length, width = x.shape
    if width % heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, heads, length, width // heads)


def _strict_view(x, heads):
    batch, length, width = x.shape
    if width % heads:
        raise ValueError("the heads cannot share this width")
    return x.view(batch, heads, length, width // heads)


def _strict_unview(x):
    batch, heads, length, width = x.shape
    return x.view(batch, length, heads * width)


def _dealt(x, heads):
    batch, length, width = x.shape
    if width % heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, length, width // heads, heads).permute(0, 3, 1, 2)


def _unview(x):
    batch, heads, length, width = x.shape
    return x.reshape(batch, length, heads * width)


def _undealt(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def _ones(same_as):
    return torch.ones(same_as.shape, dtype=torch.bool, device=same_as.device)


def _on_keys(keep, scores):
    return keep[:, None, None, :].expand(scores.shape)


def _both(past, real):
    return past & real


def _project(x, weights, name):
    return x @ weights["w_" + name].T + weights["b_" + name]


def _without(weights, first):
    return {n: w * 0 if n[0] == first else w for n, w in weights.items()}


def _turned(weights):
    return {n: w.T if n[0] == "w" else w for n, w in weights.items()}


def _past(scores):
    return _ones(scores).tril()


def _rule(scores, causal, keep):
    allowed = _past(scores) if causal else _ones(scores)
    return allowed if keep is None else allowed & keep[:, None, None, :]


@formula
def _heads(
    x,
    weights,
    heads,
    causal,
    keep,
    *,
    names="qkv",
    split=_split,
    merge=_merge,
    scale=None,
    past=_past,
    padding=_on_keys,
    join=_both,
    soft=masked_softmax,
    dim=-1,
    out=_project,
):
    """Project, split, attend in every head, merge, project back."""
    q, k, v = (split(_project(x, weights, name), heads) for name in names)
    scores = q * (q.size(-1) ** -0.5 if scale is None else scale) @ k.transpose(-2, -1)
    allowed = past(scores) if causal else _ones(scores)
    if keep is not None:
        allowed = join(allowed, padding(keep, scores))
    return out(merge(soft(scores, allowed, dim) @ v), weights, "o")


def _tiled(keep, scores):
    batch, heads, queries, keys = scores.shape
    rows = keep[:, None].expand(batch, queries, keys).repeat(heads, 1, 1)
    return rows.view(batch, heads, queries, keys)


@mistake(
    "splits with a reshape alone: positions and heads are mixed",
    question=(
        "Write down position 0 of head 0 for T = 2, H = 2: are its entries next to each other?"
    ),
    function="split_heads",
    hint="Two moves, not one",
)
def split_by_view(x, num_heads):
    return _view(x, num_heads)


@mistake(
    "splits with a view alone: positions and heads are mixed",
    function="split_heads",
    question=(
        "Write down position 0 of head 0 for T = 2, H = 2: are its entries next to each other?"
    ),
    hint="Two moves, not one",
    same_as="split-by-view",
)
def split_by_strict_view(x, num_heads):
    return _strict_view(x, num_heads)


@convention(
    "interleaves the heads: head h gets the entries h, h+H, h+2H, ...",
    contract="In this kata head h gets a contiguous slice: entries h*D/H up to (h+1)*D/H.",
    function="split_heads",
    hint="Where to look",
)
def split_interleaved(x, num_heads):
    return _dealt(x, num_heads)


@mistake(
    "leaves the head axis behind the positions",
    question="Which axes does the matrix product of attention work on?",
    function="split_heads",
    hint="Two moves, not one",
)
def split_without_transpose(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, length, num_heads, width // num_heads)


@mistake(
    "swaps the wrong two axes: the head axis comes last",
    question="Name each axis before and after. Which two have to be swapped?",
    function="split_heads",
    hint="Two moves, not one",
)
def split_heads_last(x, num_heads):
    return _split(x, num_heads).transpose(1, 3).transpose(1, 2)


@mistake(
    "does not check the width: drops the remaining entries",
    question="What should happen for a width of 7 and 2 heads?",
    function="split_heads",
    hint="Almost there",
)
def split_drops_the_rest(x, num_heads):
    size = x.size(-1) // num_heads
    return _split(x[..., : size * num_heads], num_heads)


@mistake(
    "does not raise ValueError when num_heads does not divide the width",
    question="Which error does the contract ask for when num_heads does not divide the width?",
    function="split_heads",
    hint="Almost there",
    shows="nothing",
)
def split_unchecked(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).transpose(1, 2)


@mistake(
    "merges with a reshape alone: positions and heads are mixed",
    question="Which axis must come just before the slices so that a reshape can concatenate them?",
    function="merge_heads",
    hint="Two moves, not one",
)
def merge_by_view(x):
    return _unview(x)


@mistake(
    "merges with a view alone: positions and heads are mixed",
    function="merge_heads",
    question="Which axis must come just before the slices so that a reshape can concatenate them?",
    hint="Two moves, not one",
    same_as="merge-by-view",
)
def merge_by_strict_view(x):
    return _strict_unview(x)


@convention(
    "interleaves the heads: entry i of every head, then entry i+1",
    contract="In this kata the slices of the heads are concatenated: all of head 0 first.",
    function="merge_heads",
    hint="Where to look",
)
def merge_interleaved(x):
    return _undealt(x)


@mistake(
    "sums the heads instead of concatenating them",
    question="What width does the result have, and what width should it have?",
    function="merge_heads",
    hint="Two moves, not one",
)
def merge_adds(x):
    return x.sum(1)


@mistake(
    "averages the heads instead of concatenating them",
    question="What width does the result have, and what width should it have?",
    function="merge_heads",
    hint="Two moves, not one",
)
def merge_averages(x):
    return x.mean(1)


@mistake(
    "splits with a reshape alone: positions and heads are mixed",
    question="Can a reshape move the heads in front of the positions?",
    function="multi_head_attention",
    hint="Two moves, not one",
)
def heads_by_view(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, split=_view)


@mistake(
    "merges with a reshape alone: positions and heads are mixed",
    question="After the reshape, does row t still hold the entries of position t?",
    function="multi_head_attention",
    hint="Two moves, not one",
)
def merged_by_view(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, merge=_unview)


@mistake(
    "splits and merges with reshapes alone: positions and heads are mixed",
    question="The final shape is right. Which entries of x does head 0 of position 0 get?",
    function="multi_head_attention",
    hint="Two moves, not one",
)
def views_both_ways(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, split=_view, merge=_unview)


@convention(
    "interleaves the heads: head h gets the entries h, h+H, h+2H, ...",
    contract="In this kata head h gets a contiguous slice: entries h*D/H up to (h+1)*D/H.",
    function="multi_head_attention",
    hint="Where to look",
)
def heads_dealt(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, split=_dealt, merge=_undealt)


@mistake(
    "does not split: one head of full width",
    question="How many sets of weights does each position get?",
    function="multi_head_attention",
    hint="Where to look",
)
def one_head(x, weights, num_heads, causal=False, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    return _heads(x, weights, 1, causal, keep)


@mistake(
    "scales by the whole width D instead of the width of one head",
    question="How many products does one score sum: those of the whole width, or of one head?",
    function="multi_head_attention",
    hint="The projections",
)
def scales_by_model_width(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=x.size(-1) ** -0.5)


@mistake(
    "does not scale the scores",
    question="How large is the spread of the scores, and what does softmax do with such a row?",
    function="multi_head_attention",
    hint="The projections",
)
def heads_no_scale(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=1.0)


@mistake(
    "divides by the width of a head, not by its square root",
    question="Without the square root, what happens to the weights as the heads get wider?",
    function="multi_head_attention",
    hint="The projections",
)
def heads_divide_by_width(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=num_heads / x.size(-1))


@mistake(
    "scales by the number of heads",
    question=(
        "What makes the spread of a dot product grow: the number of heads, or the width of a key?"
    ),
    function="multi_head_attention",
    hint="The projections",
)
def scales_by_heads(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=num_heads**-0.5)


@mistake(
    "scales by the number of keys",
    question="What does a longer sentence change about one dot product?",
    function="multi_head_attention",
    hint="The projections",
)
def scales_by_length(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=x.size(1) ** -0.5)


@mistake(
    "forgets the output projection",
    question="Which step mixes the outputs of the heads?",
    function="multi_head_attention",
    hint="The projections",
)
def no_output_projection(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, out=lambda blend, weights, name: blend)


@mistake(
    "forgets the bias of the output projection",
    question="A linear layer has two parts. Which one is missing at the end?",
    function="multi_head_attention",
    hint="The projections",
)
def no_output_bias(x, weights, num_heads, causal=False, keep=None):
    return _heads(
        x,
        weights,
        num_heads,
        causal,
        keep,
        out=lambda blend, weights, name: blend @ weights["w_o"].T,
    )


@mistake(
    "forgets the biases",
    question="A linear layer has two parts. Which one is missing?",
    function="multi_head_attention",
    hint="The projections",
)
def no_biases(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, _without(weights, "b"), num_heads, causal, keep)


@mistake(
    "forgets the biases",
    question="A linear layer has two parts. Which one is missing?",
    function="multi_head_attention",
    hint="The projections",
    same_as="no-biases",
)
def no_inner_biases(x, weights, num_heads, causal=False, keep=None):
    bare = {n: w * 0 if n in ("b_q", "b_k", "b_v") else w for n, w in weights.items()}
    return _heads(x, bare, num_heads, causal, keep)


@mistake(
    "does not transpose the projections",
    question="In nn.Linear's layout, which axis of w is the output?",
    function="multi_head_attention",
    hint="The projections",
)
def projections_not_transposed(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, _turned(weights), num_heads, causal, keep)


@mistake(
    "does not transpose the projections",
    question="In nn.Linear's layout, which axis of w is the output?",
    function="multi_head_attention",
    hint="The projections",
    same_as="projections-not-transposed",
)
def inner_projections_not_transposed(x, weights, num_heads, causal=False, keep=None):
    turned = {n: w.T if n in ("w_q", "w_k", "w_v") else w for n, w in weights.items()}
    return _heads(x, turned, num_heads, causal, keep)


@mistake(
    "attends with x itself: has no projections to queries, keys and values",
    question="If queries and keys are equal, how does the score of a word with itself compare?",
    function="multi_head_attention",
    hint="The projections",
)
def no_projections(x, weights, num_heads, causal=False, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    q = k = v = _split(x, num_heads)
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    blend = masked_softmax(scores, _rule(scores, causal, keep)) @ v
    return _project(_merge(blend), weights, "o")


@mistake(
    "uses one projection for query, key and value",
    question="If queries and keys are equal, how does the score of a word with itself compare?",
    function="multi_head_attention",
    hint="The projections",
)
def one_projection(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="qqq")


@mistake(
    "uses the key projection for the values too: keys and values are equal",
    question="Which of the two is compared with the queries, and which is blended?",
    function="multi_head_attention",
    hint="The projections",
)
def one_projection_for_keys_and_values(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="qkk")


@mistake(
    "uses one projection for queries and keys",
    question="Which projection belongs to the queries, and which to the keys?",
    function="multi_head_attention",
    hint="The projections",
)
def one_projection_for_queries_and_keys(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="qqv")


@mistake(
    "swaps the projections of queries and keys",
    question="Which projection belongs to the queries, and which to the keys?",
    function="multi_head_attention",
    hint="The projections",
)
def query_and_key_exchanged(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="kqv")


@mistake(
    "swaps the projections of keys and values",
    question="Which of the two is compared with the queries, and which is blended?",
    function="multi_head_attention",
    hint="The projections",
)
def key_and_value_exchanged(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="qvk")


@mistake(
    "swaps the projections of queries and values",
    question="Which of the two is compared with the queries, and which is blended?",
    function="multi_head_attention",
    hint="The projections",
)
def query_and_value_exchanged(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="vkq")


@mistake(
    "takes the softmax over the heads",
    question="Do heads compete with each other, or do keys?",
    function="multi_head_attention",
    hint="Where to look",
)
def softmax_over_heads(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, dim=1)


@mistake(
    "takes the softmax over the queries",
    question="Along which axis must the weights of one query sum to 1?",
    function="multi_head_attention",
    hint="Where to look",
)
def softmax_over_queries(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, dim=-2)


@mistake(
    "has no softmax",
    question="Can a weight be negative?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_no_softmax(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=no_softmax)


@mistake(
    "attends across the batch",
    question="Which axis holds the words of one sentence?",
    function="multi_head_attention",
    hint="Where to look",
)
def across_the_batch(x, weights, num_heads, causal=False, keep=None):
    turned = x.transpose(0, 1)
    return _heads(turned, weights, num_heads, causal, None).transpose(0, 1)


@mistake(
    "repeats the padding over the heads in the wrong order",
    question="Which sequence is row r of your flattened batch, and whose mask does it get?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def padding_tiled(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, padding=_tiled)


@mistake(
    "ignores the padding",
    question="Add ten padding words. Should the output for a real word change?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_ignore_padding(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, join=lambda past, real: past)


@mistake(
    "does not raise ValueError when num_heads does not divide the width",
    function="multi_head_attention",
    question="Which error does the contract ask for when num_heads does not divide the width?",
    hint="Almost there",
    shows="nothing",
)
def heads_unchecked(x, weights, num_heads, causal=False, keep=None):
    def split(t, heads):
        return t.reshape(t.size(0), t.size(1), heads, t.size(2) // heads).transpose(1, 2)

    return _heads(x, weights, num_heads, causal, keep, split=split)


@convention(
    "reads keep inverted: True as padding",
    contract="In this kata True marks a real position, which may be attended to.",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_keep_inverted(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, None if keep is None else ~keep)


@mistake(
    "applies the padding mask to the queries instead of the keys",
    question="Which axis of the score matrix are the keys on?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def padding_on_queries(x, weights, num_heads, causal=False, keep=None):
    return _heads(
        x,
        weights,
        num_heads,
        causal,
        keep,
        padding=lambda keep, s: keep[:, None, :, None].expand(s.shape),
    )


@mistake(
    "ignores causal",
    question="Where does your function use causal?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_never_causal(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, past=_ones)


@mistake(
    "always masks the future",
    question="Where does your function use causal?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_always_causal(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, True, keep)


@mistake(
    "uses the upper triangle: a position sees itself and the future",
    question="Which keys may query 0 attend to, and which does row 0 of your mask allow?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_turned(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, past=lambda scores: _ones(scores).triu())


@mistake(
    "masks the allowed keys and keeps the others",
    question="masked_fill fills where the mask is True. Which keys does your mask mark with True?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_hide_the_past(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=inverted_softmax)


@mistake(
    "masks the diagonal too: a word cannot attend to itself",
    question="May a word attend to itself? If not, which keys are left for the first word?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_hide_diagonal(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, past=lambda scores: _ones(scores).tril(-1))


@mistake(
    "lets every position see one position ahead",
    question="Which is the first forbidden key of row 0 in your mask?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_one_ahead(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, past=lambda scores: _ones(scores).tril(1))


@mistake(
    "forgets the causal mask when there is padding",
    question="There are two masks, causal and padding. Does your code apply both?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_one_rule(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, join=lambda past, real: real)


@mistake(
    "allows keys that only one of the two masks allows",
    question="Both masks have to allow a key. Which logical operator is that?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_either_rule(x, weights, num_heads, causal=False, keep=None):
    either = (lambda past, real: past | real) if causal else _both
    return _heads(x, weights, num_heads, causal, keep, join=either)


@mistake(
    "masks after the softmax and does not renormalise",
    question=(
        "The masked keys have already taken part of the sum. Do the other weights still sum to 1?"
    ),
    function="multi_head_attention",
    hint="Almost there",
)
def heads_mask_late(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=unshared_softmax)


@mistake(
    "gives masked keys a score near 0",
    question="What does the exponential turn a score of 0 into?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_zero_scores(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=zero_fill_softmax)


@mistake(
    "adds the mask itself (0 and 1) to the scores",
    question="You add 0 to the scores of masked keys. Does that lower their weights to 0?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_add_the_mask(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=added_mask_softmax)


@convention(
    "gives NaN to a query whose keys are all masked",
    contract="In this kata a query whose keys are all masked gets a blend of zeros, so b_o.",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_nan(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=nan_softmax)


@mistake(
    "gives weight to keys in rows whose keys are all masked",
    question="What should a query receive when all of its keys are masked?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_uniform_without_keys(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=uniform_softmax)


@mistake(
    "gives zeros instead of b_o to a query whose keys are all masked",
    question="Which step comes after the blend, for every position?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_zeros_without_keys(x, weights, num_heads, causal=False, keep=None):
    out = _heads(x, weights, num_heads, causal, keep)
    if keep is None:
        return out
    allowed = _rule(x.new_zeros(x.size(0), 1, x.size(1), x.size(1)), causal, keep)
    return out.masked_fill(~allowed.any(-1)[:, 0, :, None], 0)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="multi_head_attention",
    hint="Almost there",
    shows="overflow",
)
def heads_no_maximum(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=no_maximum_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="multi_head_attention",
    hint="Almost there",
    same_as="heads-no-maximum",
)
def heads_no_maximum_unguarded(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=raw_unguarded_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    function="multi_head_attention",
    hint="Almost there",
    same_as="heads-no-maximum",
)
def heads_no_maximum_late(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=raw_times_mask_softmax)


@mistake(
    "keeps dropout on",
    question="Call your function twice. Should the results differ?",
    function="multi_head_attention",
    hint="Almost there",
    random=True,
    shows="nothing",
)
def dropout_stays_on(x, weights, num_heads, causal=False, keep=None):
    return F.dropout(_heads(x, weights, num_heads, causal, keep), 0.3, True)


@mistake(
    "uses one small projection for every head",
    question="If all heads share one projection, in what can they differ?",
    function="multi_head_attention",
    hint="The projections",
)
def one_small_projection(x, weights, num_heads, causal=False, keep=None):
    size = x.size(-1) // num_heads
    parts = _split(x, num_heads)
    q, k, v = (
        parts @ weights["w_" + name][:size, :size].T + weights["b_" + name][:size] for name in "qkv"
    )
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    blend = _merge(masked_softmax(scores, _rule(scores, causal, keep)) @ v)
    return _project(blend, weights, "o")


@mistake(
    "detaches queries and keys from the graph",
    question="Does a gradient of the loss reach w_q?",
    function="multi_head_attention",
    hint="The projections",
    shows="gradient",
)
def heads_detached(x, weights, num_heads, causal=False, keep=None):
    cut = {n: w.detach() if n[2] in "qk" else w for n, w in weights.items()}
    return _heads(x, cut, num_heads, causal, keep)


@mistake(
    "creates a mask on the default device",
    question="On which device does torch create a tensor when you name no device?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_default_device(x, weights, num_heads, causal=False, keep=None):
    return _heads(
        x,
        weights,
        num_heads,
        causal,
        keep,
        past=lambda s: torch.ones(s.shape[-2:], dtype=torch.bool).tril().expand(s.shape),
    )


@mistake(
    "always returns float32",
    question="Which dtype does the input have, and which does your result have?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_always_float32(x, weights, num_heads, causal=False, keep=None):
    wide = {n: w.float() for n, w in weights.items()}
    return _heads(x.float(), wide, num_heads, causal, keep)


@mistake(
    "masks with a number that real scores can fall below, such as -10000",
    question="Is your number lower than every score that a model can produce?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_fill_too_weak(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=weak_fill_softmax)


@mistake(
    "masks with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number of your dtype, and which value exists in every dtype?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_fill_does_not_fit(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=billion_fill_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_renormalises_late(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=late_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="multi_head_attention",
    hint="Almost there",
    same_as="heads-renormalises-late",
)
def heads_renormalises_late_unguarded(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=unguarded_late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the other weights when a masked score is 1000 higher?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_epsilon(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that includes the masked keys",
    question="Which key has the exponential 1 when the highest score of a row is masked?",
    function="multi_head_attention",
    hint="Almost there",
    same_as="heads-renormalises-late",
)
def heads_hidden_maximum(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What happens to a row that lies 1000 below the highest score of another row?",
    function="multi_head_attention",
    hint="Almost there",
)
def heads_one_maximum(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    function="multi_head_attention",
    hint="Almost there",
    shows="nothing",
)
def heads_wide_mask(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=wide_mask_softmax)


@harmless("splits with chunk and stacks", function="split_heads")
def split_by_chunks(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    return torch.stack(x.chunk(num_heads, -1), 1)


@harmless("concatenates the heads with cat", function="merge_heads")
def merge_by_cat(x):
    return torch.cat(list(x.unbind(1)), -1)


@harmless("loops over the heads", function="multi_head_attention")
def one_head_at_a_time(x, weights, num_heads, causal=False, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    size, found = x.size(-1) // num_heads, []
    for head in range(num_heads):
        part = slice(head * size, (head + 1) * size)
        q, k, v = (x @ weights["w_" + n][part].T + weights["b_" + n][part] for n in "qkv")
        scores = (q @ k.transpose(-2, -1) / size**0.5)[:, None]
        found.append(masked_softmax(scores, _rule(scores, causal, keep))[:, 0] @ v)
    return torch.cat(found, -1) @ weights["w_o"].T + weights["b_o"]


@harmless("projects all three at once", function="multi_head_attention")
def fused_projection(x, weights, num_heads, causal=False, keep=None):
    w = torch.cat([weights["w_q"], weights["w_k"], weights["w_v"]])
    b = torch.cat([weights["b_q"], weights["b_k"], weights["b_v"]])
    q, k, v = (_split(part, num_heads) for part in F.linear(x, w, b).chunk(3, -1))
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    blend = _merge(masked_softmax(scores, _rule(scores, causal, keep)) @ v)
    return F.linear(blend, weights["w_o"], weights["b_o"])


@harmless("leaves out the bias of the keys: it cancels in softmax", function="multi_head_attention")
def no_key_bias(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, {**weights, "b_k": torch.zeros_like(weights["b_k"])}, num_heads, causal, keep)


@harmless("leaves the head axis in place and writes einsums", function="multi_head_attention")
def einsums(x, weights, num_heads, causal=False, keep=None):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError("no")
    shape = (batch, length, num_heads, width // num_heads)
    q, k, v = (_project(x, weights, name).view(shape) for name in "qkv")
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / torch.sqrt(torch.tensor(shape[-1]))
    attention = masked_softmax(scores, _rule(scores, causal, keep))
    blend = torch.einsum("bhij,bjhd->bihd", attention, v).reshape(batch, length, width)
    return _project(blend, weights, "o")
