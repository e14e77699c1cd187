"""Known mistakes in cross-attention, and right answers that look unusual."""

import torch
import torch.nn.functional as F

from attention_katas.authoring import convention, formula, harmless, mistake
from shared.masked_softmax import (
    added_mask_softmax,
    billion_fill_softmax,
    even_softmax,
    hidden_maximum_softmax,
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


def _future_too(scores):
    return _ones(scores)


def _rule(scores, keep):
    return _ones(scores) if keep is None else _ones(scores) & keep[:, None, None, :]


@formula
def _cross(
    x,
    context,
    weights,
    heads,
    keep,
    *,
    asks="x",
    keys="context",
    values="context",
    names="qkv",
    split=_split,
    merge=_merge,
    scale=None,
    past=_future_too,
    padding=_on_keys,
    soft=masked_softmax,
    dim=-1,
    out=_project,
):
    """Project, split, attend to the context in every head, merge, project back."""
    known = {"x": x, "context": context}
    q, k, v = (
        split(_project(known[source], weights, name), heads)
        for source, name in zip((asks, keys, values), names, strict=True)
    )
    scores = q * (q.size(-1) ** -0.5 if scale is None else scale) @ k.transpose(-2, -1)
    allowed = past(scores)
    if keep is not None:
        allowed = allowed & padding(keep, scores)
    return out(merge(soft(scores, allowed, dim) @ v), weights, "o")


@mistake(
    "takes the keys and values from x, not from the context (self-attention)",
    question="Which of x and context gives the queries, and which the keys and values?",
    hint="Where to look",
)
def reads_itself(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None, keys="x", values="x")


@mistake(
    "swaps the roles: queries from the context, keys and values from x",
    question="A translation reads its source. Which of the two gives the queries?",
    hint="Where to look",
)
def roles_exchanged(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None, asks="context", keys="x", values="x")


@mistake(
    "takes the values from x",
    question="Your keys come from the context. Where do your values come from?",
    hint="Where to look",
)
def values_from_x(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, values="x")


@mistake(
    "takes the keys from x",
    question="Your values come from the context. Where do your keys come from?",
    hint="Where to look",
)
def keys_from_x(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, keys="x")


@mistake(
    "takes the queries from the context",
    question="A translation reads its source. Which of the two gives the queries?",
    hint="Where to look",
)
def queries_from_context(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, asks="context")


@mistake(
    "swaps the projections of keys and values",
    question="Which of the two is compared with the queries, and which is blended?",
    hint="Almost there",
)
def key_and_value_exchanged(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, names="qvk")


@mistake(
    "swaps the projections of queries and keys",
    question="Which projection belongs to the queries, and which to the keys?",
    hint="Almost there",
)
def query_and_key_exchanged(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, names="kqv")


@mistake(
    "uses the key projection for the values too: keys and values are equal",
    question="Which of the two is compared with the queries, and which is blended?",
    hint="Almost there",
)
def one_projection_for_keys_and_values(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, names="qkk")


@mistake(
    "applies a causal mask, though cross-attention has none",
    question=(
        "The whole source is known before the translation starts. Is any word of it in the future?"
    ),
    hint="Whose padding",
)
def causal_for_no_reason(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, past=lambda scores: _ones(scores).tril())


@mistake(
    "ignores the padding of the context",
    question="Add ten padding words to the source. Should the translation change?",
    hint="Whose padding",
    shows="nothing",
)
def ignores_padding(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None)


@mistake(
    "does not raise ValueError when num_heads does not divide the width",
    question="Which error does the contract ask for when num_heads does not divide the width?",
    hint="Almost there",
    shows="nothing",
)
def unchecked(x, context, weights, num_heads, keep=None):
    def split(t, heads):
        return t.reshape(t.size(0), t.size(1), heads, t.size(2) // heads).transpose(1, 2)

    return _cross(x, context, weights, num_heads, keep, split=split)


@convention(
    "reads keep inverted: True as padding",
    contract="In this kata True marks a real position, which may be attended to.",
    hint="Whose padding",
    shows="nothing",
)
def keep_inverted(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None if keep is None else ~keep)


@mistake(
    "applies the padding mask to the queries instead of the keys",
    question="Which axis of the scores belongs to the positions of the context?",
    hint="Whose padding",
    shows="nothing",
)
def padding_on_queries(x, context, weights, num_heads, keep=None):
    return _cross(
        x,
        context,
        weights,
        num_heads,
        keep,
        padding=lambda keep, s: keep[:, None, :, None].expand(s.shape),
    )


@mistake(
    "applies the padding mask to the queries instead of the keys",
    question="Which axis of the scores belongs to the positions of the context?",
    hint="Whose padding",
    same_as="padding-on-queries",
)
def padding_cut_to_queries(x, context, weights, num_heads, keep=None):
    return _cross(
        x,
        context,
        weights,
        num_heads,
        keep,
        padding=lambda keep, s: keep[:, None, : s.size(-2), None].expand(s.shape),
    )


@mistake(
    "cuts the context to the length of x",
    question=(
        "The source may be longer than the translation. Who reads the last words of the source?"
    ),
    hint="Two lengths, two widths",
)
def context_cut(x, context, weights, num_heads, keep=None):
    length = x.size(1)
    keep = None if keep is None else keep[:, :length]
    return _cross(x, context[:, :length], weights, num_heads, keep)


@mistake(
    "splits keys and values by the length of x",
    question="How many keys are there, and from which tensor did you read that number?",
    hint="Two lengths, two widths",
)
def split_by_query_length(x, context, weights, num_heads, keep=None):
    def split(t, heads):
        if t.size(-1) % heads:
            raise ValueError("the heads cannot share this width")
        return t.reshape(x.size(0), x.size(1), heads, -1).transpose(1, 2)

    return _cross(x, context, weights, num_heads, keep, split=split)


@mistake(
    "merges by the length of the context",
    question="How many rows does the result have, and from which tensor did you read that number?",
    hint="Two lengths, two widths",
)
def merge_by_context_length(x, context, weights, num_heads, keep=None):
    def merge(blend):
        return blend.transpose(1, 2).reshape(x.size(0), context.size(1), -1)

    return _cross(x, context, weights, num_heads, keep, merge=merge)


@mistake(
    "splits with a reshape alone: positions and heads are mixed",
    question="Can a reshape move the heads in front of the positions?",
    hint="Almost there",
)
def splits_by_view(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, split=_view)


@mistake(
    "merges with a reshape alone: positions and heads are mixed",
    question="After the reshape, does row t still hold the entries of position t?",
    hint="Almost there",
)
def merges_by_view(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, merge=_unview)


@convention(
    "interleaves the heads: head h gets the entries h, h+H, h+2H, ...",
    contract="In this kata head h gets a contiguous slice, as in multihead.",
    hint="Almost there",
)
def heads_dealt(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, split=_dealt, merge=_undealt)


@mistake(
    "does not split: one head of full width",
    question="How many sets of weights does each position get?",
    hint="Almost there",
)
def one_head(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    return _cross(x, context, weights, 1, keep)


@mistake(
    "takes the softmax over the queries",
    question="For each query the weights over the context sum to 1. Which axis is that?",
    hint="Almost there",
)
def softmax_over_queries(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, dim=-2)


@mistake(
    "takes the softmax over the heads",
    question="Do heads compete with each other, or do keys?",
    hint="Almost there",
)
def softmax_over_heads(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, dim=1)


@mistake(
    "has no softmax",
    question="Can a weight be negative?",
    hint="Almost there",
)
def without_softmax(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=no_softmax)


@mistake(
    "divides by the width of a head, not by its square root",
    question="Without the square root, what happens to the weights as the heads get wider?",
    hint="Almost there",
)
def divides_by_width(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=num_heads / x.size(-1))


@mistake(
    "does not scale the scores",
    question="How large is the spread of the scores, and what does softmax do with such a row?",
    hint="Almost there",
)
def no_scale(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=1.0)


@mistake(
    "scales by the whole width D instead of the width of one head",
    question="How many products does one score sum: those of the whole width, or of one head?",
    hint="Almost there",
)
def scales_by_model_width(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=x.size(-1) ** -0.5)


@mistake(
    "scales by the width of the context",
    question="How long are the two vectors whose dot product is one score?",
    hint="Two lengths, two widths",
)
def scales_by_context_width(x, context, weights, num_heads, keep=None):
    return _cross(
        x, context, weights, num_heads, keep, scale=(context.size(-1) / num_heads) ** -0.5
    )


@mistake(
    "scales by the number of keys",
    question="What does a longer context change about one dot product?",
    hint="Almost there",
)
def scales_by_length(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=context.size(1) ** -0.5)


@mistake(
    "forgets the output projection",
    question="Which step mixes the outputs of the heads?",
    hint="Almost there",
)
def no_output_projection(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, out=lambda blend, weights, name: blend)


@mistake(
    "forgets the bias of the output projection",
    question="A linear layer has two parts. Which one is missing at the end?",
    hint="Almost there",
)
def no_output_bias(x, context, weights, num_heads, keep=None):
    return _cross(
        x,
        context,
        weights,
        num_heads,
        keep,
        out=lambda blend, weights, name: blend @ weights["w_o"].T,
    )


@mistake(
    "forgets the biases",
    question="A linear layer has two parts. Which one is missing?",
    hint="Almost there",
)
def no_biases(x, context, weights, num_heads, keep=None):
    return _cross(x, context, _without(weights, "b"), num_heads, keep)


@mistake(
    "does not transpose the projections",
    question="In nn.Linear's layout, which axis of w is the output?",
    hint="Two lengths, two widths",
)
def projections_not_transposed(x, context, weights, num_heads, keep=None):
    return _cross(x, context, _turned(weights), num_heads, keep)


@mistake(
    "does not attend: returns the projected mean of the context",
    question="Change x and keep the context. Does your result change?",
    hint="Where to look",
)
def no_attention(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    mean = _project(context, weights, "v").mean(1, keepdim=True)
    return _project(mean.expand(x.shape), weights, "o")


@mistake(
    "gives every key of the context the same weight, whatever x is",
    question="Change x and keep the context. Does your result change?",
    hint="Where to look",
)
def no_questions(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=even_softmax)


@convention(
    "gives NaN where all of the context is padding",
    contract="In this kata a query whose keys are all masked gets a blend of zeros, so b_o.",
    hint="Whose padding",
    shows="nothing",
)
def nan_without_keys(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=nan_softmax)


@mistake(
    "gives weight to keys in rows whose keys are all masked",
    question="What should a query receive when all of its keys are masked?",
    hint="Whose padding",
    shows="nothing",
)
def uniform_without_keys(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=uniform_softmax)


@mistake(
    "masks after the softmax and does not renormalise",
    question=(
        "The masked keys have already taken part of the sum. Do the other weights still sum to 1?"
    ),
    hint="Whose padding",
)
def masks_late(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=unshared_softmax)


@mistake(
    "gives padded keys a score of 0",
    question="What does the exponential turn a score of 0 into?",
    hint="Whose padding",
    shows="nothing",
)
def zero_scores(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=zero_fill_softmax)


@mistake(
    "adds the mask itself (0 and 1) to the scores",
    question="You add 0 to the scores of masked keys. Does that lower their weights to 0?",
    hint="Whose padding",
)
def adds_the_mask(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=added_mask_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    hint="Almost there",
    shows="overflow",
)
def no_maximum(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=no_maximum_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    hint="Almost there",
    same_as="no-maximum",
)
def no_maximum_unguarded(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=raw_unguarded_softmax)


@mistake(
    "takes exponentials without subtracting the maximum (overflow)",
    question="What can you subtract from a row so that the largest exponent is 0?",
    hint="Almost there",
    same_as="no-maximum",
)
def no_maximum_late(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=raw_times_mask_softmax)


@mistake(
    "detaches the context from the graph",
    question="Should the gradient of the loss reach the encoder?",
    hint="Almost there",
    shows="gradient",
)
def context_detached(x, context, weights, num_heads, keep=None):
    return _cross(x, context.detach(), weights, num_heads, keep)


@mistake(
    "always returns float32",
    question="Which dtype do the inputs have, and which does your result have?",
    hint="Almost there",
    shows="nothing",
)
def always_float32(x, context, weights, num_heads, keep=None):
    wide = {n: w.float() for n, w in weights.items()}
    return _cross(x.float(), context.float(), wide, num_heads, keep)


@mistake(
    "keeps dropout on",
    question="Call your function twice. Should the results differ?",
    hint="Almost there",
    random=True,
    shows="nothing",
)
def drops_at_random(x, context, weights, num_heads, keep=None):
    return F.dropout(_cross(x, context, weights, num_heads, keep), 0.3, True)


@mistake(
    "creates a mask on the default device",
    question="On which device does torch create a tensor when you name no device?",
    hint="Whose padding",
    shows="nothing",
)
def default_device(x, context, weights, num_heads, keep=None):
    return _cross(
        x,
        context,
        weights,
        num_heads,
        keep,
        past=lambda s: torch.ones(s.shape[-2:], dtype=torch.bool).expand(s.shape),
    )


@mistake(
    "masks with a number that real scores can fall below, such as -10000",
    question="Is your number lower than every score that a model can produce?",
    hint="Whose padding",
)
def fill_too_weak(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=weak_fill_softmax)


@mistake(
    "masks with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number of your dtype, and which value exists in every dtype?",
    hint="Whose padding",
    shows="nothing",
)
def fill_does_not_fit(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=billion_fill_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    hint="Whose padding",
)
def renormalises_late(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=late_softmax)


@mistake(
    "removes masked keys after the exponentials: 0/0 when a masked score is much higher",
    question="What is left of the other weights when a masked score is 1000 higher?",
    hint="Whose padding",
    same_as="renormalises-late",
)
def renormalises_late_unguarded(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=unguarded_late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the other weights when a masked score is 1000 higher?",
    hint="Whose padding",
)
def epsilon(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that includes the masked keys",
    question="Which key has the exponential 1 when the highest score of a row is masked?",
    hint="Whose padding",
    same_as="renormalises-late",
)
def hidden_maximum(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What happens to a row that lies 1000 below the highest score of another row?",
    hint="Whose padding",
)
def one_maximum(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    hint="Whose padding",
    shows="nothing",
)
def wide_mask(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=wide_mask_softmax)


@harmless("loops over the heads")
def one_head_at_a_time(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    size, found = x.size(-1) // num_heads, []
    for head in range(num_heads):
        part = slice(head * size, (head + 1) * size)
        q = x @ weights["w_q"][part].T + weights["b_q"][part]
        k = context @ weights["w_k"][part].T + weights["b_k"][part]
        v = context @ weights["w_v"][part].T + weights["b_v"][part]
        scores = (q @ k.transpose(-2, -1) / size**0.5)[:, None]
        found.append(masked_softmax(scores, _rule(scores, keep))[:, 0] @ v)
    return torch.cat(found, -1) @ weights["w_o"].T + weights["b_o"]


@harmless("projects with F.linear and writes einsums")
def einsums(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    q = F.linear(x, weights["w_q"], weights["b_q"]).unflatten(-1, (num_heads, -1))
    k = F.linear(context, weights["w_k"], weights["b_k"]).unflatten(-1, (num_heads, -1))
    v = F.linear(context, weights["w_v"], weights["b_v"]).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / torch.sqrt(torch.tensor(q.size(-1)))
    attention = masked_softmax(scores, _rule(scores, keep))
    return F.linear(
        torch.einsum("bhij,bjhd->bihd", attention, v).flatten(2), weights["w_o"], weights["b_o"]
    )


@harmless("masks with the lowest number and clears rows whose keys are all masked")
def lowest_number(x, context, weights, num_heads, keep=None):
    q = _split(_project(x, weights, "q"), num_heads)
    k, v = (_split(_project(context, weights, name), num_heads) for name in "kv")
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    allowed = _rule(scores, keep)
    attention = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    attention = attention.masked_fill(~allowed.any(-1, keepdim=True), 0)
    return _project((attention @ v).transpose(1, 2).flatten(2), weights, "o")


@harmless("leaves out the bias of the keys: it cancels in softmax")
def no_key_bias(x, context, weights, num_heads, keep=None):
    bare = {**weights, "b_k": torch.zeros_like(weights["b_k"])}
    return _cross(x, context, bare, num_heads, keep)


@harmless("loops over the queries")
def one_query_at_a_time(x, context, weights, num_heads, keep=None):
    rows = [_cross(x[:, i : i + 1], context, weights, num_heads, keep) for i in range(x.size(1))]
    return torch.cat(rows, 1)
