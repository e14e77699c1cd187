"""Points, feedback, seeds, the ledger and the engine: everything but the judge itself."""

from __future__ import annotations

import json
import sqlite3

import pytest

from attention_katas.errors import KataError
from attention_katas.grading import collect, entries, formats
from attention_katas.grading import run as grading_run
from attention_katas.grading.ledger import Entry, Ledger, Noted
from attention_katas.grading.results import (
    FULL,
    NAMED,
    POINTS,
    Item,
    Result,
    Student,
    points_for,
    shape,
    trouble,
)
from attention_katas.packs.precheck import blank
from attention_katas.verdict import data as v

SECRET = "INPUT-0.4711"


def check(outcome, **more):
    return v.Check(f"test_{outcome}", f"Title {outcome}", outcome, **more)


def verdict(outcome, *checks, **more):
    return v.Verdict("softmax", outcome, checks=list(checks), **more)


PASS, FAIL = check(v.PASSED), check(v.FAILED, rung="values")


@pytest.mark.parametrize(
    ("found", "points"),
    [
        (verdict(v.PASSED, PASS, PASS), 20),
        (verdict(v.PASSED, PASS, check(v.NOT_VERIFIED)), 20),
        (verdict(v.FAILED, PASS, FAIL), 10),
        (verdict(v.FAILED, PASS, PASS, FAIL), 13),
        (verdict(v.FAILED, PASS, FAIL, check(v.NOT_REACHED, law=True)), 6),
        (verdict(v.FAILED, FAIL), 0),
        (verdict(v.FAILED, *[PASS] * 999, FAIL), 19),
        (verdict(v.TIMED_OUT, PASS, check(v.TIMED_OUT)), 10),
        (verdict(v.CRASHED, check(v.CRASHED)), 0),
        (verdict(v.BROKEN), 0),
        (verdict(v.NOT_STARTED), 0),
        (verdict(v.FAILED, check(v.NOT_VERIFIED)), 0),
        (verdict(v.COULD_NOT_GRADE), None),
    ],
)
def test_points(found, points):
    assert points_for(found, 20) == points


def test_nothing_is_worth_nothing():
    assert points_for(verdict(v.PASSED, PASS), 0) == 0
    assert points_for(verdict(v.FAILED, PASS, FAIL), 0) == 0


def leaky():
    """A verdict with a mark wherever a submission can write, or an input or answer stands."""
    raised = v.Raised(SECRET, SECRET, [v.Frame("softmax.py", 3, "softmax", "return x")])
    grid = v.Grid([[0.4711]], [1])
    evidence = v.Evidence(
        SECRET, [SECRET], grid, grid, returned=SECRET, wanted=SECRET, raised=raised
    )
    bad = check(v.FAILED, rung="values", message=SECRET, evidence=evidence, output=SECRET)
    gone = check(v.CRASHED, rung="answered", message=SECRET, evidence=evidence)
    found = verdict(
        v.FAILED, bad, gone, message=SECRET, output=SECRET, raised=raised, audit=[SECRET], seed=4711
    )
    cause = v.Cause("no-max", "forgets the maximum", "What ...?", "The rung", 2)
    found.diagnoses = [
        v.Diagnosis(
            "softmax", v.MISTAKE, [cause], [SECRET], call=SECRET, yours=0.4711, expected=0.4711
        )
    ]
    return found


def test_named_feedback_holds_no_input_and_no_word_of_the_submission():
    text = json.dumps(shape(leaky(), NAMED).to_dict())
    assert "4711" not in text
    assert "forgets the maximum" in text
    assert "Title failed" in text
    assert '"line": 3' in text


def test_points_feedback_holds_no_name_either():
    text = json.dumps(shape(leaky(), POINTS).to_dict())
    for word in ("4711", "forgets", "Title", "test_failed", "line"):
        assert word not in text
    assert [c.outcome for c in shape(leaky(), POINTS).checks] == [v.FAILED, v.CRASHED]


def test_full_feedback_keeps_the_seed_and_the_audit_back():
    shown = shape(leaky(), FULL)
    assert (shown.seed, shown.audit) == (0, [])
    assert shown.checks[0].evidence.inputs == [SECRET]


def test_shaping_leaves_the_original_alone():
    found = leaky()
    before = json.dumps(found.to_dict())
    shape(found, POINTS)
    assert json.dumps(found.to_dict()) == before


def test_why_a_file_does_not_load_is_told_at_named():
    found = verdict(v.BROKEN, message="softmax.py is not valid Python: invalid syntax")
    found.raised = v.Raised("SyntaxError", "invalid syntax", [v.Frame("softmax.py", 3, "")])
    assert shape(found, NAMED).message == found.message
    assert shape(found, NAMED).raised.message == "invalid syntax"


def test_class_names_that_everybody_knows_are_told():
    found = verdict(v.FAILED, check(v.FAILED, rung="answered"))
    found.checks[0].evidence = v.Evidence(raised=v.Raised("RuntimeError", "size 4711"))
    shown = shape(found, NAMED).checks[0]
    assert shown.message == "raised RuntimeError"
    assert shown.evidence.raised.message == ""


@pytest.mark.parametrize(
    ("rung", "message", "told"),
    [
        ("dtype", "float64 came back, expected bfloat16, the dtype of the input", None),
        ("gradients", "no gradient reaches q: it is cut off on the way", None),
        ("gradients", "no gradient reaches weights['w_q']: it is cut off on the way", None),
        (
            "gradients",
            "the gradient of q differs in 3 of 9 entries, most",
            "the gradient of q differs",
        ),
        ("inputs unchanged", "the call changed its input x; work on a new tensor", None),
        ("inputs unchanged", "the call changed the entry 0.4711 in the dict", "not right: inputs"),
        ("shape", "shape (47, 11) came back, expected (2, 3)", "not right: shape"),
        ("nothing banned", "calls torch.x4711, which this kata wants written", "uses a built-in"),
        ("device", "the answer is on 4711, the inputs are on cpu", "not right: device"),
        ("type", "returned 4711", "not right: type"),
    ],
)
def test_what_named_feedback_says_of_a_failure(rung, message, told):
    found = verdict(v.FAILED, check(v.FAILED, rung=rung, message=message))
    (shown,) = shape(found, NAMED).checks
    assert shown.message.startswith(told or message)
    assert "4711" not in shown.message
    assert "of 9" not in shown.message


# Seeds


def test_the_secret_decides_the_seeds_and_they_differ_by_kata(catalog):
    first = [entries.seed_of(b"one", kata) for kata in catalog.ready]
    assert first == [entries.seed_of(b"one", kata) for kata in catalog.ready]
    assert len(set(first)) == 6
    assert not set(first) & {entries.seed_of(b"two", kata) for kata in catalog.ready}
    assert all(0 <= seed < 2**48 for seed in first)


def test_where_the_secret_comes_from(tmp_path):
    file = tmp_path / "seed"
    file.write_text("abc\n")
    assert entries.secret_from(file, {}) == b"abc"
    assert entries.secret_from(None, {"KATA_GRADING_SEED": "xyz"}) == b"xyz"
    assert entries.secret_from(None, {"KATA_GRADING_SEED": ""}) is None
    assert entries.secret_from(None, {}) is None
    file.write_text(" \n")
    for bad in (file, tmp_path / "missing"):
        with pytest.raises(KataError):
            entries.secret_from(bad, {})


# Tasks


def hand_in(source, **others):
    sources = {"softmax": source, **others}
    return collect.StudentSubmission(
        Student("anna"), sources, shown={m: f"{m}.py" for m in sources}
    )


def test_the_same_content_is_the_same_task(catalog):
    kata = catalog["softmax"]
    key = lambda source, seed=1, **others: (  # noqa: E731
        entries.asked(catalog, kata, hand_in(source, **others), seed).key
    )
    source = "def softmax(x, dim=-1):\n    return x\n"
    assert key(source) == key(source)
    assert key(source) == key(source, mask="unused = 1")
    assert key(source) != key(source, 2)
    assert key(source) != key(source + "# a comment moves lines\n")
    importing = "from mask import causal_mask\n" + source
    assert key(importing, mask="a = 1") != key(importing, mask="a = 2")


def test_what_needs_no_judge_is_told_at_once(catalog):
    kata = catalog["softmax"]
    empty = collect.StudentSubmission(Student("anna"))
    assert entries.asked(catalog, kata, empty, 1).found.outcome == v.NOT_STARTED
    stub = hand_in(kata.stub.read_text())
    assert entries.asked(catalog, kata, stub, 1).found.outcome == v.NOT_STARTED
    empty.unreadable["softmax"] = collect.Unreadable("softmax.py is a link")
    assert entries.asked(catalog, kata, empty, 1).found.outcome == v.BROKEN


def test_fingerprints_see_the_form_only():
    base = (
        "def softmax(x, dim=-1):\n    top = x.max(dim, keepdim=True)\n    return (x - top).exp()\n"
    )
    alike = (
        '"""Mine."""\n# my own work\ndef softmax(x: int, dim: int = -1) -> int:\n'
        '    "docs"\n    m = x.max(dim, keepdim=True)\n\n    return (x - m).exp()\n'
    )
    other = base.replace("- top", "+ top")
    two = base + "def f(top):\n    return top + base\n"
    renamed = base.replace("top", "m") + "def g(a):\n    return a + base\n"
    assert entries.fingerprint(two) == entries.fingerprint(renamed)  # each in a scope of its own
    assert entries.fingerprint(two) != entries.fingerprint(two.replace("top + base", "base + top"))
    assert entries.fingerprint("f = lambda a: a + b") == entries.fingerprint("g = lambda x: x + c")
    assert entries.fingerprint("import torch") != entries.fingerprint("import numpy")
    assert entries.fingerprint(base) == entries.fingerprint(alike)
    assert entries.fingerprint(base)[0] != entries.fingerprint(other)[0]
    assert entries.fingerprint("def (") == ("", 0)
    assert entries.fingerprint("X = 0x" + "f" * 5000)[1] == 0  # too long to be written out
    assert entries.fingerprint("x = " + "(" * 5000)[1] == 0
    assert entries.fingerprint("x = " + "-" * 3000 + "1")[0] == ""


# The ledger


def noted(student="anna", key="k1"):
    entry = Entry("softmax", key, 20, "softmax.py", "s", "f", 9)
    return Noted(Student(student, "Anna", {"canvas": "7"}), True, ["odd"], [entry])


def test_a_ledger_gives_back_what_was_written(tmp_path, catalog):
    with Ledger(tmp_path / "l.db") as ledger:
        run = ledger.begin("class", "/class", "Week 1")
        ledger.note(run, noted())
        ledger.keep("k1", verdict(v.FAILED, PASS, FAIL))
    with Ledger(tmp_path / "l.db", new=False) as ledger:
        assert ledger.judged() == {"k1"}
        assert list(ledger.noted(run)) == [noted()]
        assert ledger.last_run().title == "Week 1"
        (result,) = grading_run.results_of(catalog, ledger, run)
    assert (result.points, result.worth, result.late) == (10, 20, True)


def test_our_fault_never_replaces_a_verdict_and_a_verdict_replaces_it(tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        ours = verdict(v.COULD_NOT_GRADE)
        ledger.keep("k1", ours)
        assert ledger.judged() == set()
        ledger.keep("k1", verdict(v.PASSED, PASS))
        ledger.keep("k1", ours)
        assert ledger.verdict("k1").outcome == v.PASSED
        assert ledger.judged() == {"k1"}


@pytest.mark.parametrize("content", [b"precious text", b"SQLite format 3\0" + b"x" * 100, "other"])
def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "l.db"
    if isinstance(content, str):
        with sqlite3.connect(path) as db:
            db.execute("create table precious (x)")
        db.close()
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(KataError) as raised:
        Ledger(path)
    assert "l.db" in raised.value.message
    assert path.read_bytes() == content


def test_a_ledger_of_another_version_is_told(tmp_path):
    path = tmp_path / "l.db"
    Ledger(path).close()
    db = sqlite3.connect(path)
    db.execute("pragma user_version = 9")
    db.close()
    with pytest.raises(KataError, match="another version"):
        Ledger(path)


def test_no_ledger_where_one_is_needed(tmp_path):
    with pytest.raises(KataError, match="there is no ledger"):
        Ledger(tmp_path / "l.db", new=False)
    assert not (tmp_path / "l.db").exists()
    with Ledger(tmp_path / "l.db") as ledger, pytest.raises(KataError, match="nothing was graded"):
        ledger.last_run()


# The threshold


@pytest.mark.parametrize(
    ("percent", "low"), [(None, False), (0, False), (50, False), (50.1, True), (100, True)]
)
def test_a_threshold(catalog, percent, low, tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        run = ledger.begin("class", "x", "t")
        ledger.note(run, noted())
        ledger.keep("k1", verdict(v.FAILED, PASS, FAIL))
        (result,) = grading_run.results_of(catalog, ledger, run)
    assert formats.is_too_low(result, percent) is low


def test_what_could_not_be_graded_is_below_no_threshold(catalog, tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        run = ledger.begin("class", "x", "t")
        ledger.note(run, noted())
        (result,) = grading_run.results_of(catalog, ledger, run)
    assert not result.graded
    assert not formats.is_too_low(result, 100)
    assert blank(catalog["softmax"], v.COULD_NOT_GRADE, "", "").outcome == v.COULD_NOT_GRADE


def test_what_kept_katas_from_running_is_told_once():
    """A whole notebook that does not load is one remark, not six."""
    said = "does not load: ModuleNotFoundError: No module named 'matplotlib'"
    items = [
        Item(
            name,
            name,
            10,
            0,
            v.Verdict(name, v.BROKEN, message=f"{name.replace('-', '_')}.py {said}"),
        )
        for name in ("softmax", "dot-product")
    ]
    assert trouble(Result(Student("hana"), items)) == [f"all 2 katas: broken: {said}"]
    items[1].verdict = verdict(v.PASSED, PASS)
    assert trouble(Result(Student("hana"), items)) == [f"softmax: broken: {said}"]


def test_a_class_in_a_few_numbers(catalog, tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        run = ledger.begin("class", "x", "t")
        for number, key in enumerate(("full", "none", "ours", "later")):
            ledger.note(run, noted(f"s{number}", key))
        ledger.keep("full", verdict(v.PASSED, PASS))
        ledger.keep("none", verdict(v.BROKEN, message="softmax.py is empty", audit=["forks"]))
        ledger.keep("ours", verdict(v.COULD_NOT_GRADE, message="no memory"))
        found = grading_run.summed_up(grading_run.results_of(catalog, ledger, run))
    assert found.points == [20, 0]
    assert found.least == 0.0
    assert found.waiting == 1
    assert found.lost == [("Anna", "could not grade softmax: no memory")]
    assert ("Anna", "softmax: broken: is empty") in found.remarks
    assert ("Anna", "softmax: forks") in found.remarks
    counts = found.katas["softmax"].outcomes
    assert counts == {v.PASSED: 1, v.BROKEN: 1, v.COULD_NOT_GRADE: 1, "not judged yet": 1}


def test_one_hand_in_that_breaks_us_is_nobody_elses_problem(catalog, tmp_path, monkeypatch):
    """Whatever goes wrong in reading: that student could not be graded, the others are."""
    for name in ("anna", "ben", "carl"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "softmax.py").write_text(f"# {name}")
    read, real = collect.decode, entries.fingerprint
    monkeypatch.setattr(
        collect, "decode", lambda data, name: 1 / (b"ben" not in data) and read(data, name)
    )
    monkeypatch.setattr(
        entries, "fingerprint", lambda source: 1 / ("carl" not in source) and real(source)
    )
    kata = catalog["softmax"]
    with Ledger(tmp_path / "l.db") as ledger:
        found = collect.collect(catalog, tmp_path / "class")
        assignment = grading_run.Assignment("t", [kata], {"softmax": 20}, b"s")
        grading = grading_run.GradingRun(catalog, assignment, found, ledger, "x")
        grading.judge(lambda waiting: ((task, verdict(v.FAILED, FAIL)) for task in waiting))
        results = {one.student.id: one for one in grading.results()}
    assert results["anna"].items[0].points == 0
    for name in ("ben", "carl"):
        assert results[name].items[0].points is None
        assert "ZeroDivisionError" in results[name].remarks[0]
