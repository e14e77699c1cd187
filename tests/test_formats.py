"""Every format of `kata grade --to`: harmless whatever students write, as its reader wants it."""

from __future__ import annotations

import base64
import csv
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from rich.cells import cell_len

from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.grading import remarks as m
from attention_katas.grading.formats import (
    REGISTRY,
    About,
    GradeFormat,
    _sheet,
    _text,
    parts,
    render,
)
from attention_katas.grading.formats import check as check_format
from attention_katas.grading.results import Item, Result, Student, points_for
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import steps, symptoms, words
from attention_katas.verdict.redact import FULL, LEVELS, NAMED, POINTS

ROOT = Path(__file__).parents[1]
FIXTURES = Path(__file__).parent / "fixtures"
NODE = shutil.which("node")
# By name it would be the feature of __future__.
annotations = importlib.import_module("attention_katas.grading.formats.annotations")
names, load = REGISTRY.names, REGISTRY.load

CLASSROOM50 = {
    "CLASSROOM": "cs-principles",
    "ASSIGNMENT": "attention",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "alice",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/a1b2c3d",
    "RELEASE_URL": "https://example.org/releases/1",
}

# What a student may get into names, messages and output; each line is somebody's command.
HOSTILE = {
    "commands": "ok\n::error::forged\r::notice title=Attention Katas::Points 99/1\n  ::add-mask::a",
    "old commands": "x ##[error]forged ##[add-mask]e ###[error]f #\u200b#[error]g",
    "line ends": "a\x85::error::b\u2028::error::c\u2029::error::d\x0b::error::e\x0c::error::f",
    "backticks": "```\n# Passed\n`````` <script>alert(1)</script>\n~~~\n| a | b |",
    "formula": "=cmd|'/C calc'!A0",
    "wide formula": "\uff1dcmd|'/C calc'!A0",
    "at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "long": "a" * 200_000,
    "long lines": "::error::x\n" * 20_000,
    "colours": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x1b]8;;https://example.org\x1b\\link\x1b[",
    "nul": "a\x00b\x07c\x7fd",
    "half": "a\ud800b\udfffc",
    "bidi": "a\u202eb\u2066c",
    "quotes": "\"'\\, ; \t %0A::error::x </failure> ]]> &amp;",
    "empty": "",
    "blank": " \n\t ",
}


def check(number, outcome=v.PASSED, reason=None, **more):
    return v.Check(f"test_{number}", f"Says thing {number}", outcome, reason=reason, **more)


def verdict(outcome, checks=(), reason=None, kata="softmax", **more):
    return v.Verdict(
        kata, outcome, list(checks), reason, file=f"{kata}.py", seconds=1.25, seed=7, **more
    )


NAN = r.NotFinite("nan", 3, 9, (0, 1))


def broken(text, kata="softmax", **more):
    """A verdict on a file that does not load, with a text that the file itself chose."""
    file = f"{kata.replace('-', '_')}.py"
    return verdict(v.BROKEN, reason=r.DoesNotLoad(file, "ImportError", text), kata=kata, **more)


def stub(kata="softmax"):
    return verdict(v.NOT_STARTED, reason=r.StillStub(f"{kata}.py"), kata=kata)


def item(found, worth=10, title="Softmax"):
    return Item(found.kata, title, worth, points_for(found, worth), found)


def result(*items, who="alice", **more):
    return Result(Student(who, more.pop("name", ""), more.pop("ids", {})), list(items), **more)


def passed(kata="dot-product", worth=10):
    return item(verdict(v.PASSED, [check(1), check(2)], kata=kata), worth, "Dot product")


def partly(worth=10):
    raised = v.Raised("ValueError", "no", [v.Frame("softmax.py", 12, "softmax")])
    checks = [
        check(1),
        check(
            2,
            v.FAILED,
            r.RaisedException("ValueError"),
            evidence=v.Evidence(call="softmax(x)", raised=raised),
        ),
        check(3, v.NOT_REACHED, r.ValuesFirst(), law=True),
        check(4, v.NOT_VERIFIED),
    ]
    cause = v.Cause("no-maximum", "subtracts no maximum", "How large can exp grow?")
    found = v.Diagnosis("softmax", v.MISTAKE, [cause], explained=3)
    return item(verdict(v.FAILED, checks, diagnoses=[found]), worth)


def lost(kata="mask", worth=20):
    found = verdict(v.COULD_NOT_GRADE, [], r.WorkersEnded(), kata=kata)
    return item(found, worth, "Causal mask")


CASES = {
    "passed": result(passed()),
    "partly": result(passed(), partly()),
    "broken": result(item(broken("invalid syntax, line 3"))),
    "timed out": result(item(verdict(v.TIMED_OUT, [check(1), check(2, v.TIMED_OUT)]))),
    "timed out early": result(item(verdict(v.TIMED_OUT))),
    "out of memory": result(item(verdict(v.OUT_OF_MEMORY, [check(1, v.OUT_OF_MEMORY)]))),
    "crashed": result(item(verdict(v.CRASHED, [check(1, v.CRASHED, r.ProcessKilled("SIGSEGV"))]))),
    "not started": result(item(stub())),
    "nothing verified": result(item(verdict(v.FAILED, [check(1, v.NOT_VERIFIED)]))),
    "could not grade": result(lost()),
    "one could not be graded": result(passed(), partly(), lost()),
    "late": result(partly(), late=True, remarks=[m.NoKataFile()]),
}
NEEDS_ALL = {"classroom50", "gradescope"}


def hostile(text, outcome=v.FAILED):
    """A result with the text in every place that a student can reach."""
    raised = v.Raised(text, text, [v.Frame(text, 1, text, text)])
    evidence = v.Evidence(
        call=text, inputs=[text], returned=text, expected_type=text, raised=raised
    )
    checks = [
        check(1),
        v.Check(
            "test_2",
            text or "Two",
            v.FAILED,
            reason=r.TestRaised(text),
            evidence=evidence,
            output=text,
        ),
    ]
    symptom = symptoms.Measured("sums", text, values=False)
    found = v.Diagnosis("softmax", v.SYMPTOMS, symptoms=[symptom], file=text, blames=[text])
    step = steps.Advice(text)
    whole = verdict(outcome, checks, next_step=step, output=text, diagnoses=[found])
    whole.raised = raised
    early = broken(text, "scale", output=text)
    early.raised = raised
    early.file = text.replace("\0", "")
    return result(
        item(whole), item(early, title="Scale"), who=text or "a", name=text,
        remarks=[m.NotAnArchive(text, text)],
        ids={"login": text, "email": text, "moodle": "5", "canvas": "77"},
    )  # fmt: skip


@pytest.fixture
def given(tmp_path):
    """A sheet of each kind with rows that every case fits."""
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_bytes(moodle_sheet([("Participant 5", "alice", "a@b.c", "")]).encode("utf-8"))
    gradebook = tmp_path / "gradebook.csv"
    gradebook.write_text(canvas_book([("Liddell, Alice", "77", "alice", "")]), encoding="utf-8")
    return {"worksheet": worksheet, "gradebook": gradebook}


def about(given=None, environment=CLASSROOM50, **more):
    return About(files=given or {}, environment=environment, **{"title": "Attention", **more})


def documents(name, results, given, **more):
    """What a format makes of results, all in one document or one for each, as it is."""
    whole = about(given, **more)
    groups = [results] if load(name).holds_class else [[one] for one in results]
    return [render(name, group, whole) for group in groups]


def with_ids(case):
    return result(*case.items, ids={"moodle": "5", "canvas": "77"}, late=case.late)


# What holds for all of them.


@pytest.mark.parametrize("name", names())
def test_a_format_says_what_it_is(name):
    chosen = load(name)
    assert 10 < len(chosen.summary) < 80
    assert chosen.summary.isprintable()
    assert re.fullmatch(r"-|\$[A-Z_]+|[\w.]+", chosen.file)
    assert sys.modules[f"{GradeFormat.__module__}.{name.replace('-', '_')}"].__doc__


@pytest.mark.parametrize("name", names())
def test_a_format_stands_in_the_docs(name):
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in text
    assert f"--to {name}" in text


def test_a_format_that_is_not_there():
    with pytest.raises(KataError, match="there is no format called 'excel'"):
        load("excel")


@pytest.mark.parametrize("feedback", LEVELS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", names())
def test_every_outcome_can_be_written(name, case, feedback, given):
    found = with_ids(CASES[case])
    if name in NEEDS_ALL and not found.graded:
        with pytest.raises(CouldNotGrade) as caught:
            documents(name, [found], given, feedback=feedback)
        assert caught.value.next_step
        return
    for text in documents(name, [found], given, feedback=feedback):
        assert text.endswith("\n")
        assert text.encode("utf-8")


@pytest.mark.parametrize("feedback", LEVELS)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", names())
def test_nothing_a_student_writes_does_harm(name, kind, feedback, given):
    for text in documents(name, [hostile(HOSTILE[kind])], given, feedback=feedback):
        text.encode("utf-8")
        if name not in ("json", "junit"):  # which keep all that the judge keeps
            assert len(text) < 700_000
        kinds = ("Cc",) if name == "junit" else ("Cc", "Cf")  # XML holds what has no width
        allowed = {"\n", "\t"} | ({"\r", "\ufeff"} if name == "moodle" else set())
        assert {sign for sign in text if unicodedata.category(sign) in kinds} <= allowed
        if name in ("annotations", "reporter"):
            for line in text.splitlines():
                assert "##[" not in line
                assert not line.startswith(("::error::", "::add-mask", " "))


@pytest.mark.parametrize("name", names())
def test_points_say_no_more_than_points(name, given):
    found = result(passed(), partly(), ids={"moodle": "5", "canvas": "77"})
    found.items[1].verdict.output = "I printed this"
    for text in documents(name, [found], given, feedback=POINTS):
        if name == "reporter":
            text = "".join(base64.b64decode(line.split("=", 1)[1]).decode() for line in
                           text.splitlines()[:-1])  # fmt: skip
        for secret in ("I printed this", "NaN", "subtracts no maximum", "softmax(x)", "thing 2"):
            assert secret not in text


# Text.


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_line_is_one_line_and_a_block_has_no_commands(text):
    line = _text.line(text, 100)
    assert len(line) <= 100
    assert line.isprintable()
    block = _text.block(text, 1000)
    assert len(block) <= 1000
    assert set(block) & set("\r\0\x1b\x07\x85\u2028") == set()
    assert "##[" not in line + block


def test_of_a_long_text_a_block_keeps_the_end():
    assert _text.block("a\n" * 9000 + "the error", 50).endswith("a\nthe error")
    assert _text.line("first words " + "a" * 9000, 50).startswith("first words")


# GitHub: the reporter.


def outputs(*items, **more):
    text = render("reporter", [result(*items)], about(**more))
    return dict(line.split("=", 1) for line in text.splitlines())


def decoded(*items, **more):
    found = outputs(*items, **more)
    return {name: json.loads(base64.b64decode(found[name])) for name in found["runners"].split(",")}


def reported(found):
    """The log, the last line of it as data, and whether the job was green."""
    variables = {f"{name.upper()}_RESULTS": text for name, text in found.items()}
    done = subprocess.run(
        [NODE, str(FIXTURES / "reporter.js")],
        env={"INPUT_RUNNERS": found["runners"], **variables},
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert not done.stderr
    log = done.stdout.decode("utf-8").split("\n")
    return log, json.loads(log[-2]), done.returncode == 0


def test_reporter_has_an_output_for_each_kata():
    found = outputs(passed(), partly())
    assert list(found) == ["dot_product", "softmax", "runners"]
    assert found["runners"] == "dot_product,softmax"
    partial = decoded(passed(), partly())["softmax"]
    assert partial["max_score"] == len(partial["tests"]) == 3  # one could not be verified
    assert [test["score"] for test in partial["tests"]] == [1, 0, 0]
    assert partial["tests"][1]["test_code"] == "hint: softmax subtracts no maximum"


@pytest.mark.parametrize("case", CASES)
def test_reporter_gets_what_it_needs(case):
    for document in decoded(*CASES[case].items).values():
        matches("reporter", document)


@pytest.mark.parametrize("kind", HOSTILE)
def test_reporter_gets_what_it_needs_from_hostile_text(kind):
    for document in decoded(*hostile(HOSTILE[kind]).items, feedback=FULL).values():
        matches("reporter", document)


def test_reporter_turns_red_as_asked():
    def statuses(*items, **more):
        return [document["status"] for document in decoded(*items, **more).values()]

    assert statuses(passed(), partly()) == ["pass", "fail"]
    assert statuses(passed(), partly(), fail_under=60) == ["pass", "pass"]
    assert statuses(passed(), partly(), fail_under=80) == ["pass", "fail"]
    assert statuses(passed(), lost(), fail_under=60) == ["pass", "error"]


@pytest.mark.parametrize("number", [100, 800])
def test_reporter_drops_no_check_to_fit(number):
    long = [
        v.Check(f"t{i}", f"{i} {'x' * 5000}", v.FAILED, reason=r.LawBroken("y" * 5000))
        for i in range(number)
    ]
    for limit in (NAMED, FULL):
        text = outputs(item(verdict(v.FAILED, long)), feedback=limit)["softmax"]
        assert len(text) < 90_000
        tests = json.loads(base64.b64decode(text))["tests"]
        assert [int(test["name"].split()[0].rstrip("…")) for test in tests] == list(range(number))


def test_reporter_refuses_what_cannot_fit():
    checks = [check(i) for i in range(5000)]
    with pytest.raises(KataError, match="5000 checks, more than the reporter"):
        outputs(item(verdict(v.PASSED, checks)))


@pytest.mark.skipif(not NODE, reason="no node")
@pytest.mark.parametrize("case", CASES)
def test_reporter_counts_the_same_in_table_and_annotation(case):
    items = CASES[case].items
    found = outputs(*items)
    _, said, green = reported(found)
    assert green == all(one.passed for one in items)
    table = said["table"]
    assert [row[0] for row in table] == found["runners"].split(",")
    if all(one.points is None for one in items):
        assert said["annotation"] is None
        return
    assert said["annotation"] == {
        "totalPoints": sum(row[1] for row in table),
        "maxPoints": sum(row[2] for row in table),
    }


@pytest.mark.skipif(not NODE, reason="no node")
def test_reporter_neither_gives_nor_takes_points_for_what_could_not_be_graded():
    assert reported(outputs(passed(), lost()))[1]["annotation"] == {
        "totalPoints": 2,
        "maxPoints": 2,
    }


# What a runner takes for a command: actions/runner, src/Runner.Common/ActionCommand.cs.
COMMAND = re.compile(r"\s*::[\w-]+( [^:]*)?::|.*##\[[\w-]+")


@pytest.mark.skipif(not NODE, reason="no node")
@pytest.mark.parametrize("kind", HOSTILE)
def test_reporter_prints_no_command_of_a_student(kind):
    log, said, green = reported(outputs(*hostile(HOSTILE[kind]).items, feedback=FULL))
    assert not green
    commands = [line for line in log if COMMAND.match(line)]
    total, most = said["annotation"].values()
    assert commands == [
        f"::notice title=Autograding complete::Points {total}/{most}",
        f'::notice title=Autograding report::{{"totalPoints":{total},"maxPoints":{most}}}',
    ]


# GitHub: annotations and the summary.


def test_annotations_point_at_the_line_of_the_exception():
    assert render("annotations", [CASES["partly"]], about()).splitlines() == [
        "::error file=softmax.py,line=12,title=Softmax%3A failed::softmax subtracts no maximum",
        "::notice title=Attention Katas::Points 13/20",
    ]


def test_annotations_point_at_the_function_else(tmp_path):
    found = partly()
    found.verdict.checks[1].evidence = None
    found.verdict.file = str(tmp_path / "work" / "softmax.py")
    (tmp_path / "work").mkdir()
    Path(found.verdict.file).write_text("import torch\n\n\ndef softmax(x):\n    pass\n")
    text = render(
        "annotations", [result(found)], about(environment={"GITHUB_WORKSPACE": str(tmp_path)})
    )
    assert text.startswith(f"::error file=work{os.sep}softmax.py,line=4,")
    found.verdict.file = str(tmp_path / "work" / "missing.py")
    text = render(
        "annotations", [result(found)], about(environment={"GITHUB_WORKSPACE": str(tmp_path)})
    )
    assert text.startswith(f"::error file=work{os.sep}missing.py,title=")


def blamed(file="softmax.py", blames=("stable",), kata="softmax"):
    reason = r.EntriesDiffer(3, 9, (0, 1), 0.5, 0.25)
    checks = [check(i, v.FAILED, reason, rung="values") for i in range(13)]
    found = v.Diagnosis("softmax", v.EARLIER_WORK, file=file, blames=list(blames))
    return result(item(verdict(v.FAILED, checks, kata=kata, diagnoses=[found])))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (blamed(), "softmax is right as soon as stable is: look there first"),
        (blamed(blames=("a", "b")), "softmax is right as soon as a and b are: look there first"),
        (
            blamed("mask.py", ["mask"]),
            "softmax is not at fault, mask is: once it is right, so is this",
        ),
    ],
)
def test_annotations_name_the_earlier_work_that_is_to_blame(found, said):
    assert render("annotations", [found], about()).splitlines()[0].endswith(f"::{said}")
    assert said in document("gradescope", found)["tests"][0]["output"]
    assert said in render("text", [found], about()).replace("\n    ", " ")
    assert said not in render("annotations", [found], about(feedback=POINTS))


def test_what_many_checks_say_is_said_once():
    found = blamed()
    found.items[0].verdict.diagnoses = []
    alike = "the values are wrong (12 more fail in the same way)"
    assert render("annotations", [found], about()).splitlines()[0].endswith(f"::{alike}")
    lines = document("gradescope", found)["tests"][0]["output"].splitlines()
    assert lines[1:4] == [f"✗ Says thing 0: {alike}", "✗ Says thing 1", "✗ Says thing 2"]
    raised = v.Evidence(raised=v.Raised("ValueError", "no"))
    for one in found.items[0].verdict.checks[:2]:
        one.evidence, one.reason = raised, r.RaisedException("ValueError")
    text = document("gradescope", found)["tests"][0]["output"]
    assert "raised ValueError (1 more stops in the same way)" in text
    assert "(10 more fail in the same way)" in text
    assert "same way" not in document("gradescope", found, feedback=POINTS)["tests"][0]["output"]


@pytest.mark.parametrize("feedback", LEVELS)
def test_to_wait_is_not_to_be_out_of_reach(feedback):
    law = check(2, v.NOT_REACHED, r.ValuesFirst(), law=True)
    wrong = result(item(verdict(v.FAILED, [check(1, v.FAILED, NAN), law])))
    text = document("gradescope", wrong, feedback=feedback)["tests"][0]["output"]
    assert f"2: {words.reason(r.ValuesFirst())}" in text
    late = check(2, v.NOT_REACHED, r.HungBefore("softmax"))
    hung = result(item(verdict(v.TIMED_OUT, [check(1, v.TIMED_OUT), late])))
    text = document("gradescope", hung, feedback=feedback)["tests"][0]["output"]
    said = "a check before it ran out of time" if feedback == POINTS else words.check(late)
    assert f"2: not reached: {said}" in text


def test_annotations_count_only_what_could_be_graded():
    assert render("annotations", [result(passed(), lost())], about()).splitlines() == [
        "::warning title=mask::Causal mask could not be graded: a fault of the judge or the "
        "machine, not of the code; it costs nothing",
        "::notice title=Attention Katas::Points 10/10",
    ]


def test_annotations_warn_where_the_result_is_high_enough():
    assert render("annotations", [CASES["partly"]], about(fail_under=60)).startswith("::warning ")
    assert render("annotations", [CASES["partly"]], about(fail_under=70)).startswith("::error ")


def test_annotations_are_ten_at_most():
    items = [item(broken("no", f"kata-{i}")) for i in range(15)]
    lines = render("annotations", [result(*items)], about()).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::notice"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_annotations_hold_no_command_of_a_student(kind):
    lines = render("annotations", [hostile(HOSTILE[kind])], about(feedback=FULL)).split("\n")
    assert [re.match("::[a-z]+ ", line)[0] for line in lines[:-1]] == [
        "::error ", "::error ", "::notice "
    ]  # fmt: skip
    for line in lines[:-1]:
        properties = line.split("::")[1].split(" ", 1)[1]
        assert {one.split("=")[0] for one in properties.split(",")} <= {"file", "line", "title"}


def test_a_command_is_escaped_as_the_toolkit_does():
    assert (
        annotations.command("error", "50 %\r\n::x", file="a:b,c.py", line="")
        == "::error file=a%3Ab%2Cc.py::50 %25%0D%0A::x"
    )


def test_quiet_text_ends_at_a_word_that_cannot_be_guessed():
    first, second = annotations.quiet("::error::a\n"), annotations.quiet("::error::a\n")
    token = re.fullmatch(r"::stop-commands::([0-9a-f]{32})\n::error::a\n::\1::\n", first)[1]
    assert token not in second


def test_summary_has_a_table_and_the_details_of_what_failed():
    text = render("actions", [CASES["one could not be graded"]], about(fail_under=80))
    assert text.startswith("## Attention: 13 of 20 points; Causal mask could not be graded")
    assert "| Softmax | 3 of 10 | 1 of 4 | failed |" in text
    assert "| Causal mask | - | - | could not grade |" in text
    assert "\n### Softmax\n\n```text\n" in text
    assert "### Dot product" not in text
    assert "This is below 80 %." not in text  # what could not be graded counts as full
    assert "This is below 80 %." in render("actions", [CASES["partly"]], about(fail_under=80))


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_ends_a_fence_of_the_summary(kind):
    text = render("actions", [hostile(HOSTILE[kind])], about(feedback=FULL))
    fence, outside = "", []
    for line in text.split("\n"):
        if fence:
            fence = "" if re.fullmatch(rf" {{0,3}}{fence}`*\s*", line) else fence
        elif found := re.match("(`{3,})text$", line):
            fence = found[1]
        else:
            outside.append(line)
    assert not fence
    assert all(re.match(r"$|## |### |\|", line) for line in outside)
    assert not any(re.search(r"(?<!\\)[<`]", line) for line in outside)


def test_names_in_the_summary_are_no_markup():
    odd = item(verdict(v.FAILED, [check(1, v.FAILED)]), title="a|b <i> `c` [d](e)")
    text = render("actions", [result(odd)], about(title="*Week* #1"))
    assert text.startswith("## \\*Week\\* \\#1: 0 of 10 points\n")
    assert "| a\\|b \\<i\\> \\`c\\` \\[d\\]\\(e\\) | 0 of 10 |" in text


def test_summary_leaves_out_details_rather_than_be_dropped():
    items = [item(broken("é" * 100_000, f"kata-{i}")) for i in range(200)]
    text = render("actions", [result(*items)], about(feedback=FULL))
    assert len(text.encode("utf-8")) < 600_000
    shown = text.count("\n### ")
    assert 0 < shown < 200
    assert f"There is no room for the details of {200 - shown} more." in text


# JSON documents.


def matches(name, document):
    schema = json.loads((FIXTURES / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)


def document(name, found, **more):
    return json.loads(render(name, [found], about(**more)))


@pytest.mark.parametrize("feedback", LEVELS)
@pytest.mark.parametrize(
    ("name", "case"),
    [
        (name, case)
        for name in ("classroom50", "exercism", "gradescope", "prairielearn")
        for case in CASES
        if CASES[case].graded or name not in NEEDS_ALL
    ],
)
def test_a_document_is_as_its_reader_wants_it(name, case, feedback):
    matches(name, document(name, CASES[case], feedback=feedback))


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", ["classroom50", "exercism", "gradescope", "prairielearn"])
def test_a_document_of_hostile_text_is_as_its_reader_wants_it(name, kind):
    matches(name, document(name, hostile(HOSTILE[kind]), feedback=FULL))


@pytest.mark.parametrize("case", CASES)
def test_json_is_as_the_schema_says(case):
    report, grades = (
        json.loads((ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
        for name in ("report", "grades")
    )
    registry = Registry().with_resource("report.schema.json", Resource.from_contents(report))
    both = [CASES[case], hostile(HOSTILE["half"])]
    said = json.loads(render("json", both, about()))
    Draft202012Validator(grades, registry=registry).validate(said)
    assert len(said["results"]) == 2
    said["results"][0]["katas"][0]["verdict"]["outcome"] = "fine"
    assert not Draft202012Validator(grades, registry=registry).is_valid(said)


def test_classroom50_says_who_and_what():
    said = document("classroom50", CASES["partly"])
    assert (said["score"], said["max-score"]) == (13, 20)
    assert said["datetime"] == "2026-06-01T14:32:05Z"
    assert said["review"] == said["commit"]
    assert [(one["passed"], one["score"], one["kata"]) for one in said["tests"]] == [
        (True, 10, "dot-product"),
        (False, 3, "softmax"),
    ]
    assert said["tests"][1]["hint"] == "softmax subtracts no maximum"


@pytest.mark.parametrize("name", ["CLASSROOM", "OWNER", "SUBMISSION_TAG", "RELEASE_URL"])
def test_classroom50_asks_for_its_runner(name):
    environment = {key: value for key, value in CLASSROOM50.items() if key != name}
    with pytest.raises(KataError, match="did not say") as caught:
        document("classroom50", CASES["passed"], environment=environment)
    assert "autograder.py" in caught.value.next_step


def test_gradescope_gives_partial_credit():
    said = document("gradescope", CASES["partly"])
    assert said["score"] == sum(test["score"] for test in said["tests"]) == 13
    assert sum(test["max_score"] for test in said["tests"]) == 20
    assert [test["status"] for test in said["tests"]] == ["passed", "failed"]
    assert said["stdout_visibility"] == "hidden"
    assert "✗ Says thing 2: raised ValueError" in said["tests"][1]["output"]


def test_exercism_shows_the_first_failure_first():
    said = document("exercism", result(partly()))
    assert said["status"] == "fail"
    assert [test["status"] for test in said["tests"]] == ["pass", "fail", "fail", "pass"]
    assert document("exercism", CASES["passed"])["status"] == "pass"
    broken = document("exercism", CASES["broken"])
    assert (broken["status"], broken["tests"]) == ("error", [])
    assert "invalid syntax, line 3" in broken["message"]
    assert document("exercism", CASES["could not grade"])["status"] == "error"


def test_exercism_cuts_output_and_says_so():
    noisy = verdict(v.FAILED, [check(1, v.FAILED, output="a" * 600 + "the end")])
    printed = document("exercism", result(item(noisy)), feedback=FULL)["tests"][0]["output"]
    assert printed.startswith("Output was truncated. Please limit to 500 chars")
    assert printed.endswith("the end")


def test_prairielearn_takes_no_attempt_for_a_fault_of_ours():
    said = document("prairielearn", CASES["partly"])
    assert (said["gradable"], said["score"]) == (True, 0.65)
    said = document("prairielearn", CASES["one could not be graded"])
    assert said["gradable"] is False
    assert "score" not in said
    assert "Causal mask could not be graded" in said["format_errors"][0]


def test_prairielearn_stays_below_a_megabyte():
    items = [item(broken("\x01é" * 9000, f"kata-{i}")) for i in range(99)]
    assert len(render("prairielearn", [result(*items)], about(feedback=FULL))) < 1_000_000


def test_junit_carries_points():
    root = xml.fromstring(render("junit", [CASES["one could not be graded"]], about()))
    found = {
        suite.get("name"): {one.get("name"): one.get("value") for one in suite.iter("property")}
        for suite in root
    }
    assert (found["softmax"]["points"], found["softmax"]["worth"]) == ("3", "10")
    assert "points" not in found["mask"]
    assert root.find("testsuite[@name='mask']").get("errors") == "1"


# Text for a student, and a folder for a class.


def test_text_says_what_to_think_of_and_what_to_type():
    found = CASES["one could not be graded"]
    found.items[1].verdict.diagnoses[0].causes[0].level = 2
    unwritten = item(stub("scale"))
    text = render("text", [result(*found.items, unwritten, name="Alice Liddell")], about())
    assert text.splitlines() == [
        "Attention: 13 of 30 points; Causal mask could not be graded: a fault of the",
        "  judge or the machine, not of the code; it costs nothing",
        "Alice Liddell",
        "",
        "   10 of 10   Dot product: passed",
        "    3 of 10   Softmax: failed",
        "    - of 20   Causal mask: could not grade",
        "    0 of 10   Softmax: not started",
        "",
        "Softmax: failed, 1 of 4 checks passed",
        "  ✗ Says thing 2: raised ValueError",
        "  – Says thing 3: counts once the values are right",
        "  softmax subtracts no maximum",
        "    think: How large can exp grow?",
        "    hint: kata hint softmax --level 2",
        "",
        "Softmax: not started",
        "  scale.py is still the stub",
        "  begin: kata show scale",
        "",
        "Written by kata grade.",
    ]


@pytest.mark.parametrize("kind", [*HOSTILE, "wide", "indented"])
def test_no_line_of_a_text_is_wider_than_a_terminal(kind):
    more = {"wide": "\u6ce8\u610f\u529b" * 60, "indented": "x\n" + " " * 500 + "y" * 200}
    text = render("text", [hostile({**HOSTILE, **more}[kind])], about(feedback=FULL))
    assert max(map(cell_len, text.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in text.splitlines())


IDS = [
    "alice", "Bob", "bob", "a/b", "a\\b", "a b", "..", "../../x", "/etc/passwd", "con", "NUL.txt",
    "", " ", ".hidden", "x" * 300, "x" * 301, "é", "e\u0301", "\ud800", "a\0b", "a_b", "straße",
    "STRASSE", "-rf", "a_b-" + "0" * 16, "~", "ａlice", "c:d", "a\n",
]  # fmt: skip


def test_file_names_are_safe_and_never_the_same(tmp_path):
    found = _text.file_names(IDS)
    assert found["straße"] != "straße"
    assert found["alice"] != "alice"  # another one is that, in wide letters
    assert _text.file_names(["alice", "zoë", "4711"]) == {x: x for x in ("alice", "zoë", "4711")}
    compared = {unicodedata.normalize("NFKC", name).casefold() for name in found.values()}
    assert len(compared) == len(IDS)
    for name in found.values():
        assert re.fullmatch(r"[\w][\w.-]{0,80}", name)
        assert not re.match(r"(con|nul)(\.|$)", name, re.IGNORECASE)
        (tmp_path / f"{name}.txt").touch()
    assert len(list(tmp_path.iterdir())) == len(IDS)
    # Whoever took the name that somebody else is given.
    taken = _text.file_names(["a b", found["a b"]])
    assert len(set(taken.values())) == 2


@pytest.mark.parametrize("name", ["text", "gradescope", "junit", "exercism", "prairielearn"])
def test_in_a_folder_each_student_has_a_document(tmp_path, name):
    both = [result(passed(), who="alice"), result(partly(), who="b/../../ob")]
    check_format(name, 2, about(), f"{tmp_path}")
    found = dict(parts(name, f"{tmp_path}{os.sep}", both))
    suffix = Path(load(name).file).suffix
    assert [place.endswith(suffix) for place in found] == [True, True]
    assert {Path(place).parent for place in found} == {tmp_path}
    assert [render(name, some, about()) for some in found.values()] == [
        render(name, [one], about()) for one in both
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [(name, "for one submission") for name in ("reporter", "actions", "annotations", "classroom50")]
    + [(name, "a class in one file") for name in ("json", "csv", "canvas", "moodle")],
)
def test_a_folder_is_refused_where_it_is_of_no_use(name, said):
    with pytest.raises(KataError, match=said) as caught:
        check_format(name, 2, about(), "feedback/")
    assert "--to " in caught.value.next_step


@pytest.mark.parametrize("feedback", LEVELS)
def test_what_is_not_judged_yet_is_no_fault_of_ours(feedback):
    waiting = item(verdict(v.COULD_NOT_GRADE, reason=r.NotJudgedYet(), kata="mask"), 20, "Mask")
    found = result(passed(), waiting)
    for name in ("text", "annotations", "actions", "reporter", "prairielearn", "csv"):
        text = render(name, [found], about(feedback=feedback))
        assert "fault of the judge" not in text, name
        assert "could not grade" not in text, name
    for name in ("text", "actions", "csv"):
        assert "not judged yet" in render(name, [found], about(feedback=feedback)), name
    [row] = csv.DictReader(io.StringIO(render("csv", [found], about())))
    assert row["outcome"] == "not judged yet: mask"
    assert row["remarks"] == "mask: not judged yet: the grading was stopped before"


def test_a_format_for_one_refuses_a_class():
    with pytest.raises(KataError, match="gradescope is for one student, and here are 2"):
        render("gradescope", [CASES["passed"], CASES["partly"]], about())


# Tables.


def table(text, separator=","):
    return list(
        csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    )


def test_csv_has_a_row_for_each_student():
    results = [result(passed(), partly(), who="alice", name="Alice Liddell"),
               result(lost(), passed(), who="bob", late=True,
                      remarks=[m.NoKataFile()])]  # fmt: skip
    assert table(render("csv", results, about())) == [
        ["student", "name", "dot-product", "softmax", "mask", "points", "worth", "late", "outcome",
         "remarks"],
        ["alice", "Alice Liddell", "10", "3", "", "13", "20", "", "graded", ""],
        ["bob", "", "10", "", "", "", "30", "late", "could not grade mask",
         "no kata file was found; "
         "mask: could not grade: the sandbox workers were ended from outside, twice"],
    ]  # fmt: skip


def gone(outcome, reason, kata):
    return item(verdict(outcome, reason=reason, kata=kata))


@pytest.mark.parametrize(
    ("items", "outcome", "remarks"),
    [
        (
            [item(broken("No module named 'm'", k)) for k in ("softmax", "mask", "dot-product")],
            "did not load: softmax, mask, dot-product",
            "all 3 katas: broken: does not load: ImportError: No module named 'm'",
        ),
        (
            [gone(v.BROKEN, r.NotPython("dot_product.py", "invalid syntax"), "dot-product"),
             gone(v.TIMED_OUT, r.TimedOut(2.0, True), "softmax"), passed("mask"),
             gone(v.CRASHED, None, "scale"), gone(v.NOT_STARTED, r.FileMissing("a.py"), "a")],
            "did not load: dot-product; timed out: softmax; crashed: scale; not started: a",
            "dot-product: broken: is not valid Python: invalid syntax; "
            "softmax: timed out: stopped after 2 s without an answer; scale: crashed",
        ),
        ([gone(v.NOT_STARTED, r.FileMissing(f"{k}.py"), k) for k in "ab"], "nothing handed in", ""),
        ([item(stub(k)) for k in "ab"], "nothing written", ""),
    ],
    ids=["one reason", "several", "nothing", "stubs"],
)  # fmt: skip
def test_csv_says_why_katas_did_not_run(items, outcome, remarks):
    row = table(render("csv", [result(*items)], about()))[1]
    assert (row[-2], row[-1]) == (outcome, remarks)


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", ["csv", "canvas"])
def test_no_cell_is_a_formula(name, kind):
    rows = table(render(name, [hostile(HOSTILE[kind])], about(title="Attention (1)")))
    assert len(rows) == 2
    for text in rows[1]:
        assert not text.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))
        assert text.isprintable()


def test_a_cell_that_would_be_a_formula_is_still_legible():
    assert _sheet.cell("-1") == "'-1"
    assert _sheet.cell("Ann-Marie") == "Ann-Marie"


def canvas_book(people, before="", head="Attention (4711)"):
    head = f"Student,ID,SIS User ID,SIS Login ID,Section,Warm-up (12),{head},Final Score"
    rows = ["    Points Possible,,,,,5.00,20.00,(read only)"]
    rows += [f'"{name}",{id},,{login},S1,4.00,{grade},80.0' for name, id, login, grade in people]
    return "\n".join([head, *rows]) + "\n"


@pytest.fixture
def gradebook(tmp_path):
    path = tmp_path / "export.csv"
    people = [
        ("Liddell, Alice", "77", "alice", ""),
        ("Builder, Bob", "78", "bob", "11.00"),
        ("Carroll, Lewis", "79", "carroll", "EX"),
        ("Twin, A", "80", "twin1", ""),
        ("Twin, A", "81", "twin2", ""),
        ("Hatter, Mad", "82", "hatter", ""),
    ]
    path.write_text(canvas_book(people), encoding="utf-8")
    return path


def test_canvas_fills_in_one_column(gradebook):
    whole = about({"gradebook": gradebook})
    results = [
        result(passed(), partly(), who="a", ids={"canvas": "77"}),
        result(passed(), lost(), who="bob"),
        result(passed(), partly(), who="x", name="A Twin"),
        result(passed(), partly(), who="y", name="Mad Hatter"),
    ]
    assert table(render("canvas", results, whole)) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention (4711)"],
        ["    Points Possible", "", "", "", "", "20.00"],
        ["Liddell, Alice", "77", "", "alice", "S1", "13"],
        ["Builder, Bob", "78", "", "bob", "S1", "11.00"],
        ["Carroll, Lewis", "79", "", "carroll", "S1", "EX"],
        ["Twin, A", "80", "", "twin1", "S1", ""],
        ["Twin, A", "81", "", "twin2", "S1", ""],
        ["Hatter, Mad", "82", "", "hatter", "S1", "13"],
    ]
    assert whole.notes == [
        "bob could not be graded: no new grade",
        "the katas are worth 30 points and Attention (4711) is out of 20.00: set the points of the "
        "assignment to 30 in Canvas",
        "A Twin has no row of their own in the gradebook",
        "3 people in the gradebook handed nothing in: Carroll, Lewis, Twin, A, Twin, A; their "
        "cells stay as they were",
    ]


def test_canvas_says_which_grades_change_and_which_fall(tmp_path):
    path = tmp_path / "export.csv"
    before = ["20.00", "10", "10.00", "EX", "", *["3"] * 12]
    people = [(f"P{i}", str(i), f"p{i}", grade) for i, grade in enumerate(before)]
    path.write_text(canvas_book([*people, ("Late, Lea", "99", "lea", "4")]), encoding="utf-8")
    whole = about({"gradebook": path})
    render("canvas", [result(passed(), who=f"p{i}") for i in range(len(before))], whole)
    *_, absent, changes = whole.notes
    assert absent == (
        "1 person in the gradebook handed nothing in: Late, Lea; the cell stays as it was"
    )
    assert changes == (
        "14 grades change: P0 20 -> 10 (falls), P3 EX -> 10, "
        + ", ".join(f"P{i} 3 -> 10" for i in range(5, 13))
        + " and 4 more"
    )


def test_who_handed_nothing_in_is_named_up_to_ten():
    (note,) = _sheet.absent([f"P{i}" for i in range(13)], "worksheet")
    assert note.startswith("13 people in the worksheet handed nothing in: P0, ")
    assert note.endswith(", P9 and 3 more; their cells stay as they were")
    assert _sheet.absent([], "worksheet") == []


@pytest.mark.parametrize("title", ["Attention", "attention", "Attention (4711)"])
def test_canvas_finds_the_assignment_by_its_title(gradebook, title):
    text = render(
        "canvas", [result(passed(), who="alice")], about({"gradebook": gradebook}, title=title)
    )
    assert table(text)[2][-1] == "10"


def test_canvas_says_which_assignments_there_are(gradebook):
    with pytest.raises(KataError, match=r"there are Warm-up \(12\), Attention \(4711\)") as caught:
        render("canvas", [result(passed())], about({"gradebook": gradebook}, title="Softmax"))
    assert "--title" in caught.value.next_step


def test_canvas_without_a_gradebook_leaves_out_who_could_not_be_graded():
    whole = about(title="Attention (4711)")
    results = [result(passed(), name="Alice", ids={"canvas": "77", "login": "al"}), result(lost())]
    assert table(render("canvas", results, whole)) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention (4711)"],
        ["Alice", "77", "", "al", "", "10"],
    ]
    assert whole.notes == ["alice could not be graded: no new grade"]


def test_canvas_refuses_a_title_that_it_would_not_find():
    with pytest.raises(KataError, match="for a new assignment") as caught:
        render("canvas", [CASES["passed"]], about(title="Week 2"))
    assert "--gradebook EXPORT.csv" in caught.value.next_step
    assert "--title 'Week 2 (ID)'" in caught.value.next_step
    with pytest.raises(KataError, match="for a new assignment"):
        check_format("canvas", 12, about(title="Week 2"))


def test_canvas_keeps_the_separator(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("Student;ID;SIS Login ID;Section;Attention (1)\nAlice;77;al;S;\n")
    text = render("canvas", [result(passed(), who="al")], about({"gradebook": path}))
    assert text.splitlines()[1] == "Alice;77;al;S;10"


HEADS = {
    "en": "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments",
    "de": "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Änderbar,"
    "Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar",
}


def moodle_sheet(people, language="en", most="20.00"):
    rest = '"Monday, 1 June",-,"says ""so"",\nfine"'
    rows = [
        f'{who},{name},{mail},Submitted,{grade},"{most}",Yes,{rest}'
        for who, name, mail, grade in people
    ]
    return "\ufeff" + "\r\n".join([HEADS[language], *rows]) + "\r\n"


PEOPLE = [
    ("Participant 5", "Alice", "alice@example.org", ""),
    ("Participant 15", "Bob", "Bob@example.org", "7.00"),
    ("Participant 25", "Lewis", "lewis@example.org", "9.00"),
    ("Participant 35", "Kate", "kate@example.org", ""),
]


@pytest.mark.parametrize("language", HEADS)
def test_moodle_fills_in_the_grades_and_nothing_else(tmp_path, language):
    path = tmp_path / "worksheet.csv"
    people = PEOPLE
    if language == "de":
        people = [(w.replace("Participant ", "Teilnehmer/in"), *rest) for w, *rest in PEOPLE]
    sheet = moodle_sheet(people, language)
    path.write_bytes(sheet.encode("utf-8"))
    whole = about({"worksheet": path})
    results = [
        result(passed(), partly(), who="1", ids={"moodle": "5"}),
        result(passed(), lost(), who="2", ids={"email": "bob@example.org"}),
        result(passed(), partly(), who="kate@example.org"),
        result(passed(), partly(), who="nobody", ids={"moodle": "55"}),
    ]
    text = render("moodle", results, whole)
    before, after = table(sheet), table(text)
    assert [row[4] for row in after[1:]] == ["13", "", "9.00", "13"]
    assert [row[:4] + row[5:] for row in after] == [row[:4] + row[5:] for row in before]
    assert text.startswith("\ufeff")
    assert text.count("\r\n") == 5
    assert whole.notes == [
        "the katas are worth 30 points and the worksheet goes up to 20.00: set the maximum grade "
        "of the assignment to 30 before you upload it",
        "nobody has no row of their own in the worksheet",
        "2 could not be graded: no new grade",
        "1 person in the worksheet handed nothing in: Lewis; the cell stays as it was",
    ] + ["feedback comments that were there stay as they were: 2"] * (language == "en")


def commented(tmp_path, *comments):
    """A worksheet with these comments, of Participant 0 and so on."""
    path = tmp_path / "worksheet.csv"
    rows = [f'Participant {i},N{i},,S,,10,Yes,-,-,"{text}"' for i, text in enumerate(comments)]
    path.write_text("\n".join([HEADS["en"], *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("feedback", LEVELS)
def test_moodle_gets_the_feedback_as_html(tmp_path, feedback):
    path = commented(tmp_path, "", "well done", "")
    whole = about({"worksheet": path}, feedback=feedback)
    found = [result(partly(), who=f"s{i}", ids={"moodle": str(i)}) for i in range(2)]
    first, second, third = [row[-1] for row in table(render("moodle", found, whole))[1:]]
    assert first.startswith(
        "<p>Attention: 3 of 10 points<br>s0<br><br>&nbsp;&nbsp;&nbsp;&nbsp;3 of 10"
    )
    assert ("subtracts no maximum" in first) == (feedback != POINTS)
    assert first.endswith("<br><span class=kata-grade>Written by kata grade.</span></p>")
    assert (second, third) == ("well done", "")
    assert "feedback comments that were there stay as they were: 1" in whole.notes
    path.write_text(render("moodle", found, whole).replace("3 of 10", "2 of 10"), encoding="utf-8")
    again = about({"worksheet": path}, feedback=feedback)
    assert table(render("moodle", found, again))[1][-1] == first


def test_our_comment_in_moodle_is_recognised_by_its_class(tmp_path):
    """Not by its sentence, and not where somebody wrote above or below it."""
    sign = '<span class="kata-grade">Geschrieben von kata grade.</span>'
    ours = [f"<p>2 of 10<br />{sign}</p>", f"<p>{sign.replace(chr(34), chr(39))}</p>\r\n"]
    others = [
        "<p>2 of 10<br>Written by kata grade.</p>",
        f"<p>2 of 10<br>{sign}</p><p>well done</p>",
        f"<p>well done</p><p>2 of 10<br>{sign}</p>",
        f"<p>2 of 10<br>{sign}<br>well done</p>",
    ]
    path = commented(tmp_path, *(text.replace('"', '""') for text in ours + others))
    whole = about({"worksheet": path})
    found = [result(partly(), who=f"s{i}", ids={"moodle": str(i)}) for i in range(6)]
    comments = [row[-1] for row in table(render("moodle", found, whole))[1:]]
    assert ["3 of 10 points" in comment for comment in comments] == [True] * 2 + [False] * 4
    assert comments[2:] == others


MOODLE_TAGS = {"<p>", "<br>", "<span class=kata-grade>", "</span>", "</p>"}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_comment_in_moodle_is_no_markup_and_ends_no_cell(tmp_path, kind):
    path = commented(tmp_path, "")
    found = hostile(HOSTILE[kind])
    found.student = Student("x", HOSTILE[kind], {"moodle": "0"})
    text = render("moodle", [found], about({"worksheet": path}, feedback=FULL))
    comment = table(text)[1][-1]
    assert not set('"\\\n\r') & set(comment)
    assert set(re.findall("<[^>]*>", comment)) == MOODLE_TAGS
    assert len(comment) < 25_000
    assert re.fullmatch(r"[^&]*(&(amp|lt|gt|quot|nbsp|#\w+);[^&]*)*", comment)


@pytest.mark.parametrize("most", ["20", "20,00", "20.0"])
def test_moodle_reads_any_decimal_sign(tmp_path, most):
    path = tmp_path / "worksheet.csv"
    people = [(*one[:3], "5.00".replace(".", ",")) for one in PEOPLE[:1]]
    path.write_text(moodle_sheet([(*people[0][:3], "")], "de", most), encoding="utf-8")
    whole = about({"worksheet": path})
    text = render("moodle", [result(passed(), partly(), ids={"moodle": "Participant 5"})], whole)
    assert table(text)[1][4] == "13"
    assert whole.notes == []


def test_moodle_is_not_misled_by_a_class_with_one_grade(tmp_path):
    path = tmp_path / "worksheet.csv"
    head = "Kennung,Name,Matrikel,Bearbeiter,Bewertung,Bestwertung,Anmerkung\n"
    path.write_text(head + "P1,A,99,,20,20,\nP2,B,98,,20,20,\n", encoding="utf-8")
    found = result(passed(), ids={"moodle": "2"})
    text = render("moodle", [found], about({"worksheet": path}))
    assert [row[4] for row in table(text)[1:]] == ["20", "10"]


def test_moodle_leaves_a_row_alone_that_two_claim(tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(moodle_sheet(PEOPLE), encoding="utf-8")
    whole = about({"worksheet": path})
    claims = [result(passed(), partly(), who=who, ids={"moodle": "5"}) for who in ("a", "b")]
    text = render("moodle", claims, whole)
    assert table(text)[1][4] == ""
    assert whole.notes == [
        "a and b have one row in the worksheet: neither was filled in",
        "3 people in the worksheet handed nothing in: Bob, Lewis, Kate; their cells stay as they "
        "were",
    ]


def test_moodle_finds_no_address_where_a_student_may_write(tmp_path):
    path = tmp_path / "worksheet.csv"
    head = HEADS["en"].replace("Email address", "Nickname")
    rows = ["Participant 5,Alice,alice@example.org", "Participant 6,Eve,eve"]
    path.write_text(head + "\n" + "\n".join(f"{r},S,,20.00,Yes,-,-,x" for r in rows) + "\n")
    with pytest.raises(KataError, match="nobody of the class was found in the worksheet"):
        render("moodle", [result(passed(), who="alice@example.org")], about({"worksheet": path}))


BAD = {
    "not there": (None, "there is no file"),
    "a grade book": (b"Student,ID,Section,A (1)\nAlice,x,S,\n", "does not hold participants"),
    "not utf-8": (b"Identifier,Grade\nParticipant 5,\xff\n", "is not UTF-8"),
    "no rows": (b"Identifier,Grade\n", "has no rows"),
    "open quote": (b'Identifier,Grade\nParticipant 5,"\n', "is not a table"),
    "two": (b"I,A,B,C,D\nP 5,,10,,20\n", "cannot be told which column"),
    "a scale": (b'Identifier,Grade,Scale\nP 5,,"good, bad"\n', "no maximum grade"),
}


@pytest.mark.parametrize("kind", BAD)
def test_moodle_says_what_is_wrong_with_a_worksheet(tmp_path, kind):
    content, said = BAD[kind]
    path = tmp_path / "worksheet.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KataError, match=said):
        render("moodle", [result(passed(), ids={"moodle": "5"})], about({"worksheet": path}))


def test_moodle_asks_for_the_worksheet():
    with pytest.raises(KataError, match="takes back only its own") as caught:
        render("moodle", [result(passed())], about())
    assert "--worksheet" in caught.value.next_step


def test_ten_thousand_students_are_placed_at_once(tmp_path):
    path = tmp_path / "worksheet.csv"
    everybody = range(10_000)
    people = [(f"Participant {i}", f"N{i}", f"n{i}@example.org", "") for i in everybody]
    path.write_text(moodle_sheet(people), encoding="utf-8")
    results = [result(passed(), ids={"email": f"n{i}@example.org"}) for i in everybody]
    text = render("moodle", results, about({"worksheet": path}))
    assert [row[4] for row in table(text)[1:]] == ["10"] * 10_000
