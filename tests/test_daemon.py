"""The daemon: fast, and otherwise as if it were not there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from attention_katas import cli
from attention_katas.service import Cancelled, messages, open_service, rpc
from attention_katas.service import local as service_local
from attention_katas.service.daemon import client, control
from attention_katas.service.daemon.address import Address, address
from attention_katas.service.local import Local, open_judge
from attention_katas.verdict import data as v
from tests.conftest import plain, submission_of, untimed
from tests.packs import add_kata, make_pack, only
from tests.test_cli import RIGHT, WRONG, kata, space
from tests.test_worker import children

__all__ = ["space"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks for each verdict")

HANGS = "def softmax(x, dim=-1):\n    while True:\n        pass\n"


def eventually(what, seconds=30.0):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "that did not happen"
        time.sleep(0.02)


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ticks_of(pid):
    """Processor time of a process in ticks; 0 when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[11]) + int(fields[12])


def at_work(pid, before, ticks=30):
    """Descendants that have used the processor for some time since `before`, a dict of ticks."""
    return {child for child in children(pid) if ticks_of(child) >= before.get(child, 0) + ticks}


def work_so_far(pid):
    return {child: ticks_of(child) for child in children(pid)}


def is_still_at_work(pids, seconds=0.3):
    """Whether one of the processes uses the processor."""
    before = {pid: ticks_of(pid) for pid in pids}
    time.sleep(seconds)
    return any(ticks_of(pid) > ticks for pid, ticks in before.items())


class Place:
    """A folder for sockets of its own, and the daemon in it."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {"XDG_RUNTIME_DIR": str(folder), "KATA_COLD": "", "CI": ""}

    @property
    def where(self) -> Address:
        found = address()
        assert found is not None
        assert found.folder.parent == self.folder
        return found

    def status(self):
        return control.status(self.where)

    def judge(self, submission, seed=None):
        """The daemon's verdict; None if it has none."""
        return client.exchange(control.connect(self.where), submission, seed)

    def up(self, idle_seconds=600.0):
        """A daemon that answers; started if there is none."""
        found = [self.status()]
        if found[-1] is None:
            control.start(self.where, idle_seconds)
            eventually(lambda: found.append(self.status()) or found[-1], 60)
        return found[-1]

    def kata(self, *words, cwd, **more):
        return kata(*words, cwd=cwd, **{**self.environment, **more})


@pytest.fixture
def short():
    """A folder with a short name: that of a socket may not be long."""
    with tempfile.TemporaryDirectory(prefix="kata-probe-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def home():
    """A folder that lasts through the file, so that its daemon is started but a few times."""
    with tempfile.TemporaryDirectory(prefix="kata-probe-") as folder:
        yield Path(folder)
        kata("daemon", "stop", cwd=folder, XDG_RUNTIME_DIR=folder)


@pytest.fixture
def place(home, monkeypatch):
    found = Place(home)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found


def test_the_first_run_leaves_one_and_the_next_asks_it(place, space):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    control.stop(place.where)
    first = place.kata("run", "softmax", "--seed", "5", "--format", "json", cwd=space)
    eventually(lambda: place.status() is not None, 60)
    assert place.status().judged == 0
    second = place.kata("run", "softmax", "--seed", "5", "--format", "json", cwd=space)
    assert place.status().judged == 1
    assert first.returncode == second.returncode == 1
    cold, warm = (untimed(json.loads(done.stdout)["verdicts"][0]) for done in (first, second))
    assert cold == warm
    place.kata("run", "softmax", "--cold", cwd=space)
    assert place.status().judged == 1
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    right = place.kata("run", "softmax", cwd=space)
    assert right.returncode == 0, right.stdout
    assert "What carries forward" in right.stdout
    told = place.kata("daemon", "status", cwd=space).stdout
    assert "running" in told
    assert "2 submissions" in told


@pytest.mark.parametrize("switch", ["cold", "spawn", "strict"])
def test_some_runs_do_without(place, judge, monkeypatch, switch, tmp_path):
    @contextlib.contextmanager
    def judged_here(*_, **__):
        yield judge

    monkeypatch.setattr(service_local, "open_judge", judged_here)
    monkeypatch.setattr(control, "connect", lambda *_: pytest.fail("a daemon was asked"))
    file = tmp_path / "softmax.py"
    file.write_text(RIGHT, encoding="utf-8")
    words = ["run", "softmax", "--file", str(file), f"--{switch}"]
    done = CliRunner().invoke(cli.main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("variable", ["KATA_COLD", "CI"])
def test_none_is_left_behind_where_none_is_wanted(place, monkeypatch, variable, catalog):
    monkeypatch.setenv(variable, "1")
    assert control.address_for(catalog, "auto") is None
    assert isinstance(open_service(catalog), Local)
    assert variable in control.why_not()


def test_other_devices_have_none_and_other_packs_their_own(place, catalog, tmp_path):
    assert control.address_for(catalog, "cpu") == place.where
    assert control.address_for(catalog, "cuda") is None
    pack = make_pack(tmp_path / "pack", "other")
    add_kata(pack, "double")
    assert control.address_for(only(pack), "cpu").family != place.where.family


@pytest.mark.parametrize(
    "source", [RIGHT, WRONG, "import os; os._exit(3)", "def softmax(:", "print('hello')"]
)
def test_a_warm_verdict_is_the_cold_one(place, catalog, judge, source):
    place.up()
    found = submission_of(catalog, "softmax", source)
    warm = place.judge(found, 3)
    assert plain(warm) == plain(judge.judge(found, 3))


def test_two_at_once(place, catalog):
    place.up()
    found = submission_of(catalog, "softmax", RIGHT)
    outcomes = []

    def ask():
        outcomes.append(place.judge(found))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verdict.outcome for verdict in outcomes] == [v.PASSED] * 3


def test_who_hangs_up_ends_what_was_started(place, catalog):
    """A closed terminal, kill -9 of the command: nothing goes on."""
    daemon = place.up().pid
    before = work_so_far(daemon)
    line = control.connect(place.where)
    rpc.send(line, messages.request_of(submission_of(catalog, "softmax", HANGS), 0))
    taken = rpc.receive(line)[0].pid
    eventually(lambda: at_work(daemon, before) - {taken})
    hanging = at_work(daemon, before) - {taken}
    line.close()
    eventually(lambda: not lives(taken))
    # The fork server may be among them, which stays, and is idle.
    eventually(lambda: not is_still_at_work(hanging))
    assert lives(daemon)
    assert place.up().pid == daemon


def test_a_judging_can_be_called_off(place, catalog):
    place.up()
    service = open_service(catalog, device="cpu")
    assert isinstance(service, client.Daemon)
    outcomes = []

    def ask():
        try:
            outcomes.append(service.judge(submission_of(catalog, "softmax", HANGS)))
        except Cancelled:
            outcomes.append("cancelled")

    asking = threading.Thread(target=ask)
    asking.start()
    eventually(lambda: service._connection is not None)
    time.sleep(0.3)
    service.cancel()
    asking.join(5)
    assert outcomes == ["cancelled"]
    assert service.judge(submission_of(catalog, "softmax", RIGHT)).outcome == v.PASSED
    assert place.status().idle_seconds_left is None  # held
    service.close()
    eventually(lambda: place.status().idle_seconds_left is not None)


def test_ctrl_c(place, space):
    daemon = place.up().pid
    (space / "softmax.py").write_text(HANGS, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "attention_katas", "run", "softmax"],
        cwd=space,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    judged = place.status().judged
    eventually(lambda: place.status().judged > judged)
    forks = [pid for pid in children(daemon) if lives(pid)]
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.strip() == b"kata: stopped"
    assert lives(daemon)
    assert forks


def test_a_daemon_that_dies_at_work_costs_no_verdict(place, catalog, space):
    first = place.up().pid
    (space / "softmax.py").write_text("import time\ntime.sleep(0.5)\n" + RIGHT, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "attention_katas", "run", "softmax"],
        cwd=space,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    judged = place.status().judged
    eventually(lambda: place.status().judged > judged)
    family = children(first)
    os.kill(first, signal.SIGKILL)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"passed" in told
    eventually(lambda: not any(map(lives, [first, *family])))
    eventually(lambda: place.status() is not None, 60)
    assert place.status().pid != first


def test_a_fork_that_dies_gives_no_verdict(place, catalog, monkeypatch):
    """Then the judging goes on without a daemon."""
    place.up()
    receive = rpc.receive

    def killed(line):
        found = receive(line)
        if found and isinstance(found[0], messages.Started):
            os.kill(found[0].pid, signal.SIGKILL)
        return found

    monkeypatch.setattr(rpc, "receive", killed)
    found = submission_of(catalog, "softmax", RIGHT)
    assert place.judge(found) is None


def test_a_fork_that_is_stopped_gives_no_verdict_and_is_ended(place, catalog, monkeypatch):
    place.up()
    monkeypatch.setattr(client, "SILENT_SECONDS", 3.0)
    receive, stopped = rpc.receive, []

    def hearing(line):
        found = receive(line)
        if found and isinstance(found[0], messages.Started):
            stopped.append(found[0].pid)
            os.kill(found[0].pid, signal.SIGSTOP)
        return found

    monkeypatch.setattr(rpc, "receive", hearing)
    found = submission_of(catalog, "softmax", RIGHT)
    assert place.judge(found) is None
    eventually(lambda: not lives(stopped[0]))


def test_who_works_long_is_waited_for(place, catalog, monkeypatch):
    place.up()
    monkeypatch.setattr(client, "SILENT_SECONDS", 2.5)
    pause = "    if x.shape == (6,):\n        import time\n\n        time.sleep(4)\n"
    head, body = RIGHT.split("dim=-1):\n")
    slow = submission_of(catalog, "softmax", f"{head}dim=-1):\n{pause}{body}")
    assert place.judge(slow).outcome == v.PASSED


def test_a_submission_too_large_to_send_is_judged_here(place, catalog):
    place.up()
    huge = submission_of(catalog, "softmax", RIGHT + "#" * (9 << 20))
    assert place.judge(huge) is None


def test_a_service_gets_on_when_the_socket_is_taken_away(place, catalog):
    place.up()
    service = open_service(catalog, device="cpu")
    place.where.socket.unlink()
    started = time.monotonic()
    assert service.judge(submission_of(catalog, "softmax", RIGHT)).outcome == v.PASSED
    assert time.monotonic() - started < 25
    service.close()


def test_a_limit_of_the_shell_is_not_left_behind(monkeypatch):
    monkeypatch.setenv("KATA_COLD", "")
    monkeypatch.setenv("CI", "")
    monkeypatch.setattr("resource.getrlimit", lambda _: (40, 40))
    assert "processor time" in control.why_not()


@pytest.mark.parametrize("closed", ["<&- >&-", "<&- >&- 2>&-", ">&- 2>&-"])
def test_closed_streams_cost_no_verdict(space, closed):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    command = f"'{sys.executable}' -m attention_katas run softmax --cold {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=space, check=False).returncode == 0


def test_one_that_does_not_answer_is_ended(place, catalog, monkeypatch):
    stopped = place.up().pid
    monkeypatch.setattr(control, "ACCEPT_SECONDS", 0.5)
    os.kill(stopped, signal.SIGSTOP)
    assert place.judge(submission_of(catalog, "softmax", RIGHT)) is None
    monkeypatch.undo()
    eventually(lambda: not lives(stopped))
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    assert place.up().pid != stopped


def test_daemons_of_other_versions_are_told_to_end(place):
    here = place.where
    older = Address(here.folder, here.family, "0" * 12)
    stranger = Address(here.folder, "1" * 12, "0" * 12)
    heard = []
    with socket.socket(socket.AF_UNIX) as old, socket.socket(socket.AF_UNIX) as other:
        for one, where in ((old, older), (other, stranger)):
            one.bind(str(where.socket))
            one.listen()
            where.lock.touch()
        gone = Address(here.folder, here.family, "2" * 12)
        gone.lock.touch()
        gone.socket.touch()
        other.settimeout(0.1)

        def answer():
            line, _ = old.accept()
            heard.append(rpc.receive(line))
            rpc.send(line, messages.Stopping(0))
            line.close()

        answering = threading.Thread(target=answer)
        answering.start()
        control.stop_older(here)
        answering.join(5)
        with pytest.raises(TimeoutError):
            other.accept()
    assert heard == [(messages.Stop(), b"")]
    assert not gone.lock.exists()
    assert not gone.socket.exists()
    for where in (older, stranger):
        where.socket.unlink()
        where.lock.unlink()


def test_only_one_at_a_time_and_it_goes_home_when_idle(place):
    control.stop(place.where)
    for _ in range(2):
        control.start(place.where, 1.5)
    found = []
    eventually(lambda: found.append(place.status()) or found[-1], 60)
    pid = found[-1].pid
    family = children(pid)
    eventually(lambda: not lives(pid))
    eventually(lambda: not any(map(lives, family)))
    assert not place.where.socket.exists()


def test_a_folder_that_others_can_enter_is_not_used(short, monkeypatch):
    tmp_path = short
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    open_to_all = tmp_path / "attention-katas"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    assert address().folder.parent == tmp_path / "tmp"
    other = tmp_path / "tmp" / f"attention-katas-{os.getuid()}"
    other.rmdir()
    other.symlink_to(open_to_all)
    assert address() is None
    assert control.why_not()


def test_the_address_tells_what_the_daemon_is_made_of(monkeypatch, tmp_path):
    from attention_katas.service.daemon import address as module

    before = address()
    assert address() == before
    monkeypatch.setenv("TORCH_SHOW_CPP_STACKTRACES", "1")
    assert address().family != before.family
    monkeypatch.undo()
    monkeypatch.setattr(module, "__version__", "9")
    assert address().key != before.key
    assert address().family == before.family
    monkeypatch.undo()
    changed = tmp_path / "package"
    changed.mkdir()
    (changed / "one.py").touch()
    monkeypatch.setattr(module, "PACKAGE", changed)
    edited = address()
    os.utime(changed / "one.py", (1, 1))
    assert address().key != edited.key
    monkeypatch.undo()
    for name in ("PYTHONIOENCODING", "PYTHONSTARTUP", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "4")
    assert address() == before
    monkeypatch.setattr(os, "getpriority", lambda *_: 15)
    assert address().family != before.family


def test_strangers_and_nonsense_are_hung_up_on(place):
    pid = place.up().pid
    for said in (b"GET / HTTP/1.1\r\n\r\n", b"", os.urandom(300)):
        line = control.connect(place.where)
        line.sendall(said)
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            line.shutdown(socket.SHUT_WR)
            assert not line.recv(10)
        line.close()
    line = control.connect(place.where)
    request = messages.Judge("nonsense", "", {}, {}, {}, {})
    rpc.send(line, request)
    assert rpc.receive(line)[0].code == messages.UNKNOWN_KATA
    line.close()
    silent = control.connect(place.where)  # says nothing: others wait a second at most
    assert place.up().pid == pid
    silent.close()


def test_the_same_as_a_cold_judge_in_every_kata(place, catalog):
    place.up()
    with open_judge(catalog, catalog.ready, "cpu") as cold:
        for kata_ in catalog.ready:
            from attention_katas.packs.submission import submission

            found = submission(catalog, kata_, kata_.reference)
            warm = place.judge(found, 1)
            assert plain(warm) == plain(cold.judge(found, 1))


def test_a_daemon_of_other_content_ends_and_a_new_one_judges(place, catalog):
    """The handshake: it never judges by other files than those of whoever asks."""
    pid = place.up().pid
    submission = submission_of(catalog, "softmax", RIGHT)
    request = messages.request_of(submission, 0, "auto")
    connection = control.connect(place.where)
    rpc.send(connection, msgspec.structs.replace(request, digest="0" * 12))
    assert rpc.receive(connection) == (messages.Refused(messages.RESTART), b"")
    connection.close()
    eventually(lambda: not lives(pid))
    with contextlib.closing(open_service(catalog, device="cpu")) as service:
        assert service.judge(submission).outcome == v.PASSED
    assert place.status().pid != pid
