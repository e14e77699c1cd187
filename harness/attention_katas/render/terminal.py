"""The screens of `kata run`, `kata list` and the rest, for a person at a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from shlex import quote
from typing import IO

from rich.console import Console
from rich.text import Text

from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.progress import DONE, STALE, State, next_kata
from attention_katas.render import glyphs as signs
from attention_katas.render.heat import side_by_side
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, words

STYLES = {v.PASSED: "green", v.NOT_STARTED: "yellow", v.COULD_NOT_GRADE: "magenta"}
OUTPUT_LINES = 12


def console(stream: IO[str] | None = None) -> Console:
    """A console that is readable everywhere: no colour where none is wanted or possible."""
    stream = stream or sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    columns = os.environ.get("COLUMNS", "")
    dumb = os.environ.get("TERM") in ("dumb", "unknown")
    width = None if stream.isatty() else max(int(columns), 20) if columns.isdecimal() else 80
    return Console(
        file=stream,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
        no_color=True if dumb or "NO_COLOR" in os.environ else None,
        width=width,
        legacy_windows=False,
    )


class Screen:
    """Writes the screens to one console."""

    def __init__(
        self, out: Console | None = None, complete: Callable[[str], str] = lambda step: step
    ) -> None:
        """complete: what makes the commands in a next step whole."""
        self.complete = complete
        self.out = out or console()
        self.signs = signs.for_encoding(self.out.encoding)
        self.colour = self.out.color_system is not None and not self.out.no_color

    def line(self, text: str | Text = "", style: str = "", indent: int = 0, hang: int = 0) -> None:
        """One line, or a paragraph wrapped to the terminal; its later rows hang deeper."""
        content = text if isinstance(text, Text) else Text(text, style=style)
        width = max(self.out.width - indent - hang, 20)
        rows = [content] if content.no_wrap else content.wrap(self.out, width)
        for number, row in enumerate(rows):
            row.rstrip()
            space = " " * (indent + (hang if number else 0)) if row.plain else ""
            whole = Text(space).append_text(row)
            self.out.print(whole, crop=False, no_wrap=True, overflow="ignore")

    def field(
        self, label: str, text: str, *, indent: int = 4, width: int = 0, style: str = ""
    ) -> None:
        """A label and a text beside it that wraps within its own column."""
        column = max(width, len(label) + 2)
        room = max(self.out.width - indent - column, 20)
        for number, row in enumerate(Text(signs.safe(text), style=style).wrap(self.out, room)):
            row.rstrip()
            head = Text((label if not number else "").ljust(column), style="dim")
            whole = Text(" " * indent).append_text(head).append_text(row)
            self.out.print(whole, crop=False, no_wrap=True, overflow="ignore")

    def code(self, source: str, indent: int = 2) -> None:
        """Source as it is: never wrapped."""
        for text in source.rstrip().splitlines():
            self.out.print(
                Text(" " * indent + text if text else ""),
                crop=False,
                no_wrap=True,
                overflow="ignore",
            )

    def next_step(self, step: str) -> None:
        """What to do now; further lines of `step` are other ways to go on."""
        for number, way in enumerate(self.complete(step).splitlines()):
            self.field("or:" if number else "next:", way, indent=2, width=7, style="bold")

    def item(self, sign: str, style: str, text: str) -> None:
        """One line of a list."""
        self.line(Text.assemble((f"{sign} ", style), text), indent=2, hang=2)

    def verdict(
        self,
        verdict: v.Verdict,
        kata: Kata,
        following: str = "",
        file_option: str = "",
        step: str = "",
    ) -> None:
        """The whole screen of one verdict.

        following: the command after a pass.
        file_option: the --file that was judged, if any.
        step: what to do now, in place of what the verdict advises.
        """
        self._head(verdict, kata)
        self.checks(verdict)
        named = False
        for diagnosis in verdict.diagnoses:
            # "also fails" says something only below a diagnosis that says more.
            if diagnosis.kind != v.NO_DIAGNOSIS or diagnosis.fault or named:
                self.diagnosis(diagnosis, kata)
                named = True
        self.why(verdict)
        self._printed(verdict)
        if verdict.outcome == v.PASSED:
            carries = kata.lesson().get("What carries forward", "")
            if carries:
                self.line("What carries forward", "bold", indent=2)
                self.line(paragraphs(carries), indent=2)
                self.line()
        advice = step or words.next_step(verdict)
        self.next_step(advice or _next(verdict, kata, following, file_option))

    def _head(self, verdict: v.Verdict, kata: Kata) -> None:
        style = STYLES.get(verdict.outcome, "red")
        title = Text.assemble((kata.name, "bold"), "  ", (verdict.outcome, f"bold {style}"))
        if verdict.total:
            title.append(f"  {verdict.passed} of {verdict.total} checks pass")
        self.line()
        self.line(title)
        self._facts(verdict)

    def _facts(self, verdict: v.Verdict) -> None:
        facts = verdict.file
        if verdict.checks:
            facts += f", on {verdict.device}, seed {verdict.seed}, {verdict.seconds:.2f} s"
        self.line(signs.safe(facts), "dim")
        self.line()

    def checks(self, verdict: v.Verdict) -> None:
        if not verdict.checks:
            return
        unwritten = [check for check in verdict.checks if check.outcome == v.NOT_WRITTEN]
        for check in verdict.checks:
            if check in unwritten:
                continue
            sign, style = self.signs.failed, "red"
            if check.outcome == v.PASSED:
                sign, style = self.signs.passed, "green"
            elif check.outcome in (v.NOT_REACHED, v.NOT_VERIFIED):
                sign, style = self.signs.waiting, "dim"
            text = Text.assemble(
                (f"{sign} ", style), (check.title, style if style == "dim" else "")
            )
            if check.outcome not in (v.PASSED, v.FAILED, v.NOT_REACHED):
                text.append(f"  ({check.outcome})", "dim")
            self.line(text, indent=2, hang=2)
        for reason in dict.fromkeys(check.reason for check in unwritten):
            count = sum(check.reason == reason for check in unwritten)
            message = words.reason(reason)
            checks = f"({count} checks)" if count > 1 else "(1 check)"
            self.line(f"{self.signs.waiting} {message} {checks}", "dim", indent=2, hang=2)
        skipped = [check for check in verdict.checks if check.outcome == v.NOT_REACHED]
        for reason in dict.fromkeys(check.reason for check in skipped):
            self.line(f"({self.signs.waiting} {words.reason(reason)})", "dim", indent=2, hang=3)
        self.line()

    def diagnosis(self, diagnosis: v.Diagnosis, kata: Kata) -> None:
        """What is behind the failure of one function: its name, a question, two numbers, a hint."""
        headline = words.headline(diagnosis, kata.file)
        if headline:
            self._headline(diagnosis, headline)
        for cause in diagnosis.causes:
            self._cause(diagnosis, cause, kata)
        label = "because" if diagnosis.causes else "-"
        for symptom in diagnosis.symptoms:
            self.field(label, words.symptom(symptom), width=11 if diagnosis.causes else 2)
        if diagnosis.causes:
            self.field("evidence", words.evidence(diagnosis), width=11)
        self.line()

    def _headline(self, diagnosis: v.Diagnosis, text: str) -> None:
        name = f"{diagnosis.function}:" if diagnosis.kind == v.SYMPTOMS else diagnosis.function
        head = Text.assemble(("! ", "yellow"), (f"{name} ".lstrip(), "bold"))
        self.line(head.append(signs.safe(text), "bold"), indent=2, hang=2)

    def _cause(self, diagnosis: v.Diagnosis, cause: v.Cause, kata: Kata) -> None:
        self._headline(diagnosis, words.says(cause))
        label = "contract" if cause.kind == v.CONVENTION else "think"
        self.field(label, cause.question, width=11)
        if cause.level:
            self.field("hint", f"{self._hint(cause, kata)}  ({cause.hint})", width=11)

    def _hint(self, cause: v.Cause, kata: Kata) -> str:
        """What to type for the hint that speaks about a cause."""
        return self.complete(f"kata hint {kata.name} --level {cause.level}")

    def why(self, verdict: v.Verdict) -> None:
        """The first check that fails: what was asked, what came back, what was expected."""
        check = verdict.first_failure
        if check is None:
            if verdict.reason is not None:
                self.line(signs.safe(words.reason(verdict.reason)), indent=2)
                quoted = isinstance(verdict.reason, reasons.DoesNotLoad | reasons.NotPython)
                self._raised(verdict.raised, quoted)
                self.line()
            return
        if check.outcome == v.NOT_WRITTEN:
            return  # said above
        evidence = check.evidence or v.Evidence()
        self.line(Text.assemble((f"{self.signs.failed} ", "red"), (check.title, "bold")), indent=2)
        if evidence.call:
            self.field("called", evidence.call, width=11)
        for described in evidence.inputs:
            self.field("with", described, width=11)
        label = words.rung(check.rung) or "found"
        self.field(label, words.check(check), width=11)
        if evidence.raised and evidence.expected_type:
            self.field("expected", evidence.expected_type, width=11)
        self._raised(evidence.raised)
        if evidence.yours is not None:
            self.line()
            for row in side_by_side(evidence, self.signs, self.out.width - 4, self.colour):
                row.no_wrap, row.overflow = True, "crop"
                self.line(row, indent=4)
        alike = [c for c in verdict.checks if c is not check and c.reason == check.reason]
        if alike and evidence.raised:
            self.line(f"({len(alike)} more stop in the same way)", "dim", indent=4)
        self.line()

    def _raised(self, raised: v.Raised | None, quoted: bool = False) -> None:
        """The learner's own lines on the way to an exception; no frame of ours.

        quoted: the sentence before has quoted the exception.
        """
        if raised is None:
            return
        for frame in raised.frames[-3:]:
            inside = "" if frame.function in ("", "<module>") else f", in {frame.function}"
            self.line(signs.safe(f"{frame.file}, line {frame.line}{inside}"), "cyan", indent=4)
            if frame.code:
                self.line(signs.safe(frame.code.strip()), indent=8)
                if raised.column and frame is raised.where:
                    offset = raised.column - 1 - (len(frame.code) - len(frame.code.lstrip()))
                    self.line(" " * max(offset, 0) + "^", "red", indent=8)
        if raised.type and not quoted:
            whole = f"{raised.type}: {raised.message}" if raised.message else raised.type
            for text in signs.safe(whole).splitlines()[:4]:
                self.line(text, "red", indent=4)

    def _printed(self, verdict: v.Verdict) -> None:
        text = signs.safe(verdict.output).rstrip()
        if not text:
            return
        lines = text.splitlines()
        self.line("your code printed", "dim", indent=2)
        self.line("\n".join(lines[:OUTPUT_LINES]), indent=4)
        if len(lines) > OUTPUT_LINES:
            self.line(f"... and {len(lines) - OUTPUT_LINES} more lines", "dim", indent=4)
        self.line()

    def katas(self, catalog: Catalog, states: dict[str, State]) -> None:
        """`kata list`: every kata, what it is about, and where it stands."""
        done = sum(state.name == DONE for state in states.values())
        self.line()
        self.line(f"{done} of {len(catalog.ready)} done" if states else "the katas", "bold")
        self.line()
        current = next_kata(catalog.ready, states) if states else None
        widest = max(len(kata.name) for kata in catalog.katas)
        for kata in catalog.katas:
            state = states.get(kata.name)
            sign, style = self.signs.waiting, "dim"
            if state and state.name == DONE:
                sign, style = self.signs.passed, "green"
            elif state and state.name == STALE:
                sign, style = "~", "yellow"
            elif current and kata.name == current.name:
                sign, style = self.signs.here, "bold cyan"
            says = f"{state.name}: {state.detail}" if state else kata.waits_for
            if kata.ready and not state:
                says = ""
            text = Text.assemble((f"{sign} ", style), (kata.name.ljust(widest), "bold"))
            if self.out.width >= 72:
                text.append(f"  {kata.blurb}", "" if kata.ready else "dim")
                self.line(text, indent=2)
                if says:
                    self.line(says, "dim", indent=6 + widest)
            else:
                self.line(text, indent=2)
                self.line(says or kata.blurb, "dim", indent=6)
        self.line()

    def summary(self, verdicts: Sequence[v.Verdict]) -> None:
        """A line for each of several verdicts."""
        self.line()
        widest = max(len(verdict.kata) for verdict in verdicts)
        for verdict in verdicts:
            style = STYLES.get(verdict.outcome, "red")
            sign = self.signs.passed if verdict.outcome == v.PASSED else self.signs.failed
            if verdict.outcome == v.NOT_STARTED:
                sign = self.signs.waiting
            count = f"  {verdict.passed} of {verdict.total} checks" if verdict.total else ""
            self.item(sign, style, f"{verdict.kata.ljust(widest)}  {verdict.outcome}{count}")
        self.line()


def paragraphs(markdown: str) -> str:
    """Markdown paragraphs with their line breaks undone, so that they wrap to the terminal.

    Indented blocks (tables, code) stay as they are.
    """
    parts = markdown.split("\n\n")
    return "\n\n".join(p if p.startswith("    ") else " ".join(p.split()) for p in parts)


def _next(verdict: v.Verdict, kata: Kata, following: str, file_option: str) -> str:
    """What to do after this verdict. `file_option`: the --file that was judged, if any."""
    again = f"kata run {kata.name}" + (f" --file {quote(file_option)}" if file_option else "")
    if verdict.outcome == v.PASSED:
        return following
    if verdict.outcome == v.NOT_STARTED:
        return f"open {verdict.file} and write it, then {again}"
    if verdict.outcome == v.COULD_NOT_GRADE:
        return "kata doctor"
    causes = [cause for each in verdict.diagnoses for cause in each.causes if cause.level]
    level = f" --level {causes[0].level}" if causes else ""
    return f"change {verdict.file}, then {again}\nkata hint {kata.name}{level}"


def render(verdicts: Sequence[v.Verdict], katas: dict[str, Kata], following: str = "") -> str:
    """The screens as plain text, 80 columns wide, for tests."""
    import io

    out = Console(
        file=io.StringIO(),
        width=80,
        highlight=False,
        markup=False,
        emoji=False,
        no_color=True,
        legacy_windows=False,
    )
    screen = Screen(out)
    screen.signs, screen.colour = signs.UNICODE, False
    for verdict in verdicts:
        screen.verdict(verdict, katas[verdict.kata], following)
    file = out.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()
