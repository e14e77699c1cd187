"""`kata grade` on the terminal: results, a class, progress."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

from attention_katas.grading import words
from attention_katas.grading.results import NOT_JUDGED, Item, Result
from attention_katas.grading.run import Summary, Tally
from attention_katas.packs.catalog import Catalog
from attention_katas.render import glyphs
from attention_katas.render.terminal import STYLES, Screen
from attention_katas.verdict import data as v

EVERY_SECONDS = 10.0  # between two lines of progress where lines cannot be drawn anew
SHOWN = 12
MOST_NAMES = 10  # in a list within a sentence


def one(screen: Screen, result: Result, katas: Catalog) -> None:
    """A single submission: its points, and what is behind each failure."""
    for item in result.items:
        if item.verdict.outcome in (v.PASSED, v.NOT_STARTED):
            continue
        screen.line()
        screen.line(Text.assemble((item.kata, "bold"), "  ", _outcome(item)))
        screen.line()
        screen.checks(item.verdict)
        for diagnosis in item.verdict.diagnoses:
            if diagnosis.kind != v.NO_DIAGNOSIS:
                screen.diagnosis(diagnosis, katas[item.kata])
        screen.why(item.verdict)
    screen.line()
    widest = max((len(item.kata) for item in result.items), default=0)
    for item in result.items:
        points = "  -" if item.points is None else f"{item.points:3}"
        row = Text(f"{item.kata.ljust(widest)}  {points} of {item.worth:<3}  ")
        screen.line(row.append_text(_outcome(item)), indent=2)
    total = f"{result.points} of {result.worth} points"
    screen.line(Text.assemble(("all".ljust(widest) + "  ", ""), (total, "bold")), indent=2)
    for remark in result.remarks:
        screen.item("!", "yellow", glyphs.safe(words.remark(remark)))
    screen.line()


def _outcome(item: Item) -> Text:
    verdict = item.verdict
    count = f", {verdict.passed} of {verdict.total} checks" if verdict.total else ""
    return Text.assemble((verdict.outcome, STYLES.get(verdict.outcome, "red")), (count, "dim"))


def many(screen: Screen, summary: Summary) -> None:
    """A class: how each kata went."""
    screen.line()
    widest = max(map(len, summary.katas), default=0)
    for name, kata in summary.katas.items():
        mean = f"{kata.points / kata.graded:5.1f}" if kata.graded else "    -"
        counts = ", ".join(f"{n} {outcome}" for outcome, n in _in_order(kata.outcomes))
        row = f"{name.ljust(widest)}  mean {mean} of {kata.worth:<3}  {counts}"
        screen.line(row, indent=2, hang=widest + 2)
    if summary.points:
        middle = statistics.median(summary.points)
        screen.line(f"median {middle:g} of {summary.worth} points", "bold", indent=2)
    screen.line()


def _in_order(outcomes: Counter[str]) -> list[tuple[str, int]]:
    order = [*v.OUTCOMES, NOT_JUDGED]
    return [(outcome, outcomes[outcome]) for outcome in order if outcomes[outcome]]


def remarks(screen: Screen, summary: Summary) -> None:
    """What needs a look: what could not be graded, then odd submissions."""
    for name, text in summary.ungraded[:SHOWN]:
        screen.item("!", "magenta", glyphs.safe(f"{name}: {text}"))
    for name, text in summary.remarks[:SHOWN]:
        screen.item("!", "yellow", glyphs.safe(f"{name}: {text}"))
    more = max(len(summary.ungraded) - SHOWN, 0) + max(len(summary.remarks) - SHOWN, 0)
    if more:
        screen.line(f"and {more} more remarks", "dim", indent=4)


def below(summary: Summary, fail_under: float | None) -> str:
    """Who has less than --fail-under percent, the lowest first; "" if nobody has."""
    if fail_under is None:
        return ""
    low = sorted((percent, who) for who, percent in summary.percents if percent < fail_under)
    if not low:
        return ""
    # Down, so that nobody below a threshold seems to be at it.
    named = [f"{who} {math.floor(percent * 10) / 10:g} %" for percent, who in low[:MOST_NAMES]]
    more = f" and {len(low) - MOST_NAMES} more" if len(low) > MOST_NAMES else ""
    verb = "is" if len(low) == 1 else "are"
    listed = glyphs.safe(", ".join(named)).replace("\n", " ")
    return f"{len(low)} {verb} below {fail_under:g} %: {listed}{more}"


@contextlib.contextmanager
def progress(out: Console, students: int, katas: int) -> Iterator[Callable[[Tally], None]]:
    """A bar with rate, remaining time and counts of outcomes; lines where none can be drawn."""
    if out.is_terminal and not out.is_dumb_terminal:
        yield from _bar(out)
    else:
        yield from _lines(out, students * katas)


def _bar(out: Console) -> Iterator[Callable[[Tally], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft
    from rich.table import Column

    wide = out.width >= 70
    columns = (
        *([BarColumn(bar_width=16)] if wide else []),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeLeft(table_column=Column(no_wrap=True)),
        *([TextColumn("{task.fields[rate]}", table_column=Column(no_wrap=True))] if wide else []),
        # The least important, and the first to be cut.
        TextColumn(
            "{task.fields[counts]}",
            table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
        ),
    )
    started = time.monotonic()
    with Progress(*columns, console=out, transient=True, expand=True) as bar:
        task = bar.add_task("", total=None, rate="starting ...", counts="")

        def tell(tally: Tally) -> None:
            bar.update(
                task,
                total=tally.total,
                completed=tally.finished,
                rate=_rate(tally, started),
                counts=f"waiting for {tally.last}" if tally.last else _counts(tally),
            )

        yield tell


def _lines(out: Console, total: int) -> Iterator[Callable[[Tally], None]]:
    started = last = time.monotonic()

    def tell(tally: Tally) -> None:
        nonlocal last
        if time.monotonic() - last < EVERY_SECONDS:
            return
        last = time.monotonic()
        line = f"{tally.finished} of {total}  {_rate(tally, started)}  {_counts(tally)}"
        out.print(line, soft_wrap=True)

    yield tell


def _rate(tally: Tally, started: float) -> str:
    passed = time.monotonic() - started
    return f"{tally.judged / passed:.1f}/s" if tally.judged and passed else ""


def _counts(tally: Tally) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in _in_order(tally.outcomes))
