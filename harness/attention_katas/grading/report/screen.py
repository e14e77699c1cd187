"""The essentials of the report on the terminal, grades that changed first."""

from __future__ import annotations

from rich.text import Text

from attention_katas.grading import words
from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import many
from attention_katas.grading.results import NOT_JUDGED
from attention_katas.render import glyphs
from attention_katas.render.terminal import Screen
from attention_katas.verdict import data as v

SHOWN = 8


def show(screen: Screen, report: Report) -> None:
    _regraded(screen, report)
    screen.line()
    title = Text.assemble((glyphs.safe(report.run.title), "bold"))
    title.append(f"  {many(len(report.graded.people), 'student')}", "dim")
    screen.line(title, hang=2)
    _later(screen, report)
    screen.line()
    _katas(screen, report)
    _misconceptions(screen, report)
    _stuck(screen, report)
    _flags(screen, report)


def _regraded(screen: Screen, report: Report) -> None:
    changes = report.difference.same_code if report.difference else []
    if not changes:
        return
    screen.line()
    screen.line(f"{many(len(changes), 'grade')} changed, and the code did not", "bold red", hang=2)
    for change in changes[:SHOWN]:
        before, now = ("-" if n is None else str(n) for n in (change.before, change.now))
        name, causes = report.names[change.student], ", ".join(words.explanations(change.why))
        text = f"{name}: {change.kata} {before} -> {now}, {causes}"
        screen.item("!", "red", glyphs.safe(text))
    _more(screen, len(changes))


def _later(screen: Screen, report: Report) -> None:
    if report.later:
        when = report.later.at[:16].replace("T", " ")
        text = f"a later grading ({when} UTC) was stopped before its end and is not in here"
        screen.item("!", "yellow", text)


def _more(screen: Screen, count: int) -> None:
    if count > SHOWN:
        screen.line(f"and {count - SHOWN} more, in the report", "dim", indent=4, hang=2)


def _katas(screen: Screen, report: Report) -> None:
    widest = max(len(part.name) for part in report.katas) if report.katas else 0
    for part in report.katas:
        mean = "    -" if part.mean is None else f"{part.mean:5.1f}"
        outcomes = ", ".join(
            f"{part.outcomes[name]} {name}"
            for name in (*v.OUTCOMES, NOT_JUDGED)
            if part.outcomes[name]
        )
        text = f"mean {mean} of {part.worth:<3}  {outcomes}"
        screen.field(part.name, text, indent=2, width=widest + 2)
    if report.median is not None:
        screen.line(f"median {report.median:g} of {report.worth} points", "bold", indent=2, hang=2)
    screen.line()


def _misconceptions(screen: Screen, report: Report) -> None:
    pairs = report.top
    if not pairs:
        return
    screen.line("What they believe", "bold")
    for part, entry in pairs[:SHOWN]:
        count = f"{len(entry.students):4} of {part.wrong}"
        text = f"{entry.misconception.function or part.name} {entry.misconception.title}"
        screen.field(count, text, indent=2, width=14)
    _more(screen, len(pairs))
    screen.line()


def _stuck(screen: Screen, report: Report) -> None:
    screen.line("Where they are stuck", "bold")
    rows = [(part.how_many_stuck, part.name) for part in report.katas if part.how_many_stuck]
    rows.append((len(report.nothing), "wrote nothing"))
    rows.append((len(report.done), "passed everything"))
    for count, what in rows:
        if count:
            screen.field(f"{count:4}", what, indent=2, width=6)
    screen.line()


def _flags(screen: Screen, report: Report) -> None:
    """How many things the teacher should look at; the page says whose they are."""
    difference = report.difference
    audited = len({student for student, _, _ in report.audited})
    waiting = sum(map(len, report.waiting.values()))
    flags = [
        (
            len(report.not_run),
            f"{many(len(report.not_run), 'student')} with code that did not run to its end",
        ),
        (len(report.lost), f"{many(len(report.lost), 'kata')} could not be graded"),
        (waiting, f"{many(waiting, 'kata')} not judged yet"),
        (len(report.remark_lines), f"{many(len(report.remark_lines), 'submission')} with a remark"),
        (audited, f"{many(audited, 'student')} whose code did odd things"),
        (
            len(report.alike.groups),
            f"{many(len(report.alike.groups), 'group')} with code of the same form",
        ),
        (
            not report.run.done,
            "the grading was stopped before its end: students that it did not reach are missing",
        ),
    ]
    if difference is not None and not difference.same_code:
        screen.item(screen.signs.passed, "green", "no grade changed for the same code")
    for count, text in flags:
        if count:
            screen.item("!", "yellow", text)
