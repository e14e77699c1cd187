"""`kata watch --plain`: prints lines and never redraws.

For screen readers, dumb terminals, logs and pipes. Commands are lines on standard input. The end
of a terminal's input ends the watch; the end of a pipe or file does not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import IO

from attention_katas.errors import NoSuchKata
from attention_katas.render.terminal import Screen
from attention_katas.watch import session as s
from attention_katas.watch import view
from attention_katas.watch.editor import editor
from attention_katas.watch.session import News, Session

WORDS = {word: action for action, key in view.KEYS.items() for word in (key, action)}


class Plain:
    """Prints the news of a session, and carries out commands."""

    def __init__(self, session: Session, screen: Screen) -> None:
        self.session, self.screen = session, screen
        self.asking = False
        self._printing = threading.Lock()
        self._broken = False
        session.tell = self.hear

    def hear(self, news: News) -> None:
        """Print news; called from any thread."""
        self._write(lambda out: self._print(out, news))

    def _write(self, write: Callable[[Screen], None]) -> None:
        """Print; a closed output ends the watch."""
        if self._broken:
            return
        try:
            with self._printing:
                write(self.screen)
        except (OSError, ValueError, SystemExit):  # rich raises SystemExit for a closed pipe
            self._broken = True
            os.kill(os.getpid(), signal.SIGTERM)  # SIGINT may be ignored in a script

    def _print(self, out: Screen, news: News) -> None:
        session = self.session
        if news.kind == s.NOTICE and news.text:
            out.line(news.text)
        elif news.kind == s.SAME and session.same_at is not None:
            out.line(view.no_change(session.same_at))
        elif news.kind == s.POLLING and session.polling:
            out.line(view.polling(session.polling))
        elif news.kind == s.VERDICT and session.verdict is not None:
            self._say_when()
            view.current(out, session, hints=False)
        elif news.kind == s.ROUND_DONE:
            view.round_of_all(out, session)
        elif news.kind == s.ROUND and session.busy is not None:
            out.line(view.judging(session.busy))

    def _say_when(self) -> None:
        session = self.session
        if session.saved_at is not None and session.milliseconds is not None:
            at, took = view.clock(session.saved_at), view.judged_in(session.milliseconds)
            self.screen.line()
            self.screen.line(f"save seen {at}, {took}", "dim")

    def welcome(self) -> None:
        session = self.session
        path = session.space.shown(session.kata)
        message = f"watching {path}; {view.done(session)}; type ? and Enter for the commands"
        self._write(lambda out: out.line(message))
        if session.notice:
            self._write(lambda out: out.line(session.notice))

    def obey(self, line: str) -> bool:
        """Carry out a command; returns whether to go on."""
        word = line.strip().lower()
        if self.asking:
            self.asking = False
            if word in ("y", "yes"):
                self.session.reset()
            else:
                self._write(lambda out: out.line("not reset"))
            return True
        if not word:
            return True
        action = WORDS.get(word)
        if action == s.QUIT:
            return False
        if word in ("?", "help"):
            self._write(self._help)
        elif action is None:
            self._go_to(word)
        elif action not in self.session.available():
            self._write(
                lambda out: out.line(f"{action} is not available now; type ? for the commands")
            )
        else:
            self._do(action)
        return True

    def _go_to(self, word: str) -> None:
        ready = self.session.catalog.ready
        try:
            numbered = word.isdecimal() and 0 < int(word) <= len(ready)
            kata = ready[int(word) - 1] if numbered else self.session.catalog[word]
        except NoSuchKata as error:
            message = error.message
            self._write(lambda out: out.line(f"{message}; type ? and Enter for the commands"))
            return
        if kata.ready:
            self.session.go(kata)
        else:
            self._write(lambda out: out.line(f"{kata.name} is {kata.waits_for}"))

    def _do(self, action: str) -> None:
        session = self.session
        session.do(action)
        if action == s.LIST:
            self._write(lambda out: view.kata_list(out, session))
        elif action == s.HINT:
            self._write(lambda out: view.hint(out, session))
        elif action == s.SOLUTION:
            self._write(lambda out: view.solution(out, session.kata))
        elif action == s.OPEN:
            self._open()
        elif action == s.RESET:
            self.asking = True
            question = view.reset_question(session.kata)
            self._write(lambda out: out.line(f"{question} y or n"))

    def _open(self) -> None:
        session = self.session
        command, problem = editor(session.space.path(session.kata)), ""
        if command is not None:
            with self._printing if not command.windowed else contextlib.nullcontext():
                problem = command.start()
        message = view.opening(session, command, problem)
        if message:
            self._write(lambda out: out.line(message))

    def _help(self, out: Screen) -> None:
        for key, label in view.keys(self.session):
            out.line(f"{key}  {label}", indent=2)
        out.line("or the name of a kata, or its number in the list", indent=2)


def run(session: Session, screen: Screen, start: Callable[[], None]) -> None:
    """Run until q, Ctrl-C, SIGTERM, or the end of a terminal's input."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    plain = Plain(session, screen)
    try:
        plain.welcome()
        start()
        if _obey_all(plain, sys.stdin):
            _wait_for_ever()
    except KeyboardInterrupt:
        with contextlib.suppress(OSError, ValueError, SystemExit):
            screen.line("kata: stopped watching")
    finally:
        signal.signal(signal.SIGTERM, before)


def _obey_all(plain: Plain, lines: IO[str] | None) -> bool:
    """Carry out every line; returns whether to go on at the end of the input."""
    if lines is None or lines.closed:
        return True
    with contextlib.suppress(AttributeError, ValueError):
        lines.reconfigure(errors="replace")  # type: ignore[attr-defined]
    for line in _lines(lines):
        if not plain.obey(line):
            return False
    return not lines.isatty()


def _lines(lines: IO[str]) -> Iterable[str]:
    with contextlib.suppress(OSError):
        while line := lines.readline():
            yield line


def _wait_for_ever() -> None:
    forever = threading.Event()
    while not forever.wait(1.0):  # a wait without timeout ignores Ctrl-C on Windows
        pass
