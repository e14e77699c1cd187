"""The class that bench/grading.py grades. The bench itself takes half an hour."""

import collections

import pytest

from attention_katas.packs.catalog import load_catalog
from bench import grading_class


@pytest.fixture(scope="module")
def everybody():
    return grading_class.Class(load_catalog())


def test_ten_students_hand_in_a_deck(everybody):
    kinds = collections.Counter(
        kind for number in range(10) for kind, _ in everybody.files(number).values()
    )
    assert kinds == grading_class.PROPORTIONS


def test_no_two_files_are_alike(everybody, tmp_path):
    count = everybody.write(tmp_path, range(20))
    missing_or_bare = count["not started"] + count["broken"]
    assert count["files"] == 120 == sum(1 for n in range(20) for _ in everybody.files(n))
    assert count["distinct"] >= count["files"] - missing_or_bare
    assert len(list(tmp_path.iterdir())) == 20


@pytest.mark.parametrize("name", ["softmax", "mask", "multihead", "cross-attention"])
def test_written_anew_is_the_same_code(name):
    text = load_catalog()[name].reference.read_text(encoding="utf-8")
    anew = grading_class.written_by(text, "s0001")
    assert anew.count("_s0001") > 2
    assert anew.replace("_s0001", "") == f"# s0001\n{text}"


def test_names_that_others_use_stay():
    text = "def f(x, *, k=1):\n    é = x + k\n    return é, max(x), [i for i in range(é)]\n"
    assert grading_class.written_by(text, "s1") == (
        "# s1\ndef f(x, *, k=1):\n    é_s1 = x + k\n"
        "    return é_s1, max(x), [i_s1 for i_s1 in range(é_s1)]\n"
    )
