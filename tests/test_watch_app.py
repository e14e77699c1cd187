"""`kata watch` as it looks: its screen, its lines, and both on a real terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from attention_katas.packs.progress import DONE
from attention_katas.render.terminal import Screen, console
from attention_katas.verdict import data as v
from attention_katas.watch.app import LIST, ROUND, SOLUTION, VERDICT, WatchApp
from attention_katas.watch.plain import Plain
from attention_katas.watch.saves import CHANGED, TOUCHED
from tests.test_cli import KATAS, RIGHT, WRONG, kata, space  # noqa: F401
from tests.test_watch_session import HALF, SLOW
from tests.test_watch_session import RIGHT as ALL_RIGHT
from tests.watching import Watched

terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


class Driver:
    """An app under a pilot, and what stands on it."""

    def __init__(self, watched, app, pilot):
        self.watched, self.app, self.pilot = watched, app, pilot

    def text(self, part):
        shown = self.app.query_one(f"#{part}").render()
        return str(shown.plain if hasattr(shown, "plain") else shown)

    def offered(self):
        return re.findall(r"(?:^|  |\n)(\S+) ", self.text("keys"))

    async def until(self, condition):
        end = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < end, [self.text(p) for p in ("top", "text", "status", "keys")]
            await self.pilot.pause(0.01)

    async def idle(self):
        session = self.watched.session
        await self.until(lambda: session.verdict and not session.judging and not session.in_round)
        await self.pilot.pause()

    async def write(self, name, text, what=CHANGED):
        await asyncio.to_thread(self.watched.write, name, text, what)

    async def press(self, *keys):
        await self.pilot.press(*keys)
        await self.pilot.pause()


@pytest.fixture
def drive(tmp_path, catalog, monkeypatch):
    """`drive(story, name, size, **sources)` runs an async story with a Driver."""
    monkeypatch.chdir(tmp_path)

    def go(story, name="softmax", size=(80, 30), **sources):
        watched = Watched(tmp_path / "work", catalog, name)
        for other, text in sources.items():
            watched.put(other, text)

        async def whole():
            app = WatchApp(watched.session, watched.session.start)
            async with app.run_test(size=size) as pilot:
                await story(Driver(watched, app, pilot))
            assert app.return_code in (0, None)

        try:
            asyncio.run(whole())
        finally:
            watched.bench.go_on.set()
            watched.session.close()

    return go


def test_the_screen_is_there_at_once(tmp_path, catalog):
    watched = Watched(tmp_path / "work", catalog, "softmax")
    begun = threading.Event()

    async def whole():
        app = WatchApp(watched.session, begun.set)
        async with app.run_test(size=(80, 24)) as pilot:
            driver = Driver(watched, app, pilot)
            await driver.until(begun.is_set)
            assert driver.text("top").startswith("softmax")
            assert f"0 of {len(KATAS)} done" in driver.text("top")
            assert "warming up ..." in driver.text("status")
            assert driver.offered() == ["n", "p", "l", "h", "o", "a", "q"]

    asyncio.run(whole())


def test_from_a_stub_to_a_pass(drive):
    async def story(d):
        await d.idle()
        assert "not started" in d.text("top")
        assert "softmax.py is still the stub" in d.text("text")
        await d.write("softmax", HALF)
        await d.until(lambda: "failed  1 of 3" in d.text("top"))
        assert re.search(r"last save seen \d\d:\d\d:\d\d, judged in \d+ ms", d.text("status"))
        assert {"h", "r", "x"} <= set(d.offered())
        assert "s" not in d.offered()
        await d.write("softmax", ALL_RIGHT)
        await d.until(lambda: "passed  3 of 3" in d.text("top"))
        assert "✓ check 2 passes now: Stays finite" in d.text("text")
        assert "What carries forward" in d.text("text")
        assert "next:  n for mask: no query attends to a later key" in d.text("text")
        assert "2 pass now" in d.text("status")
        await d.until(lambda: f"1 of {len(KATAS)} done" in d.text("top"))
        assert "s" in d.offered()
        assert "h" not in d.offered()
        assert d.watched.session.kata.name == "softmax"  # it stays
        await d.press("n")
        await d.until(lambda: "mask  not started" in d.text("top"))

    drive(story)


def test_while_judging_the_old_verdict_is_marked_as_old(drive):
    async def story(d):
        await d.idle()
        await d.write("softmax", SLOW)
        await d.until(lambda: "judging" in d.text("status"))
        assert "failed  1 of 3  (old)" in d.text("top")
        assert d.app.query_one("#text").has_class("old")
        assert "r" not in d.offered()
        d.watched.bench.go_on.set()
        await d.idle()
        assert not d.app.query_one("#text").has_class("old")
        assert "no check changed since the last run" in d.text("text")

    drive(story, softmax=HALF)


def test_a_save_without_a_change_and_polling_are_said(drive):
    async def story(d):
        await d.idle()
        await asyncio.to_thread(d.watched.tell, "softmax", TOUCHED)
        await d.until(lambda: "nothing changed" in d.text("status"))
        await asyncio.to_thread(d.watched.session.polls, "this folder sends no events")
        await d.until(lambda: "watching by polling: this folder sends no" in d.text("status"))

    drive(story, softmax=HALF)


def test_hints(drive):
    async def story(d):
        await d.idle()
        await d.press("h")
        assert "softmax, hint 1 of 4: Where to look" in d.text("text")
        await d.press("h")
        assert "hint 2 of 4" in d.text("text")
        assert d.watched.progress.hint_level("softmax") == 2
        await d.press("escape")
        assert "hint 2" not in d.text("text")
        await d.press("h", "h", "h", "h")
        assert "This was the last hint." in d.text("text")
        assert "h" not in d.offered()

    drive(story)


def test_reset_asks_and_keeps_a_copy(drive):
    async def story(d):
        path = d.watched.space.path(d.watched.catalog["softmax"])
        await d.idle()
        await d.press("x")
        assert "Reset softmax.py?" in d.text("keys")
        await d.press("r")  # anything but y is no
        assert path.read_text(encoding="utf-8") == HALF
        assert d.watched.bench.asked == [HALF]
        await d.press("x", "y")
        assert path.read_bytes() == d.watched.catalog["softmax"].stub.read_bytes()
        assert "yours is kept as .kata/backups/softmax-" in d.text("status").replace("\n", " ")
        copies = list((d.watched.space.private / "backups").iterdir())
        assert [copy.read_text(encoding="utf-8") for copy in copies] == [HALF]

    drive(story, softmax=HALF)


def test_the_list_leads_to_any_kata(drive):
    async def story(d):
        await d.idle()
        await d.press("l")
        assert d.app.showing == LIST
        assert f"{len(KATAS)} · {KATAS[-1]}" in d.text("text")
        assert "3 · softmax" in d.text("text")
        assert d.offered() == [f"1-{len(KATAS)}", "esc", "q"]
        await d.press("a", "x", "0")  # these do nothing here
        assert d.app.showing == LIST
        await d.press(str(len(KATAS)))
        await d.until(lambda: f"{KATAS[-1]}  not started" in d.text("top"))
        assert d.app.showing == VERDICT
        await d.press("l", "escape", "p")
        await d.until(lambda: KATAS[-2] in d.text("top"))

    drive(story)


def test_a_save_leaves_every_other_view(drive):
    async def story(d):
        await d.idle()
        await d.press("l")
        await d.write("softmax", HALF)
        await d.until(lambda: d.app.showing == VERDICT)
        await d.write("scale", "def scaled_scores(q, k):\n    return 'half'\n")
        await d.until(lambda: d.text("top").startswith("scale  failed"))
        assert "you saved scale.py, so this is scale now" in d.text("status")

    drive(story)


def test_the_solution_only_after_a_pass(drive):
    async def story(d):
        await d.idle()
        await d.press("s")
        assert d.app.showing == VERDICT
        await d.write("softmax", ALL_RIGHT)
        await d.until(lambda: "s" in d.offered())
        await d.press("s")
        assert d.app.showing == SOLUTION
        assert "one right answer among many" in d.text("text")
        await d.press("escape")
        assert d.app.showing == VERDICT

    drive(story, softmax=HALF)


def test_all_katas(drive):
    async def story(d):
        await d.idle()
        await d.press("a")
        assert d.app.showing == ROUND
        await d.until(lambda: f"{KATAS[-1]}  not started" in d.text("text"))
        assert re.search(r"softmax +failed +1 of 3 checks", d.text("text"))
        await d.press("escape")
        assert d.app.showing == VERDICT

    drive(story, softmax=HALF)


def test_it_stays_readable_when_it_gets_narrow(drive):
    async def story(d):
        await d.idle()
        for width, height in ((60, 20), (100, 40), (40, 12), (60, 24)):
            await d.pilot.resize_terminal(width, height)
            await d.until(lambda w=width: d.app.size.width == w)
            await d.pilot.pause(0.05)
            for part in ("top", "text", "status", "keys"):
                assert max(map(len, d.text(part).splitlines())) <= width
            assert d.app.query_one("#body").size.height >= 3
            assert [key for key in d.offered() if len(key) == 1] == list("nplhoraxq")

    drive(story, softmax=HALF)


def test_what_was_scrolled_to_stays_in_sight(drive):
    async def story(d):
        await d.idle()
        body = d.app.query_one("#body")
        await d.press("down", "j", "space")
        await d.until(lambda: body.scroll_y > 2)
        at = body.scroll_y
        await d.write("softmax", HALF + "# again\n")
        await d.idle()
        assert body.scroll_y == at
        await d.press("n")
        await d.until(lambda: body.scroll_y == 0)

    drive(story, size=(60, 12), softmax=HALF)


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_the_ways_out(drive, key):
    async def story(d):
        await d.idle()
        await d.pilot.press(key)
        await d.until(lambda: not d.app.is_running)

    drive(story)


def test_without_colour(drive, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def story(d):
        await d.idle()
        assert d.app.no_color
        assert "failed  1 of 3" in d.text("top")

    drive(story, softmax=HALF)


def test_without_an_editor_none_is_offered(drive, monkeypatch):
    for name in ("VISUAL", "EDITOR", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("attention_katas.watch.editor.USUAL", ())

    async def story(d):
        await d.idle()
        assert "o" not in d.offered()
        monkeypatch.setenv("EDITOR", "true")  # headless: the terminal cannot be given away
        await d.press("o")
        assert "true cannot be run from here" in d.text("status")

    drive(story)


# Lines.


@pytest.fixture
def lines(tmp_path, catalog, monkeypatch):
    """A Plain with a fake bench, and a function that gives all it has printed."""
    monkeypatch.chdir(tmp_path)
    watched = Watched(tmp_path / "work", catalog, "softmax")
    path = tmp_path / "printed.txt"
    with path.open("w", encoding="utf-8") as stream:
        out = console(stream)
        plain = Plain(watched.session, Screen(out))
        plain.welcome()
        watched.session.start()
        yield watched, plain, lambda: path.read_text(encoding="utf-8")
        watched.bench.go_on.set()
        watched.session.close()


def test_lines_and_commands(lines):
    watched, plain, printed = lines
    watched.until(lambda: "softmax.py is still the stub" in printed())
    assert printed().startswith("watching ")
    watched.write("softmax", HALF)
    watched.until(lambda: "softmax  failed  1 of 3 checks pass" in printed())
    watched.write("softmax", ALL_RIGHT)
    watched.until(lambda: "What carries forward" in printed())
    assert printed().index("check 2 passes now") < printed().index("softmax  passed")
    watched.until(lambda: watched.session.states["softmax"].name == DONE)
    watched.tell("softmax", TOUCHED)
    assert re.search(r"saw a save at \d\d:\d\d:\d\d, nothing changed", printed())
    watched.session.polls("this folder sends no events")
    watched.session.polls("")
    assert printed().count("watching by polling") == 1
    assert "watching by polling: this folder sends no events" in printed()
    assert plain.obey("s\n")
    assert "one right answer among many" in printed()
    assert plain.obey("h\n")
    assert "hint is not available now" in printed()
    assert plain.obey("l")
    assert "3 ✓ softmax" in printed()
    assert plain.obey("?")
    assert "x  reset" in printed()
    assert plain.obey("xyz")
    assert "there is no kata called 'xyz'" in printed()
    assert plain.obey("x")
    assert plain.obey("no")
    assert "not reset" in printed()
    assert plain.obey("reset")
    assert plain.obey("y")
    assert "yours is kept as .kata" in printed().replace("\n", " ")
    assert plain.obey("mask")
    watched.until(lambda: "mask.py is still the stub" in printed())
    assert plain.obey("2")
    watched.until(lambda: "scale.py is still the stub" in printed())
    assert plain.obey("h")
    assert "scale, hint 1 of" in printed()
    assert plain.obey("a")
    watched.until(lambda: f"{KATAS[-1]}  not started" in printed())
    assert "judging mask ..." in printed()
    assert plain.obey("")
    assert not plain.obey("q\n")


def clean(**more):
    kept = {k: x for k, x in os.environ.items() if not k.startswith(("PYTEST_", "COLUMNS"))}
    return {**kept, "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color", **more}


@contextlib.contextmanager
def reading(process):
    """Everything that a process prints, as it comes; `until(text)` waits for it."""
    found, news = [], threading.Condition()

    def read():
        for line in process.stdout:
            with news:
                found.append(line)
                news.notify_all()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def until(text, seconds=90):
        with news:
            assert news.wait_for(lambda: text in "".join(found), seconds), "".join(found)
        return "".join(found)

    yield until
    reader.join(10)
    process.stdout.close()


def atomically(path, text):
    aside = path.with_name(f".{path.name}.tmp")
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, path)


def test_lines_with_the_real_judge(space):  # noqa: F811
    """Standard input is a pipe that ends at once: it goes on until it is told to stop."""
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "attention_katas", "watch", "softmax"],
        cwd=space,
        env=clean(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    try:
        with reading(process) as until:
            until("✗ Sums to one along dim, not always")
            atomically(space / "softmax.py", RIGHT)
            until("check 4 passes now: Sums to one along dim")
            text = until("next:  n for mask")
            assert "softmax  passed  17 of 17" in text
            assert "\x1b" not in text
            process.send_signal(signal.SIGTERM if os.name != "nt" else signal.CTRL_C_EVENT)
            assert process.wait(30) == 0
        assert "done: passed" in kata("list", cwd=space).stdout
    finally:
        process.kill()
        process.wait()


@terminal
def test_an_editors_save_on_a_real_terminal(space):  # noqa: F811
    import pexpect

    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "attention_katas", "watch", "softmax"],
        cwd=str(space),
        env=clean(LANG="C.UTF-8"),
        dimensions=(40, 100),
        timeout=90,
        encoding="utf-8",
    )
    child.expect("warming up")
    child.expect("failed")
    child.expect(r"of 17")
    atomically(space / "softmax.py", RIGHT)
    child.expect("passed")
    child.expect(rf"1(\x1b\[[\d;]*m)* of {len(KATAS)} done")
    child.send("q")
    child.expect(r"\x1b\[\?1049l")  # the terminal is given back
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@terminal
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, "hangs up", "a fault"])
def test_other_endings(space, ending):  # noqa: F811
    """The terminal is given back, and nothing stays behind when it goes away."""
    import pexpect

    program = (
        "import sys\nsys.argv = ['kata', 'watch']\n"
        "from attention_katas import cli\nfrom attention_katas.watch import view\n"
        "if 'a fault' in sys.argv + sys.orig_argv: view.hint = None\n"
        "cli.entry()\n"
    )
    child = pexpect.spawn(
        sys.executable,
        ["-c", program, str(ending)],
        cwd=str(space),
        env=clean(LANG="C.UTF-8"),
        timeout=30,
        encoding="utf-8",
    )
    if ending == "a fault":
        child.expect(r"\x1b\[\?1049l")
        child.expect("kata: a fault of this program: TypeError")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 3
        return
    child.expect("not started")
    if ending == "hangs up":
        child.close()
    else:
        child.kill(ending)
        child.expect(r"\x1b\[\?1049l")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
    assert not child.isalive()


@terminal
def test_a_terminal_that_cannot_be_drawn_on_gets_lines(space):  # noqa: F811
    import pexpect

    child = pexpect.spawn(
        sys.executable,
        ["-m", "attention_katas", "watch"],
        cwd=str(space),
        env=clean(TERM="dumb"),
        timeout=60,
        encoding="utf-8",
    )
    child.expect("this terminal cannot show a full screen, so lines are printed, as with --plain")
    child.expect("dot_product.py is still the stub")
    child.sendintr()
    child.expect("kata: stopped watching")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_what_cannot_be_watched(tmp_path, space):  # noqa: F811
    unknown = kata("watch", "sofmax", cwd=space)
    assert unknown.returncode == 2
    assert "did you mean 'softmax'?" in unknown.stderr
    bare = tmp_path / "bare"
    bare.mkdir()
    nowhere = kata("watch", cwd=bare)
    assert nowhere.returncode == 2
    assert "there is no workspace" in nowhere.stderr


def test_the_verdict_says_what_kata_run_says(tmp_path, catalog):
    """The body is the screen of `kata run`, without the line that stands at the top."""
    from attention_katas.render.terminal import render
    from attention_katas.watch import view

    verdict = v.Verdict("softmax", v.FAILED, [v.Check("a", "A", v.FAILED)], file="softmax.py")
    shown = view.as_text(lambda out: out.verdict(verdict, catalog["softmax"]), 80, False, str)
    whole = render([verdict], {"softmax": catalog["softmax"]}).strip("\n")
    assert whole.partition("\n")[2] == shown.plain


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no SIGPIPE, nor an end of a pipe")
def test_when_nobody_reads_the_lines_any_more_it_ends(space):  # noqa: F811
    process = subprocess.Popen(
        [sys.executable, "-m", "attention_katas", "watch"],
        cwd=space,
        env=clean(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        while "is still the stub" not in process.stdout.readline():
            pass
        process.stdout.close()
        until = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < until:
            os.utime(space / "dot_product.py")
            time.sleep(0.1)
        assert process.wait(1) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
