"""The report as one HTML page that needs nothing else: no script, no font, no request.

Whatever comes from a hand-in or a learning platform is written by `pieces.text`, which escapes it.
Long lists are cut: all of it stands in the table beside the page.
"""

from __future__ import annotations

from importlib import resources

from attention_katas.grading.report import page_changes, page_course, page_flags, page_students
from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import columns, many, p, section, text, when

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(report: Report, beside: str = "") -> str:
    """The page. beside: the file name of the table that stands beside it."""
    style = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    parts = {
        "class": ("The class", _figures(report)),
        "students": ("Students", page_students.points(report)),
        "katas": ("Katas", page_course.katas(report)),
        "misconceptions": ("Misconceptions", page_course.misconceptions(report)),
        "stuck": ("Stuck", page_course.stuck(report)),
        "halted": ("Did not run", page_students.halted(report)),
        "lost": ("Not graded", page_flags.lost(report)),
        "remarks": ("Remarks", page_flags.remarks(report)),
        "odd": ("Odd things", page_flags.audit(report)),
        "alike": ("Alike", page_flags.alike(report)),
        "since": ("Since the last grading", page_changes.since(report)),
    }
    links = "".join(f'<a href="#{at}">{name}</a>' for at, (name, said) in parts.items() if said)
    body = "".join(said for _, said in parts.values())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>{text(report.run.title)}: report</title>
<style>
{style}</style>
</head>
<body>
<main>
{_head(report)}<nav>{links}</nav>
{page_changes.regraded(report)}{body}{_foot(report, beside)}</main>
</body>
</html>
"""


def _head(report: Report) -> str:
    run, people = report.run, len(report.graded.people)
    facts = [
        many(people, "student"),
        many(len(report.katas), "kata"),
        f"graded {when(run)}",
    ]
    if report.origin:
        facts.append(f"from {text(report.origin)}")
    said = f"<header>\n<h1>{text(run.title)}</h1>\n" + p(" · ".join(facts), "soft")
    if report.anonymous:
        said += p(
            "Students have numbers here. Who is who stands only in the ledger. The table of "
            "everybody's points is left out: who knows one line of it knows whose it is.",
            "soft",
        )
    if not run.done:
        said += p(
            "<strong>This grading was stopped before its end.</strong> Who was not reached is not "
            "on this page; the same <code>kata grade</code> goes on.",
            "note",
        )
    if report.later:
        said += p(
            f"<strong>A later grading ({when(report.later)}) was stopped before its end</strong> "
            "and is not on this page; the same <code>kata grade</code> goes on.",
            "note",
        )
    return said + "</header>\n"


def _figures(report: Report) -> str:
    wrong = sum(part.wrong for part in report.katas)
    named = sum(part.named for part in report.katas)
    median = "–" if report.median is None else f"{report.median:g}"
    figures = [
        (f"{median}<small> of {report.worth}</small>", "points (median)"),
        (f"{len(report.done):,}", "passed every kata"),
        (f"{len(report.nothing):,}", "wrote nothing"),
        (f"{named:,}<small> of {wrong:,}</small>", "failures with a known cause"),
    ]
    told = "".join(f"<li><b>{number}</b> {said}</li>" for number, said in figures)
    inside = f'<ul class="figures">{told}</ul>\n'
    if len(report.totals) > 1:
        inside += p(
            "How many have how much of all points, in percent. "
            + ("Who could not be graded in full is not counted." if report.lost else ""),
            "soft",
        ) + columns(report.deciles(), "students by percent of all points")
    return section("class", "The class", inside)


def _foot(report: Report, beside: str) -> str:
    lines = []
    if beside:
        lines.append(f"Everything, line by line: {text(beside)}, beside this page.")
    lines += [f"Judged by {text(told)}." for told in report.judged_by[:4]]
    lines.append(
        "This page loads nothing and sends nothing."
        + ("" if report.anonymous else " It names students: keep it where grades are kept.")
    )
    return "<footer>\n" + "".join(p(line) for line in lines) + "</footer>\n"
