"""Judging processes, from the side that asks them: started, timed, killed and replaced.

Each has a session of its own, so that all that it started can be killed with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from attention_katas.service import rpc
from attention_katas.service.messages import LOST, AnyMessage, Refused
from attention_katas.service.settings import SECRET_VARIABLE, Settings

START_SECONDS = 180.0
GRACE_SECONDS = 90.0  # beyond what a kata may take: loading, diagnosis, a second try
MAX_REQUESTS = 1000  # then a fresh process: what torch itself keeps of a submission is unknown

Answer = tuple[AnyMessage, bytes]


class ProcessLost(Exception):
    """The judging process died, or gave no sign of life for longer than a kata may take."""


class JudgeProcess:
    """A judging process: `python -m attention_katas.service.judging`."""

    def __init__(self, settings: Settings, core: int | None = None) -> None:
        """core: the processor core to stay on."""
        self.settings, self.core = settings, core
        self.requests = 0
        self.killed = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        arguments = [settings.to_json(), "" if core is None else str(core)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attention_katas.service.judging", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for the process that asks
            cwd="/",  # -m imports from the current folder, which may hold submissions
            env=_environment(),
        )
        self._is_up = False

    def judge(self, request: bytes) -> Answer:
        """The answer to a request, which is a whole frame. Raises ProcessLost."""
        if not self._is_up:
            self._answer(START_SECONDS)
            self._is_up = True
        assert self._process.stdin
        self.requests += 1
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except OSError:
            raise ProcessLost(self._last_words()) from None
        return self._answer(self.settings.kata_seconds + GRACE_SECONDS)

    def _answer(self, seconds: float) -> Answer:
        """The next answer, within some seconds; then the process is killed."""
        assert self._process.stdout
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(seconds, give_up)
        timer.start()
        try:
            answer = rpc.read_message(self._process.stdout.read)
        except (OSError, ValueError, rpc.Garbled):
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            late_words = f"no answer within {seconds:g} s"
            raise ProcessLost(late_words if late.is_set() else self._last_words())
        return answer

    def _last_words(self) -> str:
        """How it ended, with the last line that it printed."""
        with contextlib.suppress(ValueError):
            self._errors.seek(0)
            lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
            if lines:
                return f"it ended: {lines[-1][:300]}"
        return "it ended"

    def kill(self) -> None:
        """End it and all that it started."""
        self.killed = True
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream
            with contextlib.suppress(OSError):
                stream.close()


class JudgeProcesses:
    """A judging process for each thread that asks; a lost one is replaced."""

    def __init__(self) -> None:
        self._of_thread = threading.local()
        self._running: set[JudgeProcess] = set()
        self._lock = threading.Lock()
        self._killed = False

    def judge(self, settings: Settings, request: bytes, core: int | None = None) -> Answer:
        """The answer to a request, which is a whole frame.

        When two processes die over it, that is Refused with the code LOST.
        """
        reason = ""
        for _ in range(2):
            try:
                return self._process(settings, core).judge(request)
            except ProcessLost as lost:
                reason = str(lost)
                self._close_process()
        detail = f"the judging process was lost, twice: {reason}"
        return Refused(LOST, detail=detail), b""

    def _process(self, settings: Settings, core: int | None) -> JudgeProcess:
        """The process of this thread; a new one for other settings, or after many requests."""
        process: JudgeProcess | None = getattr(self._of_thread, "process", None)
        if process is not None and (
            process.killed
            or process.settings != settings
            or process.core != core
            or process.requests >= MAX_REQUESTS
        ):
            self._close_process()
            process = None
        if process is None:
            with self._lock:
                if self._killed:
                    raise ProcessLost("nobody waits any more")
                process = self._of_thread.process = JudgeProcess(settings, core)
                self._running.add(process)
        return process

    def _close_process(self) -> None:
        process: JudgeProcess | None = getattr(self._of_thread, "process", None)
        if process is not None:
            with self._lock:
                self._running.discard(process)
            process.close()
        self._of_thread.process = None

    def kill_all(self) -> None:
        """End all processes; none is started until `allow`."""
        with self._lock:
            self._killed = True
            processes = list(self._running)
        for process in processes:
            process.kill()

    def close(self) -> None:
        """End all processes for good, when no thread waits for one any more."""
        self.kill_all()
        for process in self._running:
            process.close()
        self._running.clear()

    def allow(self) -> None:
        """Processes may be started again after `kill_all`."""
        self._killed = False


def _environment() -> dict[str, str]:
    """This process's environment without the secret, and with this very package first."""
    package_parent = str(Path(__file__).resolve().parents[2])
    variables = {name: value for name, value in os.environ.items() if name != SECRET_VARIABLE}
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    python_path = os.pathsep.join([package_parent, *map(os.path.abspath, paths)])
    return {**variables, "PYTHONPATH": python_path}
