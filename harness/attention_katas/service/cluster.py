"""The judge service of a class past one machine: workers of a Dask cluster.

No other module knows Dask.

A worker announces which versions it judges with, as a resource in Dask's words, and one place for
a task; a task asks for such a place. So no worker of other versions judges, none takes two tasks at
a time, and one that comes late is used.
"""

from __future__ import annotations

import atexit
import contextlib
import ipaddress
import itertools
import logging
import os
import re
import secrets
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.packs.catalog import Kata
from attention_katas.packs.submission import Submission
from attention_katas.service import many, messages, rpc
from attention_katas.service.judge_process import Answer, JudgeProcesses
from attention_katas.service.judge_service import Cancelled, Task
from attention_katas.service.pool import try_out
from attention_katas.service.settings import SECRET_VARIABLE, Settings, settings_from
from attention_katas.verdict import data as v

LOCAL = "local"
LOCAL_WORKERS = 2
# A task is tried on one more worker when the first is lost, and set aside when the second is.
ALLOWED_FAILURES = 1
AHEAD = 2  # tasks for each worker: those that wait on a lost one come under suspicion with it
CONNECT_SECONDS = 30.0
LOOK_SECONDS = 2.0
QUIET_SECONDS = 60.0
AGAIN = "the same command once more: it goes on where it stopped"
PAGE = "docs/cluster.md shows how"

# Hears of trouble that may pass: what it is, and what to do about it.
Report = Callable[[str, str], None]

_processes = JudgeProcesses()
atexit.register(_processes.kill_all)


@dataclass(frozen=True)
class Keys:
    """Certificate files in PEM format. None: Dask's own configuration decides."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def options(self) -> list[str]:
        """For Dask's own commands."""
        named = {"--tls-ca-file": self.ca, "--tls-cert": self.cert, "--tls-key": self.key}
        return [word for name, file in named.items() if file for word in (name, str(file))]


def fitness() -> str:
    """What a worker must have to judge for us, in one word."""
    return "/".join(word for pair in messages.judging_versions().items() for word in pair)


def checked(address: str) -> str:
    """The address of a scheduler. Raises KataError for one that is none, or not encrypted."""
    scheme, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if scheme not in ("tls", "tcp") or not host or not port.isdecimal():
        raise KataError(f"{address!r} is not the address of a scheduler", "tls://HOST:8786")
    if scheme == "tcp" and not _is_loopback(host.strip("[]")):
        raise KataError(
            f"{address} is not encrypted: who reaches it can run programs on all its machines",
            f"tls://{rest} with --tls-ca, --tls-cert and --tls-key ({PAGE})",
        )
    return address


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Cluster:
    """Workers of the cluster at an address, or of one of this machine ("local").

    It is connected to with the first submission.
    """

    def __init__(
        self,
        address: str,
        keys: Keys,
        settings: Settings,
        report: Report = lambda message, next_step: None,
    ) -> None:
        """Raises KataError for settings under which code that is graded could reach the cluster."""
        if settings.weak:
            raise KataError(
                "without all sandbox restrictions, graded code could reach the scheduler",
                "without --scheduler, or without --allow-weak-sandbox",
            )
        self._address, self._keys, self._settings = address, keys, settings
        self._report = report
        self._stack = contextlib.ExitStack()
        self._workers: many.Workers | None = None
        self._client: Any = None
        self._futures: set[Future[Any]] = set()
        self._turn = 0

    def judge_all(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, v.Verdict]]:
        source = iter(tasks)
        first = next(source, None)
        if first is None:
            return
        workers = self.connect()
        try:
            yield from many.judge_all(workers, itertools.chain([first], source))
        except (CancelledError, OSError, RuntimeError) as error:
            if not isinstance(error, CancelledError) and self._client.status == "running":
                raise
            message = f"the scheduler {self._address} was lost; the ledger keeps what is done"
            raise CouldNotGrade(message, AGAIN) from None

    def connect(self) -> many.Workers:
        """The workers, connected to at the first call. Raises KataError if that fails."""
        if self._workers is None:
            _dask()
            if self._address == LOCAL:
                self._address, security = self._stack.enter_context(_local(self._settings.workers))
            else:
                security = _security(checked(self._address), self._keys, "client")
            self._client = self._stack.enter_context(_client(self._address, security))
            watch = _WorkerWatch(self._client, self._report)
            self._stack.callback(watch.stop)
            watch.start()
            executor = self._client.get_executor(pure=False, resources={fitness(): 1})
            self._stack.callback(_shut_down, executor)
            self._workers = many.Workers(
                lambda request: self._submit(executor, request), watch.workers, _answer, AHEAD
            )
        return self._workers

    def _submit(self, executor: Any, request: bytes) -> Future[Any]:
        future: Future[Any] = executor.submit(judge_request, self._settings.to_json(), request)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        turn = self._turn
        task = Task("", submission, secrets.randbelow(1_000_000) if seed is None else seed)
        try:
            ((_, verdict),) = self.judge_all([task])
        except CouldNotGrade:
            if turn == self._turn:
                raise
            raise Cancelled from None
        if turn != self._turn:
            raise Cancelled
        return verdict

    def cancel(self) -> None:
        """What a worker has begun it finishes; its verdict is dropped."""
        self._turn += 1
        for future in list(self._futures):
            future.cancel()

    def expect(self, kata: Kata) -> None:
        """Every worker knows all katas: nothing is left to prepare."""

    def close(self) -> None:
        self._stack.close()
        self._workers = None


def _shut_down(executor: Any) -> None:
    with contextlib.suppress(Exception):  # the scheduler may be lost
        executor.shutdown(wait=False)


def _answer(future: Future[bytes]) -> Answer:
    """The answer of a future that is done. A lost worker is Refused with the code LOST."""
    from distributed.scheduler import KilledWorker

    try:
        frame = future.result()
    except CancelledError:
        raise
    except KilledWorker as error:
        detail = f"{error.allowed_failures + 1} workers were lost over it"
    except Exception as error:  # noqa: BLE001 - whatever ends a worker of Dask
        detail = f"the worker failed: {type(error).__name__}: {error}"[:300]
    else:
        return rpc.split(frame)
    return messages.Refused(messages.LOST, detail=detail), b""


def _dask() -> None:
    """Require Dask, and silence its logs: what matters arrives as exceptions."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        message = "this needs Dask's distributed, which is not installed"
        raise KataError(message, "pip install 'attention-katas[cluster]'") from None
    for name in ("distributed", "distributed.client", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _security(address: str, keys: Keys, role: str) -> Any:
    from distributed import Security

    if address.startswith("tcp:"):
        return Security(require_encryption=False)
    key_files = {"tls_ca_file": keys.ca, f"tls_{role}_cert": keys.cert, f"tls_{role}_key": keys.key}
    for file in filter(None, key_files.values()):
        if not file.is_file():
            raise KataError(f"there is no file {file}", PAGE)
    words = {name: str(file) for name, file in key_files.items() if file}
    security = Security(require_encryption=True, **words)
    config = security.get_tls_config_for_role(role)
    if not config["ca_file"] or not config["cert"]:
        raise KataError(f"{address} needs certificates", f"--tls-ca, --tls-cert, --tls-key; {PAGE}")
    try:
        security.get_connection_args(role)
    except OSError as error:
        files = ", ".join(words.values()) or "those of Dask's configuration"
        raise KataError(f"the certificates cannot be used: {error} ({files})", PAGE) from None
    return security


@contextlib.contextmanager
def _client(address: str, security: Any) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(address, security=security, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ImportError, RuntimeError) as error:
        raise _unreachable(address, error) from None
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


def _unreachable(address: str, error: BaseException) -> CouldNotGrade:
    why = re.sub(r"^in <[^>]*>: ", "", str(error.__cause__ or error)).splitlines()
    message = f"no scheduler can be used at {address}: {' '.join(why[:1])}"
    step = f"kata grade scheduler {address} there, and certificates of the same authority here"
    return CouldNotGrade(message, step)


@contextlib.contextmanager
def _local(workers: int) -> Iterator[tuple[str, Any]]:
    """A scheduler in this process and workers beside it, with certificates of their own."""
    import dask
    from distributed import LocalCluster, Security

    security = Security.temporary()
    quiet: dict[str, Any] = {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with dask.config.set(quiet), _without_secret():
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=None,
            security=security,
            silence_logs=logging.CRITICAL,
            scheduler_kwargs={
                "allowed_failures": ALLOWED_FAILURES,
                "dashboard": False,
                "dashboard_address": "127.0.0.1:0",
            },
            dashboard_address=None,
            resources={fitness(): 1},
            preload=[__name__],
        )
        try:
            yield cluster.scheduler_address, security
        finally:
            with contextlib.suppress(Exception):
                cluster.close(timeout=10)


@contextlib.contextmanager
def _without_secret() -> Iterator[None]:
    """Workers that start meanwhile do not inherit it."""
    secret = os.environ.pop(SECRET_VARIABLE, None)
    try:
        yield
    finally:
        if secret is not None:
            os.environ[SECRET_VARIABLE] = secret


class _WorkerWatch(threading.Thread):
    """Knows which workers there are, and reports when none can be used."""

    def __init__(self, client: Any, report: Report) -> None:
        super().__init__(daemon=True)
        self._client, self._report = client, report
        self._required = fitness()
        self._over = threading.Event()
        self._fit = 0
        self._unfit: set[str] = set()
        self._dry = 0.0

    def workers(self) -> int:
        return max(self._fit, 1)

    def run(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(Exception):  # a lost scheduler shows in the tasks
                self._look()
            self._over.wait(LOOK_SECONDS)

    def stop(self) -> None:
        self._over.set()
        self.join(5)

    def _look(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        self._fit = sum(self._required in worker["resources"] for worker in workers.values())
        for address, worker in workers.items():
            if self._required not in worker["resources"] and address not in self._unfit:
                self._unfit.add(address)
                resources = ", ".join(worker["resources"])
                has = resources or "no versions (did kata start it?)"
                self._report(
                    f"worker {address} is not used: it has {has}, and here is {self._required}",
                    "the same versions there, then kata grade worker",
                )
        before, self._dry = self._dry, 0.0 if self._fit else self._dry + LOOK_SECONDS
        if before < QUIET_SECONDS <= self._dry:
            message = f"no worker that can be used for {QUIET_SECONDS:g} s; still waiting"
            self._report(
                message, "kata grade worker, with this scheduler's address, on some machine"
            )


# What runs on other machines


def judge_request(settings: str, request: bytes) -> bytes:
    """In a worker: the answer to a request, both of them whole frames."""
    return rpc.encode(*_processes.judge(settings_from(settings), request))


def serve(address: str, keys: Keys) -> None:
    """Be a scheduler until a signal comes."""
    _security_of_server(address, keys, "scheduler")
    from distributed.cli import dask_scheduler

    options = ["--host", address, "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    try:
        dask_scheduler.main([*options, *keys.options()], standalone_mode=False)
    except (OSError, RuntimeError, ValueError) as error:
        why = error.__cause__ or error
        raise KataError(f"nobody can listen at {address}: {why}", "another address") from None


def work(address: str, keys: Keys, workers: int, patience: float) -> None:
    """Be workers of a scheduler until a signal comes, or the scheduler goes.

    patience: how long to wait for it, in seconds. Raises CouldNotGrade when this machine cannot
    judge with all sandbox restrictions.
    """
    _security_of_server(address, keys, "worker")
    from distributed.cli import dask_worker

    os.environ.pop(SECRET_VARIABLE, None)
    try_out()
    options = ["--nworkers", str(workers), "--nthreads", "1", "--memory-limit", "0"]
    options += ["--resources", f"{fitness()}=1", "--preload", __name__]
    options += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    options += ["--death-timeout", f"{patience:g}"]
    if address.startswith("tcp:"):  # else it would listen, unencrypted, to the whole network
        options += ["--host", address.partition("://")[2].rpartition(":")[0].strip("[]")]
    try:
        dask_worker.main([address, *options, *keys.options()], standalone_mode=False)
    except (OSError, RuntimeError) as error:
        if isinstance(error.__cause__ or error, OSError):
            raise _unreachable(address, error) from None
        why = error.__cause__ or error  # a worker died before it was up
        raise CouldNotGrade(f"the workers could not begin: {why}", "the same once more") from None
    except SystemExit as stop:  # it waited long enough
        if stop.code:
            raise _unreachable(address, TimeoutError(f"none for {patience:g} s")) from None


def _security_of_server(address: str, keys: Keys, role: str) -> None:
    _dask()
    import dask

    _security(checked(address), keys, role)
    dask.config.set(
        {
            "distributed.comm.require-encryption": address.startswith("tls:"),
            "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
        }
    )
    logging.getLogger("distributed").setLevel(logging.INFO)  # a service's log


def dask_setup(_: Any) -> None:
    """Called by Dask in a worker process: Ctrl-C is for the one that began it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
