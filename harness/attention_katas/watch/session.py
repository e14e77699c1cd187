"""What `kata watch` knows and does, without a screen: saves in, verdicts and news out.

One thread judges, and judges what is newest (`service.follow`). All methods may be called from any
thread. Whoever shows it is called back with every piece of news.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from attention_katas.errors import KataError, ProgressUnavailable
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import files_read, read_submission
from attention_katas.packs.progress import DONE, Progress, State, next_kata
from attention_katas.packs.workspace import Workspace
from attention_katas.service.follow import Follow
from attention_katas.service.judge_service import JudgeService
from attention_katas.verdict import data as v
from attention_katas.watch.editor import editor
from attention_katas.watch.saves import CHANGED, GONE, Save

T = TypeVar("T")

# What a learner can do, in the order in which it is offered.
NEXT, PREVIOUS, LIST, HINT, OPEN = "next", "previous", "list", "hint", "open"
RERUN, ALL, RESET, SOLUTION, QUIT = "rerun", "all", "reset", "solution", "quit"
ACTIONS = (NEXT, PREVIOUS, LIST, HINT, OPEN, RERUN, ALL, RESET, SOLUTION, QUIT)

# Kinds of news.
JUDGING, VERDICT, ROUND, ROUND_DONE, SAME, NOTICE, POLLING, STATES = (
    "judging", "verdict", "round", "round done", "same", "notice", "polling", "states"
)  # fmt: skip


@dataclass(frozen=True)
class News:
    """Something that happened. text: for a notice, what it says."""

    kind: str
    text: str = ""


@dataclass(frozen=True)
class Change:
    """A check whose outcome is another one than in the run before; `number` counts from 1."""

    number: int
    title: str
    passes: bool


@dataclass(frozen=True)
class Request:
    """What is to be judged next. seen: when the save was seen that asks for it."""

    katas: tuple[Kata, ...]
    seen: float | None = None
    everything: bool = False


class Session:
    """A learner at work on one kata at a time.

    tell: called with every News, from any thread.
    """

    def __init__(
        self,
        catalog: Catalog,
        space: Workspace,
        progress: Progress,
        service: JudgeService,
        name: str | None = None,
        tell: Callable[[News], None] = lambda news: None,
    ) -> None:
        if not catalog.ready:
            raise KataError("none of these katas can be judged yet", "kata list")
        self.catalog, self.space, self.tell = catalog, space, tell
        self.kata = catalog.ready[0]
        self.verdicts: dict[str, v.Verdict] = {}
        self.states: dict[str, State] = {}
        self.saved_at: float | None = None
        self.same_at: float | None = None
        self.milliseconds: float | None = None
        self.busy: Kata | None = None
        self.warm = False
        self.polling = ""
        self.notice = ""
        self.round: list[v.Verdict] = []
        self._progress = progress
        self._follow: Follow[Request] = Follow(service, self._work, self._after)
        self._changes: dict[str, list[Change] | None] = {}
        self._rungs: dict[str, int] = {}
        self._files: dict[str, set[str]] = {}
        self._outdated: set[str] = set()
        self._unavailable: set[type[ProgressUnavailable]] = set()  # those that were said
        self._lasting = False  # the notice outlives the save that it is about
        self.since: float | None = None
        self._restate()
        self.kata = self._first(name)

    def _first(self, name: str | None) -> Kata:
        ready = self.catalog.ready
        if name is not None:
            kata = self.catalog[name]
            if not kata.ready:
                raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
            return kata
        return next_kata(ready, self.states) or ready[-1]

    def start(self) -> None:
        """Judge the current kata, as soon as that can be."""
        self._want(Request((self.kata,)))
        self._follow.start()

    def close(self) -> None:
        self._follow.close()

    # What is seen.

    @property
    def verdict(self) -> v.Verdict | None:
        """The last verdict on the current kata."""
        return self.verdicts.get(self.kata.name)

    @property
    def changes(self) -> list[Change] | None:
        """What is other than in the run of this kata before; None when there is none to compare."""
        return self._changes.get(self.kata.name)

    @property
    def judging(self) -> bool:
        """A verdict on the current kata is under way: the one that is shown is an old one."""
        requests = self._requests()
        return any(not each.everything and self.kata in each.katas for each in requests)

    @property
    def in_round(self) -> bool:
        """All katas are being judged, one after the other."""
        return any(request.everything for request in self._requests())

    def _requests(self) -> list[Request]:
        """What is to be judged, and what is being judged."""
        with self._follow.lock:
            running = [self._follow.running] if self._follow.running else []
            return [*self._follow.waiting, *running]

    @property
    def passed(self) -> bool:
        return self.verdict is not None and self.verdict.outcome == v.PASSED

    @property
    def hint(self) -> tuple[int, int, str, str] | None:
        """The rung that is shown: its number, how many there are, its title and its text."""
        level, ladder = self._rungs.get(self.kata.name, 0), self.kata.hints()
        if not 0 < level <= len(ladder):
            return None
        return level, len(ladder), *ladder[level - 1]

    @property
    def following(self) -> Kata | None:
        """The kata to go to from here: the next that is not done; if all are, the next one."""
        ready = self.catalog.ready
        here = ready.index(self.kata)
        later = ready[here + 1 :]
        return next_kata([*later, *ready[:here]], self.states) or next(iter(later), None)

    def available(self) -> tuple[str, ...]:
        """The actions that do something now."""
        ready, verdict = self.catalog.ready, self.verdict
        rungs = len(self.kata.hints())
        started = verdict is not None and verdict.outcome != v.NOT_STARTED
        state = self.states.get(self.kata.name)
        possible = {
            NEXT: self.following is not None,
            PREVIOUS: self.kata is not ready[0],
            LIST: len(ready) > 1,
            HINT: not self.passed and self._rungs.get(self.kata.name, 0) < rungs,
            OPEN: editor(self.space.path(self.kata)) is not None,
            RERUN: started and not self.judging and not self.in_round,
            ALL: len(ready) > 1 and not self.in_round,
            RESET: started or (verdict is not None and not self.space.path(self.kata).exists()),
            SOLUTION: self.passed or bool(state and state.first_pass),
            QUIT: True,
        }
        return tuple(action for action in ACTIONS if possible[action])

    # What is done.

    def do(self, action: str) -> None:
        """Carry out an action of ACTIONS; what only a screen can do is left to it."""
        methods: dict[str, Callable[[], None]] = {
            NEXT: self.go_next,
            PREVIOUS: self.go_back,
            HINT: self.next_hint,
            RERUN: self.rerun,
            ALL: self.judge_all,
        }
        if action in methods:
            methods[action]()

    def saved(self, save: Save) -> None:
        """Files were saved: judge what that asks for, and nothing else."""
        fresh = save.names(CHANGED) | save.names(GONE)
        with self._follow.lock:
            self.saved_at = save.at
            self._outdated |= {name for name, names in self._files.items() if names & fresh}
            files = self._files.get(self.kata.name, set()) | {self.kata.file}
            ungraded = self.verdict is not None and self.verdict.outcome == v.COULD_NOT_GRADE
            request, moved = None, None
            if files & fresh or (files & save.files.keys() and ungraded and not self.judging):
                request = Request((self.kata,), save.seen)
            else:
                moved = self._gone_to(save.names(CHANGED))
            if moved is not None:
                self.kata, request = moved, Request((moved,), save.seen)
            if request is None and not fresh:
                self.same_at = save.at
            elif request is None:
                self._follow.look_again()
            else:
                self.same_at = None
        if moved is not None:
            self.say(f"you saved {moved.file}, so this is {moved.name} now")
        elif request is not None and not self._lasting:
            self.notice = ""
        self._lasting = False
        if request is not None:
            self._want(request)
        elif not fresh:
            self.tell(News(SAME))

    def _gone_to(self, names: set[str]) -> Kata | None:
        """Another kata whose file the learner wrote something into."""
        for kata in self.catalog.ready:
            if kata.file not in names:
                continue
            try:
                if self.space.path(kata).read_bytes() != kata.stub.read_bytes():
                    return kata
            except OSError:
                continue
        return None

    def go(self, kata: Kata) -> None:
        """Make it the current kata; judge it unless its verdict still holds."""
        with self._follow.lock:
            self.kata, self.notice, self.same_at = kata, "", None
            self.milliseconds = None
            is_current = kata.name in self.verdicts and kata.name not in self._outdated
        if not is_current:
            self._want(Request((kata,)))
            return
        self._want(None)
        self.tell(News(VERDICT))

    def go_next(self) -> None:
        if self.following is not None:
            self.go(self.following)

    def go_back(self) -> None:
        ready = self.catalog.ready
        if self.kata is not ready[0]:
            self.go(ready[ready.index(self.kata) - 1])

    def rerun(self) -> None:
        """The same code on other inputs."""
        self.notice = ""
        self._want(Request((self.kata,)))

    def judge_all(self) -> None:
        self.notice, self.round, self.milliseconds = "", [], None
        self._want(Request(tuple(self.catalog.ready), everything=True))

    @property
    def advised(self) -> int:
        """The rung that the diagnosis points to; 0 if it points to none."""
        diagnoses = self.verdict.diagnoses if self.verdict else []
        return next(
            (cause.level for diagnosis in diagnoses for cause in diagnosis.causes if cause.level), 0
        )

    def next_hint(self) -> None:
        """The rung that the diagnosis points to, and from there the next one.

        How far the learner went is remembered, as by `kata hint`.
        """
        name, rungs = self.kata.name, len(self.kata.hints())
        recorded = self._kept(lambda: self._progress.hint_level(name), 0)
        level_shown = self._rungs.get(name, 0)
        following = level_shown + 1 if level_shown else self.advised or recorded + 1
        level = self._rungs[name] = min(following, rungs)
        if level > recorded:
            self._kept(lambda: self._progress.set_hint_level(name, level), None)

    def hide_hint(self) -> None:
        self._rungs.pop(self.kata.name, None)

    def reset(self) -> Path | None:
        """Put the stub back; that is a save like any other. Returns the backup."""
        try:
            backup = self.space.reset(self.kata)
        except KataError as error:
            self.say(error.message)
            return None
        suffix = f"; yours is kept as {backup.relative_to(self.space.root)}" if backup else ""
        self.say(f"{self.kata.file} is the stub again{suffix}")
        self._lasting = True
        return backup

    def say(self, text: str) -> None:
        """A line for the learner; it stays until the next thing happens."""
        self.notice = text
        self.tell(News(NOTICE, text))

    def polls(self, reason: str) -> None:
        """Saves are found by looking again and again, and why; "" when they are not."""
        self.polling = reason
        self.tell(News(POLLING))

    # The thread that judges.

    def _want(self, request: Request | None) -> None:
        """This comes next, in place of whatever was to come; None: nothing does."""
        with self._follow.lock:
            is_stopped = self.in_round and not (request is not None and request.everything)
        if is_stopped:
            self.say("judging all katas was stopped")
        self._follow.put([request] if request is not None else [], only=True)
        if request is not None:
            self.tell(News(JUDGING))

    def _work(self, request: Request) -> None:
        with self._faults_told():
            for kata in request.katas:
                if not self._judge(request, kata):
                    self._outdated.add(kata.name)
                    return

    def _after(self, request: Request | None) -> None:
        with self._faults_told():
            self._restate()
        self.busy = None
        is_current = not self._follow.superseded
        is_done = request is not None and request.everything and is_current
        self.tell(News(ROUND_DONE) if is_done else News(STATES))
        if is_current:
            self._follow.expect(self.kata)
            if not self.warm:
                self.warm = True
                self.tell(News(STATES))

    @contextlib.contextmanager
    def _faults_told(self) -> Iterator[None]:
        """A fault of this program is told: the next save is to be judged all the same."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self.say(f"a fault of this program: {type(error).__name__}: {error}")

    def _judge(self, request: Request, kata: Kata) -> bool:
        """Judge, show and record one kata; False when something newer is wanted."""
        self.busy, self.since = kata, time.monotonic()
        if request.everything:
            self.tell(News(ROUND))
        reading = read_submission(self.catalog, kata, self.space.path(kata), self.space.shown(kata))
        self._files[kata.name] = files_read(kata, reading)
        self._outdated.discard(kata.name)
        if isinstance(reading, v.Verdict):
            source, verdict = "", reading
        else:
            self._follow.expect(kata)
            judged = self._follow.judge(reading)
            if judged is None:
                return False
            self.warm, source, verdict = True, reading.source, judged
        if not self._publish(request, verdict):
            return False
        if verdict.outcome != v.NOT_STARTED:
            self._kept(partial(self._progress.record, verdict, source), None)
        return True

    def _publish(self, request: Request, verdict: v.Verdict) -> bool:
        """Show it, unless it is about a content that is not the newest any more."""
        name = verdict.kata
        with self._follow.lock:
            if self._follow.superseded:
                return False
            self._changes[name] = compare(self.verdicts.get(name), verdict)
            self.verdicts[name] = verdict
            if verdict.outcome == v.PASSED:
                self._rungs.pop(name, None)  # the hint has done its work
                if name in self.states:  # what is recorded says so in a moment
                    self.states[name] = replace(self.states[name], name=DONE)
            if request.everything:
                self.round = [*self.round, verdict]
            elif self.kata.name == name:
                seen = request.seen
                self.milliseconds = None if seen is None else 1000 * (time.perf_counter() - seen)
            if not request.everything:
                self._follow.done()
                self.busy = None
        self.tell(News(STATES if request.everything else VERDICT))
        return True

    def _restate(self) -> None:
        states = self._kept(lambda: self._progress.states(self.catalog, self.space.root), None)
        if states is not None:
            self.states = states
        notice, self._progress.notice = self._progress.notice, ""  # each is said once
        if notice:
            self.say(notice)

    def _kept(self, act: Callable[[], T], otherwise: T) -> T:
        """A verdict is worth more than its record: say once that it is not recorded, and go on."""
        try:
            return act()
        except ProgressUnavailable as error:
            if type(error) not in self._unavailable:
                self._unavailable.add(type(error))
                self.say(error.message)
            return otherwise


def compare(before: v.Verdict | None, after: v.Verdict) -> list[Change] | None:
    """The checks that pass now and did not, or the other way round; None without two runs."""
    if before is None or not before.checks or not after.checks:
        return None
    passed = {check.name: check.outcome == v.PASSED for check in before.checks}
    return [
        Change(number, check.title, check.outcome == v.PASSED)
        for number, check in enumerate(after.checks, 1)
        if check.name in passed
        and check.outcome not in (v.NOT_REACHED, v.NOT_VERIFIED)  # these wait, or were not asked
        and passed[check.name] != (check.outcome == v.PASSED)
    ]
