"""The texts of `kata watch`, for the full screen and for `--plain`."""

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
from attention_katas.watch.editor import Editor
from attention_katas.watch.session import Change, Session

CHANGES = 4  # lines for each kind of change
ROOMY = 34  # rows from which on every check has a line
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
    """The screens of `kata run`, without the heading: the top line has kata and outcome."""

    rows = 0
    hint_key = ""

    def _head(self, verdict: v.Verdict, kata: Kata) -> None:
        self._facts(verdict)

    def checks(self, verdict: v.Verdict) -> None:
        """The checks; in a low window only those that fail, so that the diagnosis is visible."""
        failing = [c for c in verdict.checks if c.outcome not in QUIET]
        if not 0 < self.rows < ROOMY or not failing:
            super().checks(verdict)
            return
        for check in failing[:CHANGES]:
            self.item(self.signs.failed, "red", check.title)
        counts = [(len(failing) - CHANGES, "more fail"), (verdict.passed, "pass")]
        counts += [(verdict.total - verdict.passed - len(failing), "wait")]
        text = ", ".join(f"{count} {state}" for count, state in counts if count > 0)
        self.line(f"({text})", "dim", indent=4)
        self.line()

    def _hint(self, cause: v.Cause, kata: Kata) -> str:
        return self.hint_key or super()._hint(cause, kata)


def outcome_style(outcome: str) -> str:
    return STYLES.get(outcome, "red")


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def no_change(at: float) -> str:
    """A save that left every file as it was."""
    return f"saw a save at {clock(at)}, nothing changed"


def judging(kata: Kata) -> str:
    """One of all katas is being judged."""
    return f"judging {kata.name} ..."


def judged_in(milliseconds: float) -> str:
    """How long the last verdict took."""
    return f"judged in {milliseconds:.0f} ms"


def polling(reason: str) -> str:
    """Saves are found by looking again and again, and why."""
    return f"watching by polling: {reason}"


def reset_question(kata: Kata) -> str:
    """What is asked before the stub is put back."""
    return f"Reset {kata.file}? Your file is saved in .kata/backups/."


def opening(session: Session, command: Editor | None, problem: str = "") -> str:
    """What came of opening the current file in an editor; "" where the learner saw it."""
    path = session.space.shown(session.kata)
    if command is None:
        return f"set $EDITOR to open files from here; the file is {path}"
    return problem or (f"{path} opens in {command.name}" if command.windowed else "")


def no_terminal(session: Session, command: Editor) -> str:
    """The editor needs the terminal, and this screen cannot give it away."""
    return (
        f"{command.name} cannot be run from here; the file is {session.space.shown(session.kata)}"
    )


def current(screen: Screen, session: Session, hints: bool = True) -> None:
    """The current kata: changed checks, its verdict, and the open hint."""
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


def changes(screen: Screen, changes: list[Change]) -> None:
    """The checks whose outcome differs from the last run."""
    if not changes:
        screen.line("no check changed since the last run", "dim", indent=2)
    for passes, sign, style, verb in (
        (True, screen.signs.passed, "green", "passes now"),
        (False, screen.signs.failed, "red", "fails again"),
    ):
        group = [change for change in changes if change.passes is passes]
        for change in group[:CHANGES]:
            screen.item(sign, style, f"check {change.number} {verb}: {change.title}")
        if len(group) > CHANGES:
            plural = "pass now" if passes else "fail again"
            screen.line(f"and {len(group) - CHANGES} more {plural}", "dim", indent=4)


def count_changes(changes: list[Change] | None) -> str:
    """How many checks changed, as in "2 pass now, 1 fails again"."""
    parts = []
    for passes, singular, plural in ((True, "passes", "pass"), (False, "fails", "fail")):
        count = sum(change.passes is passes for change in changes or ())
        again = "now" if passes else "again"
        if count:
            parts.append(f"{count} {singular if count == 1 else plural} {again}")
    return ", ".join(parts)


def next_step(session: Session, verdict: v.Verdict) -> str:
    """The next step after this verdict, in keys of `kata watch`."""
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
    """The open hint."""
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
    """Every kata with its number, blurb and progress."""
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
        progress = f"{state.name}: {state.detail}" if state else ""
        if screen.out.width >= 72:
            screen.line(name.append(f"  {kata.blurb}{here}"), indent=2)
            screen.line(progress, "dim", indent=8 + widest)
        else:
            screen.line(name.append(here), indent=2)
            screen.line(kata.blurb, indent=6)
            screen.line(progress, "dim", indent=6)
    screen.line()


def round_of_all(screen: Screen, session: Session) -> None:
    """Judging of every kata: the verdicts so far, and the kata being judged."""
    if session.round:
        screen.summary(session.round)
        failing = [verdict for verdict in session.round if verdict.outcome != v.PASSED]
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
    """The progress of a kata as a sign and its style."""
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
    """The output of `write` on a screen of `width` columns, as one text with colours.

    rows: the height of the window.
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
    """The available keys and their labels."""
    return [(KEYS[action], LABELS[action]) for action in session.available()]


def key_lines(keys: list[tuple[str, str]], width: int, question: str = "") -> Text:
    """Keys and labels in lines of at most `width` columns; a key and its label stay together."""
    line, lines = Text(question, "bold"), []
    for key, label in keys:
        part = Text.assemble((key, "bold cyan"), f" {label}")
        if line.cell_len and line.cell_len + 2 + part.cell_len > width:
            lines.append(line)
            line = Text()
        line.append("  " if line.cell_len else "").append_text(part)
    return Text("\n").join([*lines, line])
