"""Processes seen from outside (Linux): their relatives, whether they live, their memory.

Memory is the proportional set size (PSS): a page that n processes share counts 1/n for each.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    """The children of a process, whichever of its threads started them."""
    children = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += [int(child) for child in tasks.read_text().split()]
    return children


def tree_of(pid: int) -> set[int]:
    """A process and its descendants."""
    tree: set[int] = set()
    waiting = [pid]
    while waiting:
        process = waiting.pop()
        tree.add(process)
        waiting += children_of(process)
    return tree


def marked(variable: str, value: str) -> set[int]:
    """The living processes that were started with this variable in their environment."""
    text = f"{variable}={value}".encode()
    processes = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if text in (folder / "environ").read_bytes().split(b"\0"):
                processes.add(int(folder.name))
    return processes


def pss_mb(processes: Iterable[int]) -> float | None:
    """Their proportional set size in MB; None where this user may not read it, or Linux is not."""
    sizes = []
    for pid in processes:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except PermissionError:
            return None
        except OSError:  # it has ended
            continue
        sizes += [int(line.split()[1]) / 1000 for line in lines if line.startswith("Pss:")]
    return sum(sizes) if sizes else None


class PeakMemory:
    """The largest memory that some processes took together, sampled inside a `with`.

    mb: the largest sample in MB; None where this user may not read it.
    processes: the largest number of processes in a sample.
    """

    def __init__(self, processes: Callable[[], Iterable[int]], every: float = 0.1) -> None:
        """processes: called at every sample. every: seconds between two samples."""
        self.mb: float | None = None
        self.processes = 0
        self._list, self._every = processes, every
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(self._every):
            processes = set(self._list())
            self.processes = max(self.processes, len(processes))
            size = pss_mb(processes)
            if size is not None:
                self.mb = max(self.mb or 0.0, size)
