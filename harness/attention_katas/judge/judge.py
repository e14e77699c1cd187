"""From a submission to a verdict."""

from __future__ import annotations

import difflib
import importlib.util
import secrets
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from attention_katas.devices import Device
from attention_katas.diagnosis import diagnose
from attention_katas.errors import CouldNotGrade
from attention_katas.judge import ban_check, failures
from attention_katas.judge.fixtures import HiddenTests, RunContext, title
from attention_katas.judge.proxy import RemoteSolution
from attention_katas.judge.pytest_session import Session
from attention_katas.packs.catalog import Kata, read_kata
from attention_katas.packs.precheck import blank, not_started
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import restrictions
from attention_katas.sandbox.start import Workers
from attention_katas.sandbox.worker import GONE, Worker
from attention_katas.verdict import data as v

# The gravest first: what a check ended with decides what the kata ended with.
GRAVITY = (v.TIMED_OUT, v.OUT_OF_MEMORY, v.CRASHED, v.FAILED, v.NOT_WRITTEN, v.NOT_REACHED)
WARM_UP_CHECKS = 5  # checks that a judge makes to get ready
WHAT_IT_IS = {
    "class": "{name} is a class; the kata asks for a function",
    "async": "{name} is an async function; the kata asks for a plain one",
    "generator": "{name} is a generator (it has a yield); the kata asks for a plain function",
    "not callable": "{name} is not a function",
}


class Judge:
    """Judges submissions to some katas, one after the other.

    The hidden tests are collected once; every check runs the learner's code in a process of its
    own. Close it when done.

    strict: for code of strangers; nothing is judged unless every lock holds, and every known
    route to a banned built-in was found shut with these versions of everything. weak: go on
    without the missing locks.
    """

    def __init__(
        self,
        katas: Sequence[Kata],
        workers: Workers,
        device: Device | None = None,
        strict: bool = False,
        weak: bool = False,
    ) -> None:
        torch.set_num_threads(1)
        self.strict, self.weak = strict, weak
        self._canaries: set[tuple[str, ...]] = set()
        self.workers = workers
        self.device = device or Device("cpu")
        self._hidden_tests = HiddenTests()
        self._session = Session([kata.tests for kata in katas], self._hidden_tests)
        self._references = {kata.name: load_module(kata.reference) for kata in katas}
        self._knowledge: dict[str, diagnose.KnownMistakes] = {}
        self._taken: Worker | None = None
        self._called_off = False

    def judge(
        self,
        submission: Submission,
        seed: int | None = None,
        until_failure: bool = False,
        false_alarms: bool = False,
    ) -> v.Verdict:
        """The verdict. Never raises for anything that a submission does.

        seed: decides all inputs; a fresh one when None. It stands in the verdict.
        until_failure: the checks behind the first that fails are not made.
        false_alarms: look for causes even when all checks pass: right code must not be blamed.
        """
        started = time.perf_counter()
        self._called_off = False
        kata = submission.kata
        untouched = not_started(submission)
        if untouched is not None:
            return untouched
        verdict = blank(kata, v.COULD_NOT_GRADE, submission.file, "")
        verdict.source_hash = submission.digest
        verdict.device = self.device.name
        verdict.seed = secrets.randbelow(1_000_000) if seed is None else seed
        try:
            self.check_bans(kata.banned)
            for _ in range(2):
                verdict.checks = []
                if self._loads(submission, verdict):
                    self._examine(submission, verdict, until_failure, false_alarms)
                killed = _killed(verdict)
                if self._called_off:
                    raise CouldNotGrade("the judging was called off")
                if not killed:
                    break
                if killed == GONE:
                    self.workers.restart()  # those made ahead are gone as well
            if _killed(verdict) == GONE:
                raise CouldNotGrade("the learner processes were ended from outside, twice")
        except CouldNotGrade as error:
            verdict.outcome, verdict.message = v.COULD_NOT_GRADE, error.message
            verdict.next_step = error.next_step or "kata doctor"
        except Exception as error:  # noqa: BLE001
            # Ours, whatever it is; the next submission must not suffer from it.
            verdict.outcome = v.COULD_NOT_GRADE
            verdict.message = f"a fault of the judge: {type(error).__name__}: {error}"[:500]
            verdict.next_step = "kata doctor"
        verdict.seconds = time.perf_counter() - started
        return verdict

    def cancel(self) -> None:
        """From another thread: nobody wants the verdict that is being made.

        What is left of it is skipped, and the outcome is `could not grade`.
        """
        self._called_off = True
        worker = self._taken
        if worker is not None:
            worker.healthy = False
            worker.end()

    def close(self) -> None:
        self._session.close()

    def check_bans(self, bans: tuple[str, ...]) -> None:
        """Once for each set of bans: do they hold? Raises CouldNotGrade if not."""
        if bans in self._canaries:
            return
        if self.strict:
            ban_check.check_once(self.workers, bans, ban_check.kept())
        ban_check.check(self.workers, bans, ban_check.SHORT)
        self._canaries.add(bans)

    def _loads(self, submission: Submission, verdict: v.Verdict) -> bool:
        """Load the file once by itself, so that what breaks there is said once."""
        worker = self._take(submission)
        verdict.locks = worker.restrictions
        remote = RemoteSolution(
            submission, self._references[submission.kata.name], worker, self.device.name, set()
        )
        try:
            found = remote.load()
            problem = _missing(submission.kata, found, submission)
            if problem:
                raise failures.CheckFailed(problem, "answered")
        except failures.CheckFailed as failure:
            broken = failure.outcome == v.FAILED
            verdict.outcome = v.BROKEN if broken else failure.outcome
            verdict.raised = failure.evidence.raised if failure.evidence else None
            verdict.message = _why_broken(verdict.raised, failure.message, submission)
            verdict.next_step = _earlier_kata(verdict.raised, submission)
            absent = _absent(verdict.raised, submission)
            if absent:
                verdict.message = f"it imports {absent}, but {submission.absent[absent]}"
                verdict.next_step = f"kata run {absent.replace('_', '-')}"
            verdict.output = worker.printed()
            return False
        finally:
            verdict.audit = list(remote.audit)
            self.workers.give_back(worker)
        return True

    def _take(self, submission: Submission) -> Worker:
        """A learner process; one more try when the process they come from was lost."""
        if self._called_off:
            raise CouldNotGrade("the judging was called off")
        try:
            worker = self.workers.take(submission.digest, submission.kata.banned)
        except CouldNotGrade:
            worker = self.workers.take(submission.digest, submission.kata.banned)
        self._taken = worker
        lacking = restrictions.missing(worker.restrictions)
        if self.strict and not self.weak and lacking:
            self.workers.give_back(worker)
            raise CouldNotGrade(
                f"this system lacks locks for strangers' code: {', '.join(lacking)}",
                "kata doctor, or the same with --allow-weak-sandbox",
            )
        return worker

    def _examine(
        self,
        submission: Submission,
        verdict: v.Verdict,
        until_failure: bool,
        false_alarms: bool,
    ) -> None:
        items, current = self._begin(submission, verdict.seed)
        entries = self._session.run(items, until_failure)
        made = items[: len(entries)] if until_failure else items
        verdict.checks = [_check(i, e) for i, e in zip(made, entries, strict=True)]
        verdict.output = next((c.output for c in verdict.checks if c.output), "")
        verdict.audit = list(dict.fromkeys([*verdict.audit, *current.audit]))
        verdict.outcome = outcome(verdict.checks)
        first = verdict.first_failure
        verdict.message = first.message if first else ""
        raised = first.evidence.raised if first and first.evidence else None
        verdict.next_step = _earlier_kata(raised, submission)
        if verdict.outcome != v.PASSED or false_alarms:
            self._diagnose(
                verdict,
                current,
                diagnose.look_for_false_alarms if false_alarms else diagnose.diagnose,
            )

    def _begin(self, submission: Submission, seed: int) -> tuple[list[pytest.Function], RunContext]:
        """The checks of a submission, and the round that goes through them."""
        self._hidden_tests.round = current = RunContext(
            submission=submission,
            reference=self._references[submission.kata.name],
            device=self.device,
            seed=seed,
            take=lambda: self._take(submission),
            give_back=self.workers.give_back,
            until=time.monotonic() + self.workers.limits.kata_seconds,
        )
        return self.checks_of(submission.kata), current

    def get_ready(self, submission: Submission, called: Callable[[], bool]) -> None:
        """Expect a submission to this kata: warm up with its first checks, until `called`."""
        for _ in self.dry_run(submission, WARM_UP_CHECKS):
            if called():
                return

    def _diagnose(
        self,
        verdict: v.Verdict,
        current: RunContext,
        look: Callable[[diagnose.FailedRun], list[v.Diagnosis]],
    ) -> None:
        """Say what is behind the failure. That cannot change the verdict, even if we break."""
        submission = current.submission
        try:
            case = diagnose.failed_run_of(
                current, self._known(submission.kata, submission.sources), self._take
            )
            verdict.diagnoses = look(case)
        except Exception as error:  # noqa: BLE001 - ours, whatever it is
            told = f"the cause could not be looked for: {type(error).__name__}: {error}"[:300]
            verdict.diagnoses = [v.Diagnosis("", v.NO_DIAGNOSIS, symptoms=[told])]
        first = next(iter(verdict.diagnoses), None)
        if first and first.kind == v.EARLIER_WORK and first.file != submission.kata.file:
            verdict.next_step = f"kata run {first.file.removesuffix('.py').replace('_', '-')}"

    def dry_run(self, submission: Submission, most: int | None = None) -> Iterator[None]:
        """Make the checks once, for nothing but that they have been made. In small steps."""
        items, _ = self._begin(submission, 0)
        for item in items[:most]:
            yield
            self._session.run([item])
        yield
        self._known(submission.kata, set())

    def checks_of(self, kata: Kata) -> list[pytest.Function]:
        return self._session.items_of(kata.tests)

    def _known(self, kata: Kata, modules: Collection[str]) -> diagnose.KnownMistakes:
        """What is known of a kata and of the earlier ones that a submission to it imports."""
        known = self._knowledge.get(kata.name)
        if known is None:
            probes = kata.folder / "probes.py"
            known = self._knowledge[kata.name] = diagnose.KnownMistakes(
                kata,
                self._references[kata.name],
                load_module(kata.mistakes) if kata.mistakes.exists() else ModuleType("none"),
                load_module(probes) if probes.exists() else None,
                {},
                {},
            )
        for module in set(modules) - known.references.keys():
            reference = kata.reference.with_name(f"{module}.py")
            told = kata.folder.parent / module.replace("_", "-") / "kata.toml"
            if reference.exists() and told.exists():
                known.references[module] = reference.read_text(encoding="utf-8")
                known.functions[module] = read_kata(told, reference.parent).functions
        return known


def _killed(verdict: v.Verdict) -> str:
    """How a learner process ended when that may be another's doing, or "".

    The system ends processes when memory runs short, and people do. Code that ends itself does so
    again the next time.
    """
    # Of crashed checks only: there the words are ours, elsewhere a submission may have chosen them.
    said = [check.message for check in verdict.checks if check.outcome == v.CRASHED]
    said += [verdict.message] if verdict.outcome == v.CRASHED and not verdict.checks else []
    return next((word for word in (GONE, "SIGKILL") if any(word in text for text in said)), "")


def _earlier_kata(raised: v.Raised | None, submission: Submission) -> str:
    """The kata to look at first, when what stopped this one happened in its file."""
    where = raised.where if raised else None
    module = where.file.removesuffix(".py") if where else submission.kata.module
    if module == submission.kata.module or module not in submission.sources:
        return ""
    return f"kata run {module.replace('_', '-')}"


def _absent(raised: v.Raised | None, submission: Submission) -> str:
    """The earlier kata whose import failed because its file is not there, or ""."""
    if raised is None or raised.type not in ("ModuleNotFoundError", "ImportError"):
        return ""
    return next((name for name in submission.absent if f"'{name}'" in raised.message), "")


def outcome(checks: Sequence[v.Check]) -> str:
    """What a kata's checks amount to."""
    found = {check.outcome for check in checks}
    if found <= {v.PASSED, v.NOT_VERIFIED} and v.PASSED in found:
        return v.PASSED
    gravest = next((grave for grave in GRAVITY if grave in found), v.FAILED)
    return v.FAILED if gravest in (v.NOT_WRITTEN, v.NOT_REACHED) else gravest


def _check(item: pytest.Function, entry: dict[str, Any]) -> v.Check:
    """A check from pytest-json-report's entry. Raises CouldNotGrade for a fault of ours."""
    metadata = entry.get("metadata", {})
    stages = [entry[stage] for stage in ("setup", "call", "teardown") if stage in entry]
    check = v.Check(
        name=item.name,
        title=title(item),
        outcome=v.PASSED,
        law=item.get_closest_marker("law") is not None,
        seconds=round(sum(stage["duration"] for stage in stages), 4),
        output=metadata.get("printed", ""),
    )
    if "ours" in metadata:
        raise CouldNotGrade(*metadata["ours"])
    if "fault" in metadata:
        raise CouldNotGrade(f"the check {item.name!r} broke: {metadata['fault']}")
    if "failure" in metadata:
        failure = metadata["failure"]
        check.outcome, check.message = failure["outcome"], failure["message"]
        check.rung, check.evidence = failure["rung"], v.evidence_from_dict(failure["evidence"])
    elif entry.get("outcome") != "passed":
        raise CouldNotGrade(f"pytest says {entry.get('outcome')!r} of the check {item.name!r}")
    return check


def _missing(kata: Kata, found: dict[str, Any], submission: Submission) -> str:
    """What is wrong with the functions that the file defines, or ""."""
    kinds, names = found.get("functions"), found.get("names")
    if not isinstance(kinds, dict):
        raise failures.Crashed("the learner process did not say what the file defines", "answered")
    for name in kata.functions:
        kind = kinds.get(name)
        if kind == "missing":
            named = names[:200] if isinstance(names, list) else []
            others = [n[:100] for n in named if isinstance(n, str)]
            near = difflib.get_close_matches(name, others, 1)
            hint = f"; it does define {near[0]}, which is close" if near else ""
            if not submission.source.strip():
                hint = "; it is empty"
            return f"{kata.file} defines no function called {name}{hint}"
        if kind != "function":
            return WHAT_IT_IS.get(str(kind), "{name} is not a function").format(name=name)
    return ""


def _why_broken(raised: v.Raised | None, message: str, submission: Submission) -> str:
    if raised is None:
        return message
    where = raised.where
    if where is not None and where.file != submission.kata.file and raised.type == "SyntaxError":
        return f"{where.file}, which {submission.kata.file} imports, is not valid Python"
    if raised.type in ("SyntaxError", "IndentationError", "TabError"):
        return f"{submission.kata.file} is not valid Python: {raised.message}"
    if message.startswith("raised "):
        return f"{submission.kata.file} does not load: {raised.type}: {raised.message}"
    return message


def load_module(path: Path) -> ModuleType:
    """The module in a file of our own: a reference, or a kata's mistakes.

    It may import its neighbours, as a learner's file may import earlier katas; they are forgotten
    again, since their names (`softmax`, `mask`) are not ours to take.
    """
    spec = importlib.util.spec_from_file_location(f"kata_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise CouldNotGrade(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    known = set(sys.modules)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise CouldNotGrade(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == path.parent:
                del sys.modules[name]
    return module
