"""The words of `kata watch`, the same on its own screen and line by line."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from attention_katas.packs.catalog import Kata
from attention_katas.packs.progress import DONE, STALE
from attention_katas.render.glyphs import UNICODE, Glyphs
from attention_katas.render.terminal import STYLES, Screen, paragraphs
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from attention_katas.watch import session as s
from attention_katas.watch.session import Change, Session

CHANGES = 4  # so many lines at most for each kind
ROOMY = 34  # rows in which all checks have a line of their own
QUIET = (v.PASSED, v.NOT_REACHED, v.NOT_VERIFIED, v.NOT_WRITTEN)
KEYS = {
    s.NEXT: "n",
    s.PREVIOUS: "p",
    s.LIST: "l",
    s.HINT: "h",
    s.OPEN: "o",
    s.RERUN: "r",
    s.ALL: "a",
    s.RESET: "x",
    s.SOLUTION: "s",
    s.QUIT: "q",
}
LABELS = {
    s.NEXT: "next kata",
    s.PREVIOUS: "previous",
    s.LIST: "list",
    s.HINT: "hint",
    s.OPEN: "open",
    s.RERUN: "again",
    s.ALL: "all",
    s.RESET: "reset",
    s.SOLUTION: "solution",
    s.QUIT: "quit",
}


class Body(Screen):
    """The screens of `kata run`, below a line that says the kata and its outcome already."""

    rows = 0
    hint_key = ""

    def _head(self, verdict: v.Verdict, kata: Kata) -> None:
        self._facts(verdict)

    def checks(self, verdict: v.Verdict) -> None:
        """In a low window only those that fail, so that what is behind them is in sight."""
        failing = [c for c in verdict.checks if c.outcome not in QUIET]
        if not 0 < self.rows < ROOMY or not failing:
            super().checks(verdict)
            return
        for check in failing[:CHANGES]:
            self.item(self.signs.failed, "red", check.title)
        counted = [(len(failing) - CHANGES, "more fail"), (verdict.passed, "pass")]
        counted += [(verdict.total - verdict.passed - len(failing), "wait")]
        told = ", ".join(f"{count} {what}" for count, what in counted if count > 0)
        self.line(f"({told})", "dim", indent=4)
        self.line()

    def _hint(self, cause: v.Cause, kata: Kata) -> str:
        return self.hint_key or super()._hint(cause, kata)


def outcome_style(outcome: str) -> str:
    return STYLES.get(outcome, "red")


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def current(screen: Screen, session: Session, hints: bool = True) -> None:
    """The current kata: what changed, its verdict, and the hint that was asked for."""
    verdict = session.verdict
    if verdict is None:
        return
    if session.changes is not None:
        screen.line()
        changes(screen, session.changes)
        screen.line()
    screen.verdict(verdict, session.kata, step=next_step(session, verdict))
    if hints:
        hint(screen, session)


def changes(screen: Screen, found: list[Change]) -> None:
    """What is other than in the run before."""
    if not found:
        screen.line("no check changed since the run before", "dim", indent=2)
    for passes, sign, style, says in (
        (True, screen.signs.passed, "green", "passes now"),
        (False, screen.signs.failed, "red", "fails again"),
    ):
        these = [change for change in found if change.passes is passes]
        for change in these[:CHANGES]:
            screen.item(sign, style, f"check {change.number} {says}: {change.title}")
        if len(these) > CHANGES:
            verb = "pass now" if passes else "fail again"
            screen.line(f"and {len(these) - CHANGES} more {verb}", "dim", indent=4)


def count_changes(found: list[Change] | None) -> str:
    """The same in a few words."""
    parts = []
    for passes, one, more in ((True, "passes", "pass"), (False, "fails", "fail")):
        count = sum(change.passes is passes for change in found or ())
        again = "now" if passes else "again"
        if count:
            parts.append(f"{count} {one if count == 1 else more} {again}")
    return ", ".join(parts)


def next_step(session: Session, verdict: v.Verdict) -> str:
    """What to do after this verdict, here, where a save is all that it takes."""
    kata, file = session.kata, verdict.file
    if verdict.outcome == v.PASSED:
        following = session.following
        if following is None:
            return "q to quit, then kata checkpoint: every other kata is done"
        solution = "s for one right answer among many"
        return f"n for {following.name}: {following.blurb}\n{solution}"
    if verdict.outcome == v.COULD_NOT_GRADE:
        return f"{words.next_step(verdict) or 'kata doctor'}\nr to judge it again"
    if verdict.outcome == v.NOT_STARTED and not session.space.path(kata).exists():
        return "x for a fresh stub"
    if verdict.outcome == v.NOT_STARTED:
        return f"write {file} and save it\no to open it\nh for a hint"
    earlier = words.next_step(verdict)
    if earlier:
        return f"{earlier}\nchange {file} and save it"
    return f"change {file} and save it" + (
        "\nh for a hint" if s.HINT in session.available() else ""
    )


def hint(screen: Screen, session: Session) -> None:
    """The rung that was asked for."""
    if session.hint is None:
        return
    level, rungs, title, text = session.hint
    screen.line()
    screen.line(f"{session.kata.name}, hint {level} of {rungs}: {title}", "bold cyan")
    screen.line()
    screen.line(paragraphs(text), indent=2)
    screen.line()
    if level == rungs:
        screen.line("This was the last hint.", "dim", indent=2)


def solution(screen: Screen, kata: Kata) -> None:
    screen.line()
    screen.line(f"{kata.name}: one right answer among many", "bold")
    screen.line()
    screen.code(kata.reference.read_text(encoding="utf-8"))
    screen.line()


def kata_list(screen: Screen, session: Session) -> None:
    """Every kata with its number, what it is about, and where it stands."""
    screen.line()
    screen.line(done(session), "bold")
    screen.line()
    ready = session.catalog.ready
    widest = max(len(kata.name) for kata in ready)
    for number, kata in enumerate(ready, 1):
        sign, style = sign_of(session, kata, screen.signs)
        here = "  (here)" if kata == session.kata else ""
        name = Text.assemble(f"{number} ", (f"{sign} ", style), (kata.name.ljust(widest), "bold"))
        state = session.states.get(kata.name)
        stands = f"{state.name}: {state.detail}" if state else ""
        if screen.out.width >= 72:
            screen.line(name.append(f"  {kata.blurb}{here}"), indent=2)
            screen.line(stands, "dim", indent=8 + widest)
        else:
            screen.line(name.append(here), indent=2)
            screen.line(kata.blurb, indent=6)
            screen.line(stands, "dim", indent=6)
    screen.line()


def round_of_all(screen: Screen, session: Session) -> None:
    """How far judging every kata has come, or what came of it."""
    if session.round:
        screen.summary(session.round)
        failing = [one for one in session.round if one.outcome != v.PASSED]
        if not session.in_round:
            screen.next_step(
                f"esc, then save {failing[0].file} or go to {failing[0].kata}"
                if failing
                else "q, then kata checkpoint"
            )
    if session.in_round:
        name = session.busy.name if session.busy else session.catalog.ready[0].name
        ready = session.catalog.ready
        screen.line(f"judging {name} ({len(session.round) + 1} of {len(ready)}) ...", indent=2)


def done(session: Session) -> str:
    ready = session.catalog.ready
    count = sum(state.name == DONE for state in session.states.values())
    return f"{count} of {len(ready)} done"


def sign_of(session: Session, kata: Kata, glyphs: Glyphs) -> tuple[str, str]:
    """Where a kata stands, as a sign and its style."""
    state = session.states.get(kata.name)
    if state and state.name == DONE:
        return glyphs.passed, "green"
    if state and state.name == STALE:
        return "~", "yellow"
    return glyphs.waiting, "dim"


def signs(session: Session, glyphs: Glyphs) -> Text:
    """A sign for every kata; the current one between brackets."""
    line = Text()
    for kata in session.catalog.ready:
        sign, style = sign_of(session, kata, glyphs)
        if kata == session.kata:
            line.append("[").append(sign, style).append("]")
        else:
            line.append(f" {sign} ", style)
    return line


def as_text(
    write: Callable[[Screen], None],
    width: int,
    colour: bool,
    complete: Callable[[str], str],
    rows: int = 0,
) -> Text:
    """What `write` puts on a screen of that width, as one text with its colours.

    rows: how many can be seen at once.
    """
    out = Console(
        file=io.StringIO(),
        width=max(width, 20),
        height=100,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    screen = Body(out, complete)
    screen.signs, screen.rows, screen.hint_key = UNICODE, rows, "h"
    write(screen)
    file = out.file
    assert isinstance(file, io.StringIO)
    text = Text.from_ansi(file.getvalue().strip("\n"), end="")
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        lines += line.wrap(out, out.width) if line.cell_len > out.width else [line]
    return Text("\n", no_wrap=True, overflow="crop", end="").join(lines)


def keys(session: Session) -> list[tuple[str, str]]:
    """The keys that do something now, and what they do."""
    return [(KEYS[action], LABELS[action]) for action in session.available()]


def key_lines(found: list[tuple[str, str]], width: int, question: str = "") -> Text:
    """Keys and what they do, in as many lines as it takes; no key is parted from its word."""
    line, lines = Text(question, "bold"), []
    for key, label in found:
        part = Text.assemble((key, "bold cyan"), f" {label}")
        if line.cell_len and line.cell_len + 2 + part.cell_len > width:
            lines.append(line)
            line = Text()
        line.append("  " if line.cell_len else "").append_text(part)
    return Text("\n").join([*lines, line])
