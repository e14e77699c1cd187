"""Parts of the page: what changed since an earlier grading; loud is what should not have."""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import many, name, p, section, table, text, when, who
from attention_katas.grading.report.regrade import Change, Difference

KINDS = 8


def regraded(report: Report) -> str:
    """First of all: grades that changed though the code did not."""
    difference = report.difference
    if difference is None:
        return ""
    earlier = f"the grading of {when(difference.before.run)}"
    found = difference.same_code
    if not found:
        return p(
            f"✓ No grade changed for the same code since {earlier}; "
            f"{many(difference.same, 'grade')} compared. <a href='#since'>What else is new</a>",
            "calm",
        )
    less = sum(one.less for one in found)
    people = len({one.student for one in found})
    title = f"⚠ {many(len(found), 'grade')} changed, and the code did not"
    told = (
        f"Compared with {earlier}, {many(people, 'student')} would get another grade for the same "
        f"code: {less:,} lower, {len(found) - less:,} higher. Look at this before you publish."
    )
    return section(
        "regraded", title, p(told), _why(found), _changes(report, found, True), kind="loud"
    )


def _why(found: Sequence[Change]) -> str:
    """What the changes of each kata have in common."""
    counts: dict[tuple[str, tuple[str, ...]], int] = {}
    for one in found:
        counts[one.kata, one.why] = counts.get((one.kata, one.why), 0) + 1
    lines = [
        f"<li><b>{count:,}</b> in {text(kata)}: {text(', '.join(why))}</li>"
        for (kata, why), count in sorted(counts.items(), key=lambda item: -item[1])[:KINDS]
    ]
    return f"<ul>{''.join(lines)}</ul>\n"


def _changes(report: Report, found: Sequence[Change], why: bool = False) -> str:
    heads = ("student", "kata", "#before", "#now", *(("what else differs",) if why else ()))
    lines = [
        [
            name(report, one.student),
            text(one.kata),
            _points(one.before),
            f"<strong>{_points(one.now)}</strong> of {one.worth} {_arrow(one)}",
            *([text(", ".join(one.why))] if why else []),
        ]
        for one in found
    ]
    return table(heads, lines)


def _arrow(one: Change) -> str:
    if one.before == one.now:
        return "="
    return "▼" if one.less else "▲"


def _points(points: int | None) -> str:
    return "not graded" if points is None else str(points)


def since(report: Report) -> str:
    """Changes that are as they should be."""
    difference = report.difference
    if difference is None:
        return ""
    run = difference.before.run
    before = f"graded {when(run)}"
    if not report.anonymous and run.origin != report.run.origin:
        before += f", from {text(run.origin)}"
    told = [p(f"Compared with what was {before}. {_summary(difference)}", "soft")]
    moved = [one for one in difference.resubmitted if one.before != one.now]
    moved.sort(key=lambda one: (not one.less, (one.now or 0) - (one.before or 0)))
    if moved:
        told += ["<h3>Other code, other points</h3>\n", _changes(report, moved)]
    for title, students in (
        ("Not there before", difference.newcomers),
        ("There before, not now", difference.missing),
    ):
        if students:
            told += [f"<h3>{title} <small>{len(students):,}</small></h3>\n", who(report, students)]
    return section("since", "Since the last grading", *told)


def _summary(difference: Difference) -> str:
    facts = [
        f"{many(len(difference.resubmitted), 'kata')} handed in with other code",
        f"{len(difference.graded_now):,} graded now that could not be before",
        f"{difference.same:,} with the same code and the same points",
    ]
    if difference.waiting:
        facts.append(f"{difference.waiting:,} not judged in one of the two, which says nothing")
    if difference.revalued:
        names = ", ".join(sorted({one.kata for one in difference.revalued}))
        facts.append(
            f"{many(len(difference.revalued), 'grade')} of {text(names)} moved only because it is "
            f"worth other points"
        )
    if difference.katas_new:
        facts.append(f"new katas: {text(', '.join(difference.katas_new))}")
    if difference.katas_gone:
        facts.append(f"no longer graded: {text(', '.join(difference.katas_gone))}")
    return "; ".join(facts) + "."
