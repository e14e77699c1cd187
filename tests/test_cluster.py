"""Grading past one machine: real processes on loopback, killed at bad moments, and left with none.

One cluster for all: a scheduler and two workers, begun by the commands that a teacher types, with
certificates made by openssl.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: the extra [cluster]")

from attention_katas import cli
from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.grading import VARIABLE, run
from attention_katas.grading.collect import collect
from attention_katas.grading.ledger import Ledger
from attention_katas.packs.catalog import Selection
from attention_katas.sandbox.restrictions import landlock
from attention_katas.service import Settings, Task, cluster, messages, rpc
from attention_katas.service.many import encode_task
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.clustered import noted
from tests.conftest import submission_of

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux", reason="a cluster judges with all sandbox restrictions"
    ),
    pytest.mark.skipif(
        not landlock.version(), reason="a cluster judges with all sandbox restrictions"
    ),
    pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificates"),
]

ROOT = Path(__file__).parents[1]
RIGHT = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
SECRET = "a secret of the teacher"


def kata(*words, **options):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'harness'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "attention_katas", "grade", *map(str, words)]
    # In a folder of its own: `python -m` imports nothing from where it is.
    return subprocess.Popen(command, env=environment, text=True, cwd=os.sep, **options)


def answer(*words):
    process = kata(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certificates(folder):
    """By the commands of docs/cluster.md."""
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(umask.*?)```", text, re.S)[1]
    subprocess.run(["sh", "-ec", block], cwd=folder, check=True, capture_output=True)
    return cluster.Keys(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")


def tls(keys):
    return ["--tls-ca", keys.ca, "--tls-cert", keys.cert, "--tls-key", keys.key]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def processes():
    """Processes of a cluster or of a judge, by id, with their parents."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes()
            state = (place / "stat").read_text().rpartition(")")[2].split()
            if state[0] != "Z":
                found[int(place.name)] = int(state[1]), words
    return found


def below(root):
    """All that a process began, and that began in turn, also in other sessions."""
    parents = {pid: parent for pid, (parent, _) in processes().items()}
    found, more = {root}, True
    while more:
        new = {pid for pid, parent in parents.items() if parent in found} - found
        found |= new
        more = bool(new)
    return found - {root}


def gone(pids, seconds=15.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        left = {pid for pid in pids if pid in processes()}
        if not left:
            return set()
        time.sleep(0.1)
    return left


class Running:
    """The cluster of these tests."""

    def __init__(self, folder):
        self.keys = certificates(folder)
        self.address = f"tls://127.0.0.1:{free_port()}"
        self.log = (folder / "log").open("w+")
        self.folder = folder
        options = {"stdout": self.log, "stderr": self.log}
        self.scheduler = kata("scheduler", self.address, *tls(self.keys), **options)
        where = [self.address, "--workers", 2, *tls(self.keys)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(VARIABLE, SECRET)  # as if a teacher had it there by accident
            self.workers = kata("worker", *where, **options)

    def options(self):
        return ["--scheduler", self.address, *tls(self.keys)]

    def opened(self, settings=None, report=lambda message, next_step: None):
        service = cluster.Cluster(self.address, self.keys, settings or Settings(), report)
        return contextlib.closing(service)

    def end(self):
        pids = {self.scheduler.pid, self.workers.pid} | below(self.workers.pid)
        for process in (self.workers, self.scheduler):
            process.terminate()
        for process in (self.workers, self.scheduler):
            process.wait(20)
        left = gone(pids)
        self.log.close()
        assert not left, f"left behind: {left}"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    found = Running(tmp_path_factory.mktemp("cluster"))
    try:
        yield found
    finally:
        found.end()


def notes(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def made(catalog, count, extra=""):
    one = [submission_of(catalog, "softmax", f"{RIGHT}\n# {n} {extra}\n") for n in range(count)]
    return [Task(f"{extra}{n}", submission, 1) for n, submission in enumerate(one)]


def when(condition, seconds=30.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def a_class(folder, students, source=RIGHT):
    for name in students:
        (folder / name).mkdir(parents=True)
        (folder / name / "softmax.py").write_text(f"{source}\n# {name}\n")
    return folder


# What is refused before anything is sent


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.7:8786", "tcp://0.0.0.0:8786", "tcp://example.org:8786"]
)
def test_what_is_not_encrypted_is_refused_beyond_this_machine(address):
    with pytest.raises(KataError) as raised:
        cluster.checked(address)
    assert "not encrypted" in raised.value.message
    assert "tls://" in raised.value.next_step


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://[::1]:1", "tcp://localhost:1"])
def test_this_machine_needs_no_certificates(address):
    assert cluster.checked(address) == address


@pytest.mark.parametrize(
    "address", ["8786", "host:8786", "http://host:1", "tls://host", "tls://:1"]
)
def test_what_is_no_address_is_said(address):
    with pytest.raises(KataError, match="is not the address of a scheduler"):
        cluster.checked(address)


def test_commands_refuse_with_a_next_step(tmp_path):
    where = [a_class(tmp_path / "class", ["ann"]), "--ledger", tmp_path / "l.db"]
    for arguments, said in [
        ([*where, "--scheduler", "tcp://10.0.0.7:8786"], "not encrypted"),
        (["worker", "tls://10.0.0.7:8786"], "needs certificates"),
        (
            [*where, "--scheduler", "local", "--allow-weak-sandbox"],
            "without all sandbox restrictions",
        ),
    ]:
        code, _, err = answer(*arguments)
        assert code == 2
        assert said in err
        assert "next:" in err
        assert "Traceback" not in err


def test_what_is_no_certificate_is_said(tmp_path):
    (tmp_path / "x.pem").write_text("no certificate")
    keys = cluster.Keys(tmp_path / "x.pem", tmp_path / "x.pem", tmp_path / "x.pem")
    with pytest.raises(KataError, match="cannot be used"):
        cluster.Cluster("tls://127.0.0.1:1", keys, Settings()).connect()
    missing = cluster.Keys(ca=tmp_path / "none.pem")
    with pytest.raises(KataError, match="there is no file"):
        cluster.Cluster("tls://127.0.0.1:1", missing, Settings()).connect()


# What is sent


def test_no_secret_and_no_path_is_sent(catalog):
    one = replace(submission_of(catalog, "softmax", RIGHT), file="/srv/ann/softmax.py")
    frame = encode_task(Task("k", one, 7))
    assert one.file.encode() not in frame
    assert rpc.split(frame)[0].versions == messages.judging_versions()


# What docs/cluster.md shows


def shown(language):
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_every_option_is_documented():
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    commands = cli.main.commands["grade"].commands
    options = {o for name in ("scheduler", "worker") for p in commands[name].params for o in p.opts}
    options |= {o for p in commands["submissions"].params for o in p.opts if "tls" in o}
    for option in {"--scheduler", *options} - {"address"}:
        assert f"`{option}" in text, option


def test_the_manifest_is_whole():
    yaml = pytest.importorskip("yaml")
    (text,) = shown("yaml")
    parts = list(yaml.safe_load_all(text))
    kinds = [part["kind"] for part in parts]
    assert kinds == ["ConfigMap", "Service", "NetworkPolicy", "Deployment", "Deployment", "Job"]
    for part in parts[3:]:
        pod = part["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        volumes = {one["name"] for one in pod["volumes"]}
        assert {one["name"] for one in container["volumeMounts"]} == volumes
        assert "memory" in container["resources"]["limits"]
        assert ("seed" in volumes) == (part["kind"] == "Job")
        assert_is_a_command(container["args"])


def assert_is_a_command(words):
    assert words[:2] == ["kata", "grade"]
    group = cli.main.commands["grade"]
    name, args = (words[2], words[3:]) if words[2] in group.commands else ("submissions", words[2:])
    group.commands[name].make_context(name, args)  # or it raises


def test_the_batch_script_is_one(tmp_path):
    (text,) = shown("bash")
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


# The cluster


def test_a_worker_killed_in_the_middle_and_everybody_is_graded_once(
    running, catalog, tmp_path, monkeypatch
):
    monkeypatch.setenv(VARIABLE, SECRET)
    students = [f"s{number:02}" for number in range(8)]
    folder = a_class(tmp_path / "class", students, RIGHT + "\n# slow\n")
    log = tmp_path / "notes"
    killed = []

    def at_work():
        """What a worker is at that has done something before."""
        last = {pid: (what, key) for what, key, pid in notes(log)}
        old = {pid for what, _, pid in notes(log) if what == "done"}
        return [(key, pid) for pid, (what, key) in last.items() if what == "begun" and pid in old]

    def kill():
        killed.append(when(at_work)[0])
        time.sleep(0.3)  # what it did before is handed over meanwhile
        os.kill(killed[0][1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    with Ledger(tmp_path / "l.db") as ledger:
        work = run.Assignment("t", [catalog["softmax"]], {"softmax": 20}, SECRET.encode())
        grading = run.GradingRun(catalog, work, collect(catalog, folder), ledger, "x")

        monkeypatch.setattr(cluster, "judge_request", functools.partial(noted, str(log)))
        with running.opened() as service:
            service.connect()
            killer.start()
            grading.judge(service)
        results = list(grading.results())
        killer.join()
        assert ledger.last_run().done
        assert {words.verdict(item.verdict) for one in results for item in one.items} == {""}
        assert len(ledger.judged()) == len(students)
        assert [result.student.id for result in results] == students
        assert {result.points for result in results} == {20}
    begun = collections.Counter(key for what, key, _ in notes(log) if what == "begun")
    assert {key for what, key, _ in notes(log) if what == "done"} == set(begun)
    assert len(begun) == len(students)
    # Only what the killed one was at began once more; or, if the machine is that slow, what it had
    # just done and not handed over.
    again = {key for key, times in begun.items() if times > 1}
    ((lost, pid),) = killed
    theirs = [key for what, key, whose in notes(log) if what == "begun" and whose == pid]
    assert lost in again <= set(theirs[-2:])
    assert {begun[key] for key in again} == {2}


def test_a_task_that_costs_two_workers_is_set_aside_and_harms_nobody(
    running, catalog, tmp_path, monkeypatch
):
    log = tmp_path / "notes"
    poison = submission_of(catalog, "softmax", f"{RIGHT}\n# poison\n")
    waiting = [*made(catalog, 2), Task("bad", poison, 1), *made(catalog, 2, "more")]
    monkeypatch.setattr(cluster, "judge_request", functools.partial(noted, str(log)))
    with running.opened() as service:
        found = list(service.judge_all(waiting))
    outcomes = {task.key: verdict.outcome for task, verdict in found}
    assert len(found) == len(outcomes) == 5
    assert outcomes.pop("bad") == v.COULD_NOT_GRADE
    assert set(outcomes.values()) == {v.PASSED}
    told = {task.key: verdict for task, verdict in found}["bad"]
    assert "set aside: 2 workers were lost over it" in words.verdict(told)
    assert [notice.code for notice in told.audit] == [
        "process-lost"
    ]  # which is for the teacher alone
    tried = [pid for what, key, pid in notes(log) if key == "poison"]
    assert len(set(tried)) == len(tried) == 4  # two, and two more when it was alone


def test_graded_code_reaches_neither_key_nor_scheduler(running, catalog):
    port = int(running.address.rpartition(":")[2])
    acts = f"""
import os, socket
REACHED = []
for path in ({str(running.keys.key)!r}, {str(running.keys.ca)!r}):
    try:
        with open(path) as opened:
            REACHED.append(opened.read())
    except OSError:
        pass
for family, where in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_UNIX, "/run/x.sock")):
    try:
        one = socket.socket(family, socket.SOCK_STREAM)
        REACHED.append(one)
        one.connect(where)
    except OSError:
        pass
REACHED += [name for name in os.environ if "DASK" in name or "KATA" in name]
"""
    known = {}
    exec(acts, known)  # without locks all of it can be done
    assert [type(one).__name__ for one in known["REACHED"][:3]] == ["str", "str", "socket"]
    known["REACHED"][2].close()
    known["REACHED"][3].close()
    source = f"{RIGHT}\n{acts}\nif REACHED:\n    softmax = None\n"
    with running.opened() as service:
        verdict = service.judge(submission_of(catalog, "softmax", source), 1)
    assert verdict.outcome == v.PASSED, words.verdict(verdict)
    assert "system calls" in verdict.restrictions


def test_the_secret_stays_with_the_teacher(running):
    for pid in below(running.workers.pid):
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            assert SECRET.encode() not in environment


def test_other_versions_do_not_judge(running, catalog, monkeypatch):
    """Neither by what a worker announces, nor by what it finds when it judges."""
    told = []
    one = made(catalog, 1, "versions")
    other = {**messages.judging_versions(), "torch": "9.9"}
    with running.opened() as service:
        service.connect()
        monkeypatch.setattr(messages, "judging_versions", lambda: other)
        ((_, verdict),) = service.judge_all(one)
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert "the worker on " in words.verdict(verdict)
    assert "torch" in words.verdict(verdict)
    assert "instead of 9.9" in words.verdict(verdict)
    assert not verdict.audit
    monkeypatch.setattr(cluster, "QUIET_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.5)
    with running.opened(report=lambda message, next_step: told.append(message)) as service:
        workers = service.connect()
        when(lambda: len(told) == 3)
        assert workers.count() == 1
    assert [said for said in told if "is not used" in said and "torch/9.9" in said] == told[:2]
    assert "no worker that can be used" in told[2]


def test_a_private_set_has_to_be_on_the_workers_too(running, catalog, tmp_path):
    one = made(catalog, 1, "private")
    for settings, said in [
        (Settings(packs=Selection((tmp_path / "nowhere",))), "there is no folder"),
        (Settings(packs=Selection((ROOT,), only=True)), ""),
    ]:
        with running.opened(settings) as service:
            ((_, verdict),) = service.judge_all(one)
        assert said in words.verdict(verdict)
        assert verdict.outcome == (v.COULD_NOT_GRADE if said else v.PASSED)


def test_certificates_of_somebody_else_are_refused(running, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 2.0)
    theirs = certificates(tmp_path)
    with pytest.raises(CouldNotGrade, match="no scheduler can be used"):
        cluster.Cluster(running.address, theirs, Settings()).connect()


def test_a_place_that_is_taken_is_said(running):
    code, _, err = answer("scheduler", running.address, *tls(running.keys))
    assert code == 2
    assert "nobody can listen" in err
    assert "fault of this program" not in err


def test_a_scheduler_that_is_lost_and_the_ledger_goes_on(running, tmp_path):
    """The last one here: it takes the cluster down. A cluster of this machine does the rest."""
    students = [f"s{number:02}" for number in range(10)]
    folder = a_class(tmp_path / "class", students)
    where = [folder, "--only", "softmax", "--ledger", tmp_path / "l.db"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = kata(*where, *running.options(), **pipes)

    def kept():
        if not (tmp_path / "l.db").exists():
            return set()
        with Ledger(tmp_path / "l.db") as ledger:
            return ledger.judged()

    when(lambda: len(kept()) >= 2)
    began = below(running.workers.pid)
    running.scheduler.kill()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    assert "was lost; the ledger keeps what is done" in err
    assert "next:  the same command once more" in err
    assert "Traceback" not in err
    assert running.workers.wait(20) is not None  # workers do not outlive it
    assert not gone(began)
    done = len(kept())
    assert 2 <= done < len(students)
    again = kata(*where, "--scheduler", "local", "--to", "json=-", **pipes)
    when(lambda: len(kept()) > done, 50)
    began = below(again.pid)
    out, err = again.communicate(timeout=30)
    assert again.returncode == 0, err
    assert len(json.loads(out)["results"]) == len(kept()) == len(students)
    assert not gone(began)
