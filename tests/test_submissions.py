"""Every file in tests/submissions/ gets the outcome that its first lines say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attention_katas.verdict import data as v
from attention_katas.verdict import words

FILES = sorted((Path(__file__).parent / "submissions").glob("*/*.py"))


def wanted(source: str) -> dict[str, str]:
    return dict(re.findall(r"^# (outcome|rung|says|output|needs): (.*)$", source, re.MULTILINE))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_gets_its_outcome(path, submit):
    source = path.read_text(encoding="utf-8")
    verdict = submit(path.parent.name, source)
    want = wanted(source)
    if want.get("needs") and want["needs"] not in verdict.restrictions:
        pytest.skip(f"this system lacks the restriction {want['needs']!r}")
    first = verdict.first_failure
    told = f"{words.verdict(verdict)} / {first.rung if first else ''}"
    assert verdict.outcome == want["outcome"], told
    if "rung" in want:
        assert first is not None
        assert first.rung == want["rung"], told
    assert want.get("says", "") in words.verdict(verdict)
    assert want.get("output", "") in verdict.output
    assert "attention_katas" not in "".join(f.file for f in frames(verdict))


def frames(verdict: v.Verdict) -> list[v.Frame]:
    raised = [verdict.raised, *(c.evidence and c.evidence.raised for c in verdict.checks)]
    return [frame for one in raised if one for frame in one.frames]


def test_an_honest_submission_passes_after_all_of_them(submit, catalog):
    """Nothing that came before may leave a trace."""
    verdict = submit("softmax", catalog["softmax"].reference.read_text(encoding="utf-8"))
    assert verdict.outcome == v.PASSED, words.verdict(verdict)


def test_nothing_was_written():
    assert not Path("/tmp/attention-katas-was-here").exists()
