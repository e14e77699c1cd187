"""The linter of the katas bites: every rule of it is broken here once."""

from __future__ import annotations

import pytest

from attention_katas.dev.check import check_kata, content_problems
from attention_katas.errors import BadContent
from attention_katas.service.local import open_judge
from tests.packs import copied, only

MARK = "from attention_katas.authoring import harmless, mistake\n"


@pytest.fixture
def content(tmp_path, catalog):
    return copied(catalog, tmp_path, "dot-product")


def found_in(content):
    found = only(content)
    kata = found["dot-product"]
    with open_judge(found, [kata]) as judge:
        return "\n".join(check_kata(found, kata, judge).problems)


def append(content, name, text):
    path = content / "katas" / "dot-product" / name
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_mistake_that_passes_and_a_look_alike_that_fails(content):
    append(
        content,
        "mistakes.py",
        "\n@mistake('is right', question='Is it?')\ndef is_right(q, k):\n    return q @ k.mT\n"
        "\n@harmless('is wrong')\ndef is_wrong(q, k):\n    return q @ k.mT * 2\n"
        "\n@mistake('asks nothing', question='', shows='nowhere')\ndef asks_nothing(q, k):\n"
        "    return q @ k.mT * 3\n"
        "\n@mistake('cheats', question='Why?')\ndef cheats(q, k):\n"
        "    return torch.nn.functional.scaled_dot_product_attention(q, k, k)\n",
    )
    said = found_in(content)
    assert "the mistake 'is-right' passes every hidden test" in said
    assert "harmless 'is-wrong' is 'failed', not 'passed'" in said
    assert "'asks-nothing' has no title or no question" in said
    assert "'asks-nothing' has shows='nowhere'; there are 'answers'" in said
    assert "'cheats' calls a built-in that the kata bans" in said


def test_a_mistake_that_never_answers(content):
    """A slip of its author: it would fail every check, and be called by its name."""
    append(
        content,
        "mistakes.py",
        "\n@mistake('has a slip', question='Which?')\ndef slips(q, k):\n    return q @ kk.mT\n"
        "\n@mistake('takes one', question='Which?')\ndef takes_one(q):\n    return q\n"
        "\n@mistake('is there twice', question='Which?')\ndef slips(q, k):\n"
        "    return q @ k.median(-1)\n",
    )
    problems = found_in(content)
    assert "'takes-one' never answers: every call raises TypeError" in problems
    assert "'slips' never answers: every call raises TypeError" in problems
    assert "mistakes.py defines slips twice" in problems


@pytest.mark.parametrize("name", ["mistakes.py", "probes.py"])
def test_a_file_that_does_not_load_is_a_problem(content, name):
    append(content, name, "\ndef half(:\n")
    assert f"{name} cannot be loaded: SyntaxError" in found_in(content)


def test_a_promise_about_values_that_is_not_kept(content):
    append(
        content,
        "probes.py",
        "\n@symptom('attention_scores', values=False)\ndef tells(f, draw):\n"
        "    n = f(draw(2, 3), draw(2, 3))\n    return f'it is {n}' if n.isnan().any() else None\n",
    )
    assert "tells has values=False, and computes its sentence" in found_in(content)


def test_an_operator_that_pytorch_does_not_have(content):
    (content / "katas" / "shared" / "bans.toml").write_text(
        '[sums]\ntitle = "sum"\noperators = ["aten::cumsun"]\npython = []\n\n'
        '[sums.routes]\nshort = "x.cumsum(0)"\n',
        encoding="utf-8",
    )
    toml = content / "katas" / "dot-product" / "kata.toml"
    text = toml.read_text(encoding="utf-8").replace('["attention"]', '["sums"]')
    toml.write_text(text, encoding="utf-8")
    problems = "\n".join(content_problems(only(content)["dot-product"]))
    assert "shared/bans.toml: sums bans the operator aten::cumsun" in problems


def test_tests_that_do_not_bite(content):
    path = content / "katas" / "dot-product" / "test_dot_product.py"
    path.write_text(
        "def test_shape_only(solution, draw):\n"
        "    assert solution.attention_scores(draw(3, 5), draw(4, 5)).shape == (3, 4)\n",
        encoding="utf-8",
    )
    said = found_in(content)
    assert "an answer of zeros earns test_shape_only" in said
    assert "an answer of NaN earns test_shape_only" in said
    assert "the mistake 'cosine' passes every hidden test" in said


def test_a_wrong_reference(content):
    path = content / "reference" / "dot_product.py"
    path.write_text("def attention_scores(q, k):\n    return k @ q\n", encoding="utf-8")
    said = found_in(content)
    assert said.startswith("the reference is ")
    assert "mistake" not in said  # with a wrong reference nothing else can be told


def test_what_files_alone_can_tell(content):
    folder = content / "katas" / "dot-product"
    (folder / "hints.md").write_text("## One\n\nreturn q @ k.transpose(-2, -1)\n", encoding="utf-8")
    (folder / "lesson.md").write_text("## Why\n\nBecause.\n", encoding="utf-8")
    (folder / "dot_product.py").write_text("def other():\n    pass\n", encoding="utf-8")
    (folder / "mistakes.py").unlink()
    said = "\n".join(content_problems(only(content)["dot-product"]))
    assert "mistakes.py is missing" in said
    assert "hints.md has 1 of at least 3" in said
    assert "hints.md gives the answer away" in said
    assert "lesson.md has no section 'What carries forward'" in said
    assert "dot_product.py has no stub of attention_scores" in said


def test_an_unknown_family_of_bans_is_refused_where_it_is_written(content):
    toml = content / "katas" / "dot-product" / "kata.toml"
    text = toml.read_text(encoding="utf-8").replace('["attention"]', '["softmx"]')
    toml.write_text(text, encoding="utf-8")
    line = next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith("banned"))
    with pytest.raises(BadContent) as caught:
        only(content)
    assert f"kata.toml:{line}: bans 'softmx'" in caught.value.message
    assert "did you mean 'softmax'?" in caught.value.message


def test_a_panel_that_is_not_there(content):
    toml = content / "katas" / "dot-product" / "kata.toml"
    text = toml.read_text(encoding="utf-8").replace('panels = ["lookup"', 'panels = ["look"')
    toml.write_text(text, encoding="utf-8")
    said = "\n".join(content_problems(only(content)["dot-product"]))
    assert "there is no panel 'look'" in said


def test_the_katas_that_ship_have_no_such_problem(catalog):
    assert [problem for kata in catalog.ready for problem in content_problems(kata)] == []
