"""Shared by the tests: the katas as they ship, and judges that live as long as the session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from attention_katas.packs.catalog import Catalog, load_catalog
from attention_katas.packs.submission import Submission, still_stub
from attention_katas.verdict.data import Verdict, to_builtins

if TYPE_CHECKING:
    from attention_katas.judge.judge import Judge
    from tests.labs import Running

# No test leaves a process behind, or uses that of another one, unless it means to.
os.environ["KATA_COLD"] = "1"

# Tests that run side by side do not see each other's temporary files. (See hostility.OTHERS.)
if "PYTEST_XDIST_WORKER" in os.environ:
    place = Path(tempfile.gettempdir(), f"kata-probe-{os.environ['PYTEST_XDIST_WORKER']}")
    place.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)

Submit = Callable[..., Verdict]


def plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data, without its times."""
    return untimed(to_builtins(verdict))


def untimed(data: dict[str, Any]) -> dict[str, Any]:
    """A verdict's plain data, without its times."""
    checks = [{**check, "seconds": 0} for check in data["checks"]]
    return {**data, "seconds": 0, "checks": checks}


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="session")
def judge(catalog: Catalog) -> Iterator[Judge]:
    """Every check in a fork of its own where that can be, else as the system allows."""
    from attention_katas.service.local import open_judge

    with open_judge(catalog, catalog.ready, "cpu") as found:
        yield found


@pytest.fixture(scope="session")
def spawned_judge(catalog: Catalog) -> Iterator[Judge]:
    """As on systems that cannot fork."""
    from attention_katas.service.local import open_judge

    with open_judge(catalog, catalog.ready, "cpu", spawn=True) as found:
        yield found


@pytest.fixture(scope="session")
def submit(catalog: Catalog, judge: Judge) -> Submit:
    """`submit("softmax", source)` judges source text; `others` are sibling files by module."""

    def submit(name: str, source: str, seed: int = 0, **others: str) -> Verdict:
        return judge.judge(submission_of(catalog, name, source, **others), seed)

    return submit


def submission_of(catalog: Catalog, name: str, source: str, **others: str) -> Submission:
    kata = catalog[name]
    sources = {kata.module: source, **others}
    unwritten = {
        module: still_stub(text, catalog.modules[module]) for module, text in sources.items()
    }
    return Submission(kata, sources, kata.file, unwritten)


@pytest.fixture(scope="session", autouse=True)
def shared_daemon() -> Iterator[None]:
    """A place for the daemon that tests of commands share; see `kata` in test_cli."""
    with tempfile.TemporaryDirectory(prefix="kata-probe-") as folder:
        os.environ["KATA_TEST_RUNTIME"] = folder
        yield
        del os.environ["KATA_TEST_RUNTIME"]
        if any(Path(folder).glob("attention-katas/*.sock")):
            environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
            command = [sys.executable, "-m", "attention_katas", "daemon", "stop"]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def running_lab(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One lab for all tests."""
    from tests.labs import Running

    found = Running(catalog, tmp_path_factory.mktemp("lab"))
    yield found
    found.close()


@pytest.fixture
def lab(running_lab: Running) -> Running:
    """That lab, with the right answer in every file."""
    before = running_lab.lab.generation
    stale = [
        kata
        for kata in running_lab.catalog.ready
        if (running_lab.root / kata.file).read_bytes() != kata.reference.read_bytes()
    ]
    running_lab.restore()
    if stale:
        running_lab.wait(before)
    return running_lab


FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    """One browser for a module: its driver keeps an event loop, and others need their own."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no browser tests: pip install -e '.[browser]'"
    )
    names = (os.environ.get("KATA_BROWSER", ""), "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, filter(None, names))), None)
    if path is None:
        pytest.skip("no browser tests: no Chromium here (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()
