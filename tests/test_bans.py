"""Banned built-ins raise by every route that was found, and nothing else is touched."""

from __future__ import annotations

import pytest

from attention_katas.judge import ban_check
from attention_katas.packs.catalog import load_catalog
from attention_katas.sandbox import bans
from attention_katas.verdict import words


def test_a_kata_bans_only_its_own(submit):
    source = (
        "import torch\ndef attention_scores(q, k):\n    torch.softmax(q, -1)\n    return q @ k.mT\n"
    )
    assert submit("dot-product", source).outcome == "passed"


def test_the_message_teaches(submit):
    source = "import torch\n\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n"
    check = submit("softmax", source).first_failure
    assert "torch.softmax is switched off here" in words.check(check)
    assert "by hand" in words.check(check)
    assert check.evidence.raised.where.line == 4
    assert check.evidence.raised.where.code == "    return torch.softmax(x, dim)"


def test_logsumexp_stays_legal(submit):
    source = "def softmax(x, dim=-1):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()\n"
    assert submit("softmax", source).outcome == "passed"


SHIPPED = {family.name: family for family in load_catalog().packs[0].families}


def test_every_family_has_a_name_for_people_and_routes():
    for family in SHIPPED.values():
        assert family.title
        assert ban_check.routes(family, ban_check.SHORT)


@pytest.mark.parametrize(
    "operator", SHIPPED["softmax"].operators[:10] + SHIPPED["attention"].operators[:3]
)
def test_operators_still_exist_in_this_torch(operator):
    assert bans.registered_keys(operator), f"{operator} has no kernel: renamed by torch?"
