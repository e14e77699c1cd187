"""kata.toml: read strictly, explained kindly; order from `requires`."""

from __future__ import annotations

import pytest

from attention_katas.errors import BadContent, NoSuchKata
from attention_katas.packs.kata import problems
from tests.packs import add_kata, copied, make_pack, only


def make(root, **requires):
    pack = make_pack(root, "made")
    for name, before in requires.items():
        add_kata(pack, name, before)
    return pack


def test_the_course_is_in_order(catalog):
    names = [kata.name for kata in catalog.katas]
    course = ["dot-product", "scale", "softmax", "mask", "multihead", "cross-attention"]
    assert [name for name in names if name in course] == course


def test_order_comes_from_requires(tmp_path):
    found = only(make(tmp_path / "made", a=["c"], b=[], c=["b"]))
    assert [kata.name for kata in found.katas] == ["b", "c", "a"]


@pytest.mark.parametrize("requires", [{"a": ["b"], "b": ["a"]}, {"a": ["nowhere"]}])
def test_an_order_that_cannot_be_is_refused(tmp_path, requires):
    with pytest.raises(BadContent, match=r"circle|no kata"):
        only(make(tmp_path / "made", **requires))


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
        ({"zzz": 1}, "unknown key 'zzz'; known: format"),
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
    pack = make(tmp_path / "made", a=[])
    (pack / "a" / "kata.toml").write_text("format = ", encoding="utf-8")
    with pytest.raises(BadContent, match=r"a.kata\.toml: not TOML"):
        only(pack)


@pytest.mark.parametrize("name", ["test_softmax.py", "mistakes.py", "probes.py", "kata.toml"])
def test_the_version_follows_what_judges_and_nothing_else(catalog, tmp_path, name):
    root = copied(catalog, tmp_path, "dot-product", "scale", "softmax")
    folder = root / "katas" / "softmax"
    version = only(root)["softmax"].version
    (folder / "hints.md").write_text("other", encoding="utf-8")
    assert only(root)["softmax"].version == version
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8") + "\n# other\n", encoding="utf-8")
    assert only(root)["softmax"].version != version


def test_the_version_follows_what_a_pack_shares(catalog, tmp_path):
    root = copied(catalog, tmp_path, "dot-product", "scale", "softmax")
    before = only(root)
    version, digest = before["scale"].version, before.digest
    (root / "katas" / "shared" / "more.py").write_text("X = 1\n", encoding="utf-8")
    assert only(root)["scale"].version != version
    assert only(root).digest != digest
