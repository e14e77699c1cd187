"""The hidden tests of some katas: collected once by pytest, then run many times.

`pytest.main` collects them, in a session whose loop runs nothing. A check is run later by the
documented hook `pytest_runtest_protocol`, as pytest-xdist's workers do, so that a submission does
not pay for a session of its own. What collection came to is read from the report of
pytest-json-report; what a check came to, from the hooks of `HiddenTests`.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_jsonreport.plugin import JSONReport

from attention_katas.errors import CouldNotGrade
from attention_katas.judge.check_result import CheckResult
from attention_katas.judge.fixtures import HiddenTests
from attention_katas.packs import shared
from attention_katas.packs.catalog import Kata
from attention_katas.verdict import reasons
from attention_katas.verdict.unjudged import Unjudged

HERE = Path(__file__).parent
ARGUMENTS = (
    f"--confcutdir={HERE}",
    f"--rootdir={HERE}",
    "-c",
    str(HERE / "pytest.ini"),
    "--import-mode=importlib",
    "-p",
    "pytest_jsonreport.plugin",  # only for its options: the plugin itself is handed over below
    "--json-report-file=none",
)
# Statuses of a session that went through: no checks is for `items_of` to report.
COLLECTED = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,  # a file could not be collected
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
# Plugins that the hidden tests do without. The gc passes of the unraisable-exception plugin alone
# cost 0.3 s over torch's heap; capture asserts that the session has not ended.
OFF = (
    "cacheprovider",
    "capture",
    "terminalreporter",
    "unraisableexception",
    "threadexception",
    "faulthandler",
    "junitxml",
    "pastebin",
    "stepwise",
    "doctest",
    "unittest",
    "logging",
    "debugging",
    "setuponly",
    "setupplan",
    "monkeypatch",
    "recwarn",
)


class Collection:
    """A pytest plugin that keeps the collected items and runs none of them.

    items: the checks of all files, in order.
    """

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = list(session.items)

    def pytest_runtestloop(self) -> bool:
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Let `from shared.NAME import ...` in hidden tests mean the folder of their pack.

        A file that ends the interpreter while it is imported must not end the session: pytest
        reports every other exception by itself. The report carries the path of the file: node IDs
        of files outside the root folder are not unique.
        """
        try:
            with shared.importable(collector.path):
                report = yield
        except SystemExit as error:
            report = pytest.CollectReport("", "failed", f"SystemExit: {error}", [])
        report.nodeid = str(collector.path)
        return report


class Session:
    """The collected checks of some katas.

    A file that cannot be collected concerns only its kata: see `items_of`. Raises CouldNotGrade
    when pytest itself cannot be started.
    """

    def __init__(self, files: Sequence[Path], hidden_tests: HiddenTests) -> None:
        self._hidden_tests = hidden_tests
        collection, report = Collection(), JSONReport()
        off = [part for name in OFF for part in ("-p", f"no:{name}")]
        arguments = [*ARGUMENTS, *off, *map(str, files)]
        with _own_environment(), _quiet() as output:
            try:
                status = pytest.main(arguments, plugins=[hidden_tests, collection, report])
            except (Exception, SystemExit, pytest.exit.Exception) as error:
                raise CouldNotGrade(f"the hidden tests cannot be collected: {error}") from error
        if status not in COLLECTED:
            reason = output.getvalue().strip()[-300:]
            raise CouldNotGrade(f"the hidden tests cannot be collected: {reason}")
        self.items = collection.items
        self._errors = _collection_errors(report.report)

    def items_of(self, kata: Kata) -> list[pytest.Function]:
        """The checks of one kata, in order.

        Raises Unjudged when its file could not be collected, or holds no checks.
        """
        file = kata.tests
        items = [item for item in self.items if item.path == file]
        error = self._errors.get(file) or ("" if items else "it holds no tests")
        if error:
            raise Unjudged(reasons.PackFileBroken(kata.pack.name, str(file), error))
        return [item for item in items if isinstance(item, pytest.Function)]

    def run(
        self, items: Sequence[pytest.Function], until_failure: bool = False
    ) -> list[CheckResult]:
        """Run the checks once, or up to the first that does not pass. Raises as `run_check`."""
        results: list[CheckResult] = []
        for item in items:
            results.append(self.run_check(item))
            if until_failure and not results[-1].passed:
                break
        return results

    def run_check(self, item: pytest.Function) -> CheckResult:
        """Run one check. Raises CouldNotGrade when pytest itself breaks or reports nothing."""
        self._hidden_tests.result = result = CheckResult()
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        except (SystemExit, pytest.exit.Exception) as error:
            raise CouldNotGrade(f"a hidden test ended the run: {error}") from error
        if not result.complete:
            raise CouldNotGrade(f"pytest reported nothing for {item.name}")
        return result


def _collection_errors(report: dict[str, Any] | None) -> dict[Path, str]:
    """The last line of each error in the report's `collectors`, by file."""
    errors = {}
    for collector in (report or {}).get("collectors", []):
        if collector["outcome"] == "failed":
            lines = str(collector.get("longrepr", "")).strip().splitlines()
            message = lines[-1].removeprefix("E").strip() if lines else "it cannot be collected"
            errors[Path(collector["nodeid"])] = message[:300]
    return errors


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    """Without the variables by which a surrounding pytest or a user could change ours."""
    names = [name for name in os.environ if name.startswith("PYTEST_")]
    variables = {name: os.environ.pop(name) for name in names}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(variables)


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        yield output
