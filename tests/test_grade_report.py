"""`kata grade report`, from ledgers that are written here by hand: no judge, no torch."""

from __future__ import annotations

import csv
import io
import sqlite3
import time
import zlib
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from attention_katas import verdict as v
from attention_katas.cli import main
from attention_katas.errors import KataError
from attention_katas.grading.ledger import Entry, Ledger, Noted
from attention_katas.grading.report import alike, page, regrade, rows, table
from attention_katas.grading.report.findings import made
from attention_katas.grading.results import Student
from attention_katas.grading.tasks import fingerprint

WORTH = {"dot-product": 10, "softmax": 20, "mask": 20}
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


def blamed(kind, *ids, ask="Why?"):
    causes = [v.Cause(one, f"does {one.replace('-', ' ')}", ask) for one in ids]
    return v.Diagnosis("softmax", kind, causes)


class Book:
    """A ledger that is being written."""

    def __init__(self, path):
        self.ledger, self.run = Ledger(path), 0

    def begin(self, title="Katas", origin="/srv/class"):
        self.run = self.ledger.begin("class", origin, title)
        return self

    def add(self, student, *verdicts, late=False, remarks=(), sources=None, sizes=None, forms=None):
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
            entries.append(Entry(kata, key, WORTH[kata], file, source, form, size))
        self.ledger.note(self.run, Noted(student, late, list(remarks), entries))
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


def lines(report):
    return list(csv.DictReader(io.StringIO(table.render(report))))


def run(*words):
    return CliRunner().invoke(main, ["grade", "report", *map(str, words)])


# What it says


def test_points_and_outcomes_of_each_kata(book, catalog):
    book.begin().add("ann", right()).add("bob", wrong(passing=2)).add(
        "cat", v.Verdict("softmax", v.NOT_STARTED)
    ).done()
    report = made(book.ledger, catalog)
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
    book.add("cat", wrong("softmax", blamed(v.CONVENTION, "log-space", ask="It is not.")))
    book.add("dan", wrong("softmax", v.Diagnosis("softmax", v.SYMPTOMS, symptoms=["odd"])))
    book.add("eve", wrong("softmax", v.Diagnosis("softmax", v.NO_DIAGNOSIS)))
    book.add("fay", wrong("softmax", v.Diagnosis("softmax", v.EARLIER_WORK, blames="scale")))
    book.add("gus", v.Verdict("softmax", v.BROKEN, message="'(' was never closed"))
    book.add("hal", right()).done()
    [part] = made(book.ledger, catalog).katas
    assert {one.misconception.id: one.students for one in part.held} == {
        "no-maximum": ["ann", "bob"],
        "wrong-axis": ["bob"],
        "log-space": ["cat"],
    }
    assert (part.wrong, part.named) == (7, 3)
    assert part.apart == {
        rows.SYMPTOMS: ["dan"],
        rows.UNNAMED: ["eve"],
        rows.EARLIER: ["fay"],
        rows.NOT_RUN: ["gus"],
    }
    said = shown(made(book.ledger, catalog))
    assert "does no maximum" in said
    assert "2 of 7, 29 %" in said
    assert "another convention: it does log space" in said


def test_the_same_mistake_in_two_functions_counts_once(book, catalog):
    book.begin().add(
        "ann", wrong("mask", blamed(v.MISTAKE, "turned"), blamed(v.MISTAKE, "turned"))
    ).done()
    [held] = made(book.ledger, catalog).katas[0].held
    assert held.students == ["ann"]


def test_who_is_stuck_where(book, catalog):
    book.begin()
    book.add("ann", right("dot-product"), wrong("softmax"), wrong("mask"))
    book.add("bob", right("dot-product"), right("softmax"), v.Verdict("mask", v.NOT_STARTED))
    book.add("cat", right("dot-product"), right("softmax"), right("mask"))
    book.add("dan", *(v.Verdict(kata, v.NOT_STARTED) for kata in WORTH))
    book.add("eve", v.Verdict("dot-product", v.COULD_NOT_GRADE), right("softmax"), right("mask"))
    book.done()
    report = made(book.ledger, catalog)
    assert {part.name: part.stuck for part in report.katas} == {
        "dot-product": {},
        "softmax": {"Check 1 of softmax": ["ann"]},
        "mask": {v.NOT_STARTED: ["bob"]},
    }
    assert (report.done, report.nothing) == (["cat"], ["dan"])
    assert report.katas[1].checks["Check 2 of softmax"] == 1
    assert "Checks that fail most" in shown(report)


def test_what_could_not_be_graded_stands_with_its_reason_and_costs_nothing(book, catalog):
    lost = v.Verdict("softmax", v.COULD_NOT_GRADE, message="the process was lost, twice")
    book.begin().add("ann", lost).add("bob", right())
    book.ledger.note(
        book.run, Noted(Student("cat"), False, [], [Entry("softmax", "no", 20, "f", "s", "", 0)])
    )
    report = made(book.ledger, catalog)
    assert [(student, why) for student, _, why in report.lost] == [
        ("ann", "the process was lost, twice"),
        ("cat", "not judged yet: the grading was stopped before"),
    ]
    assert report.totals == [20]
    assert "stopped before its end" in shown(report)
    assert lines(report)[0]["points"] == ""


def test_remarks_and_audit(book, catalog):
    book.begin().add("ann", right(audit=["starts a program"]), late=True)
    book.add("bob", v.Verdict("softmax", v.NOT_STARTED), remarks=["no kata file was found"])
    book.add("cat", right(), remarks=["softmax.py is there 2 times; b/softmax.py was graded"])
    report = made(book.done().ledger, catalog)
    assert report.remarks["ann"] == ["late"]
    assert report.audited == [("ann", "softmax", ["starts a program"])]
    assert report.remark_counts() == {
        "late": 1,
        "no kata file": 1,
        "a file is there more than once": 1,
    }
    said = shown(report)
    assert "starts a program" in said
    assert "b/softmax.py was graded" in said
    assert [line["late"] for line in lines(report)] == ["yes", "", ""]


# Code of the same form


def same_form(book, students, verdict=right, form="f", size=400, kata="mask"):
    for student in students:
        book.add(student, verdict(kata), forms={kata: form}, sizes={kata: size})


def test_code_of_the_same_form_is_found(book, catalog):
    book.begin()
    same_form(book, ["ann", "bob"])
    same_form(book, ["cat", "dan"], wrong, "g", 300)
    same_form(book, ["eve"], form="h")
    report = made(book.done().ledger, catalog)
    assert [group.students for group in report.alike.groups] == [("cat", "dan"), ("ann", "bob")]
    assert lines(report)[0]["alike_with"] == "bob"
    said = shown(report)
    assert "A reason to look, not a proof" in said
    assert "cat, dan" in said


def test_short_common_and_given_forms_are_left_out(book, catalog):
    stub, size = fingerprint(catalog["mask"].stub.read_text(encoding="utf-8"))
    reference, much = fingerprint(catalog["mask"].reference.read_text(encoding="utf-8"))
    book.begin()
    same_form(book, ["a1", "a2"], form="short", size=size + alike.RIGHT_SIZE - 1)
    same_form(book, ["b1", "b2", "b3", "b4", "b5"], form="common")
    same_form(book, ["c1", "c2"], form=reference, size=much)
    same_form(book, ["d1", "d2"], wrong, form=stub, size=size)
    same_form(book, ["e1", "e2"], form="")
    found = made(book.done().ledger, catalog).alike
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
    [group] = made(book.done().ledger, catalog).alike.groups
    assert [(one.kata, one.right, one.verbatim) for one in group.katas] == [
        ("softmax", False, True),
        ("mask", True, False),
    ]


# Another grading


def graded_twice(book, before, now, **how):
    book.begin().add("ann", before, **how).done()
    book.begin().add("ann", now, **how).done()


def test_a_changed_grade_for_the_same_code_is_said_first(book, catalog, tmp_path):
    graded_twice(book, right(), wrong(versions={"torch": "2"}))
    report = made(book.ledger, catalog)
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
    difference = made(book.ledger, catalog).difference
    assert difference.same_code == []
    assert [(one.before, one.now) for one in difference.resubmitted] == [(5, 20)]
    said = shown(made(book.ledger, catalog))
    assert "No grade changed for the same code" in said
    assert "Other code, other points" in said


def test_the_judges_hash_decides_whether_it_is_the_same_code(book, catalog):
    """It knows of imports, and not of comments."""
    graded_twice(book, right(), wrong())
    difference = made(book.ledger, catalog).difference
    assert len(difference.same_code) == 1
    one, other = right(), wrong()
    one.source_hash, other.source_hash = "a", "b"
    graded_twice(book, one, other)
    difference = made(book.ledger, catalog).difference
    assert (len(difference.same_code), len(difference.resubmitted)) == (0, 1)
    again = right()
    again.source_hash = "b"
    book.begin().add("ann", again, sources={"softmax": "with a comment"}).done()
    assert len(made(book.ledger, catalog).difference.same_code) == 1


def test_newcomers_the_missing_and_what_can_be_graded_now(book, catalog):
    lost = v.Verdict("softmax", v.COULD_NOT_GRADE)
    book.begin().add("ann", right()).add("bob", lost).add("cat", right()).done()
    book.begin().add("bob", right()).add("cat", lost).add("dan", right()).done()
    difference = made(book.ledger, catalog).difference
    assert (difference.newcomers, difference.missing) == (["dan"], ["ann"])
    assert [one.student for one in difference.graded_now] == ["bob"]
    assert [(one.student, one.now) for one in difference.same_code] == [("cat", None)]
    said = shown(made(book.ledger, catalog))
    assert "Not there before" in said
    assert "There before, not now" in said


def test_why_a_grade_may_have_changed():
    def row(worth=20, **facts):
        entry = Entry("softmax", "k", worth, "f", "s", "", 0)
        return rows.Row("ann", entry, rows.Facts(v.FAILED, 5, **facts))

    assert regrade.reasons(row(), row()) == (regrade.UNEXPLAINED,)
    assert regrade.reasons(row(), row(30)) == ("worth 30 points, before 20",)
    assert regrade.reasons(
        row(kata_version="1", seed=1, versions=(("torch", "2.12"),)),
        row(kata_version="2", seed=2, versions=(("torch", "2.13"),)),
    ) == ("other tests", "torch 2.12 -> 2.13", "other inputs")


def test_points_that_are_only_worth_something_else_are_not_loud(book, catalog, monkeypatch):
    book.begin().add("ann", right(), wrong("mask")).done()
    monkeypatch.setitem(WORTH, "softmax", 30)
    monkeypatch.setitem(WORTH, "mask", 40)
    book.begin().add("ann", right(), wrong("mask", passing=2)).done()
    report = made(book.ledger, catalog)
    assert [(one.before, one.now) for one in report.difference.revalued] == [(20, 30)]
    assert [one.kata for one in report.difference.same_code] == ["mask"]
    assert "1 grade of softmax moved only because it is worth other points" in shown(report)


def test_a_run_that_was_cut_off_is_not_compared_with(book, catalog):
    book.begin().add("ann", right()).done()
    book.begin().add("ann", wrong())
    book.begin().add("ann", right()).done()
    difference = made(book.ledger, catalog).difference
    assert (difference.before.run.id, difference.same) == (1, 1)
    book.begin().add("zoe", right()).done()
    assert made(book.ledger, catalog).difference is None  # nobody of them was there


def test_another_ledger_can_be_compared_with(book, catalog, tmp_path):
    old = Book(tmp_path / "old.db").begin().add("ann", right()).done()
    old.ledger.close()
    book.begin().add("ann", wrong()).done()
    assert made(book.ledger, catalog).difference is None
    done = run(tmp_path / "spring-grades.db", "--out", tmp_path, "--against", tmp_path / "old.db")
    assert done.exit_code == 0
    assert "ann: softmax 20 -> 5" in done.output


# The page


def hostile_class(book):
    student = Student("id" + HOSTILE, HOSTILE, {"email": HOSTILE})
    bad = v.Verdict("softmax", v.COULD_NOT_GRADE, message=HOSTILE, audit=[HOSTILE], file=HOSTILE)
    broken = wrong("mask", file=HOSTILE, message=HOSTILE, output=HOSTILE)
    book.begin(HOSTILE, HOSTILE).add(student, right("softmax"), right("mask")).done()
    book.begin(HOSTILE, HOSTILE).add(student, bad, broken, remarks=[HOSTILE], late=True)
    book.add("=1+1", right(), right("mask")).done()
    return book


def test_nothing_that_comes_from_outside_is_markup(book, catalog):
    report = made(hostile_class(book).ledger, catalog)
    source = page.render(report, HOSTILE)
    found = Page(source)
    assert "script" not in found.tags
    assert "<script>alert(1)</script>" in found.text
    assert "\u202e" not in source
    assert "\x1b" not in source
    assert "'=1+1" in [line["student"] for line in lines(report)]


def test_the_page_asks_for_nothing(book, catalog):
    source = page.render(made(hostile_class(book).ledger, catalog), "x.csv")
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
    lost = v.Verdict("mask", v.COULD_NOT_GRADE, message=words, file=words, audit=[words])
    book.begin(origin="/srv/quill").add(secret, right(), right("mask")).add("bob", right()).done()
    book.begin(origin="/srv/quill").add(secret, wrong(file=words), lost, remarks=[words], late=True)
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
    first = made(book.ledger, catalog, hide=True).names
    book.begin().add("aaa", right()).add("bob", right()).add("ann", right()).done()
    again = made(book.ledger, catalog, hide=True).names
    assert {name: again[name] for name in first} == first
    assert again["aaa"] == "Student 3"


def test_two_of_the_same_name_are_told_apart(book, catalog):
    book.begin().add(Student("1", "Kim"), right()).add(Student("2", "Kim"), right()).done()
    assert set(made(book.ledger, catalog).names.values()) == {"Kim (1)", "Kim (2)"}


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
        noted = Noted(Student(f"s{number:05}", f"Student of a name {number}"), True, [], entries)
        book.ledger.note(book.run, noted)
    started = time.process_time()
    report = made(book.done().ledger, catalog)
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
        "update hand_ins set remarks = '{'",
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


def test_a_run_that_reached_nobody(book, catalog):
    book.begin()
    with pytest.raises(KataError, match="reached nobody"):
        made(book.ledger, catalog)


def test_a_kata_that_is_no_longer_there_is_reported_all_the_same(book, catalog, monkeypatch):
    monkeypatch.setitem(WORTH, "gone", 5)
    book.begin().add("ann", right("gone")).done()
    assert "gone" in shown(made(book.ledger, catalog))
