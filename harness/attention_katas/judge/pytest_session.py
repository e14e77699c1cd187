"""A pytest session that is configured and collected once, and then runs many times.

`pytest.main` starts and ends a session around one run. A judge runs the same hidden tests for
submission after submission, so this drives the same hooks by hand, and reads the outcome of
every run from pytest-json-report.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import _prepareconfig
from pytest_jsonreport.plugin import Hooks, JSONReport

from attention_katas.errors import CouldNotGrade
from attention_katas.packs import shared

HERE = Path(__file__).parent
# Only what the hidden tests need. The gc passes of the unraisable-exception plugin alone cost
# 0.3 s over torch's heap.
OFF = (
    "cacheprovider",
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


class _Report(JSONReport):  # type: ignore[misc]
    """One run's report. A session has many, but takes the new hooks of the plugin only once."""

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        """Added by the session already."""


class _Sharing:
    """`from shared.NAME import ...` in hidden tests means the folder of their pack."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        with shared.importable(collector.path):
            return (yield)


class Session:
    """The hidden tests of some katas, collected.

    Raises CouldNotGrade when pytest cannot be configured or finds no tests.
    """

    def __init__(self, files: Sequence[Path], plugin: object) -> None:
        arguments = [f"--confcutdir={HERE}", f"--rootdir={HERE}", "-c", str(HERE / "pytest.ini")]
        arguments += ["--capture=no", "--import-mode=importlib", "-p", "pytest_jsonreport.plugin"]
        arguments += ["--json-report-file=none"]
        arguments += [part for name in OFF for part in ("-p", f"no:{name}")]
        with _own_environment(), _quiet() as said:
            try:
                self.config = _prepareconfig([*arguments, *map(str, files)], [plugin, _Sharing()])
                self.config.addinivalue_line("markers", "law: counts once the values are right")
                self.config.pluginmanager.add_hookspecs(Hooks)
                self.config._do_configure()
                self.session = pytest.Session.from_config(self.config)
                self.config.hook.pytest_sessionstart(session=self.session)
                self.items = self.session.perform_collect()
            except (Exception, SystemExit, pytest.exit.Exception) as error:
                raise CouldNotGrade(f"the hidden tests cannot be collected: {error}") from error
        for item in self.items:
            # Else pytest writes out every failure with source and locals, for 10 ms each: the
            # learner is told of it by the ladder.
            vars(item).update(repr_failure=_in_brief, _repr_failure_py=_in_brief)
        broken = getattr(plugin, "broken", [])
        if broken or not self.items:
            why = broken[0] if broken else said.getvalue().strip()[-300:] or "there are none"
            raise CouldNotGrade(f"the hidden tests cannot be collected: {why}")

    def items_of(self, file: Path) -> list[pytest.Function]:
        """The checks of one kata, in order. Raises CouldNotGrade when there are none."""
        items = [item for item in self.items if item.path == file]
        if not items:
            raise CouldNotGrade(f"no hidden tests were collected from {file}")
        return [item for item in items if isinstance(item, pytest.Function)]

    def run(
        self, items: Sequence[pytest.Function], until_failure: bool = False
    ) -> list[dict[str, Any]]:
        """Run the items once, or up to the first that fails; pytest-json-report's entry for each.

        Raises CouldNotGrade when pytest itself breaks or an item is missing from the report.
        """

        def following() -> Iterator[pytest.Function]:
            for item in items:
                yield item
                if until_failure and self.session.testsfailed:
                    return

        return self.run_each(following())

    def run_each(self, items: Iterator[pytest.Function]) -> list[dict[str, Any]]:
        """As `run`, of items that are told one at a time, when the one before has been run."""
        reporter = _Report(self.config)
        self.config.pluginmanager.register(reporter)
        made = []
        try:
            reporter.pytest_sessionstart(self.session)
            self.session.testsfailed = 0
            for item in items:
                made.append(item)
                self.session.testsfailed = 0
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            self.session.exitstatus = pytest.ExitCode.OK
            reporter.pytest_sessionfinish(self.session)
        except (SystemExit, pytest.exit.Exception) as error:
            raise CouldNotGrade(f"a hidden test ended the run: {error}") from error
        finally:
            self.config.pluginmanager.unregister(reporter)
            with contextlib.suppress(AttributeError):
                del self.config._json_report  # type: ignore[attr-defined] # else the plugin unregisters it again at the end
        entries = {entry["nodeid"]: entry for entry in (reporter.report or {}).get("tests", [])}
        missing = [item.name for item in made if item.nodeid not in entries]
        if missing:
            raise CouldNotGrade(f"pytest reported nothing for {', '.join(missing)}")
        return [entries[item.nodeid] for item in made]

    def close(self) -> None:
        with _quiet():
            self.config.hook.pytest_sessionfinish(session=self.session, exitstatus=0)
            self.config._ensure_unconfigure()


def _in_brief(failure: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
    return f"{failure.typename}: {failure.value}"


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    """Without the variables by which a surrounding pytest or a user could change ours."""
    names = [name for name in os.environ if name.startswith("PYTEST_")]
    kept = {name: os.environ.pop(name) for name in names}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(kept)


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        yield said
