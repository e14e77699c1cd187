"""From a submission to a verdict."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import pytest
import torch

from attention_katas.devices import Device
from attention_katas.errors import CouldNotGrade
from attention_katas.judge import ban_check, failures
from attention_katas.judge.check_result import CheckResult
from attention_katas.judge.fixtures import HiddenTests, RunContext, title
from attention_katas.judge.modules import References
from attention_katas.judge.proxy import RemoteSolution, wrong_definition
from attention_katas.judge.pytest_session import Session
from attention_katas.packs.catalog import Kata
from attention_katas.packs.families import Family
from attention_katas.packs.precheck import blank, not_started
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import restrictions
from attention_katas.sandbox.start import Workers
from attention_katas.sandbox.worker import Worker
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, steps
from attention_katas.verdict.unjudged import Unjudged, facts

# The gravest first: what a check ended with decides what the kata ended with.
GRAVITY: tuple[v.CheckOutcome, ...] = (
    v.TIMED_OUT,
    v.OUT_OF_MEMORY,
    v.CRASHED,
    v.FAILED,
    v.NOT_WRITTEN,
    v.NOT_REACHED,
)
WARM_UP_CHECKS = 5  # checks that a judge makes to get ready


class Diagnose(Protocol):
    """Looks for the causes of a failure. See `attention_katas.diagnosis`."""

    def __call__(self, run: RunContext, false_alarms: bool) -> list[v.Diagnosis]:
        """The diagnoses of a recorded run. false_alarms: also of functions that did not fail."""

    def expect(self, kata: Kata) -> None:
        """Load what is needed for runs of this kata."""


class Judge:
    """Judges submissions to some katas, one after the other.

    The hidden tests are collected once; every check runs the learner's code in a sandbox worker of
    its own.
    """

    def __init__(
        self,
        katas: Sequence[Kata],
        workers: Workers,
        device: Device | None = None,
        strict: bool = False,
        weak: bool = False,
        diagnose: Diagnose | None = None,
    ) -> None:
        """A judge of these katas.

        strict: for code of strangers; nothing is judged unless every restriction holds, and every
            known route to a banned built-in is closed with these versions of everything.
        weak: go on without the missing restrictions.
        diagnose: what looks for causes when a submission fails; None for nothing.
        """
        torch.set_num_threads(1)
        self.strict, self.weak = strict, weak
        self._bans_checked: set[tuple[Family, ...]] = set()
        self.workers = workers
        self.device = device or Device("cpu")
        self._hidden_tests = HiddenTests()
        self._session = Session([kata.tests for kata in katas], self._hidden_tests)
        self._references = References(katas)
        self._diagnose = diagnose
        self._worker: Worker | None = None
        self._cancelled = False

    def judge(
        self,
        submission: Submission,
        seed: int | None = None,
        until_failure: bool = False,
        false_alarms: bool = False,
    ) -> v.Verdict:
        """The verdict. Never raises for anything that a submission does.

        seed: decides all inputs; a fresh one when None. The verdict carries it.
        until_failure: leave out the checks after the first that fails.
        false_alarms: look for causes even when all checks pass: right code must not be blamed.
        """
        start = time.perf_counter()
        self._cancelled = False
        untouched = not_started(submission)
        if untouched is not None:
            return untouched
        verdict = blank(submission.kata, v.COULD_NOT_GRADE, submission.file)
        verdict.source_hash = submission.digest
        verdict.device = self.device.name
        verdict.seed = secrets.randbelow(1_000_000) if seed is None else seed
        try:
            self._check_content(submission.kata)
            self.check_bans(submission.kata.banned)
            self._judge_twice_if_killed(submission, verdict, until_failure, false_alarms)
        except CouldNotGrade as error:
            verdict.outcome = v.COULD_NOT_GRADE
            verdict.reason, verdict.next_step = facts(error)
        except Exception as error:  # noqa: BLE001
            # Ours, whatever it is; the next submission must not suffer from it.
            verdict.outcome = v.COULD_NOT_GRADE
            verdict.reason = reasons.JudgeFault(type(error).__name__, str(error)[:500])
            verdict.next_step = steps.Doctor()
        verdict.seconds = time.perf_counter() - start
        return verdict

    def cancel(self) -> None:
        """From another thread: nobody wants the verdict that is in the making.

        The rest of it is skipped, and the outcome is `could not grade`.
        """
        self._cancelled = True
        worker = self._worker
        if worker is not None:
            worker.healthy = False
            worker.end()

    def check_bans(self, bans: tuple[Family, ...]) -> None:
        """Once for each set of bans: do they hold? Raises CouldNotGrade if not."""
        if bans in self._bans_checked:
            return
        if self.strict:
            ban_check.check_once(self.workers, bans, ban_check.record_path())
        ban_check.check(self.workers, bans, ban_check.SHORT)
        self._bans_checked.add(bans)

    def checks_of(self, kata: Kata) -> list[pytest.Function]:
        """The checks of a kata. Raises Unjudged when its hidden tests cannot be collected."""
        return self._session.items_of(kata)

    def is_broken(self, kata: Kata) -> bool:
        """A file of the kata does not load, so that every verdict is `could not grade`."""
        try:
            self._check_content(kata)
        except Unjudged:
            return True
        return False

    def _check_content(self, kata: Kata) -> None:
        """Raises Unjudged when the hidden tests or the reference of a kata do not load."""
        self._references.of(kata)
        self.checks_of(kata)

    def dry_run(self, submission: Submission, most: int | None = None) -> Iterator[None]:
        """Warm up with the first `most` checks of a submission, in small steps."""
        if self.is_broken(submission.kata):
            return
        items, _ = self._begin(submission, 0)
        for item in items[:most]:
            yield
            self._session.run([item])
        yield
        if self._diagnose is not None:
            self._diagnose.expect(submission.kata)

    def get_ready(self, submission: Submission, called: Callable[[], bool]) -> None:
        """Expect a submission to this kata: warm up with its first checks, until `called`."""
        for _ in self.dry_run(submission, WARM_UP_CHECKS):
            if called():
                return

    def _judge_twice_if_killed(
        self, submission: Submission, verdict: v.Verdict, until_failure: bool, false_alarms: bool
    ) -> None:
        """Load the file and make its checks; once more when something else may have ended a worker.

        The system ends processes when memory runs short, and people do. Code that ends itself does
        so again the second time.
        """
        for _ in range(2):
            verdict.checks, verdict.reason = [], None
            if self._loads(submission, verdict):
                self._make_checks(submission, verdict, until_failure, false_alarms)
            if self._cancelled:
                raise Unjudged(reasons.Cancelled())
            crashes = _crashes(verdict)
            if not any(map(_maybe_from_outside, crashes)):
                return
            if reasons.ProcessGone() in crashes:
                self.workers.restart()  # those that wait are gone as well
        if reasons.ProcessGone() in crashes:
            raise Unjudged(reasons.WorkersEnded())

    def _loads(self, submission: Submission, verdict: v.Verdict) -> bool:
        """Load the file once by itself, so that what breaks there is reported once."""
        worker = self._take(submission)
        verdict.restrictions = worker.restrictions
        remote = RemoteSolution(
            submission, self._references.of(submission.kata), worker, self.device.name, set()
        )
        try:
            problem = wrong_definition(submission, remote.load())
            if problem is not None:
                raise failures.CheckFailed(problem, "answered")
        except failures.CheckFailed as failure:
            verdict.outcome = v.BROKEN if failure.outcome == v.FAILED else _outcome(failure.outcome)
            verdict.raised = failure.raised
            verdict.reason = _why_broken(failure, submission)
            verdict.next_step = _first_step(failure.raised, verdict.reason, submission)
            verdict.output = worker.printed()
            return False
        finally:
            verdict.audit = list(remote.audit)
            self.workers.give_back(worker)
        return True

    def _take(self, submission: Submission) -> Worker:
        """A sandbox worker; one more try when the process they come from was lost."""
        if self._cancelled:
            raise Unjudged(reasons.Cancelled())
        try:
            worker = self.workers.take(submission.digest, submission.kata.banned)
        except CouldNotGrade:
            worker = self.workers.take(submission.digest, submission.kata.banned)
        self._worker = worker
        lacking = restrictions.missing(worker.restrictions)
        if self.strict and not self.weak and lacking:
            self.workers.give_back(worker)
            raise Unjudged(reasons.MissingRestrictions(tuple(lacking)), steps.AllowWeakSandbox())
        return worker

    def _make_checks(
        self, submission: Submission, verdict: v.Verdict, until_failure: bool, false_alarms: bool
    ) -> None:
        items, run = self._begin(submission, verdict.seed)
        results = self._session.run(items, until_failure)
        checked = items[: len(results)] if until_failure else items
        if run.ours is not None:
            raise run.ours
        pairs = zip(checked, results, strict=True)
        verdict.checks = [_check(item, result) for item, result in pairs]
        verdict.output = next((check.output for check in verdict.checks if check.output), "")
        verdict.audit = list(dict.fromkeys([*verdict.audit, *run.audit]))
        verdict.outcome = outcome(verdict.checks)
        first = verdict.first_failure
        raised = first.evidence.raised if first and first.evidence else None
        verdict.next_step = _first_step(raised, None, submission)
        if self._diagnose is not None and (verdict.outcome != v.PASSED or false_alarms):
            verdict.diagnoses = self._diagnose(run, false_alarms)
            verdict.next_step = _earlier_work(verdict, submission.kata) or verdict.next_step

    def _begin(self, submission: Submission, seed: int) -> tuple[list[pytest.Function], RunContext]:
        """The checks of a submission, and the context in which they run."""
        self._hidden_tests.round = run = RunContext(
            submission=submission,
            reference=self._references.of(submission.kata),
            device=self.device,
            seed=seed,
            take=self._take,
            give_back=self.workers.give_back,
            until=time.monotonic() + self.workers.limits.kata_seconds,
        )
        return self.checks_of(submission.kata), run


def _crashes(verdict: v.Verdict) -> list[reasons.Reason]:
    """How sandbox workers ended that crashed."""
    if verdict.outcome == v.CRASHED and not verdict.checks:
        crashes = [verdict.reason]
    else:
        crashes = [check.reason for check in verdict.checks if check.outcome == v.CRASHED]
    return [_inner(reason) for reason in crashes if reason is not None]


def _inner(reason: reasons.Reason) -> reasons.Reason:
    return reason.reason if isinstance(reason, reasons.BackwardFailed) else reason


def _maybe_from_outside(reason: reasons.Reason) -> bool:
    """The worker may have been ended by something else than its code."""
    return reason in (reasons.ProcessGone(), reasons.ProcessKilled("SIGKILL"))


def _first_step(
    raised: v.Raised | None, reason: reasons.Reason | None, submission: Submission
) -> steps.Step | None:
    """The earlier kata to look at first, when what stopped this one happened in its file."""
    if isinstance(reason, reasons.ImportMissing):
        return steps.RunKata(_kata_of(reason.module))
    where = raised.where if raised else None
    module = where.file.removesuffix(".py") if where else submission.kata.module
    if module == submission.kata.module or module not in submission.sources:
        return None
    return steps.RunKata(_kata_of(module))


def _earlier_work(verdict: v.Verdict, kata: Kata) -> steps.Step | None:
    """The earlier kata to look at first, when the diagnosis says that it is at fault."""
    first = next(iter(verdict.diagnoses), None)
    if first is None or first.kind != v.EARLIER_WORK or first.file == kata.file:
        return None
    return steps.RunKata(_kata_of(first.file.removesuffix(".py")))


def _kata_of(module: str) -> str:
    return module.replace("_", "-")


def outcome(checks: Sequence[v.Check]) -> v.Outcome:
    """What a kata's checks amount to."""
    outcomes = {check.outcome for check in checks}
    if outcomes <= {v.PASSED, v.NOT_VERIFIED} and v.PASSED in outcomes:
        return v.PASSED
    return _outcome(next((grave for grave in GRAVITY if grave in outcomes), v.FAILED))


def _outcome(of_check: v.CheckOutcome) -> v.Outcome:
    """The outcome of a kata whose gravest check ended so."""
    if of_check in (v.TIMED_OUT, v.OUT_OF_MEMORY, v.CRASHED):
        return of_check
    return v.FAILED


def _check(item: pytest.Function, result: CheckResult) -> v.Check:
    """A check of the verdict. Raises CouldNotGrade for a fault of ours."""
    if result.error is not None:
        raise result.error
    return v.Check(
        name=item.name,
        title=title(item),
        outcome=result.outcome,
        law=item.get_closest_marker("law") is not None,
        reason=result.reason,
        seconds=round(result.seconds, 4),
        output=result.printed,
        rung=result.rung,
        evidence=result.evidence,
    )


def _why_broken(failure: failures.CheckFailed, submission: Submission) -> reasons.Reason:
    """Why a file does not load: what is wrong with the file, where that can be told."""
    raised, file = failure.raised, submission.kata.file
    if raised is None:
        return failure.reason
    if failure.missing in submission.absent:
        return reasons.ImportMissing(failure.missing, submission.absent[failure.missing])
    where = raised.where
    if where is not None and where.file != file and raised.type == "SyntaxError":
        return reasons.ImportNotPython(where.file, file)
    if raised.type in ("SyntaxError", "IndentationError", "TabError"):
        return reasons.NotPython(file, raised.message)
    if isinstance(failure.reason, reasons.RaisedException):
        return reasons.DoesNotLoad(file, raised.type, raised.message)
    return failure.reason
