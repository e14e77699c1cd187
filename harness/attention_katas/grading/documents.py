"""Writes results in formats, each to its place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.grading import formats
from attention_katas.grading.results import Result

STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class Target:
    """A document to write.

    format: the name of the format.
    place: a file, a folder for a document of each student, or STANDARD_OUTPUT.
    """

    format: str
    place: str

    @property
    def on_screen(self) -> bool:
        return self.place == STANDARD_OUTPUT


@dataclass
class Written:
    """What became of some targets.

    documents: format and place of each that was written.
    error: the gravest error that kept one from it.
    """

    documents: list[tuple[str, str]] = field(default_factory=list)
    error: KataError | None = None

    def add_error(self, error: KataError) -> None:
        if self.error is None or self.error.exit_code < error.exit_code:
            self.error = error


class Writer:
    """Writes results to targets.

    about: what formats may need; their notes are collected there.
    stopped: half of the results are missing, so no document is replaced.
    echo: prints a document on standard output.
    """

    def __init__(
        self,
        results: Sequence[Result],
        about: formats.About,
        stopped: bool,
        echo: Callable[[str], None],
    ) -> None:
        self._results, self._about = results, about
        self._stopped, self._echo = stopped, echo
        self.written = Written()

    def write(self, targets: Sequence[Target]) -> None:
        """Write every target that can be written."""
        for target in targets:
            count = self._write_parts(target)
            if count:
                many = f" ({count} documents)" if formats.is_folder(target.place) else ""
                self.written.documents.append((target.format, f"{target.place}{many}"))

    def _write_parts(self, target: Target) -> int:
        """How many documents of the target were written."""
        name, count = target.format, 0
        for part, results in formats.parts(name, target.place, self._results):
            adds = formats.adds(name, part, self._about)
            if self._stopped and os.path.exists(part) and not adds:
                note = f"{name}: {part} is left as it was: not everything is judged"
                self._about.notes.append(note)
                continue
            try:
                self._write_document(part, formats.render(name, results, self._about), adds)
                count += 1
            except CouldNotGrade as error:
                self.written.add_error(error)
                self._remove_older(part, adds)
                if part != target.place:
                    self._about.notes.append(f"there is no {part}: {error.message}")
            except KataError as error:
                self.written.add_error(error)
                break
        return count

    def _remove_older(self, part: str, adds: bool) -> None:
        """An older document would be taken for the one that could not be written."""
        if part != STANDARD_OUTPUT and not adds:
            with contextlib.suppress(OSError):
                os.remove(part)

    def _write_document(self, place: str, text: str, add: bool) -> None:
        if place == STANDARD_OUTPUT:
            self._echo(text)
        else:
            write_file(place, text, add)


def write_file(place: str, text: str, add: bool) -> None:
    """Write or extend a file: all of the text, or nothing. Raises KataError."""
    partial = f"{place}.{os.getpid()}.part"
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        replace = not add and (not os.path.exists(place) or os.path.isfile(place))
        target = partial if replace else place
        with open(target, "a" if add else "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if replace:
            os.replace(partial, os.path.realpath(place))
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(partial)
        raise KataError(f"{place} cannot be written: {error.strerror}") from None
