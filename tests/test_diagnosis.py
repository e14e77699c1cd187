"""What is behind a failure: by name when it is known, by symptom when it is not, never by guess.

That every catalogued mistake is called by its name is `kata dev check`'s business; how well the
diagnosis fares with other spellings, with two mistakes at once and with unknown ones is measured
by bench/diagnosis.py. Here: code as people write it, one case for each manner of answer.
"""

from __future__ import annotations

import json

import pytest

from attention_katas.diagnosis import diagnose
from attention_katas.packs.catalog import content_root
from attention_katas.render import terminal
from attention_katas.render.formats import json as report
from attention_katas.verdict import data as v
from attention_katas.verdict import symptoms, words
from tests.conftest import submission_of

REFERENCE = content_root() / "reference"


def told(verdict, function=""):
    """(kind, ids) of the diagnosis of one function, of the only one if none is named."""
    found = [d for d in verdict.diagnoses if not function or d.function == function]
    assert len(found) == 1, verdict.diagnoses
    return found[0].kind, [cause.id for cause in found[0].causes]


def reference(name, more):
    return (REFERENCE / f"{name}.py").read_text(encoding="utf-8") + "\n\n" + more


HEAD = "import math\nimport torch\n"
ATTEND = HEAD + "def scaled_dot_product_attention(q, k, v, causal=True):\n"
MULTI = HEAD + "def multi_head_attention(x, weights, num_heads, causal=False, keep=None):\n"

# As people write it, in no style of ours: kata, code, function, ids.
WRITTEN = [
    (
        "softmax",
        HEAD + "def softmax(x, dim=-1):\n    return torch.exp(x) / torch.exp(x).sum(dim, True)\n",
        "softmax",
        ["no-maximum"],
    ),
    (
        "softmax",
        HEAD + "def softmax(x, dim=-1):\n"
        "    m = x.max()\n    z = torch.exp(torch.sub(x, m))\n"
        "    return torch.div(z, torch.sum(z, dim=dim, keepdim=True))\n",
        "softmax",
        ["one-maximum-for-all"],
    ),
    (
        "dot-product",
        HEAD + "def attention_scores(q, k):\n    return torch.matmul(q, k.mT.mT)\n",
        "attention_scores",
        ["no-transpose"],
    ),
    (
        "scale",
        HEAD + "def scaled_scores(q, k):\n"
        "    return torch.einsum('...qd,...kd->...qk', q, k) / math.sqrt(k.shape[-2])\n",
        "scaled_scores",
        ["number-of-keys", "divides-last"],
    ),
    (
        "mask",
        reference(
            "mask",
            ATTEND + "    s = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])\n"
            "    w = s.softmax(dim=-1)\n"
            "    if causal:\n        w = w * torch.tril(torch.ones_like(w))\n"
            "    return torch.matmul(w, v)\n",
        ),
        "scaled_dot_product_attention",
        ["attention-masks-late"],
    ),
    (  # plain -inf and plain softmax: hidden columns become NaN
        "mask",
        reference(
            "mask",
            ATTEND + "    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
            "    if causal:\n"
            "        s = s.masked_fill(torch.triu(torch.ones_like(s), 1).bool(), -math.inf)\n"
            "    return torch.softmax(s, -2) @ v\n",
        ),
        "scaled_dot_product_attention",
        ["attention-over-queries"],
    ),
    (  # two at once
        "mask",
        reference(
            "mask",
            ATTEND + "    s = q @ k.transpose(-2, -1) / q.shape[-1]\n"
            "    if causal:\n"
            "        s = s.masked_fill(torch.triu(torch.ones_like(s), 2).bool(), -math.inf)\n"
            "    return torch.softmax(s, -1) @ v\n",
        ),
        "scaled_dot_product_attention",
        ["attention-divides-by-width", "attention-one-ahead"],
    ),
    (
        "multihead",
        reference(
            "multihead",
            MULTI + "    b, t, d = x.shape\n    q, k, v = (\n"
            "        split_heads(x @ weights['w_' + n].T + weights['b_' + n], num_heads)\n"
            "        for n in 'qkv'\n    )\n"
            "    s = torch.einsum('bhid,bhjd->bhij', q, k) / d**0.5\n"
            "    if causal:\n"
            "        s = s.masked_fill(~torch.ones_like(s).tril().bool(), -math.inf)\n"
            "    if keep is not None:\n"
            "        s = s.masked_fill(~keep[:, None, None], -math.inf)\n"
            "    w = torch.nan_to_num(s.softmax(-1)) if s.isneginf().all(-1).any() "
            "else s.softmax(-1)\n"
            "    out = merge_heads(w @ v)\n"
            "    return out @ weights['w_o'].T + weights['b_o']\n",
        ),
        "multi_head_attention",
        ["scales-by-model-width"],
    ),
]


@pytest.mark.parametrize(("kata", "source", "function", "ids"), WRITTEN, ids=lambda p: str(p)[:30])
def test_code_as_people_write_it(submit, kata, source, function, ids):
    verdict = submit(kata, source)
    kind, found = told(verdict, function)
    assert (kind, sorted(found)) == (v.MISTAKE if len(ids) == 1 else v.TWO_MISTAKES, sorted(ids))


def test_another_convention_is_no_mistake(submit):
    source = "import torch\ndef causal_mask(t_q, t_k, device=None):\n"
    source += "    return torch.ones(t_q, t_k, device=device).tril(t_k - t_q).bool()\n"
    verdict = submit("mask", reference("mask", source))
    kind, ids = told(verdict, "causal_mask")
    assert (kind, ids) == (v.CONVENTION, ["bottom-right"])
    cause = verdict.diagnoses[0].causes[0]
    assert cause.question.endswith(".")  # what the contract says, no question
    text = " ".join(terminal.render([verdict], {"mask": verdict_kata(verdict)}).split())
    assert "causal_mask follows another convention: it aligns the mask to the bottom right" in text
    assert "contract" in text


def verdict_kata(verdict):
    from attention_katas.packs.catalog import load_catalog

    return load_catalog()[verdict.kata]


def test_what_nobody_has_catalogued_is_told_by_its_symptoms(submit):
    source = "import torch\ndef softmax(x, dim=-1):\n    e = (x - x.amax(dim, True)).exp() ** 1.7\n"
    source += "    return e / (0.3 + e.sum(dim, True))\n"
    verdict = submit("softmax", source)
    kind, ids = told(verdict)
    said = [words.symptom(symptom) for symptom in verdict.diagnoses[0].symptoms]
    assert (kind, ids) == (v.SYMPTOMS, [])
    assert any("of the weights sums to 0." in text for text in said)
    assert any("5.47 times the weight" in text for text in said) or len(said) == diagnose.SYMPTOMS


def test_chance_is_told_as_such(submit):
    dropout = "import torch\ndef softmax(x, dim=-1):\n"
    dropout += "    return torch.softmax_or(x) if False else x + torch.rand_like(x)\n"
    verdict = submit("softmax", dropout)
    assert told(verdict) == (v.SYMPTOMS, [])
    assert verdict.diagnoses[0].symptoms[0] == symptoms.OtherAnswerEachTime()


def test_an_earlier_kata_is_to_blame(submit):
    mask = (REFERENCE / "mask.py").read_text(encoding="utf-8") + (
        "\n\nfrom softmax import softmax\n"
        "def scaled_dot_product_attention(q, k, v, causal=True):\n"
        "    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
        "    if causal:\n"
        "        s = s.masked_fill(~causal_mask(*s.shape[-2:], s.device), -float('inf'))\n"
        "    return softmax(s) @ v\n"
    )
    wrong = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"
    verdict = submit("mask", mask, softmax=wrong)
    found = verdict.diagnoses[0]
    assert (found.kind, found.file, found.blames) == (v.EARLIER_WORK, "softmax.py", ["softmax"])
    assert words.next_step(verdict) == "kata run softmax"
    text = terminal.render([verdict], {"mask": verdict_kata(verdict)})
    assert "is not at fault, softmax is: once it is right, so is this" in " ".join(text.split())


NAIVE = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"
CROSS = """
from multihead import merge_heads, split_heads
from softmax import softmax


def cross_attention(x, context, weights, num_heads, keep=None):
    q = split_heads(x @ weights["w_q"].T + weights["b_q"], num_heads)
    k = split_heads(context @ weights["w_k"].T + weights["b_k"], num_heads)
    v = split_heads(context @ weights["w_v"].T + weights["b_v"], num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if keep is not None:
        scores = scores.masked_fill(~keep[:, None, None], -float("inf"))
    weights_ = softmax(scores)
    if keep is not None:
        weights_ = weights_.masked_fill(~keep[:, None, None], 0.0)
    return merge_heads(weights_ @ v) @ weights["w_o"].T + weights["b_o"]
"""


def test_two_earlier_katas_are_to_blame(submit):
    """One of them shows in a few answers only: those are looked at when the other is right."""
    reference = (REFERENCE / "multihead.py").read_text(encoding="utf-8")
    merges = "    return x.transpose(1, 2).reshape(batch, length, heads * width)"
    assert merges in reference
    wrong = reference.replace(merges, "    return x.reshape(batch, length, heads * width)")
    verdict = submit("cross-attention", CROSS, softmax=NAIVE, multihead=wrong)
    (found,) = verdict.diagnoses
    assert found.kind == v.EARLIER_WORK
    assert set(found.blames) == {"softmax", "multihead"}
    assert found.causes == []


def test_an_earlier_function_of_the_same_file(submit):
    source = (REFERENCE / "mask.py").read_text(encoding="utf-8") + (
        "\n\ndef causal_mask(t_q, t_k, device=None):\n"
        "    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(-1)\n"
    )
    verdict = submit("mask", source)
    assert told(verdict, "causal_mask") == (v.MISTAKE, ["diagonal-forbidden"])
    for name in ("masked_weights", "scaled_dot_product_attention"):
        assert told(verdict, name) == (v.EARLIER_WORK, [])
    assert [d.blames for d in verdict.diagnoses] == [[], ["causal_mask"], ["causal_mask"]]


def test_an_own_mistake_on_top_of_an_earlier_one(submit):
    """With the earlier function right, the own mistake is what is left; no number is shown."""
    source = (REFERENCE / "mask.py").read_text(encoding="utf-8") + (
        "\n\ndef causal_mask(t_q, t_k, device=None):\n"
        "    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu()\n"
        "def masked_weights(scores, keep=None):\n"
        "    m = causal_mask(scores.size(-2), scores.size(-1), scores.device)\n"
        "    m = m if keep is None else m & keep[:, None, None, :]\n"
        "    return scores.softmax(-1) * m\n"
    )
    verdict = submit("mask", source)
    assert told(verdict, "masked_weights") == (v.MISTAKE, ["mask-after-softmax"])
    found = verdict.diagnoses[1]
    assert (found.at, found.yours, found.expected) == (None, None, None)
    assert found.symptoms == [symptoms.AlsoWrong(("causal_mask",))]


def test_several_are_wrong_as_well():
    def sentence(*names):
        return words.symptom(symptoms.AlsoWrong(names))

    assert sentence("a") == "a is wrong as well; fix that first"
    assert sentence("a", "b") == "a and b are wrong as well; fix those first"
    assert sentence("a", "b", "c").startswith("a, b and c are wrong")


def test_an_exception_in_terms_of_axes(submit):
    verdict = submit("dot-product", "def attention_scores(q, k):\n    return q @ k\n")
    assert told(verdict) == (v.MISTAKE, ["no-transpose"])
    met = symptoms.InnerSizesDiffer(symptoms.Size(5, "d_k"), symptoms.Size(4, "T_k"))
    assert verdict.diagnoses[0].symptoms[0] == met
    assert "here they are 5 (d_k) and 4 (T_k)" in words.symptom(met)


def test_right_code_is_blamed_for_nothing(catalog, judge):
    for kata in catalog.ready:
        source = kata.reference.read_text(encoding="utf-8")
        verdict = judge.judge(submission_of(catalog, kata.name, source), 3, false_alarms=True)
        assert verdict.outcome == v.PASSED
        assert not [d for d in verdict.diagnoses if d.causes or d.symptoms]


def test_a_pass_costs_no_diagnosis(submit):
    source = (REFERENCE / "softmax.py").read_text(encoding="utf-8")
    assert submit("softmax", source).diagnoses == []


ODD = {
    "hangs": "def softmax(x, dim=-1):\n    while x.dtype: pass\n",
    "ends itself": "import os\ndef softmax(x, dim=-1):\n    os._exit(3)\n",
    "raises": "def softmax(x, dim=-1):\n    raise KeyError('x')\n",
    "gives a list": "def softmax(x, dim=-1):\n    return [x]\n",
    "changes its mind": "n = []\ndef softmax(x, dim=-1):\n    n.append(1)\n    return x * len(n)\n",
    "is complex": "import torch\ndef softmax(x, dim=-1):\n    return torch.complex(x, x)\n",
    "is bool": "def softmax(x, dim=-1):\n    return x > 0\n",
    "is empty": "def softmax(x, dim=-1):\n    return x[:0]\n",
    "is inf": "def softmax(x, dim=-1):\n    return x * 0 + float('inf')\n",
}


@pytest.mark.parametrize("what", [name for name in ODD if name != "hangs"])
def test_odd_answers_are_called_by_no_name(submit, what):
    verdict = submit("softmax", ODD[what])
    assert verdict.outcome not in (v.PASSED, v.COULD_NOT_GRADE)
    for found in verdict.diagnoses:
        assert found.kind in (v.SYMPTOMS, v.NO_DIAGNOSIS)
        assert found.fault is None


def test_code_that_hangs_only_for_the_diagnosis(submit):
    """A witness that falls silent costs seconds, not the verdict."""
    source = (
        "import torch\ncalls = []\ndef softmax(x, dim=-1):\n    calls.append(1)\n"
        "    while len(calls) > 12: pass\n    return torch.exp(x) / 3\n"
    )
    verdict = submit("softmax", source)
    assert verdict.outcome == v.FAILED
    assert all(d.kind in (v.SYMPTOMS, v.NO_DIAGNOSIS) for d in verdict.diagnoses)


def test_a_fault_of_ours_is_told_and_changes_no_verdict(submit, monkeypatch):
    def broken(case):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(diagnose, "diagnose", broken)
    verdict = submit("softmax", "def softmax(x, dim=-1):\n    return x\n")
    assert verdict.outcome == v.FAILED
    assert [d.kind for d in verdict.diagnoses] == [v.NO_DIAGNOSIS]
    assert verdict.diagnoses[0].fault == v.Fault("ZeroDivisionError", "oops")
    assert "ZeroDivisionError: oops" in words.diagnosis(verdict.diagnoses[0])


def test_ids_are_in_the_json(submit):
    verdict = submit("softmax", "def softmax(x, dim=-1):\n    return x\n")
    data = json.loads(report.render([verdict]))["verdicts"][0]["diagnoses"]
    assert [cause["id"] for cause in data[0]["causes"]] == ["no-softmax"]
    assert data[0]["explained"] > 1


def test_the_right_part_of_an_experiment_stays_unseen(submit):
    """While a part is made right, the code could read it; nothing of that process is shown."""
    spy = (
        "import inspect, softmax as s\n"
        "def causal_mask(t_q, t_k, device=None):\n"
        "    import torch\n    return torch.ones(t_q, t_k, device=device).tril().bool()\n"
        "def masked_weights(scores, keep=None):\n"
        "    import sys\n"
        "    right = sys.modules.get('_right_softmax')\n"
        "    print('SECRET', right and inspect.getsource(right))\n"
        "    return s.softmax(scores)\n"
        "def scaled_dot_product_attention(q, k, v, causal=True):\n"
        "    import sys\n"
        "    raise ValueError('SEC' + 'RET' if '_right_softmax' in sys.modules else 'none')\n"
    )
    verdict = submit("mask", spy, softmax="def softmax(x, dim=-1):\n    return x\n")
    text = report.render([verdict])
    assert "so that no exponent" not in text  # a line of the reference
    assert "none" in text
    assert "SECRET" not in text.replace("print('SECRET'", "").replace("SECRET None", "")
    assert all(d.yours is None or d.function != "masked_weights" for d in verdict.diagnoses)


def test_that_both_raise_is_no_reason_to_name(submit):
    """Merging by the wrong length raises on the same inputs as splitting by it; it is not that."""
    source = (REFERENCE / "cross_attention.py").read_text(encoding="utf-8")
    source += (
        "\n\ndef cross_attention(x, context, weights, num_heads, keep=None):\n"
        "    q, k, v = (\n"
        "        _split(t @ weights['w_' + n].T + weights['b_' + n], num_heads)\n"
        "        for t, n in ((x, 'q'), (context, 'k'), (context, 'v'))\n    )\n"
        "    s = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5\n"
        "    if keep is not None:\n"
        "        s = s.masked_fill(~keep[:, None, None], -float('inf'))\n"
        "    w = torch.nan_to_num(s.softmax(-1))\n"
        "    b, t, d = x.size(0), context.size(1), x.size(2)\n"
        "    out = (w @ v).transpose(1, 2).reshape(b, t, d)\n"
        "    return out @ weights['w_o'].T + weights['b_o']\n"
    )
    _, ids = told(submit("cross-attention", source))
    assert "split-by-query-length" not in ids


def test_an_acquittal_needs_every_answer(submit):
    """softmax.py is wrong, and so is the own fill: a right softmax makes not all of it right."""
    source = (REFERENCE / "mask.py").read_text(encoding="utf-8") + (
        "\n\nfrom softmax import softmax\n"
        "def masked_weights(scores, keep=None):\n"
        "    m = causal_mask(scores.size(-2), scores.size(-1), scores.device)\n"
        "    m = m if keep is None else m & keep[:, None, None, :]\n"
        "    return softmax(scores.masked_fill(~m, -1e4)) * m.any(-1, keepdim=True)\n"
    )
    wrong = (
        "def softmax(x, dim=-1):\n    e = (x - x.amax(dim, True)).exp()\n    return e / e.sum()\n"
    )
    verdict = submit("mask", source, softmax=wrong)
    assert told(verdict, "masked_weights") == (v.MISTAKE, ["fill-too-weak"])
    assert verdict.diagnoses[0].symptoms == [symptoms.AlsoWrong(("softmax",))]


def test_zeros_are_no_mistake_of_thought(submit):
    source = (REFERENCE / "mask.py").read_text(encoding="utf-8") + (
        "\n\ndef scaled_dot_product_attention(q, k, v, causal=True):\n"
        "    return torch.zeros(*q.shape[:-1], v.size(-1), dtype=q.dtype, device=q.device)\n"
    )
    assert told(submit("mask", source)) == (v.SYMPTOMS, [])


def test_a_forgotten_refusal_does_not_hide_the_rest(submit):
    source = reference(
        "cross_attention",
        "def cross_attention(x, context, weights, num_heads, keep=None):\n"
        "    def split(t):\n"
        "        return t.view(*t.shape[:2], num_heads, t.size(-1) // num_heads).transpose(1, 2)\n"
        "    q = split(x @ weights['w_q'].T + weights['b_q'])\n"
        "    k = split(context @ weights['w_k'].T + weights['b_k'])\n"
        "    v = split(context @ weights['w_v'].T + weights['b_v'])\n"
        "    s = q @ k.transpose(-2, -1) / x.size(-1) ** 0.5\n"
        "    if keep is not None:\n"
        "        s = s.masked_fill(~keep[:, None, None], -float('inf'))\n"
        "    w = torch.nan_to_num(s.softmax(-1))\n"
        "    return (w @ v).transpose(1, 2).flatten(2) @ weights['w_o'].T + weights['b_o']\n",
    )
    _, ids = told(submit("cross-attention", source))
    assert "scales-by-model-width" in ids
