"""Known ways of getting multi-head attention wrong, and some right ones that look odd."""

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


def _merge(x):
    return x.transpose(1, 2).flatten(2)


def _view(x, heads):
    batch, length, width = x.shape
    if width % heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, heads, length, width // heads)


def _unview(x):
    batch, heads, length, width = x.shape
    return x.reshape(batch, length, heads * width)


def _rule(scores, causal, keep):
    allowed = torch.ones_like(scores, dtype=torch.bool)
    allowed = allowed.tril() if causal else allowed
    return allowed if keep is None else allowed & keep[:, None, None, :]


def _project(x, weights, name):
    return x @ weights["w_" + name].T + weights["b_" + name]


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
    dim=-1,
    soft=None,
    out=True,
):
    q, k, v = (split(_project(x, weights, name), heads) for name in names)
    scores = q * (q.size(-1) ** -0.5 if scale is None else scale) @ k.transpose(-2, -1)
    allowed = _rule(scores, causal, keep)
    blend = merge((soft(scores, allowed) if soft else masked_softmax(scores, allowed, dim)) @ v)
    return _project(blend, weights, "o") if out else blend


@mistake(
    "splits with one reshape: positions and heads are mixed",
    of="split_heads",
    ask="Write down position 0 of head 0 for T = 2, H = 2: are its entries next to each other?",
)
def split_by_view(x, num_heads):
    return _view(x, num_heads)


@mistake(
    "deals the entries out like cards: head h gets h, h+H, h+2H, ...",
    of="split_heads",
    ask="Which entries of a position belong to head 0: the first ones, or every H-th?",
)
def split_interleaved(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, length, width // num_heads, num_heads).permute(0, 3, 1, 2)


@mistake(
    "leaves the heads behind the positions",
    of="split_heads",
    ask="Which axes does the matrix product of attention work on?",
)
def split_without_transpose(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError("the heads cannot share this width")
    return x.reshape(batch, length, num_heads, width // num_heads)


@mistake(
    "does not check the width: left-over entries are dropped",
    of="split_heads",
    ask="What should happen with a width of 7 and 2 heads?",
)
def split_drops_the_rest(x, num_heads):
    size = x.size(-1) // num_heads
    return _split(x[..., : size * num_heads], num_heads)


@mistake(
    "lets the failing reshape speak: RuntimeError instead of ValueError",
    of="split_heads",
    ask="Which error does the contract ask for when the heads cannot share the width?",
)
def split_unchecked(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).transpose(1, 2)


@mistake(
    "merges with one reshape: positions and heads are mixed",
    of="merge_heads",
    ask="Which axis must stand beside the slices before they can be joined?",
)
def merge_by_view(x):
    return _unview(x)


@mistake(
    "adds the heads up instead of putting them side by side",
    of="merge_heads",
    ask="How wide is the result, and how wide should it be?",
)
def merge_adds(x):
    return x.sum(1)


@mistake(
    "splits by a view inside",
    of="multi_head_attention",
    ask="Can a reshape move the heads in front of the positions?",
)
def heads_by_view(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, split=_view)


@mistake(
    "merges by a reshape, without moving an axis",
    of="multi_head_attention",
    ask="After the reshape, does row t still hold what belongs to position t?",
)
def merged_by_view(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, merge=_unview)


@mistake(
    "neither split nor merge moves an axis",
    of="multi_head_attention",
    ask="Two wrongs give the right shape. Do they give the right values?",
)
def views_both_ways(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, split=_view, merge=_unview)


@mistake(
    "does not split: one head of full width",
    of="multi_head_attention",
    ask="How many sets of weights does each position get?",
)
def one_head(x, weights, num_heads, causal=False, keep=None):
    if x.size(-1) % num_heads:
        raise ValueError("the heads cannot share this width")
    return _heads(x, weights, 1, causal, keep)


@mistake(
    "scales by the whole width instead of one head's",
    of="multi_head_attention",
    ask="How many products does one score sum up: those of the whole width, or those of one head?",
)
def scales_by_model_width(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=x.size(-1) ** -0.5)


@mistake(
    "does not scale the scores",
    of="multi_head_attention",
    ask="How far apart are the scores, and what does softmax make of a row of such numbers?",
)
def heads_no_scale(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=1.0)


@mistake(
    "divides by the head's width, not by its root",
    of="multi_head_attention",
    ask="Without the root, where do all weights go as heads get wider?",
)
def heads_divide_by_width(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, scale=num_heads / x.size(-1))


@mistake(
    "forgets the output projection",
    of="multi_head_attention",
    ask="Where do the heads learn of each other?",
)
def no_output_projection(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, out=False)


@mistake(
    "forgets the biases",
    of="multi_head_attention",
    ask="A linear layer has two parts. Which one is missing?",
)
def no_biases(x, weights, num_heads, causal=False, keep=None):
    bare = {n: w * 0 if n.startswith("b") else w for n, w in weights.items()}
    return _heads(x, bare, num_heads, causal, keep)


@mistake(
    "does not transpose the projections",
    of="multi_head_attention",
    ask="In nn.Linear's layout, which axis of w is the output?",
)
def projections_not_transposed(x, weights, num_heads, causal=False, keep=None):
    turned = {n: w.T if n.startswith("w") else w for n, w in weights.items()}
    return _heads(x, turned, num_heads, causal, keep)


@mistake(
    "uses one projection for query, key and value",
    of="multi_head_attention",
    ask="If query and key are the same vector, which word scores highest with itself?",
)
def one_projection(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="qqq")


@mistake(
    "exchanges the projections of query and key",
    of="multi_head_attention",
    ask="Which of the two asks, and which one answers?",
)
def query_and_key_exchanged(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="kqv")


@mistake(
    "exchanges the projections of key and value",
    of="multi_head_attention",
    ask="What is compared, and what is handed over?",
)
def key_and_value_exchanged(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, names="qvk")


@mistake(
    "takes the softmax over the heads",
    of="multi_head_attention",
    ask="Do heads compete with each other, or do keys?",
)
def softmax_over_heads(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, dim=1)


@mistake(
    "takes the softmax over the queries",
    of="multi_head_attention",
    ask="Along which axis must one query's weights add up to 1?",
)
def softmax_over_queries(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, dim=-2)


@mistake(
    "attends across the batch",
    of="multi_head_attention",
    ask="Which axis holds the words of one sentence?",
)
def across_the_batch(x, weights, num_heads, causal=False, keep=None):
    turned = x.transpose(0, 1)
    return _heads(turned, weights, num_heads, causal, None).transpose(0, 1)


@mistake(
    "repeats the padding over the heads in the wrong order",
    of="multi_head_attention",
    ask="To which sequence does row r of your flattened batch belong, and whose mask did it get?",
)
def padding_tiled(x, weights, num_heads, causal=False, keep=None):
    if keep is None:
        return _heads(x, weights, num_heads, causal, None)
    batch, length, _ = x.shape
    tiled = keep[:, None].expand(batch, length, length).repeat(num_heads, 1, 1)
    q, k, v = (_split(_project(x, weights, name), num_heads) for name in "qkv")
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    allowed = _rule(scores, causal, None) & tiled.view(batch, num_heads, length, length)
    return _project(_merge(masked_softmax(scores, allowed) @ v), weights, "o")


@mistake(
    "ignores the padding",
    of="multi_head_attention",
    ask="Add ten padding words; should the answer for a real word change?",
)
def heads_ignore_padding(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, None)


@mistake(
    "ignores causal",
    of="multi_head_attention",
    ask="Your function was told whether to mask. Where does it use that?",
)
def heads_never_causal(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, False, keep)


@mistake(
    "forgets the causal mask when there is padding",
    of="multi_head_attention",
    ask="You have two rules. Does your code apply both?",
)
def heads_one_rule(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal and keep is None, keep)


@mistake(
    "gives NaN to a query without a key",
    of="multi_head_attention",
    ask="What is a softmax over nothing but minus infinity?",
)
def heads_nan(x, weights, num_heads, causal=False, keep=None):
    q, k, v = (_split(_project(x, weights, name), num_heads) for name in "qkv")
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    hidden = scores.masked_fill(~_rule(scores, causal, keep), -INF)
    return _project(_merge(hidden.softmax(-1) @ v), weights, "o")


@mistake(
    "takes exponentials of the raw scores",
    of="multi_head_attention",
    ask="What can you subtract from a row so that the largest exponent is 0?",
)
def heads_no_maximum(x, weights, num_heads, causal=False, keep=None):
    q, k, v = (_split(_project(x, weights, name), num_heads) for name in "qkv")
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    e = scores.exp() * _rule(scores, causal, keep)
    total = e.sum(-1, keepdim=True)
    return _project(_merge(e / total.masked_fill(total == 0, 1) @ v), weights, "o")


@mistake(
    "keeps dropout on",
    of="multi_head_attention",
    ask="Call your function twice. Should the answers differ?",
)
def dropout_stays_on(x, weights, num_heads, causal=False, keep=None):
    return F.dropout(_heads(x, weights, num_heads, causal, keep), 0.3, True)


@mistake(
    "gives every head the same small projection",
    of="multi_head_attention",
    ask="If all heads share one projection, what can they tell apart?",
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
    "cuts queries and keys off from the graph",
    of="multi_head_attention",
    ask="Would w_q ever hear about the loss?",
)
def heads_detached(x, weights, num_heads, causal=False, keep=None):
    cut = {n: w.detach() if n[2] in "qk" else w for n, w in weights.items()}
    return _heads(x, cut, num_heads, causal, keep)


@mistake(
    "makes a mask on the default device",
    of="multi_head_attention",
    ask="On which device does a tensor live that you make from nothing?",
)
def heads_default_device(x, weights, num_heads, causal=False, keep=None):
    q, k, v = (_split(_project(x, weights, name), num_heads) for name in "qkv")
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    allowed = torch.ones(scores.shape[-2:], dtype=torch.bool)
    allowed = (allowed.tril() if causal else allowed).expand(scores.shape)
    allowed = allowed if keep is None else allowed & keep[:, None, None, :]
    return _project(_merge(masked_softmax(scores, allowed) @ v), weights, "o")


@mistake(
    "hides with -10000, which real scores can undercut",
    of="multi_head_attention",
    ask='Is your "very small" smaller than everything a model can produce?',
)
def heads_fill_too_weak(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=weak_fill_softmax)


@mistake(
    "hides with -1e9, which half precision cannot hold",
    of="multi_head_attention",
    ask="What is the lowest number your dtype can hold, and is there one that always fits?",
)
def heads_fill_does_not_fit(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=billion_fill_softmax)


@mistake(
    "masks after the softmax and renormalises: 0/0 when a hidden score towers",
    of="multi_head_attention",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def heads_renormalises_late(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=late_softmax)


@mistake(
    "masks after the softmax and divides by at least 1e-9",
    of="multi_head_attention",
    ask="What is left of the visible weights when a hidden score is 1000 higher?",
)
def heads_epsilon(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=late_epsilon_softmax)


@mistake(
    "subtracts a maximum that a hidden key may hold",
    of="multi_head_attention",
    ask="Whose exponential is 1 when the highest score of a row is a hidden one?",
)
def heads_hidden_maximum(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=hidden_maximum_softmax)


@mistake(
    "subtracts one maximum for the whole tensor",
    of="multi_head_attention",
    ask="What becomes of a row that lies 1000 below the highest score of another row?",
)
def heads_one_maximum(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=one_maximum_softmax)


@mistake(
    "adds a mask in float32 to scores of another dtype",
    of="multi_head_attention",
    ask="What dtype is the sum of half-precision scores and a float32 mask?",
)
def heads_wide_mask(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, weights, num_heads, causal, keep, soft=wide_mask_softmax)


@harmless("cuts with chunk and stacks", of="split_heads")
def split_by_chunks(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError("no")
    return torch.stack(x.chunk(num_heads, -1), 1)


@harmless("joins the heads with cat", of="merge_heads")
def merge_by_cat(x):
    return torch.cat(list(x.unbind(1)), -1)


@harmless("goes through the heads one at a time", of="multi_head_attention")
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


@harmless("projects all three at once", of="multi_head_attention")
def fused_projection(x, weights, num_heads, causal=False, keep=None):
    w = torch.cat([weights["w_q"], weights["w_k"], weights["w_v"]])
    b = torch.cat([weights["b_q"], weights["b_k"], weights["b_v"]])
    q, k, v = (_split(part, num_heads) for part in F.linear(x, w, b).chunk(3, -1))
    scores = q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)
    blend = _merge(masked_softmax(scores, _rule(scores, causal, keep)) @ v)
    return F.linear(blend, weights["w_o"], weights["b_o"])


@harmless("leaves the key's bias out: it cancels in softmax", of="multi_head_attention")
def no_key_bias(x, weights, num_heads, causal=False, keep=None):
    return _heads(x, {**weights, "b_k": torch.zeros_like(weights["b_k"])}, num_heads, causal, keep)


@harmless("keeps the heads where they are and writes einsums", of="multi_head_attention")
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
