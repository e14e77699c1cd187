"""What `kata grade` says on the terminal."""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from attention_katas import verdict as v
from attention_katas.catalog import Catalog
from attention_katas.grading.gradebook import Tally
from attention_katas.grading.results import Item, Result
from attention_katas.reports import glyphs
from attention_katas.reports.terminal import STYLES, Screen

EVERY_SECONDS = 10.0  # between two lines of progress where lines cannot be drawn anew
SHOWN = 12


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
    remarks(screen, [result])
    screen.line()


def _outcome(item: Item) -> Text:
    verdict = item.verdict
    count = f", {verdict.passed} of {verdict.total} checks" if verdict.total else ""
    return Text.assemble((verdict.outcome, STYLES.get(verdict.outcome, "red")), (count, "dim"))


def many(screen: Screen, results: Sequence[Result]) -> None:
    """A class: how each kata went, and what the teacher should look at."""
    screen.line()
    by_kata: dict[str, list[Item]] = {}
    for result in results:
        for item in result.items:
            by_kata.setdefault(item.kata, []).append(item)
    widest = max(map(len, by_kata), default=0)
    for kata, items in by_kata.items():
        counts = collections.Counter(item.verdict.outcome for item in items)
        graded = [item.points for item in items if item.points is not None]
        mean = f"{sum(graded) / len(graded):5.1f}" if graded else "    -"
        told = ", ".join(f"{counts[name]} {name}" for name in v.OUTCOMES if counts[name])
        screen.line(f"{kata.ljust(widest)}  mean {mean} of {items[0].worth:<3}  {told}", indent=2)
    points = [result.points for result in results if result.graded]
    if points:
        middle = sorted(points)[len(points) // 2]
        screen.line(f"median {middle} of {results[0].worth} points", "bold", indent=2)
    screen.line()
    remarks(screen, results)


def remarks(screen: Screen, results: Sequence[Result]) -> None:
    """What needs a look: our own faults first, then odd hand-ins."""
    lost = [result for result in results if not result.graded]
    for result in lost[:SHOWN]:
        whys = [item for item in result.items if item.points is None]
        names = ", ".join(item.kata for item in whys)
        said = f"{result.student.shown}: could not grade {names}: {whys[0].verdict.message}"
        screen.item("!", "magenta", glyphs.safe(said))
    told = [(result, remark) for result in results for remark in result.remarks]
    told += [
        (result, f"{item.kata}: {', '.join(item.verdict.audit)}")
        for result in results
        for item in result.items
        if item.verdict.audit
    ]
    for result, remark in told[:SHOWN]:
        screen.item("!", "yellow", glyphs.safe(f"{result.student.shown}: {remark}"))
    more = max(len(lost) - SHOWN, 0) + max(len(told) - SHOWN, 0)
    if more:
        screen.line(f"and {more} more remarks", "dim", indent=4)


@contextlib.contextmanager
def progress(out: Console, students: int, katas: int) -> Iterator[Callable[[Tally], None]]:
    """A bar with rate, remaining time and counts of outcomes; lines where none can be drawn."""
    if out.is_terminal and not out.is_dumb_terminal:
        yield from _bar(out)
    else:
        yield from _lines(out, students * katas)


def _bar(out: Console) -> Iterator[Callable[[Tally], None]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
    )
    started = time.monotonic()
    with Progress(*columns, console=out, transient=True) as drawn:
        task = drawn.add_task("", total=None, rate="starting ...", counts="")

        def tell(tally: Tally) -> None:
            drawn.update(
                task,
                total=tally.all,
                completed=tally.settled,
                rate=_rate(tally, started),
                counts=_counts(tally),
            )

        yield tell


def _lines(out: Console, total: int) -> Iterator[Callable[[Tally], None]]:
    started = told = time.monotonic()

    def tell(tally: Tally) -> None:
        nonlocal told
        if time.monotonic() - told < EVERY_SECONDS:
            return
        told = time.monotonic()
        out.print(f"{tally.settled} of {total}  {_rate(tally, started)}  {_counts(tally)}")

    yield tell


def _rate(tally: Tally, started: float) -> str:
    passed = time.monotonic() - started
    return f"{tally.judged / passed:.1f} verdicts/s" if tally.judged and passed else ""


def _counts(tally: Tally) -> str:
    counts = tally.outcomes
    return ", ".join(f"{counts[name]} {name}" for name in v.OUTCOMES if counts[name])
