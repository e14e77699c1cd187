"""`kata grade report`, from ledgers that are written here by hand: no judge, no torch."""

from __future__ import annotations

import csv
import html
import io
import itertools
import os
import re
import sqlite3
import sys
import time
import typing
import zlib
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from attention_katas.cli import main
from attention_katas.errors import KataError
from attention_katas.grading import collect, entries
from attention_katas.grading import remarks as m
from attention_katas.grading import words as grading_words
from attention_katas.grading.entries import fingerprint
from attention_katas.grading.ledger import Entry, Ledger, LedgerStudent
from attention_katas.grading.report import facts, page, regrade, rows, similarity, table
from attention_katas.grading.report.findings import report_on
from attention_katas.grading.report.not_run import why
from attention_katas.grading.results import Student
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import symptoms
from attention_katas.verdict import words as verdict_words

WORTH = {"dot-product": 10, "softmax": 20, "mask": 20}
SLOW = "stopped after 10 s without an answer: a loop that never ends?"
ODD = symptoms.OtherAnswerEachTime()
HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b[31m{{}}"


def right(kata="softmax", **other):
    checks = [v.Check(f"c{n}", f"Check {n} of {kata}", v.PASSED) for n in range(4)]
    return v.Verdict(kata, v.PASSED, checks, source_hash="", kata_version="1", **other)


def wrong(kata="softmax", *found, passing=1, outcome=v.FAILED, **other):
    checks = [
        v.Check(f"c{n}", f"Check {n} of {kata}", v.PASSED if n < passing else v.FAILED)
        for n in range(4)
    ]
    return v.Verdict(kata, outcome, checks, kata_version="1", diagnoses=list(found), **other)


def blamed(kind, *ids):
    sort = v.CONVENTION if kind == v.CONVENTION else v.MISTAKE
    causes = [v.Cause(id, f"does {id.replace('-', ' ')}", "Why?", sort) for id in ids]
    return v.Diagnosis("softmax", kind, causes)


def lost(kata="softmax", text="the process was lost, twice", **other):
    return v.Verdict(kata, v.COULD_NOT_GRADE, reason=r.CannotJudge(text), **other)


def broken(kata="softmax", text="'(' was never closed"):
    return v.Verdict(kata, v.BROKEN, reason=r.NotPython(f"{kata}.py", text))


class Book:
    """A ledger that is being written."""

    def __init__(self, path):
        self.ledger, self.run = Ledger(path), 0

    def begin(self, title="Katas", origin="/srv/class"):
        self.run = self.ledger.begin("class", origin, title)
        return self

    def add(
        self,
        student,
        *verdicts,
        late=False,
        remarks=(),
        sources=None,
        sizes=None,
        forms=None,
        functions=None,
    ):
        student = student if isinstance(student, Student) else Student(student)
        entries = []
        for verdict in verdicts:
            kata = verdict.kata
            source = (sources or {}).get(kata, f"{student.id} {kata}")
            key = f"{self.run} {student.id} {kata}"
            self.ledger.keep(key, verdict)
            form = (forms or {}).get(kata, source)
            size = (sizes or {}).get(kata, 80)
            file = verdict.file or f"{kata}.py"
            parts = (functions or {}).get(kata, ())
            entries.append(Entry(kata, key, WORTH[kata], file, source, form, size, parts))
        self.ledger.note(self.run, LedgerStudent(student, late, list(remarks), entries))
        return self

    def done(self):
        self.ledger.finish(self.run)
        return self


@pytest.fixture
def book(tmp_path):
    found = Book(tmp_path / "spring-grades.db")
    yield found
    found.ledger.close()


class Page(HTMLParser):
    """What a page refers to, what it says, and whether its tags close."""

    EMPTY = ("meta", "br", "!doctype")

    def __init__(self, source):
        super().__init__()
        self.refers, self.tags, self.said, self.open, self.ids = [], [], [], [], []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open += [tag] if tag not in self.EMPTY else []
        for name, value in attrs:
            assert not name.startswith("on")
            if name in ("src", "href", "srcset", "action", "data", "poster", "background"):
                self.refers.append(value)
            if name == "id":
                self.ids.append(value)
            if name == "style":
                assert "url(" not in value

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said += [data] if self.open[-1:] != ["style"] else []

    @property
    def text(self):
        return " ".join("".join(self.said).split())


def shown(report):
    return Page(page.render(report, "x.csv")).text


def words(report):
    """What the page says, with a space wherever there is a tag."""
    source = page.render(report, "x.csv")
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", source)).split())


def lines(report):
    return list(csv.DictReader(io.StringIO(table.render(report))))


def run(*words):
    return CliRunner().invoke(main, ["grade", "report", *map(str, words)])


# What it says


def test_points_and_outcomes_of_each_kata(book, catalog):
    book.begin().add("ann", right()).add("bob", wrong(passing=2)).add(
        "cat", v.Verdict("softmax", v.NOT_STARTED)
    ).done()
    report = report_on(book.ledger, catalog)
    [part] = report.katas
    assert part.outcomes == {v.PASSED: 1, v.FAILED: 1, v.NOT_STARTED: 1}
    assert sorted(part.points) == [0, 10, 20]
    assert part.mean == 10
    assert part.shares() == [1, 0, 0, 1, 0, 1]
    assert report.median == 10
    assert dict(report.deciles()) | {"0–9": 1, "50–59": 1, "100": 1} == dict(report.deciles())
    said = shown(report)
    assert "mean 10.0 of 20 points" in said
    assert "1 passed" in said
    assert "1 not started" in said


def test_misconceptions_are_counted_by_id_and_two_count_for_both(book, catalog):
    book.begin()
    book.add("ann", wrong("softmax", blamed(v.MISTAKE, "no-maximum")))
    book.add("bob", wrong("softmax", blamed(v.TWO_MISTAKES, "no-maximum", "wrong-axis")))
    book.add("cat", wrong("softmax", blamed(v.CONVENTION, "log-space")))
    book.add("dan", wrong("softmax", v.Diagnosis("softmax", v.SYMPTOMS, symptoms=[ODD])))
    book.add("eve", wrong("softmax", v.Diagnosis("softmax", v.NO_DIAGNOSIS)))
    book.add("fay", wrong("softmax", v.Diagnosis("softmax", v.EARLIER_WORK, blames=["scale"])))
    book.add("gus", broken())
    book.add("hal", right()).done()
    [part] = report_on(book.ledger, catalog).katas
    assert {one.misconception.id: one.students for one in part.misconceptions} == {
        "no-maximum": ["ann", "bob"],
        "wrong-axis": ["bob"],
        "log-space": ["cat"],
    }
    assert (part.wrong, part.named) == (7, 3)
    assert part.apart == {
        facts.SYMPTOMS: ["dan"],
        facts.UNNAMED: ["eve"],
        facts.EARLIER: ["fay"],
        facts.NOT_RUN: ["gus"],
    }
    said = shown(report_on(book.ledger, catalog))
    assert "does no maximum" in said
    assert "2 of 7, 29 %" in said
    assert "another convention: it does log space" in said


def test_the_same_mistake_in_two_functions_counts_once(book, catalog):
    book.begin().add(
        "ann", wrong("mask", blamed(v.MISTAKE, "turned"), blamed(v.MISTAKE, "turned"))
    ).done()
    [held] = report_on(book.ledger, catalog).katas[0].misconceptions
    assert held.students == ["ann"]


def test_who_is_stuck_where(book, catalog):
    book.begin()
    book.add("ann", right("dot-product"), wrong("softmax"), wrong("mask"))
    book.add("bob", right("dot-product"), right("softmax"), v.Verdict("mask", v.NOT_STARTED))
    book.add("cat", right("dot-product"), right("softmax"), right("mask"))
    book.add("dan", *(v.Verdict(kata, v.NOT_STARTED) for kata in WORTH))
    book.add("eve", v.Verdict("dot-product", v.COULD_NOT_GRADE), right("softmax"), right("mask"))
    book.done()
    report = report_on(book.ledger, catalog)
    assert {part.name: part.stuck for part in report.katas} == {
        "dot-product": {},
        "softmax": {"Check 1 of softmax": ["ann"]},
        "mask": {v.NOT_STARTED: ["bob"]},
    }
    assert (report.done, report.nothing) == (["cat"], ["dan"])
    assert report.katas[1].checks["Check 2 of softmax"] == 1
    assert "Checks that fail most" in shown(report)


def test_what_could_not_be_graded_stands_with_its_reason_and_costs_nothing(book, catalog):
    book.begin().add("ann", lost()).add("bob", right())
    entry = Entry("softmax", "no", 20, "f", "s", "", 0)
    book.ledger.note(book.run, LedgerStudent(Student("cat"), False, [], [entry]))
    report = report_on(book.ledger, catalog)
    assert report.lost == [("ann", "softmax", "the process was lost, twice")]
    assert report.waiting == {"cat": ["softmax"]}
    assert report.totals == [20]
    assert lines(report)[0]["points"] == ""


@pytest.mark.parametrize("hide", [False, True])
def test_what_is_not_judged_yet_is_called_that_everywhere(book, catalog, tmp_path, hide):
    book.begin().add("bob", right())
    waiting = [Entry("softmax", "no", 20, "f", "s", "", 0)]
    book.ledger.note(book.run, LedgerStudent(Student("cat"), False, [], waiting))
    report = report_on(book.ledger, catalog, hide=hide)
    said = shown(report)
    assert "stopped before its end" in said
    assert "Not judged yet 1" in said
    assert "1 not judged yet" in said
    assert ("… not judged yet" in said) is not hide
    assert 'id="lost"' not in page.render(report)
    table = {line["outcome"]: line for line in lines(report)}
    assert set(table) == {v.PASSED, "not judged yet"}
    assert table["not judged yet"]["points"] == ""
    done = run(tmp_path / "spring-grades.db", "--out", tmp_path, *["--anonymous"] * hide)
    assert "1 not judged yet" in done.output
    assert "could not" not in done.output.replace("could not be graded, which", "")


def test_the_command_that_continues_comes_last(book, catalog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book.begin().add("bob", right())
    assert "next:" not in run("--out", tmp_path).output  # nobody knows how it began
    book.ledger.remember_command(str(tmp_path), "kata grade class --only softmax")
    last = run("--out", tmp_path).output.splitlines()[-1]
    assert last.split() == ["next:", "kata", "grade", "class", "--only", "softmax"]
    book.ledger.remember_command("/another folder", "kata grade class")
    said = " ".join(run("--out", tmp_path).output.split())
    assert said.endswith("next: cd '/another folder' && kata grade class")
    book.done()
    assert "next:" not in run("--out", tmp_path).output


def test_remarks_and_audit(book, catalog):
    book.begin().add("ann", right(audit=[v.Notice("program")]), late=True)
    book.add("bob", v.Verdict("softmax", v.NOT_STARTED), remarks=[m.NoKataFile()])
    book.add("cat", right(), remarks=[m.SeveralFiles("softmax.py", 2, "b/softmax.py")])
    report = report_on(book.done().ledger, catalog)
    assert report.remark_lines["ann"] == ["late"]
    assert "ann" not in report.remarks
    assert report.audited == [("ann", "softmax", [v.Notice("program")])]
    assert report.kinds == {
        "late": 1,
        "no kata file": 1,
        "a file is there more than once": 1,
    }
    said = shown(report)
    assert "starts a program" in said
    assert "b/softmax.py was graded" in said
    assert [line["late"] for line in lines(report)] == ["yes", "", ""]
    assert [line["remarks"] for line in lines(report)][:2] == ["", "no kata file was found"]


def test_what_is_known_of_a_failure_stands_in_the_table_in_words(book, catalog):
    book.begin().add("ann", wrong("softmax", blamed(v.MISTAKE, "no-maximum")))
    book.add("bob", wrong("softmax", v.Diagnosis("softmax", v.EARLIER_WORK, blames=["scale"])))
    report = report_on(book.add("cat", right()).done().ledger, catalog)
    assert [line["known"] for line in lines(report)] == ["named", "earlier work is to blame", ""]


def test_everybody_by_name_with_points_marks_and_words(book, catalog):
    book.begin()
    book.add(Student("1", "Zoe"), right("dot-product"), wrong("softmax"), late=True)
    book.add(
        Student("2", "Ann"),
        v.Verdict("dot-product", v.NOT_STARTED),
        lost(),
    )
    book.add(
        Student("3", "bo"),
        broken("dot-product"),
        v.Verdict("softmax", v.TIMED_OUT, reason=r.KataTimedOut(120.0)),
    )
    report = report_on(book.done().ledger, catalog)
    source = page.render(report)
    assert source.index('id="students"') < source.index('id="katas"')
    said = words(report)
    assert "of 30 10 20 Ann ≥ 0 · - bo 0 0 ✗ broken 0 ✗ timed out Zoe late 15 10 ✓ 5" in said
    hidden = report_on(book.ledger, catalog, hide=True)
    assert 'id="students"' not in page.render(hidden)
    assert "everybody's points is left out" in shown(hidden)


def test_a_large_class_is_folded_and_cut(book, catalog):
    book.begin()
    for number in range(61):
        book.add(f"s{number:02}", right())
    said = shown(report_on(book.done().ledger, catalog))
    assert "the first 60 of 61 students, by name" in said
    assert "s59" in said
    assert "s60" not in said.partition("Each kata")[0].partition("by name")[2]
    assert "and 1 more, all in the table beside this page" in said


def no_module(kata, name="matplotlib"):
    said = f"No module named '{name}'"
    reason = r.DoesNotLoad(f"{kata.replace('-', '_')}.py", "ModuleNotFoundError", said)
    found = v.Verdict(kata, v.BROKEN, reason=reason)
    found.raised = v.Raised("ModuleNotFoundError", said)
    return found


def test_what_did_not_run_stands_there_with_the_reason(book, catalog):
    book.begin()
    notebook = [no_module(kata) for kata in WORTH]
    for one in notebook:
        one.file = "hana.ipynb"
    slow = wrong("softmax", outcome=v.TIMED_OUT)
    slow.checks[1].reason = r.EntriesDiffer(1, 9, (0, 0), 0.5, 0.25)
    slow.checks[3].outcome, slow.checks[3].reason = v.TIMED_OUT, r.TimedOut(10.0)
    book.add("hana", *notebook)
    book.add("jun", right("dot-product"), slow, no_module("mask", "utils"))
    book.add("kim", no_module("softmax"), no_module("mask"), right("dot-product"))
    report = report_on(book.done().ledger, catalog)
    assert [
        (student, one.katas, one.every, one.outcome, why(one))
        for student, groups in report.not_run.items()
        for one in groups
    ] == [
        (
            "hana",
            tuple(WORTH),
            True,
            v.BROKEN,
            "hana.ipynb does not load: ModuleNotFoundError: No module named 'matplotlib'",
        ),
        ("jun", ("softmax",), False, v.TIMED_OUT, SLOW),
        (
            "jun",
            ("mask",),
            False,
            v.BROKEN,
            "mask.py does not load: ModuleNotFoundError: No module named 'utils'",
        ),
        (
            "kim",
            ("softmax", "mask"),
            False,
            v.BROKEN,
            "does not load: ModuleNotFoundError: No module named 'matplotlib'",
        ),
    ]
    said = words(report)
    assert "hana all 3 katas broken hana.ipynb does not load" in said
    assert "each and why" in said
    assert lines(report)[0]["message"].endswith("'matplotlib'")
    hidden = report_on(book.ledger, catalog, hide=True)
    groups = itertools.chain.from_iterable(hidden.not_run.values())
    assert {why(one) for one in groups} == {"ModuleNotFoundError", ""}
    assert "message" not in lines(hidden)[0]


def test_an_empty_file_is_nothing_written_and_no_failure(book, catalog):
    submission = collect.StudentSubmission(Student("fay"))
    submission.sources = dict.fromkeys(catalog.modules, "\n")
    submission.files = {module: f"{module}.py" for module in catalog.modules}
    empty = [entries.kata_entry(catalog, catalog[kata], submission, 1).work for kata in WORTH]
    assert verdict_words.reason(empty[1].reason) == "softmax.py is empty"
    book.begin().add("fay", *empty)
    book.add("gus", broken(), sizes={"softmax": 0})
    report = report_on(book.done().ledger, catalog)
    assert report.nothing == ["fay"]
    assert list(report.not_run) == ["gus"]
    part = next(part for part in report.katas if part.name == "softmax")
    assert (part.wrong, part.outcomes) == (1, {v.NOT_STARTED: 1, v.BROKEN: 1})


def test_calling_the_built_in_is_a_row_of_its_own(book, catalog):
    cheat = wrong("softmax", v.Diagnosis("softmax", v.NO_DIAGNOSIS))
    cheat.checks[2].reason = r.Banned("torch.softmax", stopped=True)
    started = wrong("softmax")
    for check in started.checks[1:]:
        check.outcome = v.NOT_WRITTEN
    report = report_on(book.begin().add("kai", cheat).add("lou", started).done().ledger, catalog)
    [part] = report.katas
    assert [(one.misconception.id, one.students) for one in part.misconceptions] == [
        (rows.BUILT_IN, ["kai"])
    ]
    assert part.apart == {facts.UNFINISHED: ["lou"]}
    said = shown(report)
    assert "uses the built-in that the kata is about" in said
    assert "the rest is still the stub" in said


def test_what_is_apart_is_explained(book, catalog):
    book.begin()
    for student, kind in (("a", v.SYMPTOMS), ("b", v.NO_DIAGNOSIS), ("c", v.EARLIER_WORK)):
        book.add(student, wrong("softmax", v.Diagnosis("softmax", kind)))
    said = words(report_on(book.done().ledger, catalog))
    assert "only symptoms matches no known mistake; the judge lists the properties" in said
    assert "no diagnosis nothing could be said beyond which check" in said
    assert "earlier work is to blame right as soon as" in said


# Code of the same form


def same_form(book, students, verdict=right, form="f", size=400, kata="mask"):
    for student in students:
        book.add(student, verdict(kata), forms={kata: form}, sizes={kata: size})


def test_code_of_the_same_form_is_found(book, catalog):
    book.begin()
    same_form(book, ["ann", "bob"])
    same_form(book, ["cat", "dan"], wrong, "g", 300)
    same_form(book, ["eve"], form="h")
    report = report_on(book.done().ledger, catalog)
    assert [group.students for group in report.alike.groups] == [("cat", "dan"), ("ann", "bob")]
    assert lines(report)[0]["alike_with"] == "bob"
    said = shown(report)
    assert "A reason to look, not a proof" in said
    assert "cat, dan" in said


def test_short_common_and_given_forms_are_left_out(book, catalog):
    stub, size = fingerprint(catalog["mask"].stub.read_text(encoding="utf-8"))
    reference, much = fingerprint(catalog["mask"].reference.read_text(encoding="utf-8"))
    book.begin()
    same_form(book, ["a1", "a2"], form="short", size=size + similarity.RIGHT_SIZE - 1)
    same_form(book, ["b1", "b2", "b3", "b4", "b5"], form="common")
    same_form(book, ["c1", "c2"], form=reference, size=much)
    same_form(book, ["d1", "d2"], wrong, form=stub, size=size)
    same_form(book, ["e1", "e2"], form="")
    found = report_on(book.done().ledger, catalog).alike
    assert (found.groups, found.short, found.common, found.ours) == ([], 1, 1, 2)


def test_a_pair_stands_once_with_all_its_katas(book, catalog):
    book.begin()
    for student in ("ann", "bob"):
        book.add(
            student,
            wrong("softmax"),
            right("mask"),
            forms={"softmax": "f", "mask": "g"},
            sizes={"softmax": 200, "mask": 400},
            sources={"softmax": "s"},
        )
    [group] = report_on(book.done().ledger, catalog).alike.groups
    assert [(one.kata, one.right, one.verbatim) for one in group.katas] == [
        ("softmax", False, True),
        ("mask", True, False),
    ]


def test_functions_are_compared_where_files_differ(book, catalog):
    book.begin()
    same = ("attention", "f", 400)
    given = entries.functions(
        catalog["mask"].reference.read_text(encoding="utf-8"), ["attention", "causal_mask"]
    )
    for student, parts in {
        "ann": [same],
        "bob": [same, ("causal_mask", "g", 30)],
        "cat": [("causal_mask", "g", 30)],
        "dan": given,
        "eve": given,
    }.items():
        book.add(student, right("mask"), functions={"mask": tuple(parts)})
    report = report_on(book.done().ledger, catalog)
    [group] = report.alike.groups
    assert group.students == ("ann", "bob")
    assert group.katas[0].functions == ("attention",)
    assert "mask (only attention): right" in shown(report)
    assert "only whole files" not in shown(report)


def test_a_function_that_many_have_is_counted_only(book, catalog):
    book.begin()
    for student in "abcde":
        book.add(student, right("mask"), functions={"mask": (("attention", "f", 400),)})
    report = report_on(book.done().ledger, catalog)
    assert report.alike.groups == []
    assert "1 long function(s) shared by more than 4, in whatever file" in shown(report)


def test_a_whole_file_of_the_same_form_is_not_told_again_by_function(book, catalog):
    book.begin()
    for student in ("ann", "bob"):
        book.add(
            student,
            right("mask"),
            forms={"mask": "f"},
            sizes={"mask": 400},
            functions={"mask": (("attention", "g", 300),)},
        )
    [group] = report_on(book.done().ledger, catalog).alike.groups
    assert [one.functions for one in group.katas] == [()]


def test_pasting_it_among_other_code_does_not_change_a_function():
    one = "import torch\n\ndef f(x):\n    y = torch.exp(x)\n    return y / y.sum()\n"
    other = "import torch, os\nprint(1)\n" + one.replace("y", "z").replace("z =", "z  =") + "#"
    assert fingerprint(one) != fingerprint(other)
    assert entries.functions(one, ["f"]) == entries.functions(other, ["f", "g"]) != ()
    assert entries.functions("def (", ["f"]) == entries.functions(one, []) == ()


# Another grading


def graded_twice(book, before, now, **how):
    book.begin().add("ann", before, **how).done()
    book.begin().add("ann", now, **how).done()


def test_a_changed_grade_for_the_same_code_is_said_first(book, catalog, tmp_path):
    graded_twice(book, right(), wrong(versions={"torch": "2"}))
    report = report_on(book.ledger, catalog)
    [change] = report.difference.same_code
    assert (change.before, change.now, change.less) == (20, 5, True)
    source = page.render(report)
    assert source.index('class="loud"') < source.index('id="class"')
    assert "1 grade changed, and the code did not" in Page(source).text
    assert lines(report)[0]["points_before"] == "20"
    assert lines(report)[0]["same_code"] == "yes"
    done = run(tmp_path / "spring-grades.db", "--out", tmp_path)
    assert done.exit_code == 0
    assert done.output.lstrip().startswith("1 grade changed, and the code did not")


def test_other_code_may_earn_other_points(book, catalog):
    book.begin().add("ann", wrong(), sources={"softmax": "old"}).done()
    book.begin().add("ann", right(), sources={"softmax": "new"}).done()
    difference = report_on(book.ledger, catalog).difference
    assert difference.same_code == []
    assert [(one.before, one.now) for one in difference.resubmitted] == [(5, 20)]
    said = shown(report_on(book.ledger, catalog))
    assert "No grade changed for the same code" in said
    assert "Other code, other points" in said


def test_the_judges_hash_decides_whether_it_is_the_same_code(book, catalog):
    """It knows of imports, and not of comments."""
    graded_twice(book, right(), wrong())
    difference = report_on(book.ledger, catalog).difference
    assert len(difference.same_code) == 1
    one, other = right(), wrong()
    one.source_hash, other.source_hash = "a", "b"
    graded_twice(book, one, other)
    difference = report_on(book.ledger, catalog).difference
    assert (len(difference.same_code), len(difference.resubmitted)) == (0, 1)
    again = right()
    again.source_hash = "b"
    book.begin().add("ann", again, sources={"softmax": "with a comment"}).done()
    assert len(report_on(book.ledger, catalog).difference.same_code) == 1


def test_newcomers_the_missing_and_what_can_be_graded_now(book, catalog):
    book.begin().add("ann", right()).add("bob", lost()).add("cat", right()).done()
    book.begin().add("bob", right()).add("cat", lost()).add("dan", right()).done()
    difference = report_on(book.ledger, catalog).difference
    assert (difference.newcomers, difference.missing) == (["dan"], ["ann"])
    assert [one.student for one in difference.graded_now] == ["bob"]
    assert [(one.student, one.now) for one in difference.same_code] == [("cat", None)]
    said = shown(report_on(book.ledger, catalog))
    assert "Not there before" in said
    assert "There before, not now" in said


def test_why_a_grade_may_have_changed():
    def row(worth=20, **other):
        entry = Entry("softmax", "k", worth, "f", "s", "", 0)
        return rows.Row("ann", entry, rows.VerdictSummary(v.FAILED, 5, **other))

    def said(old, new):
        return grading_words.explanations(regrade.explanations(old, new))

    assert regrade.explanations(row(), row()) == (facts.NothingDiffers(),)
    assert said(row(), row()) == ["same tests, inputs and versions"]
    assert said(row(), row(30)) == ["worth 30 points, before 20"]
    assert said(
        row(kata_version="1", seed=1, versions=(("torch", "2.12"),)),
        row(kata_version="2", seed=2, versions=(("torch", "2.13"),)),
    ) == ["other tests", "torch 2.12 -> 2.13", "other inputs"]


def test_every_explanation_has_a_sentence():
    assert set(typing.get_args(facts.Explanation)) == set(grading_words.EXPLANATIONS)
    assert set(grading_words.KNOWLEDGE) == {facts.NAMED, *facts.APART}


def test_points_that_are_only_worth_something_else_are_not_loud(book, catalog, monkeypatch):
    book.begin().add("ann", right(), wrong("mask")).done()
    monkeypatch.setitem(WORTH, "softmax", 30)
    monkeypatch.setitem(WORTH, "mask", 40)
    book.begin().add("ann", right(), wrong("mask", passing=2)).done()
    report = report_on(book.ledger, catalog)
    assert [(one.before, one.now) for one in report.difference.revalued] == [(20, 30)]
    assert [one.kata for one in report.difference.same_code] == ["mask"]
    assert "1 grade of softmax moved only because it is worth other points" in shown(report)


def test_a_run_that_was_cut_off_is_not_compared_with(book, catalog):
    book.begin().add("ann", right()).done()
    book.begin().add("ann", wrong())
    book.begin().add("ann", right()).done()
    difference = report_on(book.ledger, catalog).difference
    assert (difference.before.run.id, difference.same) == (1, 1)
    book.begin().add("zoe", right()).done()
    assert report_on(book.ledger, catalog).difference is None  # nobody of them was there


def test_the_last_finished_grading_is_reported(book, catalog, tmp_path):
    book.begin().add("ann", right()).done()
    book.begin().add("ann", wrong())
    report = report_on(book.ledger, catalog)
    assert (report.run.id, report.later.id) == (1, 2)
    assert "was stopped before its end and is not on this page" in shown(report)
    done = run(tmp_path / "spring-grades.db", "--out", tmp_path)
    assert "a later grading" in done.output
    book.done()
    assert report_on(book.ledger, catalog).later is None


def test_a_stopped_grading_is_never_compared_with(book, catalog, tmp_path):
    old = Book(tmp_path / "old.db").begin().add("ann", right())
    book.begin().add("ann", wrong()).done()
    with pytest.raises(KataError, match="was stopped before its end"):
        report_on(book.ledger, catalog, old.ledger)
    old.ledger.close()


def test_what_is_not_judged_yet_is_no_changed_grade(book, catalog, tmp_path):
    old = Book(tmp_path / "old.db").begin().add("ann", right()).add("bob", right()).done()
    book.begin().add("bob", right())
    waiting = [Entry("softmax", "no such key", 20, "f", "ann softmax", "", 0)]
    book.ledger.note(book.run, LedgerStudent(Student("ann"), False, [], waiting))
    report = report_on(book.ledger, catalog, old.ledger)
    found = report.difference
    assert (found.same_code, found.resubmitted, found.same, found.waiting) == ([], [], 1, 1)
    assert "1 not judged in one of the two" in shown(report)
    old.ledger.close()


def test_another_ledger_can_be_compared_with(book, catalog, tmp_path):
    old = Book(tmp_path / "old.db").begin().add("ann", right()).done()
    old.ledger.close()
    book.begin().add("ann", wrong()).done()
    assert report_on(book.ledger, catalog).difference is None
    done = run(tmp_path / "spring-grades.db", "--out", tmp_path, "--against", tmp_path / "old.db")
    assert done.exit_code == 0
    assert "ann: softmax 20 -> 5" in done.output


# The page


REMARKS = [m.NotAnArchive(HOSTILE, HOSTILE), r.GraderFault(HOSTILE, HOSTILE)]


def hostile_class(book):
    student = Student("id" + HOSTILE, HOSTILE, {"email": HOSTILE})
    bad = lost("softmax", HOSTILE, audit=[v.Notice("torch-source", HOSTILE)], file=HOSTILE)
    cut = wrong("mask", outcome=v.CRASHED, file=HOSTILE, output=HOSTILE)
    cut.reason = r.DoesNotLoad(HOSTILE, HOSTILE, HOSTILE)
    book.begin(HOSTILE, HOSTILE).add(student, right("softmax"), right("mask")).done()
    book.begin(HOSTILE, HOSTILE).add(student, bad, cut, remarks=REMARKS, late=True)
    book.add("=1+1", right(), right("mask")).done()
    return book


def test_nothing_that_comes_from_outside_is_markup(book, catalog):
    report = report_on(hostile_class(book).ledger, catalog)
    source = page.render(report, HOSTILE)
    found = Page(source)
    assert "script" not in found.tags
    assert "<script>alert(1)</script>" in found.text
    assert "\u202e" not in source
    assert "\x1b" not in source
    assert "'=1+1" in [line["student"] for line in lines(report)]


def test_the_page_asks_for_nothing(book, catalog):
    source = page.render(report_on(hostile_class(book).ledger, catalog), "x.csv")
    found = Page(source)
    assert {one[0] for one in found.refers} == {"#"}
    assert {one[1:] for one in found.refers} <= set(found.ids)
    assert not {"link", "script", "img", "iframe", "object", "form", "base"} & set(found.tags)
    assert (
        "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'"
        in source
    )
    for word in ("url(", "@import", "http:", "https:", "//"):
        assert word not in source.replace("</", "<")


def test_without_names_there_is_neither_name_nor_id(book, catalog, tmp_path):
    secret = Student("s0001234", "Anna Quill", {"email": "quill@example.org"})
    words = "quill-hw.ipynb of Anna Quill"
    fault = lost("mask", words, file=words, audit=[v.Notice("process-lost", words)])
    remarks = [m.NotANotebook(words)]
    crash = v.Verdict("softmax", v.BROKEN, reason=r.DoesNotLoad(words, words, words), file=words)
    crash.raised = v.Raised(words, words)
    book.begin(origin="/srv/quill").add(secret, right(), right("mask")).add("bob", right()).done()
    book.begin(origin="/srv/quill").add(secret, crash, fault, remarks=remarks, late=True)
    book.add(Student("s0005678", "Bo Rune"), right()).done()
    done = run(tmp_path / "spring-grades.db", "--anonymous", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    texts = [done.output.replace(str(tmp_path), "")]
    for name in ("spring-report-anonymous.html", "spring-report-anonymous.csv"):
        texts.append((tmp_path / name).read_text(encoding="utf-8-sig"))
    for said in texts:
        assert "Student " in said
        for word in ("quill", "anna", "0001234", "0005678", "rune", "bob"):
            assert word not in said.casefold()


def test_numbers_stay_the_same(book, catalog):
    book.begin().add("ann", right()).add("bob", right()).done()
    first = report_on(book.ledger, catalog, hide=True).names
    book.begin().add("aaa", right()).add("bob", right()).add("ann", right()).done()
    again = report_on(book.ledger, catalog, hide=True).names
    assert {name: again[name] for name in first} == first
    assert again["aaa"] == "Student 3"


def test_two_of_the_same_name_are_told_apart(book, catalog):
    book.begin().add(Student("1", "Kim"), right()).add(Student("2", "Kim"), right()).done()
    assert set(report_on(book.ledger, catalog).names.values()) == {"Kim (1)", "Kim (2)"}


def test_a_large_class_makes_a_page_of_bearable_size(book, catalog):
    verdicts = {
        kata: [right(kata), *(wrong(kata, blamed(v.MISTAKE, f"m{n}")) for n in range(30))]
        for kata in WORTH
    }
    book.begin()
    for kata, some in verdicts.items():
        for number, verdict in enumerate(some):
            book.ledger.keep(f"{kata}{number}", verdict)
    book.ledger._db.execute("pragma synchronous = off")
    for number in range(2000):
        entries = [
            Entry(kata, f"{kata}{number % 31}", worth, "f", f"{number}", f"{number // 2}", 400)
            for kata, worth in WORTH.items()
        ]
        student = Student(f"s{number:05}", f"Student of a name {number}")
        book.ledger.note(book.run, LedgerStudent(student, True, [], entries))
    started = time.process_time()
    report = report_on(book.done().ledger, catalog)
    source = page.render(report)
    assert time.process_time() - started < 30
    assert len(source) < 1_500_000
    assert "more, all in the table beside this page" in source
    assert len(lines(report)) == 6000


# The command


def test_the_only_ledger_here_is_taken(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book.begin().add("ann", right()).done()
    done = run()
    assert done.exit_code == 0, done.output
    assert "spring-report.html" in done.output
    assert (tmp_path / "spring-report.html").exists()
    assert (tmp_path / "spring-report.csv").read_bytes().startswith(b"\xef\xbb\xbfstudent,")
    done = run("--out", "pages/p.html")
    assert (tmp_path / "pages/p.csv").exists()
    assert "is neither a folder nor a page" in run("--out", "p.csv").output
    Ledger(tmp_path / "autumn-grades.db").close()
    done = run()
    assert done.exit_code == 2
    assert "several ledgers here: autumn-grades.db, spring-grades.db" in done.output


def test_what_is_no_ledger_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no NAME-grades.db here" in run().output
    assert "there is no ledger no.db" in run("no.db").output
    assert not (tmp_path / "no.db").exists()
    (tmp_path / "a.db").write_text("student,points\n", encoding="utf-8")
    (tmp_path / "b.db").write_bytes(b"")
    sqlite3.connect(tmp_path / "c.db").execute("create table t (x)").connection.close()
    for name in ("a.db", "b.db", "c.db", "."):
        done = run(name)
        assert done.exit_code == 2, name
        assert "fault of this program" not in done.output, name
    Ledger(tmp_path / "empty.db").close()
    assert "nothing was graded with empty.db yet" in run("empty.db").output


@pytest.mark.parametrize(
    "damage",
    [
        "update verdicts set verdict = x'00'",
        "update submissions set remarks = '{'",
        "drop table entries",
        "update verdicts set verdict = ?",
    ],
)
def test_a_damaged_ledger_is_told(book, tmp_path, damage):
    book.begin().add("ann", right()).done()
    values = [zlib.compress(b'{"kata": "softmax"}')] if "?" in damage else []
    with book.ledger._db as db:
        db.execute(damage, values)
    done = run(tmp_path / "spring-grades.db", "--out", tmp_path)
    assert done.exit_code == 2, done.output
    assert "cannot be used" in done.output


@pytest.fixture
def cannot_write(monkeypatch):
    """SQLite as in a folder where nothing can be written, whoever runs the tests."""
    connect = sqlite3.connect

    def refuses(where, *args, uri=False, **how):
        if uri and "immutable=1" in where:
            return connect(where, *args, uri=True, **how)
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuses)


def test_a_ledger_that_can_only_be_read(tmp_path, request):
    path = tmp_path / "old # grades.db"
    Book(path).begin().add("ann", right()).done().ledger.close()
    request.getfixturevalue("cannot_write")
    done = run(path, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "passed everything" in done.output
    done = run(path, "--out", tmp_path / "out", "--anonymous")
    assert done.exit_code == 2
    assert "can only be read" in done.output
    assert "copy it to a folder of your own" in done.output
    (tmp_path / f"{path.name}-wal").write_bytes(b"more")
    done = run(path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "its end is still in old # grades.db-wal" in done.output
    assert "copy both files" in done.output


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="to root nothing is read-only"
)
@pytest.mark.parametrize("open_", [False, True])
def test_a_folder_that_can_only_be_read(book, tmp_path, tmp_path_factory, open_):
    book.begin().add("ann", right()).done()
    if not open_:
        book.ledger.close()
    out = tmp_path_factory.mktemp("out")
    for path in tmp_path.iterdir():
        path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        done = run(tmp_path / "spring-grades.db", "--out", out)
    finally:
        tmp_path.chmod(0o755)
    assert done.exit_code == 0, done.output
    assert (out / "spring-report.html").exists()


@pytest.mark.parametrize("columns", [80, 50])
def test_the_terminal_keeps_to_its_width(book, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(tmp_path)
    long = blamed(v.MISTAKE, "takes-the-maximum-of-all-rows-and-not-of-each-by-itself")
    book.begin().add(Student("1", "Anna-Maria Petrova-Lindqvist"), right(), right("mask")).done()
    book.begin()
    book.add(
        Student("1", "Anna-Maria Petrova-Lindqvist"),
        wrong("softmax", long, versions={"torch": "2.13.0"}),
        no_module("mask"),
        late=True,
    ).done()
    book.begin().add("x", right())
    done = run()
    assert done.exit_code == 0, done.output
    for line in done.output.splitlines():
        assert len(line) <= columns
    said = " ".join(done.output.split())
    assert "1 student with code that did not run to its end" in said


def test_a_run_that_reached_nobody(book, catalog):
    book.begin()
    with pytest.raises(KataError, match="reached nobody"):
        report_on(book.ledger, catalog)


def test_a_kata_that_is_no_longer_there_is_reported_all_the_same(book, catalog, monkeypatch):
    monkeypatch.setitem(WORTH, "gone", 5)
    book.begin().add("ann", right("gone")).done()
    assert "gone" in shown(report_on(book.ledger, catalog))
