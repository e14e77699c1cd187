"""Known ways of getting cross-attention wrong, and some right ones that look odd."""

import torch
import torch.nn.functional as F

from attention_katas.authoring.mistakes import convention, formula, harmless, mistake
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
    "reads itself: keys and values come from x too",
    question="Who asks, and who answers? Where in your code does the context come in?",
    hint="Where to look",
)
def reads_itself(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None, keys="x", values="x")


@mistake(
    "exchanges the roles: the context asks and x answers",
    question="The translation reads the source. Which of the two has the questions?",
    hint="Where to look",
)
def roles_exchanged(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None, asks="context", keys="x", values="x")


@mistake(
    "takes the values from x",
    question="You compare with the context. What do you hand over?",
    hint="Where to look",
)
def values_from_x(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, values="x")


@mistake(
    "takes the keys from x",
    question="You hand over the context. With whom do you compare?",
    hint="Where to look",
)
def keys_from_x(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, keys="x")


@mistake(
    "takes the queries from the context",
    question="The translation reads the source. Which of the two has the questions?",
    hint="Where to look",
)
def queries_from_context(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, asks="context")


@mistake(
    "exchanges the projections of key and value",
    question="What is compared, and what is handed over?",
    hint="Almost there",
)
def key_and_value_exchanged(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, names="qvk")


@mistake(
    "exchanges the projections of query and key",
    question="Which of the two asks, and which one answers?",
    hint="Almost there",
)
def query_and_key_exchanged(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, names="kqv")


@mistake(
    "hands over what it compares: keys and values are one",
    question="What is compared, and what is handed over?",
    hint="Almost there",
)
def one_projection_for_keys_and_values(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, names="qkk")


@mistake(
    "masks the future, where there is none",
    question="The source is finished. Which of its words would be in the future?",
    hint="Whose padding",
)
def causal_for_no_reason(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, past=lambda scores: _ones(scores).tril())


@mistake(
    "ignores the padding of the context",
    question="Add ten padding words to the source; should the translation change?",
    hint="Whose padding",
)
def ignores_padding(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None)


@mistake(
    "raises something else than ValueError when the heads cannot share the width",
    question="Which error does the contract ask for when the heads cannot share the width?",
    hint="Almost there",
)
def unchecked(x, context, weights, num_heads, keep=None):
    def split(t, heads):
        return t.reshape(t.size(0), t.size(1), heads, t.size(2) // heads).transpose(1, 2)

    return _cross(x, context, weights, num_heads, keep, split=split)


@convention(
    "reads keep the other way round: True as padding",
    contract="In this kata True means a real position, that may be attended to.",
    hint="Whose padding",
)
def keep_inverted(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, None if keep is None else ~keep)


@mistake(
    "lays the padding along the queries",
    question="Along which axis of the scores do the positions of the context stand?",
    hint="Whose padding",
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
    "lays the padding along the queries",
    question="Along which axis of the scores do the positions of the context stand?",
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
    question="The source has words left when the translation ends. Who reads those?",
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
    question="How many rows has the result, and from which tensor did you read that number?",
    hint="Two lengths, two widths",
)
def merge_by_context_length(x, context, weights, num_heads, keep=None):
    def merge(blend):
        return blend.transpose(1, 2).reshape(x.size(0), context.size(1), -1)

    return _cross(x, context, weights, num_heads, keep, merge=merge)


@mistake(
    "splits by a view: positions and heads are mixed",
    question="Can a reshape move the heads in front of the positions?",
    hint="Almost there",
)
def splits_by_view(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, split=_view)


@mistake(
    "merges by a reshape, without moving an axis",
    question="After the reshape, does row t still hold what belongs to position t?",
    hint="Almost there",
)
def merges_by_view(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, merge=_unview)


@convention(
    "deals the entries out like cards: head h gets h, h+H, h+2H, ...",
    contract="In this kata head h gets a slice of neighbours, as in multihead.",
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
    question="Each query asks for a mixture of the context; along which axis is that?",
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
    question="Can a share be negative?",
    hint="Almost there",
)
def without_softmax(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=no_softmax)


@mistake(
    "divides by the head's width, not by its root",
    question="Without the root, where do all weights go as heads get wider?",
    hint="Almost there",
)
def divides_by_width(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=num_heads / x.size(-1))


@mistake(
    "does not scale the scores",
    question="How far apart are the scores, and what does softmax make of a row of such numbers?",
    hint="Almost there",
)
def no_scale(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=1.0)


@mistake(
    "scales by the whole width",
    question=(
        "How many products does one score sum up: those of the whole width, or those of one head?"
    ),
    hint="Almost there",
)
def scales_by_model_width(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, scale=x.size(-1) ** -0.5)


@mistake(
    "scales by the width of the context",
    question="How long are the two vectors that meet in a score?",
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
    question="Where do the heads learn of each other?",
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
    "does not attend at all: adds the mean of the context",
    question="Ask two different questions of the same context. Do you get two different answers?",
    hint="Where to look",
)
def no_attention(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    mean = _project(context, weights, "v").mean(1, keepdim=True)
    return _project(mean.expand(x.shape), weights, "o")


@mistake(
    "blends the context evenly, whatever x asks",
    question="Ask two different questions of the same context. Do you get two different answers?",
    hint="Where to look",
)
def no_questions(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=even_softmax)


@convention(
    "gives NaN where all of the context is padding",
    contract="In this kata a query that nothing is allowed to blends nothing: b_o comes out.",
    hint="Whose padding",
)
def nan_without_keys(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=nan_softmax)


@mistake(
    "leaves weight in rows that have no key",
    question="What should a query with nobody to listen to receive?",
    hint="Whose padding",
)
def uniform_without_keys(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=uniform_softmax)


@mistake(
    "masks after the softmax and does not renormalise",
    question="Hidden keys have already taken their share; who gets it back?",
    hint="Whose padding",
)
def masks_late(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=unshared_softmax)


@mistake(
    "gives padded keys a score of 0",
    question="What does the exponential turn a score of 0 into?",
    hint="Whose padding",
)
def zero_scores(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=zero_fill_softmax)


@mistake(
    "adds the 0/1 mask to the scores",
    question="You add 0 to the scores of hidden keys. What have they lost by that?",
    hint="Whose padding",
)
def adds_the_mask(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=added_mask_softmax)


@mistake(
    "takes exponentials of the raw scores",
    question="What can you subtract from a row so that the largest exponent is 0?",
    hint="Almost there",
)
def no_maximum(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=no_maximum_softmax)


@mistake(
    "takes exponentials of the raw scores",
    question="What can you subtract from a row so that the largest exponent is 0?",
    hint="Almost there",
    same_as="no-maximum",
)
def no_maximum_unguarded(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=raw_unguarded_softmax)


@mistake(
    "takes exponentials of the raw scores",
    question="What can you subtract from a row so that the largest exponent is 0?",
    hint="Almost there",
    same_as="no-maximum",
)
def no_maximum_late(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=raw_times_mask_softmax)


@mistake(
    "cuts the context off from the graph",
    question="Should the encoder hear about the loss?",
    hint="Almost there",
)
def context_detached(x, context, weights, num_heads, keep=None):
    return _cross(x, context.detach(), weights, num_heads, keep)


@mistake(
    "always answers in float32",
    question="Which dtype had the inputs, and which has your answer?",
    hint="Almost there",
)
def always_float32(x, context, weights, num_heads, keep=None):
    wide = {n: w.float() for n, w in weights.items()}
    return _cross(x.float(), context.float(), wide, num_heads, keep)


@mistake(
    "keeps dropout on",
    question="Call your function twice. Should the answers differ?",
    hint="Almost there",
    random=True,
)
def drops_at_random(x, context, weights, num_heads, keep=None):
    return F.dropout(_cross(x, context, weights, num_heads, keep), 0.3, True)


@mistake(
    "makes a mask on the default device",
    question="On which device does a tensor live that you make from nothing?",
    hint="Whose padding",
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
    "hides with a number that real scores can undercut, such as -10000",
    question='Is your "very small" smaller than everything a model can produce?',
    hint="Whose padding",
)
def fill_too_weak(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=weak_fill_softmax)


@mistake(
    "hides with a number that half precision cannot hold, such as -1e9",
    question="What is the lowest number your dtype can hold, and is there one that always fits?",
    hint="Whose padding",
)
def fill_does_not_fit(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=billion_fill_softmax)


@mistake(
    "takes hidden keys out after the exponentials: 0/0 when a hidden score towers",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    hint="Whose padding",
)
def renormalises_late(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=late_softmax)


@mistake(
    "takes hidden keys out after the exponentials: 0/0 when a hidden score towers",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    hint="Whose padding",
    same_as="renormalises-late",
)
def renormalises_late_unguarded(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=unguarded_late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    question="What is left of the visible weights when a hidden score is 1000 higher?",
    hint="Whose padding",
)
def epsilon(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that a hidden key may hold",
    question="Whose exponential is 1 when the highest score of a row is a hidden one?",
    hint="Whose padding",
    same_as="renormalises-late",
)
def hidden_maximum(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    question="What becomes of a row that lies 1000 below the highest score of another row?",
    hint="Whose padding",
)
def one_maximum(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    question="What dtype is the sum of half-precision scores and a float32 mask?",
    hint="Whose padding",
)
def wide_mask(x, context, weights, num_heads, keep=None):
    return _cross(x, context, weights, num_heads, keep, soft=wide_mask_softmax)


@harmless("goes through the heads one at a time")
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


@harmless("fills with the lowest number and clears rows without keys")
def lowest_number(x, context, weights, num_heads, keep=None):
    q = _split(_project(x, weights, "q"), num_heads)
    k, v = (_split(_project(context, weights, name), num_heads) for name in "kv")
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    allowed = _rule(scores, keep)
    attention = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    attention = attention.masked_fill(~allowed.any(-1, keepdim=True), 0)
    return _project((attention @ v).transpose(1, 2).flatten(2), weights, "o")


@harmless("leaves the key's bias out: it cancels in softmax")
def no_key_bias(x, context, weights, num_heads, keep=None):
    bare = {**weights, "b_k": torch.zeros_like(weights["b_k"])}
    return _cross(x, context, bare, num_heads, keep)


@harmless("goes through the queries one at a time")
def one_query_at_a_time(x, context, weights, num_heads, keep=None):
    rows = [_cross(x[:, i : i + 1], context, weights, num_heads, keep) for i in range(x.size(1))]
    return torch.cat(rows, 1)
