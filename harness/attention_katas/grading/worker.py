"""A process that judges one task after the other, and the side that asks it.

`judge` is what a worker of any kind calls, a thread of this machine or a process of a cluster:
plain text in, plain text out. It keeps a judging process beside it, one for each thread, in a
session of its own, that can be killed and made again.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import platform
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from attention_katas.errors import BadContent, CouldNotGrade, KataError
from attention_katas.grading import VARIABLE, entries
from attention_katas.packs.catalog import Catalog, Kata, Selection, load_catalog
from attention_katas.packs.submission import from_dict, submission
from attention_katas.sandbox import frames
from attention_katas.verdict import data as v

START_SECONDS = 180.0
GRACE_SECONDS = 90.0  # beyond what a kata may take: loading, diagnosis, a second try
MOST_TASKS = 1000  # then a fresh one: what torch itself keeps of a task is not ours to find out
MOST_BYTES = 8 << 20  # of a verdict; the largest honest ones have some hundred thousand
LOST = "the process that judged was lost"
_here = threading.local()
_all: set[Bench] = set()
_closed = threading.Event()


class ProcessLost(Exception):
    """The judging process died, or gave no sign of life for longer than a kata may take."""


class Bench:
    """A judging process: `python -m attention_katas.grading.worker`."""

    def __init__(self, config: dict[str, Any]) -> None:
        """config: packs, only (see Selection), weak, lanes, kata_seconds, core (to stay on)."""
        self.config = config
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attention_katas.grading.worker", json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,  # Ctrl-C is for us alone
            cwd="/",  # -m looks for modules where it stands: not among files that were handed in
            env=_environment(),
        )
        self._is_up = False
        self.asked = 0
        _all.add(self)
        if _closed.is_set():  # meanwhile
            self.close()
            raise ProcessLost("nobody waits any more")

    def judge(self, task: dict[str, Any]) -> dict[str, Any]:
        """The verdict of a task. Raises BenchLost."""
        limit = self.config["kata_seconds"] + GRACE_SECONDS
        if not self._is_up:
            self._expect(START_SECONDS)
            self._is_up = True
        assert self._process.stdin
        self.asked += 1
        try:
            self._process.stdin.write(frames.build(b"", json.dumps(task).encode()))
            self._process.stdin.flush()
        except OSError:
            raise ProcessLost(self._last_words()) from None
        return self._expect(limit)

    def _expect(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(seconds, give_up)
        timer.start()
        try:
            found = _receive(self._process.stdout)
        finally:
            timer.cancel()
        if found is None:
            why = f"no answer within {seconds:g} s" if late.is_set() else self._last_words()
            raise ProcessLost(why)
        return found

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return f"it ended: {lines[-1][:300]}" if lines else "it ended"

    def kill(self) -> None:
        """End it and all that it started."""
        _all.discard(self)
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            assert stream
            with contextlib.suppress(OSError):
                stream.close()


def judge(payload: str) -> str:
    """Judge a task: {"config": ..., "task": ...} -> a verdict, both as JSON.

    Two processes that die over it make it `could not grade`, marked so that it is tried once more
    with nothing beside it ("lost" instead of a verdict). A worker that cannot judge it says why
    ("unfit").
    """
    asked = json.loads(payload)
    config, task = asked["config"], asked["task"]
    said = ""
    for _ in range(2):
        bench = getattr(_here, "bench", None)
        try:
            if bench is None or bench.config != config or bench.asked >= MOST_TASKS:
                if bench is not None:
                    bench.close()
                bench = _here.bench = Bench(config)
            return json.dumps(bench.judge(task))
        except ProcessLost as lost:
            said = str(lost)
            if bench is not None:
                bench.close()
            _here.bench = None
    return json.dumps({"lost": f"{LOST}, twice: {said}"})


def trial() -> None:
    """Judge a right answer with all locks. Raises CouldNotGrade if that cannot be done here."""
    catalog = load_catalog()
    kata = catalog.ready[0]
    task = entries.Task("", submission(catalog, kata, kata.reference), 0)
    config = {"packs": [], "only": False, "weak": False, "lanes": 1, "kata_seconds": 120.0}
    found = json.loads(judge(json.dumps({"config": config, "task": task.to_dict()})))
    end_benches()
    open_benches()
    if found.get("outcome") != v.PASSED:
        why = found.get("lost") or found.get("unfit") or found.get("message")
        raise CouldNotGrade(f"this machine cannot judge: {why}", "kata doctor")


def open_benches() -> None:
    """From here on judging processes may be made."""
    _closed.clear()


def end_benches() -> None:
    """End all judging processes of this process; none is made until `open_benches`."""
    _closed.set()
    for bench in list(_all):
        bench.kill()


atexit.register(end_benches)


def _environment() -> dict[str, str]:
    """Ours, without the secret, and with this very package first."""
    here = str(Path(__file__).resolve().parents[2])
    kept = {name: value for name, value in os.environ.items() if name != VARIABLE}
    others = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    paths = [here, *(os.path.abspath(path) for path in others)]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


def _receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message; None when there is none to come."""

    def read(size: int) -> bytes:
        data = stream.read(size)
        if len(data) < size:
            raise EOFError
        return data

    try:
        found = json.loads(frames.read(read)[1])
    except (EOFError, OSError, ValueError, frames.BadFrame):
        return None
    return found if isinstance(found, dict) else None


# The judging process itself


def main() -> None:
    """Judge what comes on standard input until that ends."""
    config = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints is no answer
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=[asked], daemon=True).start()
    _stay_on(config.get("core"))

    def say(message: dict[str, Any]) -> None:
        answers.write(frames.build(b"", _told(message)))
        answers.flush()

    try:
        catalog = _catalog(config)
    except KataError as error:
        say({"up": os.getpid()})
        while asked.get():
            say({"unfit": f"{_here_is()}: {error}"})
    for message in _answers(config, catalog, asked):
        say(message)


def _told(message: dict[str, Any]) -> bytes:
    """A message in bytes. Of a verdict that has come out monstrous only what it amounts to."""
    told = json.dumps(message).encode()
    if len(told) > MOST_BYTES:
        little: dict[str, Any] = {"checks": [], "diagnoses": [], "raised": None, "output": ""}
        little |= {"outcome": v.CRASHED, "message": "what it did was too much to be told"}
        told = json.dumps(message | little | {"audit": []}).encode()
    return told


def _here_is() -> str:
    return f"the worker on {platform.node() or 'a machine without a name'}"


def _catalog(config: dict[str, Any]) -> Catalog:
    selection = Selection(tuple(map(Path, config["packs"])), config["only"])
    catalog = load_catalog(selection)
    for refusal in catalog.refusals:
        if refusal.selected:
            raise BadContent(refusal.message)
    if not catalog.ready:
        raise BadContent("there are no katas")
    return catalog


def _listen(asked: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Take in requests. When nobody asks any more, nobody wants what is being made."""
    while message := _receive(sys.stdin.buffer):
        asked.put(message)
    os._exit(0)


def _stay_on(core: int | None) -> None:
    """On one processor core: the judge and the learner take turns, and share its cache."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})


def _answers(
    config: dict[str, Any], catalog: Catalog, asked: queue.SimpleQueue[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """First a sign that it is up, then a verdict for each request."""
    from attention_katas.sandbox.limits import Limits
    from attention_katas.service import local

    limits = Limits(kata_seconds=config["kata_seconds"])
    with local.open_judge(
        catalog,
        catalog.ready,
        config.get("device", "cpu"),
        limits=limits,
        strict=not config["weak"],
        lanes=config["lanes"],
    ) as judge:
        yield {"up": os.getpid()}
        while True:
            task = asked.get()
            started = time.perf_counter()
            try:
                asked_for = from_dict(task["submission"], catalog)
            except (KataError, KeyError) as error:
                yield {"unfit": f"{_here_is()} has other katas: {error}"}
                continue
            other = _differs(asked_for.kata, task)
            if other:
                yield {"unfit": f"{_here_is()} has {other}"}
                continue
            verdict = judge.judge(asked_for, task["seed"])
            verdict.seconds = time.perf_counter() - started
            yield verdict.to_dict()


def _differs(kata: Kata, task: dict[str, Any]) -> str:
    """What is of another version here than where the task comes from."""
    if kata.version != task["kata_version"]:
        return f"version {kata.version} of {kata.name} instead of {task['kata_version']}"
    here = entries.judges()
    for name, wanted in task["versions"].items():
        if here.get(name) != wanted:
            return f"{name} {here.get(name)} instead of {wanted}"
    return ""


if __name__ == "__main__":
    main()
