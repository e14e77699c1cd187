"""Katas whose functions take and return nested tuples, dicts and None, and complex tensors."""

from __future__ import annotations

import pytest
import torch

from attention_katas.judge import trees
from attention_katas.judge.ladder import differences, pattern
from attention_katas.service import open_service, verdict_of
from attention_katas.service.local import open_judge
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from tests.conftest import submission_of
from tests.packs import add_kata, make_pack, only

PAIR = """
import torch

def pair(x, cache) -> tuple[torch.Tensor, dict]:
    keys, (scale, nothing) = cache["keys"], cache["rest"]
    assert nothing is None
    out = x * scale + keys
    return out, {"keys": torch.cat([keys, x]), "sizes": torch.tensor([x.size(0)]), "rest": [None]}
"""
PAIR_TESTS = """
import torch

def cache_of(draw):
    return {"keys": draw(4, 3), "rest": (draw(4, 3), None)}

def test_it(solution, draw, agree):
    agree(solution.pair, draw(4, 3), cache_of(draw))

def test_half(solution, draw, agree):
    agree(solution.pair, draw(4, 3).half(), {"keys": draw(4, 3).half(),
                                             "rest": (draw(4, 3).half(), None)})
"""
PAIR_MISTAKES = """
import torch
from attention_katas.authoring import mistake

@mistake("adds the keys to the cache in front", question="Which end of the cache is the newest?")
def in_front(x, cache):
    keys, (scale, _) = cache["keys"], cache["rest"]
    sizes = torch.tensor([x.size(0)])
    return x * scale + keys, {"keys": torch.cat([x, keys]), "sizes": sizes, "rest": [None]}
"""
CAT = "torch.cat([keys, x])"
TURN = """
import torch

def turn(x):
    return x * torch.exp(torch.tensor(0.5j, dtype=x.dtype))
"""
TURN_TESTS = """
import torch

def test_it(solution, draw, agree):
    agree(solution.turn, draw(3, 4, dtype=torch.complex128))

def test_single(solution, draw, agree):
    agree(solution.turn, draw(3, 4, dtype=torch.complex64))
"""


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    pack = make_pack(tmp_path_factory.mktemp("packs") / "nested", "nested")
    for name, reference, tests in (("pair", PAIR, PAIR_TESTS), ("turn", TURN, TURN_TESTS)):
        folder = add_kata(pack, name)
        (folder / f"test_{name}.py").write_text(tests, encoding="utf-8")
        (pack / "reference" / f"{name}.py").write_text(reference, encoding="utf-8")
    (pack / "pair" / "mistakes.py").write_text(PAIR_MISTAKES, encoding="utf-8")
    return only(pack)


@pytest.fixture(scope="module")
def judge(catalog):
    with open_judge(catalog, catalog.ready) as judge:
        yield judge


def verdict(judge, catalog, kata, source):
    return judge.judge(submission_of(catalog, kata, source), 7)


def changed(source, old, new):
    assert old in source
    return source.replace(old, new)


@pytest.mark.parametrize(("kata", "source"), [("pair", PAIR), ("turn", TURN)])
def test_the_right_answer_passes(judge, catalog, kata, source):
    assert verdict(judge, catalog, kata, source).outcome == v.PASSED


def test_keys_of_a_dict_may_come_in_any_order(judge, catalog):
    source = changed(PAIR, '"rest": [None]}', "}")
    source = changed(source, 'return out, {"keys"', 'return out, {"rest": [None], "keys"')
    assert verdict(judge, catalog, "pair", source).outcome == v.PASSED


@pytest.mark.parametrize(
    ("old", "new", "rung", "reason", "part"),
    [
        ("return out, {", "return [out, {", "type", r.WrongStructure, ""),
        ('"rest": [None]', '"rest": [out]', "type", r.WrongStructure, ""),
        (CAT, "torch.cat([keys, x, x])", "shape", r.WrongShape, "[1]['keys']"),
        (
            CAT,
            "torch.cat([keys, x]) * 2",
            "values",
            r.EntriesDiffer,
            "[1]['keys']",
        ),
        ("[x.size(0)]", "[x.size(1)]", "values", r.EntriesDiffer, "[1]['sizes']"),
        ("[x.size(0)]", "[float(x.size(0))]", "dtype", r.WrongDtype, "[1]['sizes']"),
        (
            CAT,
            "torch.cat([keys, x.detach()])",
            "gradients",
            r.GradientDiffers,
            "",
        ),
        (
            CAT,
            "torch.cat([keys, x]).detach()",
            "gradients",
            r.GradientDiffers,
            "",
        ),
        ("    out =", "    cache['keys'] = x\n    out =", "inputs unchanged", r.EntryChanged, ""),
    ],
)
def test_each_rung_names_the_part_that_is_wrong(judge, catalog, old, new, rung, reason, part):
    source = changed(PAIR, old, new)
    source = source.replace('"rest": [None]}', '"rest": [None]}]') if "[out, {" in new else source
    check = verdict(judge, catalog, "pair", source).checks[0]
    assert (check.outcome, check.rung) == (v.FAILED, rung)
    assert isinstance(check.reason, reason)
    assert check.evidence.part == part


def test_one_tensor_where_two_are_expected(judge, catalog):
    check = verdict(judge, catalog, "pair", "def pair(x, cache):\n    return x\n").checks[0]
    assert check.reason == r.WrongStructure(
        "tensor", "(tensor, {'keys': tensor, 'rest': [None], 'sizes': tensor})"
    )


@pytest.mark.parametrize("answer", ["'text'", "(x, 'text')", "None", "()", "(x, object())"])
def test_what_cannot_be_compared_fails(judge, catalog, answer):
    source = f"def pair(x, cache):\n    return {answer}\n"
    check = verdict(judge, catalog, "pair", source).checks[0]
    assert (check.outcome, check.rung) == (v.FAILED, "type")


DEEP = """
def pair(x, cache):
    for _ in range({levels}):
        x = (x,)
    return x
"""
FORGED = """
import sys

import torch

(runner,) = [m for m in sys.modules.values() if "MESSAGE_CAP" in getattr(m, "__dict__", ())]
encode = runner.wire.encode
NAMED = {{"tensor": "0"}}
DEEP = NAMED
for _ in range(200):
    DEEP = {{"tuple": [DEEP]}}

def forged(header, tensors=None):
    if "functions" in header:
        return encode(header, tensors)
    return encode({{"returned": {spec}, "device": "cpu"}}, {{"0": torch.zeros(3)}})

runner.wire.encode = forged

def pair(x, cache):
    return x
"""


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        (DEEP.format(levels=100), v.FAILED),
        (DEEP.format(levels=10_000), v.FAILED),
        ("def pair(x, cache):\n    a = [x]\n    a.append(a)\n    return a\n", v.FAILED),
        ("def pair(x, cache):\n    return {i: x for i in range(5000)}\n", v.CRASHED),
        ("class T(tuple):\n    __iter__ = None\ndef pair(x, cache):\n    return T((x,))", v.FAILED),
        (FORGED.format(spec="DEEP"), v.CRASHED),
        (FORGED.format(spec="{'list': [NAMED] * 5000}"), v.CRASHED),
        (FORGED.format(spec="{'tuple': [NAMED, {'value': [[1]]}]}"), v.CRASHED),
        (FORGED.format(spec="{'tuple': NAMED}"), v.CRASHED),
        (FORGED.format(spec="{'dict': [NAMED]}"), v.CRASHED),
    ],
)
def test_answers_made_to_break_the_judge_do_not(judge, catalog, source, outcome):
    assert {check.outcome for check in verdict(judge, catalog, "pair", source).checks} == {outcome}


def test_a_long_key_does_not_fill_the_verdict(judge, catalog):
    source = "def pair(x, cache):\n    return {'k' * 1_000_000: x}\n"
    found = verdict(judge, catalog, "pair", source)
    assert isinstance(found.checks[0].reason, r.WrongStructure)
    assert len(v.encode(found)) < 20_000


def test_a_kata_of_one_tensor_refuses_a_tuple(judge, catalog):
    check = verdict(judge, catalog, "turn", "def turn(x):\n    return x, x\n").checks[0]
    assert check.reason == r.NotATensor("tuple")


def test_a_mistake_in_the_second_part_is_named(judge, catalog):
    source = changed(PAIR, CAT, "torch.cat([x, keys])")
    [diagnosis] = verdict(judge, catalog, "pair", source).diagnoses
    assert [cause.id for cause in diagnosis.causes] == ["in-front"]


@pytest.mark.parametrize(
    "source",
    [
        TURN.replace("0.5j", "-0.5j"),
        "def turn(x):\n    return x\n",
        TURN.replace("return x *", "return x.real *"),
        TURN.replace("return x *", "return x.detach() *"),
        TURN.replace("return x *", "return x.conj() *"),
    ],
)
def test_the_imaginary_part_counts(judge, catalog, source):
    assert verdict(judge, catalog, "turn", source).outcome == v.FAILED


def test_complex_numbers_are_shown_whole(judge, catalog):
    check = verdict(judge, catalog, "turn", "def turn(x):\n    return x\n").checks[0]
    assert isinstance(check.reason, r.EntriesDiffer)
    assert str(check.reason.yours).endswith("j")


def test_a_service_takes_them_across_processes(catalog, tmp_path):
    service = open_service(catalog, [catalog["pair"]], device="cpu", cold=True)
    try:
        assert verdict_of(service, submission_of(catalog, "pair", PAIR), 3).outcome == v.PASSED
    finally:
        service.close()


def test_complex_differences_are_measured_in_both_parts():
    right = torch.tensor([1e6 + 1e-3j, 1 + 1j, complex("inf")], dtype=torch.complex128)
    near = right + torch.tensor([1e-1j, 1e-7j, 0])
    assert not differences(near, right, 1e-6)[0].any()
    assert differences(right + 1e-3j, right, 1e-6)[0].tolist() == [False, True, True]
    assert pattern(right)[2] != pattern(right)[0]


def test_parts_and_structure():
    value = (torch.zeros(1), {"a": [None, torch.zeros(2)]})
    assert [path for path, _ in trees.parts(value)] == ["[0]", "[1]['a'][1]"]
    assert trees.structure(value) == "(tensor, {'a': [None, tensor]})"
