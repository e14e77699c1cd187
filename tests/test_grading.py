"""Points, feedback, seeds, the ledger and the service: everything but the judge itself."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import typing
import zlib

import msgspec
import pytest
from click.testing import CliRunner

from attention_katas.cli import main
from attention_katas.errors import KataError
from attention_katas.grading import collect, entries, formats, words
from attention_katas.grading import remarks as m
from attention_katas.grading import run as grading_run
from attention_katas.grading.ledger import Entry, Ledger, LedgerStudent
from attention_katas.grading.results import (
    Item,
    Result,
    Student,
    not_run,
    points_for,
    redacted,
)
from attention_katas.packs.precheck import blank
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, symptoms
from attention_katas.verdict import words as verdict_words
from attention_katas.verdict.redact import FULL, NAMED, POINTS
from tests.test_words import filled

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
        SECRET, [SECRET], grid, grid, returned=SECRET, expected_type=SECRET, raised=raised
    )
    reason = reasons.RaisedException(SECRET)
    bad = check(v.FAILED, rung="values", reason=reason, evidence=evidence, output=SECRET)
    gone = check(v.CRASHED, rung="answered", reason=reason, evidence=evidence)
    found = verdict(
        v.FAILED,
        bad,
        gone,
        reason=reason,
        output=SECRET,
        raised=raised,
        audit=[v.Notice("torch-source", SECRET)],
        seed=4711,
    )
    cause = v.Cause("no-max", "forgets the maximum", "What ...?", hint="The rung", level=2)
    symptom = symptoms.Measured("sums", SECRET, values=True)
    found.diagnoses = [
        v.Diagnosis(
            "softmax", v.MISTAKE, [cause], [symptom], call=SECRET, yours=0.4711, expected=0.4711
        )
    ]
    return found


def shown(found, level):
    """What a student sees of a verdict."""
    item = Item("softmax", "Softmax", 10, 0, found)
    (only,) = redacted(Result(Student("a"), [item]), level).items
    return only.verdict


def test_named_feedback_holds_no_input_and_no_word_of_the_submission():
    text = v.encode(shown(leaky(), NAMED))
    assert "4711" not in text
    assert "forgets the maximum" in text
    assert "Title failed" in text
    assert '"line":3' in text


def test_points_feedback_holds_no_name_either():
    text = v.encode(shown(leaky(), POINTS))
    for word in ("4711", "forgets", "Title", "test_failed", '"line":'):
        assert word not in text
    assert [c.outcome for c in shown(leaky(), POINTS).checks] == [v.FAILED, v.CRASHED]


def test_full_feedback_keeps_the_seed_and_the_audit_back():
    full = shown(leaky(), FULL)
    assert (full.seed, full.audit) == (0, [])
    assert full.checks[0].evidence.inputs == [SECRET]


def test_redaction_leaves_the_original_alone():
    found = leaky()
    before = v.encode(found)
    shown(found, POINTS)
    assert v.encode(found) == before


def test_class_names_that_everybody_knows_are_told():
    found = verdict(v.FAILED, check(v.FAILED, rung="answered"))
    found.checks[0].reason = reasons.RaisedException("RuntimeError")
    found.checks[0].evidence = v.Evidence(raised=v.Raised("RuntimeError", "size 4711"))
    only = shown(found, NAMED).checks[0]
    assert only.reason == found.checks[0].reason
    assert only.evidence.raised.message == ""


def test_frames_are_of_files_of_this_assignment():
    found = verdict(v.FAILED, check(v.FAILED, rung="answered"))
    frames = [v.Frame(file, 3, "f") for file in ("softmax.py", "scale.py", f"{SECRET}.py")]
    found.checks[0].evidence = v.Evidence(raised=v.Raised("ValueError", "", frames))
    items = [
        Item(name, name, 10, 0, found if name == "softmax" else verdict(v.PASSED))
        for name in ("softmax", "scale")
    ]
    first, _ = redacted(Result(Student("a"), items), NAMED).items
    raised = first.verdict.checks[0].evidence.raised
    assert [frame.file for frame in raised.frames] == ["softmax.py", "scale.py"]


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


def handed_in(source, **others):
    sources = {"softmax": source, **others}
    files = {module: f"{module}.py" for module in sources}
    return collect.StudentSubmission(Student("anna"), sources, files=files)


def test_the_same_content_is_the_same_task(catalog):
    kata = catalog["softmax"]
    key = lambda source, seed=1, **others: (  # noqa: E731
        entries.kata_entry(catalog, kata, handed_in(source, **others), seed).key
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
    assert entries.kata_entry(catalog, kata, empty, 1).work.outcome == v.NOT_STARTED
    stub = handed_in(kata.stub.read_text())
    assert entries.kata_entry(catalog, kata, stub, 1).work.outcome == v.NOT_STARTED
    empty.files["softmax"] = "softmax.py"
    empty.invalid["softmax"] = reasons.LinkNotFollowed("softmax.py")
    assert entries.kata_entry(catalog, kata, empty, 1).work.outcome == v.BROKEN


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


ODD = [m.NoKataFile(), reasons.LinkNotFollowed("a\udcff.py"), m.SeveralFiles("a.py", 2, "b/a.py")]


def noted(student="anna", key="k1"):
    entry = Entry("softmax", key, 20, "softmax.py", "s", "f", 9, (("softmax", "f", 9),))
    return LedgerStudent(Student(student, "Anna", {"canvas": "7"}), True, ODD, [entry])


def test_a_ledger_gives_back_what_was_written(tmp_path, catalog):
    with Ledger(tmp_path / "l.db") as ledger:
        run = ledger.begin("class", "/class", "Week 1")
        ledger.note(run, noted())
        ledger.keep("k1", verdict(v.FAILED, PASS, FAIL))
    with Ledger(tmp_path / "l.db", new=False) as ledger:
        assert ledger.judged() == {"k1"}
        assert list(ledger.students(run)) == [noted()]
        assert ledger.last_run().title == "Week 1"
        (result,) = grading_run.results_of(catalog, ledger, run)
    assert (result.points, result.worth, result.late) == (10, 20, True)
    assert result.remarks == ODD


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


def test_a_ledger_of_a_later_version_is_told(tmp_path):
    path = tmp_path / "l.db"
    Ledger(path).close()
    db = sqlite3.connect(path)
    db.execute("pragma user_version = 9")
    db.close()
    with pytest.raises(KataError, match="later version"):
        Ledger(path)


# What version 0.1 wrote: its tables, and a verdict that holds sentences.
SCHEMA_OF_0_1 = """
pragma application_id = 0x4B415441;
pragma user_version = 1;
create table meta (name text primary key, value text not null);
create table verdicts (
    key text primary key, kata text not null, outcome text not null, at text not null,
    seconds real not null, verdict blob not null
);
create table runs (
    id integer primary key, at text not null, layout text not null, origin text not null,
    title text not null, done integer not null default 0
);
create table hand_ins (
    run integer not null, student text not null, name text not null, ids text not null,
    late integer not null, remarks text not null, primary key (run, student)
);
create table entries (
    run integer not null, student text not null, kata text not null, key text not null,
    worth integer not null, file text not null, source text not null, form text not null,
    size integer not null, functions text not null default '[]',
    primary key (run, student, kata)
);
"""


@pytest.fixture
def old_ledger(tmp_path):
    path = tmp_path / "class-grades.db"
    old = {"kata": "softmax", "outcome": "broken", "checks": [], "message": "softmax.py is empty"}
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(SCHEMA_OF_0_1)
        packed = zlib.compress(json.dumps(old).encode())
        db.execute(
            "insert into verdicts values ('k', 'softmax', 'broken', '2026', 1.0, ?)", [packed]
        )
        db.execute("insert into runs values (1, '2026', 'class', '/c', 't', 1)")
        db.execute("insert into hand_ins values (1, 'anna', 'Anna', '{}', 0, '[\"odd\"]')")
        db.execute(
            "insert into entries values (1, 'anna', 'softmax', 'k', 20, 'f', 's', 'f', 9, '[]')"
        )
    return path


@pytest.mark.parametrize("reading", [True, False])
def test_a_ledger_of_version_0_1_is_left_as_it_is(old_ledger, reading):
    content = old_ledger.read_bytes()
    with pytest.raises(KataError, match=r"version 0\.1 of kata") as raised:
        Ledger(old_ledger, new=not reading, reading=reading)
    assert "kata grade CLASS --ledger NEW.db" in raised.value.next_step
    assert old_ledger.read_bytes() == content


def test_the_command_says_what_to_do_with_a_ledger_of_version_0_1(old_ledger, tmp_path):
    (tmp_path / "class" / "anna").mkdir(parents=True)
    (tmp_path / "class" / "anna" / "softmax.py").write_text("")
    content = old_ledger.read_bytes()
    for arguments in (["report", old_ledger], [tmp_path / "class", "--ledger", old_ledger]):
        done = CliRunner().invoke(main, ["grade", *map(str, arguments)])
        assert done.exit_code == 2
        assert "version 0.1" in done.output
        assert "--ledger NEW.db" in done.output
    assert old_ledger.read_bytes() == content


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
    assert blank(catalog["softmax"], v.COULD_NOT_GRADE, "").outcome == v.COULD_NOT_GRADE


def test_what_kept_katas_from_running_is_told_once():
    """A whole notebook that does not load is one remark, not six."""
    text = "No module named 'matplotlib'"
    items = [
        Item(
            name,
            name,
            10,
            0,
            v.Verdict(
                name,
                v.BROKEN,
                reason=reasons.DoesNotLoad(f"{name}.py", "ModuleNotFoundError", text),
            ),
        )
        for name in ("softmax", "dot-product")
    ]

    def sentences():
        return [group.sentence for group in not_run(Result(Student("hana"), items))]

    said = f"broken: does not load: ModuleNotFoundError: {text}"
    assert sentences() == [f"all 2 katas: {said}"]
    items[1].verdict = verdict(v.PASSED, PASS)
    assert sentences() == [f"softmax: {said}"]


@pytest.mark.parametrize("struct", typing.get_args(reasons.Reason), ids=lambda one: one.__name__)
def test_only_a_reason_about_the_katas_own_file_loses_its_name(struct):
    fact = filled(struct)
    whole = verdict_words.reason(fact)
    assert words.reason_about(None) == ""
    if struct in typing.get_args(words.OwnFile):
        predicate = words.reason_about(fact)
        assert whole == f"{fact.file} {predicate}"
        assert words.reason_about(fact, "hana.ipynb") == f"hana.ipynb {predicate}"
        other = msgspec.structs.replace(fact, file="another.py")
        assert words.without_file(fact) == words.without_file(other)
    else:
        assert words.reason_about(fact) == words.reason_about(fact, "hana.ipynb") == whole
        assert words.without_file(fact) == fact


def test_a_reason_that_names_another_file_stands_as_it_is():
    fact = reasons.ImportNotPython("softmax.py", "mask.py")
    item = Item("mask", "mask", 10, 0, v.Verdict("mask", v.BROKEN, reason=fact))
    [group] = not_run(Result(Student("hana"), [item]))
    said = "softmax.py, which mask.py imports, is not valid Python"
    assert group.sentence == f"mask: broken: {said}"


def test_a_class_in_a_few_numbers(catalog, tmp_path):
    with Ledger(tmp_path / "l.db") as ledger:
        run = ledger.begin("class", "x", "t")
        for number, key in enumerate(("full", "none", "ours", "later")):
            ledger.note(run, noted(f"s{number}", key))
        ledger.keep("full", verdict(v.PASSED, PASS))
        empty = reasons.NotPython("softmax.py", "no code")
        ledger.keep("none", verdict(v.BROKEN, reason=empty, audit=[v.Notice("fork")]))
        ledger.keep("ours", verdict(v.COULD_NOT_GRADE, reason=reasons.CannotJudge("no memory")))
        found = grading_run.summary_of(grading_run.results_of(catalog, ledger, run))
    assert found.points == [20, 0]
    assert found.least == 0.0
    assert found.waiting == 1
    assert found.ungraded == [("Anna", "could not grade softmax: no memory")]
    assert ("Anna", "softmax: broken: is not valid Python: no code") in found.remarks
    assert ("Anna", "no kata file was found") in found.remarks
    assert ("Anna", "softmax: forks") in found.remarks
    counts = found.katas["softmax"].outcomes
    assert counts == {v.PASSED: 1, v.BROKEN: 1, v.COULD_NOT_GRADE: 1, "not judged yet": 1}


class AllFail:
    """A service with the same verdict for everything."""

    def judge_all(self, tasks):
        return ((task, verdict(v.FAILED, FAIL)) for task in tasks)


def test_one_submission_that_breaks_us_is_nobody_elses_problem(catalog, tmp_path, monkeypatch):
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
        grading.judge(AllFail())
        results = {one.student.id: one for one in grading.results()}
    assert results["anna"].items[0].points == 0
    for name in ("ben", "carl"):
        assert results[name].items[0].points is None
        fault = results[name].remarks[0]
        assert fault == reasons.GraderFault("ZeroDivisionError", "division by zero")
