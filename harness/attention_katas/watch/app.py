"""`kata watch` as a full-screen application."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Key, Resize
from textual.message import Message
from textual.widgets import Static

from attention_katas.render.glyphs import UNICODE
from attention_katas.render.terminal import Screen as Writer
from attention_katas.watch import session as s
from attention_katas.watch import view
from attention_katas.watch.editor import Editor, editor
from attention_katas.watch.session import News, Session

SLOW_SECONDS = 2.0  # of judging, after which the status shows the elapsed time
# Contents of the body.
VERDICT, LIST, ROUND, SOLUTION = "verdict", "list", "round", "solution"


class WatchApp(App[None], inherit_bindings=False):
    """The screen: progress, the verdict, the status line, and the available keys.

    start: called once the screen is drawn; begins to watch and to judge.
    complete: adds the options of this session to the commands in a next step.
    """

    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    #top { height: auto; padding: 0 1; border-bottom: solid ansi_bright_black; }
    #body { height: 1fr; padding: 0 0 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        background: ansi_default; scrollbar-background: ansi_default;
        scrollbar-color: ansi_bright_black; scrollbar-background-hover: ansi_default;
        scrollbar-color-hover: ansi_white; scrollbar-background-active: ansi_default;
        scrollbar-color-active: ansi_white; }
    #text { height: auto; width: auto; }
    .old { text-style: dim; }
    #status { height: auto; padding: 0 1; border-top: solid ansi_bright_black; }
    #keys { height: auto; padding: 0 1; }
    """
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    ESCAPE_TO_MINIMIZE = False
    TITLE = "kata watch"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", priority=True, show=False),
        Binding("ctrl+z", "suspend_process", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("space,pagedown", "page(1)", show=False),
        Binding("b,pageup", "page(-1)", show=False),
        Binding("escape", "leave", show=False),
        *(Binding(key, f"do('{action}')", show=False) for action, key in view.KEYS.items()),
    ]

    class Notified(Message):
        """News of the session, which has threads of its own."""

        def __init__(self, news: News) -> None:
            super().__init__()
            self.news = news

    def __init__(
        self,
        session: Session,
        start: Callable[[], None],
        complete: Callable[[str], str] = lambda step: step,
    ) -> None:
        super().__init__(ansi_color=True)
        self.session, self._begin, self._complete = session, start, complete
        self.showing = VERDICT
        self.asking = False
        self._seen = ""
        self._scrolls = False
        self.fault: Exception | None = None
        session.tell = self._hear

    def _hear(self, news: News) -> None:
        """Called from any thread, perhaps after the screen has closed."""
        with contextlib.suppress(RuntimeError):
            self.post_message(self.Notified(news))

    def compose(self) -> ComposeResult:
        yield Static(id="top")
        with VerticalScroll(id="body"):
            yield Static(id="text")
        yield Static(id="status")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.query_one("#body").focus()
        self.draw()
        # Without a handler SIGTERM would leave the terminal in full-screen mode.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.call_after_refresh(self._begin)
        self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        if self.is_drawn and self.session.judging:
            self.query_one("#status", Static).update(self.status())

    def on_resize(self, _: Resize) -> None:
        self.call_after_refresh(self.draw)

    def on_watch_app_notified(self, message: Notified) -> None:
        """Draw again, and show the verdict when judging begins.

        The scroll position stays from save to save, until the kata passes.
        """
        if not self.is_drawn:
            return
        session, kind = self.session, message.news.kind
        body = self.query_one("#body", VerticalScroll)
        if kind == s.JUDGING and not session.in_round:
            if self.showing != VERDICT or self._seen != session.kata.name:
                body.scroll_home(animate=False)
            self.showing, self.asking, self._seen = VERDICT, False, session.kata.name
        self.draw()
        if kind == s.VERDICT and session.passed and self.showing == VERDICT:
            # "What carries forward" is at the end.
            self.call_after_refresh(body.scroll_end, animate=False)

    # Drawing.

    @property
    def is_drawn(self) -> bool:
        """Whether all parts of the screen exist; threads and timers call before and after that."""
        return all(self.query(f"#{part}") for part in ("top", "body", "text", "status", "keys"))

    def draw(self) -> None:
        """Draw all parts from the state of the session."""
        if not self.is_drawn:
            return
        self._draw_top()
        self._draw_body()
        self.query_one("#status", Static).update(self.status())
        self.query_one("#keys", Static).update(self.footer())

    def _draw_top(self) -> None:
        session, verdict = self.session, self.session.verdict
        left = Text.assemble((session.kata.name, "bold"))
        if verdict is not None:
            style = "dim" if session.judging else f"bold {view.outcome_style(verdict.outcome)}"
            left.append("  ").append(verdict.outcome, style)
            if verdict.total:
                left.append(
                    f"  {verdict.passed} of {verdict.total}", "dim" if session.judging else ""
                )
        right = view.signs(session, UNICODE).append(f"  {view.done(session)}")
        room = self.size.width - 2 - left.cell_len - right.cell_len
        if session.judging and verdict is not None and room >= len("  (old)") + 2:
            left.append("  (old)", "dim")
            room -= len("  (old)")
        if room >= 2:
            whole = left.append(" " * room).append_text(right)
        else:
            whole = Text("\n").join([left, right])
        self.query_one("#top", Static).update(whole)

    def _draw_body(self) -> None:
        session = self.session
        write: Callable[[Writer], None] = {
            VERDICT: lambda out: view.current(out, session),
            LIST: lambda out: view.kata_list(out, session),
            ROUND: lambda out: view.round_of_all(out, session),
            SOLUTION: lambda out: view.solution(out, session.kata),
        }[self.showing]
        rows = self.query_one("#body").size.height
        text = view.as_text(write, self.size.width - 3, not self.no_color, self._complete, rows)
        self._scrolls = text.plain.count("\n") + 1 > rows > 0
        body = self.query_one("#text", Static)
        body.set_class(self.showing == VERDICT and session.judging, "old")
        body.update(text)

    def status(self) -> Text:
        """The last save and the running work, in one or two lines."""
        session, parts = self.session, []
        if not session.warm:
            parts.append("warming up ...")
        elif session.in_round and session.busy:
            parts.append(view.judging(session.busy))
        elif session.judging:
            status = "judging ..." if session.verdict is None else "judging ... (old verdict shown)"
            seconds = time.monotonic() - session.since if session.since else 0.0
            if seconds >= SLOW_SECONDS:
                status += f", for {seconds:.0f} s: a call may take 10 s"
            parts.append(status)
        if session.same_at is not None:
            parts.append(view.no_change(session.same_at))
        elif session.saved_at is not None:
            save = f"last save seen {view.clock(session.saved_at)}"
            if session.milliseconds is not None and not session.judging:
                save += f", {view.judged_in(session.milliseconds)}"
                counts = view.count_changes(session.changes)
                save += f": {counts}" if counts else ""
            parts.append(save)
        elif session.warm and not session.judging:
            parts.append(f"watching {session.space.shown(session.kata)}")
        line = Text("; ".join(parts), "dim")
        if session.polling:
            line.append(f"\n{view.polling(session.polling)}", "yellow")
        if session.notice:
            line.append("\n").append(session.notice)
        return line

    def footer(self) -> Text:
        """The keys that are available now."""
        if self.asking:
            question = view.reset_question(self.session.kata)
            return view.key_lines([("y", "yes"), ("n", "no")], self.size.width - 2, question)
        keys = view.keys(self.session)
        if self.showing == LIST:
            count = min(len(self.session.catalog.ready), 9)
            keys = [(f"1-{count}", "go there"), ("esc", "back"), ("q", "quit")]
        elif self.showing != VERDICT:
            keys = [("esc", "back"), *keys]
        if self._scrolls:
            keys = [*keys[:-1], ("↑↓", "scroll"), keys[-1]]
        return view.key_lines(keys, self.size.width - 2)

    # Doing.

    def on_key(self, event: Key) -> None:
        """Answer an open question, or go to a kata of the list by its number."""
        if self.asking:
            event.stop()
            event.prevent_default()
            self.asking = False
            if event.key in ("y", "Y"):
                self.session.reset()
            self.draw()
        elif self.showing == LIST and event.character and event.character in "123456789":
            ready = self.session.catalog.ready
            if int(event.character) <= len(ready):
                self.showing = VERDICT
                self.session.go(ready[int(event.character) - 1])
                self.draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action is available now."""
        if action == "do":
            if self.asking:
                return False
            if self.showing == LIST and parameters[0] != s.QUIT:
                return False
            return parameters[0] in self.session.available()
        if action == "leave":
            return self.asking or self.showing != VERDICT or self.session.hint is not None
        return True

    def action_do(self, action: str) -> None:
        self.showing = {s.LIST: LIST, s.ALL: ROUND, s.SOLUTION: SOLUTION}.get(action, VERDICT)
        self.session.do(action)
        if action == s.OPEN:
            self.open_file()
        elif action == s.RESET:
            self.asking = True
        elif action == s.QUIT:
            self.exit()
            return
        self.draw()
        body = self.query_one("#body", VerticalScroll)
        if action == s.HINT:
            self.call_after_refresh(body.scroll_end, animate=False)
        elif action != s.RESET:
            body.scroll_home(animate=False)

    def action_leave(self) -> None:
        if self.showing == VERDICT and not self.asking:
            self.session.hide_hint()
        self.showing, self.asking = VERDICT, False
        self.draw()

    def action_scroll(self, rows: int) -> None:
        self.query_one("#body", VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        body = self.query_one("#body", VerticalScroll)
        body.scroll_relative(y=pages * max(body.size.height - 1, 1), animate=False)

    def _handle_exception(self, error: Exception) -> None:
        """A fault of ours: end the screen; `run` raises the error."""
        self.fault = self.fault or error
        super()._handle_exception(error)
        self._exit_renderables.clear()

    async def action_quit(self) -> None:
        self.exit()

    def open_file(self) -> None:
        """Open the current file in an editor; suspend this screen if that needs the terminal."""
        session = self.session
        command = editor(session.space.path(session.kata))
        if command is None:
            session.say(view.opening(session, command))
        elif command.windowed:
            session.say(view.opening(session, command, command.start()))
        else:
            self._edit_here(command)

    def _edit_here(self, command: Editor) -> None:
        try:
            with self.suspend():
                problem = command.start()
        except SuspendNotSupported:
            problem = view.no_terminal(self.session, command)
        self.refresh(layout=True)
        if problem:
            self.session.say(problem)


def run(
    session: Session, start: Callable[[], None], complete: Callable[[str], str], mouse: bool
) -> None:
    """Run until the learner quits. Raises a fault of the screen once the terminal is restored."""
    app = WatchApp(session, start, complete)
    app.run(mouse=mouse)
    if app.fault is not None:
        raise app.fault
