"""Parts of the page: how each kata went, what the class believes, where it is stuck."""

from __future__ import annotations

from attention_katas.grading.report import rows
from attention_katas.grading.report.findings import SHARES, Held, KataPart, Report, ordered_by_count
from attention_katas.grading.report.pieces import (
    ROWS,
    bar,
    columns,
    many,
    p,
    percent,
    section,
    table,
    text,
    who,
)
from attention_katas.verdict import data as v

BARS, CHECKS = 6, 8
# What is known of a failure, in a line for who has not read the code.
MEANS = {
    rows.EARLIER: "right as soon as the work that it builds on is right: look there first",
    rows.SYMPTOMS: "wrong as no mistake that the judge knows; it told which properties break",
    rows.UNNAMED: "nothing could be said beyond which check fails: often an exception",
    rows.UNFINISHED: "what is written is right so far; the rest is still the stub",
    rows.NOT_RUN: 'broken, crashed, timed out or out of memory: <a href="#halted">each and why</a>',
}
# How a segment of a bar is drawn; words stand beside it.
SEGMENTS = {v.PASSED: "passed", v.NOT_STARTED: "empty", v.COULD_NOT_GRADE: "unknown"}


def katas(report: Report) -> str:
    return section("katas", "Each kata", *(_kata(part) for part in report.katas))


def _kata(part: KataPart) -> str:
    total = sum(part.outcomes.values())
    stack = "".join(
        f'<i class="{SEGMENTS.get(name, "failed")}" '
        f'style="width:{percent(part.outcomes[name], total)}"></i>'
        for name in _drawn(part)
    )
    words = "".join(
        f'<li class="{SEGMENTS.get(name, "failed")}">{part.outcomes[name]:,} {name}</li>'
        for name in _drawn(part)
    )
    mean = "–" if part.mean is None else f"{part.mean:.1f}"
    return (
        f'<article class="kata">\n<h3>{text(part.title)} <code>{text(part.name)}</code></h3>\n'
        f"<div><p>mean {mean} of {part.worth} points</p>"
        f'<div class="stack" aria-hidden="true">{stack}</div>'
        f'<ul class="legend">{words}</ul></div>\n'
        + columns(
            zip(SHARES, part.shares(), strict=True),
            f"students by share of the points of {part.name}",
        )
        + "</article>\n"
    )


def _drawn(part: KataPart) -> list[str]:
    """Outcomes in the order of the bar: passed first, what says least last."""
    last = (v.NOT_STARTED, v.COULD_NOT_GRADE)
    names = [name for name in v.OUTCOMES if name not in last] + list(last)
    return [name for name in names if part.outcomes[name]]


def misconceptions(report: Report) -> str:
    parts = [part for part in report.katas if part.wrong]
    if not parts:
        return section("misconceptions", "What they believe", p("Nobody failed."))
    intro = p(
        "Mistakes that the judge knows by name, with the question that a tutor would ask. The "
        "share is of those whose code was judged and failed: who wrote nothing is not among them. "
        "Who made two counts for both.",
        "soft",
    )
    return section(
        "misconceptions", "What they believe", intro, *(_believed(report, part) for part in parts)
    )


def _believed(report: Report, part: KataPart) -> str:
    shown = "".join(_held(report, part, one) for one in part.held[:BARS])
    rest = part.held[BARS:]
    if rest:
        shown += (
            f"<li><details><summary>{len(rest)} rarer ones</summary><ol class='bars'>"
            + "".join(_held(report, part, one) for one in rest)
            + "</ol></details></li>"
        )
    apart = "".join(
        f'<li class="apart"><div class="label">{text(kind)}'
        f'<p class="soft">{MEANS[kind]}</p></div>'
        f"{_counted(len(students), part.wrong)}{who(report, students)}</li>\n"
        for kind, students in ordered_by_count(part.apart)
    )
    return (
        f"<h3>{text(part.title)} <small>{part.wrong:,} failed, {part.named:,} with a named "
        f"mistake</small></h3>\n<ol class='bars'>\n{shown}{apart}</ol>\n"
    )


def _held(report: Report, part: KataPart, held: Held) -> str:
    one = held.misconception
    head = f"<code>{text(one.function)}</code> " if one.function else ""
    kind = "another convention: it " if one.convention else ""
    return (
        f'<li><div class="label">{head}{kind}{text(one.title)}'
        f'<p class="soft">{text(one.question)} <code>{text(one.id)}</code></p></div>'
        f"{_counted(len(held.students), part.wrong)}{who(report, held.students)}</li>\n"
    )


def _counted(count: int, whole: int) -> str:
    """A bar, and what it says in words."""
    share = f"{100 * count / whole:.0f} %" if whole else ""
    return (
        f'{bar(count, whole)}<span class="n">{count:,}<small> of {whole:,}, {share}</small></span>'
    )


def stuck(report: Report) -> str:
    people = len(report.graded.people)
    open_ = [part for part in report.katas if part.how_many_stuck]
    intro = p(
        f"The first kata that each has not passed, and the first check that fails there. "
        f"{many(len(report.done), 'student')} passed everything, {len(report.nothing):,} wrote "
        f"nothing at all.",
        "soft",
    )
    steps = "".join(
        f'<li><div class="label">{text(part.title)}</div>{_counted(part.how_many_stuck, people)}'
        f"{_stops(report, part)}</li>\n"
        for part in open_
    )
    nothing = who(report, report.nothing) if report.nothing else ""
    if nothing:
        steps += (
            f'<li class="apart"><div class="label">wrote nothing</div>'
            f"{_counted(len(report.nothing), people)}{nothing}</li>\n"
        )
    inside = f"<ol class='bars'>\n{steps}</ol>\n" if steps else ""
    return section("stuck", "Who is stuck where", intro, inside, _hard_checks(report))


def _stops(report: Report, part: KataPart) -> str:
    """At which check most stop; and, behind a fold, who at which."""
    stops = ordered_by_count(part.stuck)
    most, there = stops[0]
    lines = "".join(
        f"<dt>{text(stop)} <small>{len(students):,}</small></dt><dd>{who(report, students)}</dd>"
        for stop, students in stops[:ROWS]
    )
    return (
        f'<div class="who">mostly: {text(most)} ({len(there):,})'
        f"<details><summary>all of them, and who</summary><dl>{lines}</dl></details></div>"
    )


def _hard_checks(report: Report) -> str:
    """The checks that most fail, of all katas."""
    found = [(count, part, title) for part in report.katas for title, count in part.checks.items()]
    found.sort(key=lambda one: (-one[0], one[1].name, one[2]))
    lines = [
        [text(title), text(part.name), f"{count:,}", f"{100 * count / part.wrong:.0f} %"]
        for count, part, title in found[:CHECKS]
        if part.wrong
    ]
    if not lines:
        return ""
    return "<h3>Checks that fail most</h3>\n" + table(
        ("check", "kata", "#failing", "#of those who failed"), lines
    )
