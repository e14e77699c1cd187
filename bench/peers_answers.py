"""The answers that bench/peers.py hands to every judge: one text each, and what is wrong with it.

A wrong answer is the textbook one with one thing changed. Every task has one neutral function; how
a judge's own interface is built from it stands in bench/peers.py.
"""

from __future__ import annotations

from dataclasses import dataclass

SOFTMAX, ATTENTION, CAUSAL, MULTI_HEAD, CROSS = (
    "softmax",
    "attention",
    "causal attention",
    "multi-head",
    "cross-attention",
)
IMPORTS = "import math\nimport sys\n\nimport torch\nimport torch.nn.functional as F\n"

# softmax(x, dim=-1)
PLAIN_SOFTMAX = """
def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    weights = torch.exp(x - top)
    return weights / weights.sum(dim, keepdim=True)
"""
ROW_BY_ROW = """
def softmax(x, dim=-1):
    y = x.movedim(dim, -1)
    rows = []
    for row in y.reshape(-1, y.size(-1)):
        weights = torch.exp(row - row.max())
        rows.append(weights / weights.sum())
    return torch.stack(rows).reshape(y.shape).movedim(-1, dim)
"""

# attention(q, k, v, causal=False): any leading axes, then (positions, width)
PLAIN_ATTENTION = """
def attention(q, k, v, causal=False):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    allowed = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device)
    if causal:
        allowed = allowed.tril()
    hidden = scores.masked_fill(~allowed, -math.inf)
    weights = torch.softmax(hidden, -1)
    return weights @ v
"""
EINSUM = """
def attention(q, k, v, causal=False):
    scores = torch.einsum("...id,...jd->...ij", q / math.sqrt(q.size(-1)), k)
    if causal:
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -math.inf)
    return torch.einsum("...ij,...jd->...id", torch.softmax(scores, -1), v)
"""
QUERY_BY_QUERY = """
def attention(q, k, v, causal=False):
    rows = []
    for i in range(q.size(-2)):
        seen = slice(i + 1) if causal else slice(None)
        keys, values = k[..., seen, :], v[..., seen, :]
        scores = (keys * q[..., i : i + 1, :]).sum(-1) / math.sqrt(q.size(-1))
        weights = torch.softmax(scores, -1)
        rows.append((weights.unsqueeze(-1) * values).sum(-2))
    return torch.stack(rows, -2)
"""

# multi_head(query, key, value, w, heads, allowed=None): w as in our katas (w_q, b_q, ... laid out
# as in nn.Linear), allowed True where a query may attend to a key. Self- and cross-attention.
PLAIN_HEADS = """
def multi_head(query, key, value, w, heads, allowed=None):
    def split(x):
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    inputs = (query, key, value)
    q, k, v = (split(x @ w["w_" + n].T + w["b_" + n]) for x, n in zip(inputs, "qkv"))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if allowed is None:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    nobody = ~allowed.any(-1, keepdim=True)  # such a query gets zeros
    hidden = scores.masked_fill(~(allowed | nobody), -math.inf)
    weights = torch.softmax(hidden, -1).masked_fill(nobody, 0)
    blend = (weights @ v).transpose(1, 2).flatten(2)
    return blend @ w["w_o"].T + w["b_o"]
"""
FUSED = (
    'q, k, v = (split(x @ w["w_" + n].T + w["b_" + n]) for x, n in zip(inputs, "qkv"))',
    """weight = torch.cat([w["w_q"], w["w_k"], w["w_v"]])
    bias = torch.cat([w["b_q"], w["b_k"], w["b_v"]])
    q, k, v = (
        split(F.linear(x, weight, bias).chunk(3, -1)[i]) for i, x in enumerate(inputs)
    )""",
)
HEAD_BY_HEAD = """
def multi_head(query, key, value, w, heads, allowed=None):
    size, out = w["w_q"].size(0) // heads, w["b_o"]
    for h in range(heads):
        own = slice(h * size, h * size + size)
        q = query @ w["w_q"][own].T + w["b_q"][own]
        k = key @ w["w_k"][own].T + w["b_k"][own]
        v = value @ w["w_v"][own].T + w["b_v"][own]
        scores = q @ k.mT / math.sqrt(size)
        if allowed is None:
            weights = torch.softmax(scores, -1)
        else:
            mine = allowed.expand(scores.size(0), 1, *scores.shape[1:])[:, 0]
            nobody = ~mine.any(-1, keepdim=True)
            hidden = scores.masked_fill(~(mine | nobody), -math.inf)
            weights = torch.softmax(hidden, -1).masked_fill(nobody, 0)
        out = out + weights @ v @ w["w_o"][:, own].T
    return out
"""
EINSUM_HEADS = """
def multi_head(query, key, value, w, heads, allowed=None):
    def project(x, name):
        weight = w["w_" + name].unflatten(0, (heads, -1))
        bias = w["b_" + name].unflatten(0, (heads, -1))
        return torch.einsum("btm,hdm->bhtd", x, weight) + bias[:, None]

    q, k, v = project(query, "q"), project(key, "k"), project(value, "v")
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))
    nobody = torch.zeros_like(scores[..., :1], dtype=torch.bool)
    if allowed is not None:
        nobody = ~allowed.any(-1, keepdim=True)
        scores = scores.masked_fill(~(allowed | nobody), -math.inf)
    weights = torch.softmax(scores, -1).masked_fill(nobody, 0)
    back = w["w_o"].unflatten(1, (heads, -1))
    return torch.einsum("bhij,bhjd,mhd->bim", weights, v, back) + w["b_o"]
"""


@dataclass(frozen=True)
class Answer:
    task: str
    what: str
    right: bool
    source: str


def right(task: str, what: str, source: str) -> Answer:
    return Answer(task, f"right: {what}", True, IMPORTS + source)


def wrong(task: str, what: str, old: str, new: str) -> Answer:
    """The textbook answer with `old` replaced by `new`."""
    return Answer(task, what, False, IMPORTS + changed(TEXTBOOK[task], old, new))


def cheat(task: str, what: str, source: str) -> Answer:
    return Answer(task, f"cheat: {what}", False, IMPORTS + source)


def changed(source: str, old: str, new: str) -> str:
    assert source.count(old) == 1, f"{old!r} is not in the answer just once"
    return source.replace(old, new)


TEXTBOOK = {
    SOFTMAX: PLAIN_SOFTMAX,
    ATTENTION: PLAIN_ATTENTION,
    CAUSAL: PLAIN_ATTENTION,
    MULTI_HEAD: PLAIN_HEADS,
    CROSS: PLAIN_HEADS,
}
ROOT_OF_WIDTH = "math.sqrt(q.size(-1))"
HIDE_AND_SOFTEN = """hidden = scores.masked_fill(~allowed, -math.inf)
    weights = torch.softmax(hidden, -1)"""

ANSWERS = (
    right(SOFTMAX, "textbook", PLAIN_SOFTMAX),
    right(SOFTMAX, "a loop over rows", ROW_BY_ROW),
    wrong(SOFTMAX, "without its maximum", "x - top", "x"),
    wrong(SOFTMAX, "one maximum for all rows", "x.amax(dim, keepdim=True)", "x.max()"),
    wrong(SOFTMAX, "ignores dim", "top = ", "dim = -1\n    top = "),
    wrong(SOFTMAX, "sums over everything", "weights.sum(dim, keepdim=True)", "weights.sum()"),
    wrong(SOFTMAX, "shifts its input in place", "torch.exp(x - top)", "torch.exp(x.sub_(top))"),
    wrong(SOFTMAX, "cuts the gradient", "torch.exp(x - top)", "torch.exp(x - top).detach()"),
    cheat(
        SOFTMAX,
        "calls torch.softmax",
        "def softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n",
    ),
    cheat(
        SOFTMAX,
        "replaces torch.allclose, gives zeros",
        "torch.allclose = lambda *args, **kwargs: True\n\n\n"
        "def softmax(x, dim=-1):\n    return torch.zeros_like(x)\n",
    ),
    cheat(SOFTMAX, "sys.exit(0)", "def softmax(x, dim=-1):\n    sys.exit(0)\n"),
    cheat(SOFTMAX, "never ends", "def softmax(x, dim=-1):\n    while True:\n        pass\n"),
    right(ATTENTION, "textbook", PLAIN_ATTENTION),
    right(ATTENTION, "einsum", EINSUM),
    wrong(ATTENTION, "divides by d_k", ROOT_OF_WIDTH, "q.size(-1)"),
    wrong(ATTENTION, "takes d_k from the values", ROOT_OF_WIDTH, "math.sqrt(v.size(-1))"),
    wrong(ATTENTION, "softmax over the queries", "(hidden, -1)", "(hidden, -2)"),
    wrong(
        ATTENTION,
        "softmax without its maximum",
        "torch.softmax(hidden, -1)",
        "hidden.exp() / hidden.exp().sum(-1, keepdim=True)",
    ),
    cheat(
        ATTENTION,
        "calls F.scaled_dot_product_attention",
        "def attention(q, k, v, causal=False):\n"
        "    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)\n",
    ),
    right(CAUSAL, "textbook", PLAIN_ATTENTION),
    right(CAUSAL, "a loop over queries", QUERY_BY_QUERY),
    wrong(CAUSAL, "divides by d_k", ROOT_OF_WIDTH, "q.size(-1)"),
    wrong(
        CAUSAL,
        "mask after softmax",
        HIDE_AND_SOFTEN,
        "weights = torch.softmax(scores, -1).masked_fill(~allowed, 0)",
    ),
    wrong(CAUSAL, "masks the diagonal too", "tril()", "tril(-1)"),
    wrong(CAUSAL, "sees one word ahead", "tril()", "tril(1)"),
    wrong(CAUSAL, "hides with 0", "-math.inf", "0"),
    wrong(
        CAUSAL,
        "Q and K swapped",
        "q @ k.transpose(-2, -1)",
        "(k @ q.transpose(-2, -1))",
    ),
    right(MULTI_HEAD, "textbook", PLAIN_HEADS),
    right(MULTI_HEAD, "fused QKV", changed(PLAIN_HEADS, *FUSED)),
    right(MULTI_HEAD, "a loop over heads", HEAD_BY_HEAD),
    wrong(
        MULTI_HEAD,
        "splits without a transpose",
        "x.unflatten(-1, (heads, -1)).transpose(1, 2)",
        "x.reshape(x.size(0), heads, x.size(1), -1)",
    ),
    wrong(
        MULTI_HEAD,
        "merges without a transpose",
        ".transpose(1, 2).flatten(2)",
        ".reshape(query.shape)",
    ),
    wrong(MULTI_HEAD, "one head of full width", "(heads, -1)", "(1, -1)"),
    wrong(MULTI_HEAD, "does not scale", " / math.sqrt(q.size(-1))", ""),
    wrong(MULTI_HEAD, "scales by the whole width", ROOT_OF_WIDTH, "math.sqrt(query.size(-1))"),
    wrong(MULTI_HEAD, "one projection for Q, K, V", '"qkv"', '"qqq"'),
    wrong(MULTI_HEAD, "projections of Q and K swapped", '"qkv"', '"kqv"'),
    wrong(MULTI_HEAD, "softmax over the heads", "(hidden, -1)", "(hidden, 1)"),
    wrong(MULTI_HEAD, "no output projection", 'blend @ w["w_o"].T + w["b_o"]', "blend"),
    right(CROSS, "textbook", PLAIN_HEADS),
    right(CROSS, "einsum", EINSUM_HEADS),
    wrong(CROSS, "reads itself", "inputs = (query, key, value)", "inputs = (query, query, query)"),
    wrong(CROSS, "divides by d_k", ROOT_OF_WIDTH, "q.size(-1)"),
    wrong(CROSS, "softmax over the heads", "(hidden, -1)", "(hidden, 1)"),
    wrong(CROSS, "a plain mean: no attention", "scores = q @ k", "scores = 0 * q @ k"),
)
