"""kata.toml: read strictly, explained kindly; order from `requires`."""

from __future__ import annotations

import pytest

from attention_katas.errors import BadContent, NoSuchKata
from attention_katas.packs.catalog import Catalog, problems

GOOD = """
format = 1
title = "T"
blurb = "b"
requires = {requires}
functions = ["f"]
points = 1
banned = []
out_of_scope = []
"""


def make(root, **requires):
    for name, before in requires.items():
        folder = root / "katas" / name
        folder.mkdir(parents=True)
        text = GOOD.format(requires=str(before).replace("'", '"'))
        (folder / "kata.toml").write_text(text, encoding="utf-8")
    return root / "katas", root / "reference"


def test_the_course_is_in_order(catalog):
    names = [kata.name for kata in catalog.katas]
    assert names == ["dot-product", "scale", "softmax", "mask", "multihead", "cross-attention"]


def test_order_comes_from_requires(tmp_path):
    found = Catalog(*make(tmp_path, a=["c"], b=[], c=["b"]))
    assert [kata.name for kata in found.katas] == ["b", "c", "a"]


@pytest.mark.parametrize("requires", [{"a": ["b"], "b": ["a"]}, {"a": ["nowhere"]}])
def test_an_order_that_cannot_be_is_refused(tmp_path, requires):
    with pytest.raises(BadContent, match=r"circle|no kata"):
        Catalog(*make(tmp_path, **requires))


@pytest.mark.parametrize("name", ["softmax", "SoftMax", "softmax.py", "dot_product", "dot product"])
def test_names_are_taken_as_people_type_them(catalog, name):
    assert catalog[name].name in ("softmax", "dot-product")


def test_the_nearest_name_is_offered(catalog):
    with pytest.raises(NoSuchKata, match="did you mean 'softmax'") as caught:
        catalog["sofmax"]
    assert caught.value.nearest == "softmax"
    with pytest.raises(NoSuchKata) as caught:
        catalog["zzz"]
    assert caught.value.next_step == "kata list"


def whole(**changes):
    data = {
        "format": 1,
        "title": "T",
        "blurb": "b",
        "requires": [],
        "functions": ["f"],
        "points": 1,
        "banned": [],
        "out_of_scope": [],
    }
    return {key: value for key, value in {**data, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"titel": "x"}, "unknown key 'titel'; did you mean 'title'?"),
        ({"zzz": 1}, "unknown key 'zzz'; known keys: format"),
        ({"title": None}, "the key 'title' is missing"),
        ({"points": "10"}, "'points' must be a int, not '10'"),
        ({"points": True}, "'points' must be a int, not True"),
        ({"format": 2}, "format 2 is not known here"),
        ({"status": "soon"}, "'status' is 'ready' or 'planned'"),
    ],
)
def test_what_is_wrong_is_said(changes, says):
    assert any(says in problem for problem in problems(whole(**changes)))


def test_a_whole_one_has_no_problems():
    assert problems(whole(status="planned")) == []


def test_broken_toml_names_the_file(tmp_path):
    katas, reference = make(tmp_path, a=[])
    (katas / "a" / "kata.toml").write_text("format = ", encoding="utf-8")
    with pytest.raises(BadContent, match=r"a.kata\.toml: not TOML"):
        Catalog(katas, reference)


def test_the_version_follows_what_judges_and_nothing_else(catalog, tmp_path):
    import dataclasses
    import shutil

    kata = catalog["softmax"]
    shutil.copytree(kata.folder, tmp_path / "softmax")
    copy = dataclasses.replace(kata, folder=tmp_path / "softmax")
    assert copy.version == kata.version
    (copy.folder / "hints.md").write_text("other", encoding="utf-8")
    assert dataclasses.replace(copy).version == kata.version
    (copy.folder / copy.tests.name).write_text("# other", encoding="utf-8")
    assert dataclasses.replace(copy).version != kata.version
