"""Parts of the page: what the teacher should look at, one by one."""

from __future__ import annotations

from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import NAMES, many, name, p, section, table, text
from attention_katas.grading.report.similarity import RIGHT_SIZE, WRONG_SIZE, Likeness


def lost(report: Report) -> str:
    if not report.lost:
        return ""
    lines = [[name(report, student), text(kata), text(said)] for student, kata, said in report.lost]
    return section(
        "lost",
        f"Could not be graded <small>{len(lines):,}</small>",
        p(
            "A fault of ours or of the machine, or the grading was stopped before. It costs nobody "
            "a point, and the same <code>kata grade</code> tries again.",
            "soft",
        ),
        table(("student", "kata", "why"), lines),
    )


def remarks(report: Report) -> str:
    if not report.remarks:
        return ""
    counts = report.kinds.most_common()
    lines = [
        [name(report, student), text("; ".join(said))] for student, said in report.remarks.items()
    ]
    return section(
        "remarks",
        f"Hand-ins with a remark <small>{len(lines):,}</small>",
        p(", ".join(f"{count:,} × {text(kind)}" for kind, count in counts), "soft"),
        table(("student", "remark"), lines),
    )


def audit(report: Report) -> str:
    if not report.audited:
        return ""
    events: dict[tuple[str, str], list[str]] = {}
    for student, kata, told in report.audited:
        for event in told:
            events.setdefault((student, event), []).append(kata)
    students = {student for student, _, _ in report.audited}
    title = f"Odd things that code did <small>{many(len(students), 'student')}</small>"
    intro = p(
        "What Python noted while the code ran. None of it changed a grade, and some of it is "
        "harmless: a reason to open the file.",
        "soft",
    )
    if report.anonymous:
        return section("odd", title, intro, p("The report with names says who."))
    lines = [
        [name(report, student), text(event), text(", ".join(katas))]
        for (student, event), katas in events.items()
    ]
    return section("odd", title, intro, table(("student", "what", "in"), lines))


def alike(report: Report) -> str:
    found = report.alike
    title = f"Code of the same form <small>{many(len(found.groups), 'group')}</small>"
    said = p(
        "The same syntax tree, whatever the variables are called and however it is laid out. "
        "<strong>A reason to look, not a proof</strong>: two people who sat in the same tutorial, "
        "or read the same page, write the same code. Wrong code that is the same says more than "
        "right code, and long code more than short; the list is in that order. "
        "Files are compared as a whole, and function by function those that a kata asks for. Code "
        "that was moved into helpers of its own, or rewritten line by line, is not found.",
        "soft",
    )
    left = [
        f"{count:,} {why}"
        for count, why in (
            (found.short, "too short to say anything"),
            (found.common, f"shared by more than {found.most}, which is how many write it"),
            (
                found.common_functions,
                f"long function(s) shared by more than {found.most}, in whatever file",
            ),
            (found.ours, "the same as the stub or the reference"),
        )
        if count
    ]
    size = (
        f"Counted from {RIGHT_SIZE} nodes of the syntax tree beyond the stub, wrong code "
        f"from {WRONG_SIZE}."
    )
    said += p(size + (f" Left out: {'; '.join(left)}." if left else ""), "soft")
    if not found.by_function:
        said += p(
            "Here only whole files could be compared: this was graded before functions were kept. "
            "Pasting all into one file escapes that; grading once more makes up for it.",
            "soft",
        )
    if not found.groups:
        return section("alike", title, said)
    if report.anonymous:
        return section("alike", title, said, p("The report with names says who."))
    lines = [
        [
            ", ".join(name(report, one) for one in group.students[:NAMES]),
            "<br>".join(_likeness(one) for one in group.katas),
        ]
        for group in found.groups
    ]
    return section("alike", title, said, table(("students", "in"), lines))


def _likeness(one: Likeness) -> str:
    how = "to the letter, " if one.verbatim else ""
    right = "right" if one.right else "<strong>wrong</strong>"
    only = f" (only {text(', '.join(one.functions))})" if one.functions else ""
    return f"{text(one.kata)}{only}: {how}{right}, {one.size:,} nodes"
