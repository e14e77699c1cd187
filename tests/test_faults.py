"""Our own faults are `could not grade`; what an answer does to a test never is."""

from __future__ import annotations

import contextlib

import pytest

from attention_katas.packs.precheck import read_submission
from attention_katas.service import open_service, verdict_of
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, words
from tests.packs import copied, only


@pytest.fixture
def content(tmp_path, catalog):
    """A private copy of the softmax kata, to be spoilt; judged through `outcome`."""
    copied(catalog, tmp_path, "softmax")
    toml = tmp_path / "katas" / "softmax" / "kata.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace('["scale"]', "[]"), encoding="utf-8")
    return tmp_path


def judged(content, source):
    found = only(content)
    file = content / "answer.py"
    file.write_text(source, encoding="utf-8")
    with contextlib.closing(open_service(found, [found["softmax"]], cold=True)) as service:
        return verdict_of(service, read_submission(found, found["softmax"], file, "answer.py"))


def right(content):
    return (content / "reference" / "softmax.py").read_text(encoding="utf-8")


def spoil(content, tests):
    path = content / "katas" / "softmax" / "test_softmax.py"
    path.write_text(tests, encoding="utf-8")


def test_a_test_that_breaks_by_itself_is_our_fault(content):
    spoil(content, "def test_it(solution, draw):\n    solution.softmax(draw(2, 3))\n    1 / 0\n")
    verdict = judged(content, right(content))
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert "ZeroDivisionError" in words.verdict(verdict)
    assert v.exit_code([verdict]) == 3


def test_a_test_that_the_answer_breaks_is_a_failure(content):
    spoil(content, "def test_it(solution, draw):\n    solution.softmax(draw(2, 3))[1, 2]\n")
    verdict = judged(content, "def softmax(x, dim=-1):\n    return x.sum()\n")
    assert verdict.outcome == v.FAILED
    assert judged(content, right(content)).outcome == v.PASSED


@pytest.mark.parametrize(
    "tests",
    [
        "",
        "def helper():\n    pass\n",
        "import no_such_module_at_all\ndef test_it(solution):\n    pass\n",
        "def test_it(solution:\n",
    ],
    ids=["empty", "no tests", "import error", "syntax error"],
)
def test_nothing_collected_is_never_a_pass(content, tests):
    spoil(content, tests)
    verdict = judged(content, right(content))
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert isinstance(verdict.reason, reasons.PackFileBroken)
    assert verdict.reason.pack == "copied"
    assert verdict.reason.file.endswith("test_softmax.py")


@pytest.mark.parametrize(
    "tests",
    [
        "import pytest\ndef test_it(solution):\n    pytest.skip('no')\n",
        "import pytest\n@pytest.mark.skip\ndef test_it(solution):\n    pass\n",
        "import pytest\n@pytest.mark.xfail\ndef test_it(solution):\n    assert False\n",
        "def test_it(no_such_fixture):\n    pass\n",
    ],
    ids=["skip", "skip mark", "xfail", "no fixture"],
)
def test_a_test_that_did_not_run_is_never_a_pass(content, tests):
    spoil(content, tests)
    assert judged(content, right(content)).outcome == v.COULD_NOT_GRADE


def test_a_broken_reference_is_our_fault(content):
    (content / "reference" / "softmax.py").write_text("def softmax(:", encoding="utf-8")
    verdict = judged(content, "def softmax(x, dim=-1):\n    return x.exp()\n")
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert isinstance(verdict.reason, reasons.PackFileBroken)
    assert verdict.reason.file.endswith("softmax.py")
    assert "SyntaxError" in words.verdict(verdict)


def test_the_report_and_the_items_must_agree(judge, submit, monkeypatch):
    run_items = judge._session.run
    monkeypatch.setattr(judge._session, "run", lambda *given: run_items(*given)[:-1])
    verdict = submit("softmax", "def softmax(x, dim=-1):\n    return x\n")
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert "zip()" in words.verdict(verdict)
