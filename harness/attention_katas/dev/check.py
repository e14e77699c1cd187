"""`kata dev check`: the linter of the katas themselves.

It proves of every kata what its tests are for: the reference passes, the untouched stub is not
started, every known mistake fails, every harmless look-alike passes, and made-up answers earn
not a single check. And of the diagnosis: every mistake is called by its own name, two entries that
no question tells apart are declared to be alike, and no look-alike is blamed for anything.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from attention_katas.authoring import mistakes
from attention_katas.dev.new import PLACEHOLDERS
from attention_katas.packs import panels
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.kata import PLANNED
from attention_katas.packs.submission import Submission, parse, still_stub, submission
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, words

if TYPE_CHECKING:
    from attention_katas.judge.judge import Judge

LEAST_HINTS, LEAST_MISTAKES = 3, 6
# Exceptions that an author's own mistake causes rather than the one that the entry is about.
OVERSIGHTS = ("NameError", "UnboundLocalError", "AttributeError", "TypeError", "ImportError")
LESSON = ("Why", "What carries forward")


@dataclass
class Report:
    """What was looked at in one kata, and what is wrong with it."""

    summary: str = ""
    problems: list[str] = field(default_factory=list)


def check_kata(catalog: Catalog, kata: Kata, judge: Judge) -> Report:
    """Everything that has to hold of a kata."""
    from attention_katas.judge.modules import Unloadable, load_module

    report = Report(problems=content_problems(kata))
    try:
        entries = mistakes.mistakes_in(load_module(kata.mistakes)) if kata.mistakes.exists() else []
        if kata.probes.exists():
            load_module(kata.probes)
    except Unloadable as error:
        report.problems.append(error.message)
        report.summary = "looked no further"
        return report
    wrong = [entry for entry in entries if not entry.harmless]
    if len(wrong) < LEAST_MISTAKES and kata.mistakes.exists():
        report.problems.append(f"mistakes.py: {len(wrong)} mistakes, at least {LEAST_MISTAKES}")
    reference = submission(catalog, kata, kata.reference)
    if not _expect(report, judge.judge(reference), v.PASSED, "the reference"):
        report.summary = "looked no further"
        return report
    _expect(report, judge.judge(submission(catalog, kata, kata.stub)), v.NOT_STARTED, "the stub")
    report.problems += entry_problems(kata, entries)
    troubles = probe_problems(kata)
    if troubles:
        report.problems += troubles
        report.summary = "looked no further than its probes"
        return report
    for entry in entries:
        attempt = _made(kata, mistakes.source_of(kata, entry))
        if entry.harmless:
            verdict = judge.judge(attempt, false_alarms=True)
            _expect(report, verdict, v.PASSED, f"harmless {entry.id!r}")
            report.problems += blame_problems(entry, verdict)
        else:
            verdict = judge.judge(attempt, until_failure=True)
            if verdict.first_failure is not None and verdict.passed == 0:
                verdict = judge.judge(attempt, verdict.seed)
            report.problems += mistake_problems(entry, verdict) or name_problems(entry, verdict)
    for name, answer in mistakes.FAKES.items():
        verdict = judge.judge(_made(kata, mistakes.fake_source(kata, kata.reference, answer)))
        passes = [check.name for check in verdict.checks if check.outcome == v.PASSED]
        if verdict.outcome == v.PASSED or passes:
            report.problems.append(f"an answer of {name} earns {', '.join(passes)}")
    look_alikes = len(entries) - len(wrong)
    report.summary = (
        f"reference, stub, known mistakes: {len(wrong)}, look-alikes: {look_alikes}, "
        f"made-up answers: {len(mistakes.FAKES)}"
    )
    return report


def content_problems(kata: Kata) -> list[str]:
    """What the files alone show to be wrong."""
    problems: list[str] = []
    if kata.status == PLANNED:
        return problems
    problems += panels.problems(kata)
    for path in (kata.stub, kata.tests, kata.mistakes, kata.reference, kata.folder / "hints.md"):
        if not path.exists():
            problems.append(f"{path.parent.name}/{path.name} is missing")
    if kata.tests.exists():
        problems += [
            f"{kata.tests.name}: {name} has no docstring for the learner to read"
            for name in untold(kata.tests.read_text(encoding="utf-8"))
        ]
    hints = kata.hints()
    if len(hints) < LEAST_HINTS and (kata.folder / "hints.md").exists():
        problems.append(f"hints.md has {len(hints)} of at least {LEAST_HINTS}")
    for part in LESSON:
        if not kata.lesson().get(part):
            problems.append(f"lesson.md has no section {part!r}")
    for path in (kata.folder / "kata.toml", kata.stub, kata.folder / "hints.md", kata.reference):
        problems += _placeholders(path)
    problems += _placeholders(kata.folder / "lesson.md")
    if kata.reference.exists():
        answers = {
            line
            for line in code_lines(kata.reference.read_text(encoding="utf-8"))
            for _, text in hints
            if line in text
        }
        problems += [f"hints.md gives the answer away: {line!r}" for line in sorted(answers)]
    if kata.mistakes.exists():
        problems += [
            f"mistakes.py defines {name} twice: the second one replaces the first"
            for name in repeated(kata.mistakes.read_text(encoding="utf-8"))
        ]
    problems += ban_problems(kata)
    if kata.stub.exists():
        stub = kata.stub.read_text(encoding="utf-8")
        missing = set(kata.functions) - still_stub(stub, kata)
        problems += [f"{kata.file} has no stub of {name}" for name in sorted(missing)]
    return problems


def repeated(source: str) -> list[str]:
    """Functions of a module that are defined more than once."""
    tree = parse(source)
    names = [node.name for node in (tree.body if tree else ()) if isinstance(node, ast.FunctionDef)]
    return sorted({name for name in names if names.count(name) > 1})


def ban_problems(kata: Kata) -> list[str]:
    """Operators of the pack's own families of bans that this version of PyTorch does not have."""
    from attention_katas.sandbox.bans import registered_keys

    return [
        f"shared/bans.toml: {family.name} bans the operator {operator}, which PyTorch does not have"
        for family in kata.banned
        if family in kata.pack.families
        for operator in family.operators
        if not registered_keys(operator)
    ]


def _placeholders(path: Path) -> list[str]:
    """Words of the template that the author has to replace, and that are still there."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    placeholder = next((words for words in PLACEHOLDERS if words in text), "")
    name = f"{path.parent.name}/{path.name}"
    return [f"{name} still has the template's {placeholder!r}"] if placeholder else []


def untold(source: str) -> list[str]:
    """Tests without a docstring."""
    tree = parse(source)
    return [
        node.name
        for node in (tree.body if tree else ())
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]


def code_lines(source: str) -> set[str]:
    """The statements of every function, and what they return, as one would write them."""
    lines = set()
    for function in ast.walk(parse(source) or ast.Module([], [])):
        for node in function.body if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Return | ast.Assign) and isinstance(
                node.value, ast.BinOp | ast.Call
            ):
                lines.add(ast.unparse(node.value))
    return lines


def mistake_problems(entry: mistakes.Mistake, verdict: v.Verdict) -> list[str]:
    """A mistake must fail, by a check, and for its own reason rather than for a ban."""
    if verdict.outcome == v.PASSED:
        return [f"the mistake {entry.id!r} passes every hidden test"]
    first = verdict.first_failure
    if first is None:
        return [f"the mistake {entry.id!r} is {verdict.outcome!r}: {words.verdict(verdict)}"]
    if isinstance(first.reason, reasons.Banned):
        return [f"the mistake {entry.id!r} calls a built-in that the kata bans"]
    raised = first.evidence.raised if first.evidence else None
    if raised is not None and raised.type in OVERSIGHTS and _never_answers(verdict):
        return [
            f"the mistake {entry.id!r} never answers: every call raises {raised.type}: "
            f"{raised.message}"
        ]
    if not entry.title or not entry.question:
        return [f"the mistake {entry.id!r} has no title or no question"]
    return []


def _never_answers(verdict: v.Verdict) -> bool:
    """No check passes, and each one that was made stopped at an exception."""
    failures = [check for check in verdict.checks if check.outcome == v.FAILED]
    return not verdict.passed and all(
        check.evidence is not None and check.evidence.raised is not None for check in failures
    )


def entry_problems(kata: Kata, entries: list[mistakes.Mistake]) -> list[str]:
    """What entries say of each other and of the hints has to be there."""
    ids, titles = {entry.id for entry in entries}, [title for title, _ in kata.hints()]
    problems = []
    for entry in entries:
        if entry.function and entry.function not in kata.functions:
            problems.append(
                f"the entry {entry.id!r} has function={entry.function!r}, "
                "which is no function of the kata"
            )
        if entry.same_as and entry.same_as not in ids:
            problems.append(
                f"the entry {entry.id!r} has same_as={entry.same_as!r}, which is no entry"
            )
        if entry.shows not in get_args(v.Shows):
            choices = ", ".join(map(repr, get_args(v.Shows)))
            problems.append(
                f"the entry {entry.id!r} has shows={entry.shows!r}; there are {choices}"
            )
        if entry.hint and entry.hint not in titles:
            problems.append(
                f"the entry {entry.id!r} has hint={entry.hint!r}, which is no section of hints.md"
            )
    return problems


def probe_problems(kata: Kata) -> list[str]:
    """Every probe can be asked, and no symptom is seen in the reference."""
    import torch

    from attention_katas.authoring import probing
    from attention_katas.devices import Device
    from attention_katas.judge.fixtures import Draw
    from attention_katas.judge.modules import load_module

    path = kata.probes
    if not path.exists():
        return []
    module, reference, problems = load_module(path), load_module(kata.reference), []
    computing = computing_functions(path.read_text(encoding="utf-8"))
    for name, value in vars(module).items():
        for mark in (probing.PROBE, probing.SYMPTOM):
            target = getattr(value, mark, None)
            if target is None:
                continue
            if mark == probing.SYMPTOM and not probing.has_values(value) and name in computing:
                problems.append(f"probes.py: {name} has values=False, and computes its sentence")
            draw = Draw(torch.Generator().manual_seed(0), Device("cpu"))
            function = getattr(reference, target, None) if target in kata.functions else None
            if function is None:
                problems.append(
                    f"probes.py: {name} is for {target!r}, which is no function of the kata"
                )
                continue
            try:
                if mark == probing.PROBE:
                    probing.questions(value(draw))
                elif (symptom := value(function, draw)) is not None:
                    problems.append(f"probes.py: {name} says of the reference: {symptom}")
            except Exception as error:  # noqa: BLE001 - whatever its author did
                problems.append(f"probes.py: {name} breaks: {type(error).__name__}: {error}")
    return problems


def computing_functions(source: str) -> set[str]:
    """The functions that return something else than a constant."""
    return {
        function.name
        for function in ast.walk(parse(source) or ast.Module([], []))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant)
    }


def name_problems(entry: mistakes.Mistake, verdict: v.Verdict) -> list[str]:
    """The mistake has to be called by its name, or by that of the entry it is like."""
    name = entry.same_as or entry.id
    diagnoses = [d for d in verdict.diagnoses if d.kind != v.EARLIER_WORK]
    if len(diagnoses) == 1 and [cause.id for cause in diagnoses[0].causes] == [name]:
        return []
    candidates = [id for d in diagnoses for id in d.undecided]
    if candidates:
        rest = ", ".join(id for id in candidates if id != name)
        return [
            f"no question tells {entry.id!r} from {rest}; "
            "add a probe that does to probes.py, or give one of them same_as="
        ]
    causes = [cause.id for d in diagnoses for cause in d.causes]
    fault = f"is called {', '.join(causes)}" if causes else "is not named"
    return [f"the mistake {entry.id!r} {fault}"]


def blame_problems(entry: mistakes.Mistake, verdict: v.Verdict) -> list[str]:
    """A harmless look-alike may not be blamed for anything."""
    blames = [cause.id for d in verdict.diagnoses for cause in d.causes]
    blames += [words.symptom(symptom) for d in verdict.diagnoses for symptom in d.symptoms]
    return [f"harmless {entry.id!r} is blamed: {text}" for text in blames]


def _made(kata: Kata, source: str) -> Submission:
    nothing: dict[str, frozenset[str]] = {kata.module: frozenset()}
    return Submission(kata, {kata.module: source}, kata.file, nothing)


def _expect(report: Report, verdict: v.Verdict, outcome: str, what: str) -> bool:
    if verdict.outcome == outcome:
        return True
    first = verdict.first_failure
    title = f"{first.title}: " if first else ""
    why = f"{title}{words.verdict(verdict)}"
    report.problems.append(f"{what} is {verdict.outcome!r}, not {outcome!r} ({why})")
    return False
