"""The pytest plugin behind every hidden test: fixtures, the order of checks, and what is reported.

Fixtures for hidden tests: `solution` (the learner's functions), `draw` (inputs), `agree`
(compare with the reference), `same` (compare for a law), `refuses` (an exception is right),
`slopes` (finite differences), `follows_device`, `dtypes`.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
import torch

from attention_katas.devices import Device
from attention_katas.errors import CouldNotGrade
from attention_katas.judge import failures, ladder, laws
from attention_katas.judge.check_result import CheckResult
from attention_katas.judge.proxy import Call, RemoteSolution, Solution
from attention_katas.packs.submission import Submission
from attention_katas.sandbox.worker import Worker
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons
from attention_katas.verdict.unjudged import Unjudged

FIXTURES = ("solution", "draw", "agree", "same", "refuses", "slopes", "follows_device", "dtypes")


@dataclass
class RunContext:
    """One submission on its way through the hidden tests.

    take, give_back: get a sandbox worker, and return it.
    hung: functions that ran into their time limit.
    wrong: functions whose values are wrong.
    audit: odd things that the code did.
    recorded_calls: the calls of each check, in order.
    failed: the calls with which checks failed.
    ours: the fault of ours that ends the run, if there is one.
    until: the time (time.monotonic) at which all checks have to be done.
    """

    submission: Submission
    reference: ModuleType
    device: Device
    seed: int
    take: Callable[[Submission], Worker]
    give_back: Callable[[Worker], None]
    hung: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)
    audit: list[v.Notice] = field(default_factory=list)
    recorded_calls: list[list[Call]] = field(default_factory=list)
    failed: list[Call] = field(default_factory=list)
    ours: CouldNotGrade | None = None
    until: float = math.inf


class Draw:
    """Inputs from the judge's own generator: `draw(2, 3, 4, 5)`, unit normal by default."""

    def __init__(self, generator: torch.Generator, device: Device) -> None:
        self._generator, self._device = generator, device

    def __call__(
        self, *shape: int, dtype: torch.dtype | None = None, spread: float = 1.0
    ) -> torch.Tensor:
        dtype = dtype or self.precise
        wide = torch.complex128 if dtype.is_complex else torch.float64
        numbers = torch.randn(shape, generator=self._generator, dtype=wide)
        return (numbers * spread).to(dtype)

    @property
    def precise(self) -> torch.dtype:
        """The most exact dtype of the device: float64 where there is one."""
        dtype: torch.dtype = getattr(torch, self._device.precise)
        return dtype

    def order(self, size: int) -> torch.Tensor:
        """A permutation of range(size) that moves every entry."""
        shift = int(torch.randint(1, size, (), generator=self._generator))
        return (torch.arange(size) + shift) % size


class HiddenTests:
    """The pytest plugin of the judge.

    round: the submission being judged.
    result: what the check being run has come to so far.
    """

    def __init__(self) -> None:
        self.round: RunContext | None = None
        self.remote: RemoteSolution | None = None
        self.stand_in = False
        self.printed = ""
        self.result = CheckResult()

    def current(self) -> RunContext:
        assert self.round is not None
        return self.round

    @pytest.fixture
    def generator(self, request: pytest.FixtureRequest) -> torch.Generator:
        return _generator(self.current(), request.node.name)

    @pytest.fixture
    def draw(self, generator: torch.Generator) -> Draw:
        return Draw(generator, self.current().device)

    @pytest.fixture
    def dtypes(self) -> list[torch.dtype]:
        return [getattr(torch, name) for name in self.current().device.dtypes]

    @pytest.fixture
    def solution(self) -> Iterator[Solution]:
        """The learner's functions, in a sandbox worker of this check's own."""
        current = self.current()
        worker = current.take(current.submission)
        self.remote = RemoteSolution(
            current.submission,
            current.reference,
            worker,
            current.device.name,
            current.hung,
            until=current.until,
        )
        try:
            self.remote.load()
            yield Solution(current.submission.kata, self._call)
        finally:
            self.printed = worker.printed()
            current.audit += self.remote.audit
            current.recorded_calls.append(self.remote.calls)
            current.give_back(worker)

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.stand_in:
            return getattr(self.current().reference, name)(*args, **kwargs)
        assert self.remote is not None
        return self.remote.call(name, args, kwargs)

    @pytest.fixture
    def agree(self, solution: Solution, generator: torch.Generator) -> ladder.Agree:
        current = self.current()
        assert self.remote is not None
        return ladder.Agree(self.remote, current.reference, current.device, generator)

    @pytest.fixture
    def same(self, solution: Solution) -> Callable[..., None]:
        assert self.remote is not None
        return laws.same(self.remote, self.current().device)

    @pytest.fixture
    def slopes(self, solution: Solution) -> Callable[..., None]:
        assert self.remote is not None
        return laws.slopes(self.remote, self.current().device)

    @pytest.fixture
    def refuses(self, solution: Solution) -> Callable[..., None]:
        assert self.remote is not None
        return laws.refuses(self.remote)

    @pytest.fixture
    def follows_device(self, solution: Solution) -> Callable[..., None]:
        assert self.remote is not None
        return laws.follows_device(self.remote, lambda: self.stand_in)

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "law: counts once the values are right")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.printed = ""
        self.stand_in = False
        self.remote = None
        ours = self.current().ours
        if ours is not None:
            raise ours  # nothing more to find out
        law = item.get_closest_marker("law")
        if law and self.current().wrong & set(law.args or self.current().submission.kata.functions):
            raise failures.NotReached(reasons.ValuesFirst())

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        """An exception that is no verdict: is it the answer's fault, or the test's?

        The test runs again with the reference in the learner's place. If that passes, it was
        the answer that broke it, and the check has failed; else the fault is ours.
        """
        try:
            return (yield)
        except (failures.CheckFailed, CouldNotGrade):
            raise
        except Exception as error:
            self.stand_in = True
            if self.remote is not None:
                self.current().failed += self.remote.calls[-1:]
                self.current().recorded_calls.append(self.remote.calls)
                self.remote.calls = []
            fixtures: dict[str, Any] = dict(pyfuncitem.funcargs)
            _generator(self.current(), pyfuncitem.name, fixtures.get("generator"))
            names = inspect.signature(pyfuncitem.obj).parameters
            pyfuncitem.obj(**{name: fixtures[name] for name in names})
            message = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise failures.CheckFailed(reasons.TestRaised(message), "values") from error

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """Record what a stage of a check came to.

        pytest's own report, with the source and the local values of a failure, takes 10 ms.
        """
        assert call.when != "collect"
        self.result.seconds += call.duration
        if call.when == "teardown":
            self.result.printed, self.result.complete = self.printed, True
        error = call.excinfo.value if call.excinfo else None
        if error is not None:
            self._record(item, error)
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed" if error else "passed",
            longrepr=f"{type(error).__name__}: {error}" if error else None,
            when=call.when,
            duration=call.duration,
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Another plugin (a strict xfail) may have turned a pass into something else."""
        if not report.passed and self.result.passed:
            text = f"pytest reports {report.outcome}"
            self.result.blame_us(Unjudged(reasons.CheckBroke(report.nodeid, text)))

    def _record(self, item: pytest.Item, error: BaseException) -> None:
        current = self.current()
        if isinstance(error, CouldNotGrade):
            current.ours = error
            self.result.blame_us(error)
        elif isinstance(error, failures.CheckFailed):
            calls = self.remote.calls if self.remote else []
            current.failed += calls[-1:]
            if not item.get_closest_marker("law"):
                functions = {calls[-1].function} if calls else set()
                current.wrong |= functions or set(current.submission.kata.functions)
            self.result.fail(error)
        else:
            text = f"{type(error).__name__}: {error}"
            if isinstance(error, pytest.FixtureLookupError):
                text = f"there is no fixture {error.argname!r}; there are {', '.join(FIXTURES)}"
            self.result.blame_us(Unjudged(reasons.CheckBroke(item.name, text)))


def _generator(
    current: RunContext, check: str, generator: torch.Generator | None = None
) -> torch.Generator:
    """A generator that depends on the seed, the kata and the check, and on nothing else."""
    number = seed_of(current.seed, current.submission.kata.name, check)
    return (generator or torch.Generator()).manual_seed(number)


def seed_of(*parts: str | int) -> int:
    """A seed that depends on these parts, and on nothing else."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def title(item: pytest.Function) -> str:
    """A check's name as a sentence: its docstring's first line, or its name in words."""
    text = (item.obj.__doc__ or "").strip().splitlines()
    return text[0].rstrip(".") if text else item.name.removeprefix("test_").replace("_", " ")
