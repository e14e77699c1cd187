"""Every branch of every template is rendered; what is filled in is no markup, nor undefined.

The report page itself is tested in test_grade_report.py, what it is computed from as well.
"""

from __future__ import annotations

import ast
import itertools
import json
import random
import re
import secrets
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from attention_katas.classroom import course, package, targets
from attention_katas.grading import remarks as m
from attention_katas.grading.entries import fingerprint
from attention_katas.grading.ledger import Entry, LedgerStudent
from attention_katas.grading.report import page
from attention_katas.grading.report.findings import report_on
from attention_katas.grading.results import Student
from attention_katas.lab import pages
from attention_katas.packs.catalog import Selection, load_catalog
from attention_katas.render import glyphs, templates
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import symptoms as s
from attention_katas.verdict.redact import LEVELS
from tests import test_grade_report as reports
from tests.packs import add_kata, make_pack

HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b[31m{{ 7 * 7 }}[[ 7 * 7 ]]{% raw %}"
KATAS = ("one", "two", "three")


def outputs(environment, name):
    """The statements of a compiled template that write something: at least one in each branch."""
    source, _, _ = environment.loader.get_source(environment, name)
    for node in ast.walk(ast.parse(environment.compile(source, name, raw=True))):
        if not isinstance(node, ast.Expr):
            continue
        written = ast.unparse(node.value)
        if written == "(yield None)":  # the compiler's `if 0: yield None`
            continue
        if re.match(r"t_\d+\.(append|extend)\(|\(?yield\b", written) and "'\\n'" not in written:
            yield range(node.lineno, node.end_lineno + 1), written


class Coverage:
    """Which output lines of an environment's templates ran while it was entered."""

    def __init__(self, environment):
        self.environment = environment
        self.names = {environment.get_template(n).filename: n for n in environment.list_templates()}
        self.ran = {name: set() for name in self.names.values()}

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _call(self, frame, event, arg):
        return self._line if frame.f_code.co_filename in self.names else None

    def _line(self, frame, event, arg):
        self.ran[self.names[frame.f_code.co_filename]].add(frame.f_lineno)
        return self._line

    def missing(self):
        return [
            (name, written)
            for name, ran in self.ran.items()
            for lines, written in outputs(self.environment, name)
            if not ran.intersection(lines)
        ]


# The report


def verdicts(word, random_):
    """Verdicts of one student on three katas, with `word` wherever text of others can stand."""

    def wrong(kata, *diagnoses, **other):
        checks = [
            v.Check(f"c{n}", f"{word} check {n}", v.FAILED if n else v.PASSED) for n in range(3)
        ]
        return v.Verdict(kata, v.FAILED, checks, diagnoses=list(diagnoses), **other)

    def diagnosis(kind, question="Why?", function=""):
        title, question = f"{word} {random_.randrange(12)}", f"{word} {question}"
        sort = v.CONVENTION if kind == v.CONVENTION else v.MISTAKE
        causes = [v.Cause(title, f"does {word}", question, sort)]
        symptoms = [s.OtherDtype(word, word)]
        return v.Diagnosis(function, kind, causes, symptoms, blames=[word])

    for kata in (f"{word} {name}" for name in KATAS):
        unfinished = wrong(kata)
        unfinished.checks[1].outcome = unfinished.checks[2].outcome = v.NOT_WRITTEN
        broken = v.Verdict(kata, v.BROKEN, reason=r.DoesNotLoad(word, "ImportError", word))
        yield random_.choice(
            [
                v.Verdict(
                    kata,
                    v.PASSED,
                    [v.Check("c", word, v.PASSED)],
                    audit=[v.Notice("process-lost", word)],
                ),
                v.Verdict(kata, v.NOT_STARTED),
                v.Verdict(kata, v.COULD_NOT_GRADE, reason=r.CannotJudge(word)),
                wrong(kata, diagnosis(v.MISTAKE, function=word)),
                wrong(kata, diagnosis(v.MISTAKE)),
                wrong(kata, diagnosis(v.CONVENTION, "It is not.")),
                wrong(kata, diagnosis(v.SYMPTOMS), versions={word: word}),
                wrong(
                    kata,
                    diagnosis(v.EARLIER_WORK),
                    audit=[v.Notice("process-lost", word), v.Notice("torch-source", word)],
                ),
                wrong(kata, diagnosis(v.NO_DIAGNOSIS)),
                unfinished,
                broken,
                broken,
            ]
        )


def grade(book, word, seed, students, origin):
    """One grading of a class of so many; two of them have the same code in the same form."""
    random_ = random.Random(seed)
    book.begin(f"{word} title", origin)
    for number in range(students):
        entries = []
        for kata, verdict in zip(KATAS, verdicts(word, random_), strict=True):
            key = f"{book.run} {number} {kata}"
            verdict.kata_version = str(random_.randrange(2))
            book.ledger.keep(key, verdict)
            shared = number // 2 if kata == "one" else f"{number} own"
            file = f"{word}.py"
            source = f"{shared}" if number % 4 else f"{number} {kata}"
            form = f"{shared} {kata}"
            parts = ((word, f"f{number // 3}", 400),) if kata == "two" else ()
            entries.append(Entry(f"{word} {kata}", key, 20, file, source, form, 300, parts))
        remarks = [m.NotANotebook(word)] if number % 3 else []
        student = Student(f"{number:03}", f"{word} name")
        late = number % 5 == 0
        book.ledger.note(book.run, LedgerStudent(student, late, remarks, entries))
    return book


def everything(book, word="Zorro"):
    """A large class, graded twice, by different judges, with everything that a report can hold."""
    grade(book, word, 1, 70, f"{word} one").done()
    return grade(book, word, 2, 73, f"{word} two").done()


@pytest.fixture
def book(tmp_path):
    book = reports.Book(tmp_path / "spring-grades.db")
    yield book
    book.ledger.close()


def empty(book):
    book.begin().ledger.note(book.run, LedgerStudent(Student("ann"), False, [], []))
    return book.done()


def one_student(book):
    return book.begin().add("ann", reports.right()).done()


def stopped(book):
    """A grading that ended, and a later one that did not."""
    one_student(book).begin().add("ann", reports.wrong())
    return book


def unfinished(book):
    return book.begin().add("ann", reports.right())


def unchanged(book):
    return one_student(one_student(book))


def rearranged(book):
    """Other students, other katas, other points for the same katas; forms that say nothing."""
    waiting = Entry("mask", "no such key", 20, "f", "cat mask", "", 0)
    book.begin().add("ann", reports.right()).add("bob", reports.right("mask"))
    book.add("cat", reports.right("mask"))
    book.add("hal", reports.wrong("mask"), sources={"mask": "old"}).done()
    old, reports.WORTH["mask"] = reports.WORTH["mask"], 40
    try:
        book.begin().add("bob", reports.right("mask"), reports.right("dot-product"))
    finally:
        reports.WORTH["mask"] = old
    book.add("hal", reports.right("mask"), sources={"mask": "new"})
    book.add("ivy", v.Verdict("mask", v.NOT_STARTED))
    for student in ("dan", "eve"):
        book.add(student, reports.right("dot-product"), forms={"dot-product": "short"})
    for student in "fghij":
        code = {"forms": {"mask": "common"}, "sizes": {"mask": 400}}
        book.add(student, reports.right("mask"), functions={"mask": (("f", "f", 400),)}, **code)
    book.ledger.note(book.run, LedgerStudent(Student("cat"), False, [], [waiting]))
    return book.done()


def copied(book):
    """Students who handed in the reference as it is."""
    code = load_catalog()["mask"].reference.read_text(encoding="utf-8")
    form, size = fingerprint(code)
    for student in ("ann", "bob"):
        if not book.run:
            book.begin()
        book.add(student, reports.right("mask"), forms={"mask": form}, sizes={"mask": size})
    return book.done()


CLASSES = (
    empty, one_student, stopped, unfinished, unchanged, rearranged, copied, everything,
)  # fmt: skip


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("fill", CLASSES)
def test_a_report_of_any_class_is_rendered(book, catalog, fill, hide):
    source = page.render(report_on(fill(book).ledger, catalog, hide=hide), "x.csv")
    assert reports.Page(source).text
    assert "{{" not in source
    assert "{%" not in source


def test_every_branch_of_the_page_is_rendered(tmp_path, catalog):
    with Coverage(page._environment()) as coverage:
        for fill, hide in itertools.product(CLASSES, (False, True)):
            book = reports.Book(tmp_path / f"{fill.__name__}-{hide}-grades.db")
            page.render(report_on(fill(book).ledger, catalog, hide=hide), "x.csv")
            book.ledger.close()
    assert not coverage.missing()


class Structure(HTMLParser):
    """Tags and names of attributes, in their order."""

    def __init__(self, source):
        super().__init__()
        self.tags = []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *(name for name, _ in attributes)))


@pytest.mark.parametrize("hide", [False, True])
def test_hostile_text_changes_no_tag_of_the_page(tmp_path, catalog, hide, monkeypatch):
    monkeypatch.setattr(secrets, "SystemRandom", lambda: random.Random(1))
    found = []
    for word in ("Zorro", HOSTILE):
        book = everything(reports.Book(tmp_path / f"{len(found)}-grades.db"), word)
        found.append(page.render(report_on(book.ledger, catalog, hide=hide), f"{word}.csv"))
        book.ledger.close()
    harmless, hostile = found
    assert Structure(harmless).tags == Structure(hostile).tags
    assert "script" not in {tag for tag, *_ in Structure(hostile).tags}
    assert not set(hostile) & {"\u202e", "\x1b"}
    shown = reports.Page(harmless).text.replace("Zorro", glyphs.printable(HOSTILE))
    assert reports.Page(hostile).text == shown


# The files of a class


@pytest.fixture
def own(tmp_path):
    """Two packs of the teacher's own, with a kata each, and no other katas."""
    folders = tuple(make_pack(tmp_path / name, name) for name in ("own-a", "own-b"))
    for folder in folders:
        add_kata(folder, f"double-{folder.name}")
    return folders


def courses(own):
    """Every combination of what a teacher can ask for."""
    catalogs = {
        actions: (load_catalog(), load_catalog(Selection(own[:1] if actions else own, only=True)))
        for actions in (False, True)
    }
    switches = itertools.product((False, True), repeat=4)
    specs = (package.DEFAULT, "git+https://example.org/o/attention-katas@v1")
    choices = itertools.product(course.TARGETS, LEVELS, specs, (None, 50), switches)
    for target, feedback, spec, fail_under, (private, reporter, tag_only, secret) in choices:
        actions = target == course.ACTIONS
        yield course.Course(
            catalogs[actions][private],
            package.parse(spec),
            target,
            feedback,
            repository="owner/name" if private and actions else "",
            fail_under=fail_under if actions else None,
            reporter=reporter or not actions,
            tag_only=tag_only and actions,
            secret_seed=secret and target != course.CLASSROOM50,
        )


def test_every_branch_of_the_classroom_files_is_rendered(own, monkeypatch):
    with Coverage(targets._environment()) as coverage:
        for version in ("2.9.1", ""):
            monkeypatch.setattr(targets, "torch_here", lambda version=version: version)
            for plan in courses(own):
                for file in targets.files(plan):
                    if "/set/" not in f"/{file.path}" and not file.path.endswith(".py"):
                        assert not re.search(rb"\[%|%\]|\[\[ | \]\]", file.content), file.path
    assert not coverage.missing()


def test_text_of_a_kata_is_no_template(catalog, monkeypatch):
    monkeypatch.setattr(targets, "torch_here", lambda: "[[ 7 * 7 ]][% raw %]")
    plan = course.Course(catalog, package.parse(package.DEFAULT))
    [wanted] = [file for file in targets.files(plan) if file.path == "requirements.txt"]
    assert b"torch==[[ 7 * 7 ]][% raw %]\n" in wanted.content


# The lab


def test_every_branch_of_the_labs_pages_is_rendered():
    data = {"words": [HOSTILE, "</script><!--"], "number": 0.5}
    offline = pages.Offline("a > b { }", "if (a < b && c) { }", data)
    with Coverage(pages._environment()) as coverage:
        linked, whole = pages.index(), pages.index(offline)
        closed, redirect = pages.closed(), pages.redirect(f"http://127.0.0.1/?{HOSTILE}")
    assert not coverage.missing()
    assert 'href="style.css"' in linked
    assert "frozen" not in linked
    assert "a > b { }" in whole
    assert "if (a < b && c) { }" in whole
    assert whole.count("</script>") == 2
    assert json.loads(re.search('id="frozen">(.*)</script>', whole)[1]) == data
    assert "`kata lab` printed" in closed
    assert [tag for tag, *_ in Structure(redirect).tags] == [
        "html", "meta", "meta", "meta", "title", "p", "a",
    ]  # fmt: skip


def test_nan_is_no_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        pages.index(pages.Offline("", "", {"number": float("nan")}))


# The environments


@pytest.mark.parametrize(
    ("environment", "source"),
    [
        (templates.html, "{{ missing }}"),
        (templates.html, "{{ here.missing }}"),
        (templates.html, "{% if missing %}{% endif %}"),
        (templates.html, "{% for one in missing %}{% endfor %}"),
        (templates.html, "{{ missing | e }}"),
        (templates.text, "[[ missing ]]"),
        (templates.text, "[[ here.missing ]]"),
        (templates.text, "[% if missing %][% endif %]"),
    ],
)
def test_what_is_not_there_raises(environment, source):
    template = environment("attention_katas.lab").from_string(source)
    with pytest.raises(UndefinedError):
        template.render(here=Path())


@pytest.mark.parametrize("name", ["report", "sections", "regraded", "judges", "beside"])
def test_the_page_needs_everything_it_is_handed(book, catalog, name):
    report = report_on(stopped(book).ledger, catalog)
    handed = {"report": report, "sections": [], "regraded": None, "judges": [], "beside": ""}
    template = page._environment().get_template("page.html")
    assert template.render(handed)
    del handed[name]
    with pytest.raises(UndefinedError, match=name):
        template.render(handed)


def test_values_are_escaped_and_control_characters_spelled_out():
    template = templates.html("attention_katas.lab").from_string('<a b="{{ x }}">{{ x }}</a>')
    said = template.render(x=HOSTILE)
    assert re.findall("<[^>]*>", said)[-1:] == ["</a>"]
    assert said.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;") == 2
    assert said.count("\\u202e\\x1b[31m{{ 7 * 7 }}") == 2


def test_signs_of_github_and_the_shell_are_left_as_they_are():
    source = "${{ a }} ${#list} {% b %} {# c #} [[ d ]][% if d %]\n!\n[% endif %]\n[# e #]"
    assert templates.text("attention_katas.lab").from_string(source).render(d="<&>") == (
        "${{ a }} ${#list} {% b %} {# c #} <&>!\n"
    )


def test_help_does_not_import_jinja():
    code = (
        "import sys\n"
        "from attention_katas.cli import main\n"
        "main(['grade', '--help'], standalone_mode=False)\n"
        "main(['classroom', 'init', '--help'], standalone_mode=False)\n"
        "main(['lab', '--help'], standalone_mode=False)\n"
        "assert not {'jinja2', 'torch'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
