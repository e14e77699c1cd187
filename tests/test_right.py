"""Right code in every style passes: the files in tests/right/, one kata a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.variants import FILES, siblings


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_right_code_passes(path: Path, submit):
    source = path.read_text(encoding="utf-8")
    verdict = submit(path.parent.name, source, 1, **siblings(source))
    first = verdict.first_failure
    assert verdict.outcome == v.PASSED, f"{words.verdict(verdict)} {first and first.title}"


def test_the_posts_own_listing_is_right_on_squares_and_explained_on_the_rectangle(submit, catalog):
    """Written anew, with its square mask: every square check passes, T_q != T_k does not."""
    reference = catalog["mask"].reference.read_text(encoding="utf-8")
    listing = reference + (
        "\n\ndef scaled_dot_product_attention(q, k, v, causal=True):\n"
        "    s = q @ k.mT / q.shape[-1] ** 0.5\n"
        "    if causal:\n"
        "        n = q.shape[-2]\n"
        "        later = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)\n"
        "        s = s.masked_fill(later, float('-inf'))\n"
        "    return s.softmax(-1) @ v\n"
    )
    verdict = submit("mask", listing)
    by_name = {check.name: check for check in verdict.checks}
    for name in (
        "test_causal_attention_on_squares",
        "test_against_the_real_thing",
        "test_attention_without_a_mask",
    ):
        assert by_name[name].outcome == v.PASSED, words.check(by_name[name])
    rectangle = by_name["test_causal_attention_on_rectangles"]
    assert rectangle.outcome == v.FAILED
    assert "T_q is not T_k" in rectangle.title
    assert "masked_fill" in rectangle.evidence.raised.where.code
    assert "size of tensor a (4) must match the size of tensor b (6)" in (
        rectangle.evidence.raised.message.replace("tensor a (6)", "tensor a (4)").replace(
            "tensor b (4)", "tensor b (6)"
        )
    )
