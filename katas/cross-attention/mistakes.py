"""Known ways of getting cross-attention wrong, and some right ones that look odd."""

import torch
import torch.nn.functional as F

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


def _split(x, heads):
    batch, length, width = x.shape
    if width % heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def _project(x, weights, name):
    return x @ weights["w_" + name].T + weights["b_" + name]


def _allowed(scores, keep):
    allowed = torch.ones_like(scores, dtype=torch.bool)
    return allowed if keep is None else allowed & keep[:, None, None, :]


def _cross(q, k, v, weights, heads, keep, *, scale=None, dim=-1, causal=False, soft=None, out=True):
    q, k, v = _split(q, heads), _split(k, heads), _split(v, heads)
    scores = q * (q.size(-1) ** -0.5 if scale is None else scale) @ k.transpose(-2, -1)
    allowed = _allowed(scores, keep)
    allowed = allowed.tril() if causal else allowed
    blend = (soft(scores, allowed) if soft else masked_softmax(scores, allowed, dim)) @ v
    merged = blend.transpose(1, 2).flatten(2)
    return _project(merged, weights, "o") if out else merged


def _all(x, context, weights):
    return (
        _project(x, weights, "q"),
        _project(context, weights, "k"),
        _project(context, weights, "v"),
    )


@mistake(
    "reads itself: keys and values come from x too",
    ask="Who asks, and who answers? Where in your code does the context come in?",
)
def reads_itself(x, context, weights, num_heads, keep=None):
    k, v = _project(x, weights, "k"), _project(x, weights, "v")
    return _cross(_project(x, weights, "q"), k, v, weights, num_heads, None)


@mistake(
    "exchanges the roles: the context asks and x answers",
    ask="The translation reads the source. Which of the two has the questions?",
)
def roles_exchanged(x, context, weights, num_heads, keep=None):
    q = _project(context, weights, "q")
    return _cross(q, _project(x, weights, "k"), _project(x, weights, "v"), weights, num_heads, None)


@mistake("takes the values from x", ask="You compare with the context. What do you hand over?")
def values_from_x(x, context, weights, num_heads, keep=None):
    q, k = _project(x, weights, "q"), _project(context, weights, "k")
    return _cross(q, k, _project(x, weights, "v"), weights, num_heads, keep)


@mistake("takes the keys from x", ask="You hand over the context. With whom do you compare?")
def keys_from_x(x, context, weights, num_heads, keep=None):
    q, v = _project(x, weights, "q"), _project(context, weights, "v")
    return _cross(q, _project(x, weights, "k"), v, weights, num_heads, keep)


@mistake(
    "exchanges the projections of key and value", ask="What is compared, and what is handed over?"
)
def key_and_value_exchanged(x, context, weights, num_heads, keep=None):
    q, k, v = _all(x, context, weights)
    return _cross(q, v, k, weights, num_heads, keep)


@mistake(
    "masks the future, where there is none",
    ask="The source is finished. Which of its words would be in the future?",
)
def causal_for_no_reason(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, causal=True)


@mistake(
    "ignores the padding of the context",
    ask="Add ten padding words to the source; should the translation change?",
)
def ignores_padding(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, None)


@mistake(
    "reads keep the other way round",
    ask="What does True mean in `keep`: a real position, or one to ignore?",
)
def keep_inverted(x, context, weights, num_heads, keep=None):
    keep = None if keep is None else ~keep
    return _cross(*_all(x, context, weights), weights, num_heads, keep)


@mistake(
    "cuts the context to the length of x",
    ask="The source has words left when the translation ends. Who reads those?",
)
def context_cut(x, context, weights, num_heads, keep=None):
    length = x.size(1)
    keep = None if keep is None else keep[:, :length]
    return _cross(*_all(x, context[:, :length], weights), weights, num_heads, keep)


@mistake(
    "splits keys and values by the length of x",
    ask="How many keys are there, and from which tensor did you read that number?",
)
def split_by_query_length(x, context, weights, num_heads, keep=None):
    q, k, v = _all(x, context, weights)
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError("the heads cannot share this width")
    q, k, v = (t.reshape(batch, length, num_heads, -1).transpose(1, 2) for t in (q, k, v))
    scores = q * (width // num_heads) ** -0.5 @ k.transpose(-2, -1)
    blend = masked_softmax(scores, _allowed(scores, keep)) @ v
    return _project(blend.transpose(1, 2).flatten(2), weights, "o")


@mistake(
    "takes the softmax over the queries",
    ask="Each query asks for a mixture of the context; along which axis is that?",
)
def softmax_over_queries(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, dim=-2)


@mistake("takes the softmax over the heads", ask="Do heads compete with each other, or do keys?")
def softmax_over_heads(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, dim=1)


@mistake(
    "divides by the head's width, not by its root",
    ask="Without the root, where do all weights go as heads get wider?",
)
def divides_by_width(x, context, weights, num_heads, keep=None):
    scale = num_heads / x.size(-1)
    return _cross(*_all(x, context, weights), weights, num_heads, keep, scale=scale)


@mistake(
    "does not scale the scores",
    ask="How far apart are the scores, and what does softmax make of a row of such numbers?",
)
def no_scale(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, scale=1.0)


@mistake(
    "scales by the whole width",
    ask="How many products does one score sum up: those of the whole width, or those of one head?",
)
def scales_by_model_width(x, context, weights, num_heads, keep=None):
    scale = x.size(-1) ** -0.5
    return _cross(*_all(x, context, weights), weights, num_heads, keep, scale=scale)


@mistake(
    "scales by the width of the context", ask="How long are the two vectors that meet in a score?"
)
def scales_by_context_width(x, context, weights, num_heads, keep=None):
    scale = (context.size(-1) / num_heads) ** -0.5
    return _cross(*_all(x, context, weights), weights, num_heads, keep, scale=scale)


@mistake("forgets the output projection", ask="Where do the heads learn of each other?")
def no_output_projection(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, out=False)


@mistake(
    "does not attend at all: adds the mean of the context",
    ask="Ask two different questions of the same context. Do you get two different answers?",
)
def no_attention(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    mean = _project(context, weights, "v").mean(1, keepdim=True)
    return _project(mean.expand(x.shape), weights, "o")


@mistake(
    "gives NaN where all of the context is padding",
    ask="What is a softmax over nothing but minus infinity?",
)
def nan_without_keys(x, context, weights, num_heads, keep=None):
    q, k, v = (_split(t, num_heads) for t in _all(x, context, weights))
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    attention = scores.masked_fill(~_allowed(scores, keep), -INF).softmax(-1)
    return _project((attention @ v).transpose(1, 2).flatten(2), weights, "o")


@mistake(
    "takes exponentials of the raw scores",
    ask="What can you subtract from a row so that the largest exponent is 0?",
)
def no_maximum(x, context, weights, num_heads, keep=None):
    q, k, v = (_split(t, num_heads) for t in _all(x, context, weights))
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    e = scores.exp() * _allowed(scores, keep)
    total = e.sum(-1, keepdim=True)
    blend = e / total.masked_fill(total == 0, 1) @ v
    return _project(blend.transpose(1, 2).flatten(2), weights, "o")


@mistake("cuts the context off from the graph", ask="Should the encoder hear about the loss?")
def context_detached(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context.detach(), weights), weights, num_heads, keep)


@mistake(
    "hides with -10000, which real scores can undercut",
    ask='Is your "very small" smaller than everything a model can produce?',
)
def fill_too_weak(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=weak_fill_softmax)


@mistake(
    "hides with -1e9, which half precision cannot hold",
    ask="What is the lowest number your dtype can hold, and is there one that always fits?",
)
def fill_does_not_fit(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=billion_fill_softmax)


@mistake(
    "masks after the softmax and renormalises: 0/0 when a hidden score towers",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def renormalises_late(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def epsilon(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that a hidden key may hold",
    ask="Whose exponential is 1 when the highest score of a row is a hidden one?",
)
def hidden_maximum(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    ask="What becomes of a row that lies 1000 below the highest score of another row?",
)
def one_maximum(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    ask="What dtype is the sum of half-precision scores and a float32 mask?",
)
def wide_mask(x, context, weights, num_heads, keep=None):
    return _cross(*_all(x, context, weights), weights, num_heads, keep, soft=wide_mask_softmax)


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
        found.append(masked_softmax(scores, _allowed(scores, keep))[:, 0] @ v)
    return torch.cat(found, -1) @ weights["w_o"].T + weights["b_o"]


@harmless("projects with F.linear and writes einsums")
def einsums(x, context, weights, num_heads, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    q = F.linear(x, weights["w_q"], weights["b_q"]).unflatten(-1, (num_heads, -1))
    k = F.linear(context, weights["w_k"], weights["b_k"]).unflatten(-1, (num_heads, -1))
    v = F.linear(context, weights["w_v"], weights["b_v"]).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / torch.sqrt(torch.tensor(q.size(-1)))
    attention = masked_softmax(scores, _allowed(scores, keep))
    return F.linear(
        torch.einsum("bhij,bjhd->bihd", attention, v).flatten(2), weights["w_o"], weights["b_o"]
    )


@harmless("fills with the lowest number and clears rows without keys")
def lowest_number(x, context, weights, num_heads, keep=None):
    q, k, v = (_split(t, num_heads) for t in _all(x, context, weights))
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    allowed = _allowed(scores, keep)
    attention = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    attention = attention.masked_fill(~allowed.any(-1, keepdim=True), 0)
    return _project((attention @ v).transpose(1, 2).flatten(2), weights, "o")


@harmless("leaves the key's bias out: it cancels in softmax")
def no_key_bias(x, context, weights, num_heads, keep=None):
    q, v = _project(x, weights, "q"), _project(context, weights, "v")
    return _cross(q, context @ weights["w_k"].T, v, weights, num_heads, keep)


@harmless("goes through the queries one at a time")
def one_query_at_a_time(x, context, weights, num_heads, keep=None):
    _, k, v = _all(x, context, weights)
    rows = [
        _cross(_project(x[:, i : i + 1], weights, "q"), k, v, weights, num_heads, keep)
        for i in range(x.size(1))
    ]
    return torch.cat(rows, 1)
