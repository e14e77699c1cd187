"""Events of the file system: where they come from, and which file systems send none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from pathlib import Path

Events = Generator[set[tuple[int, str]], None, None]
Source = Callable[[list[str], threading.Event], Events]

DEBOUNCE_MS = 50  # for so long at most events are put together
STEP_MS = 5  # between two questions whether there are events
TICK_MS = 50  # without an event, an empty set comes that often
# File systems on which another machine's saves, at least, send no events.
SILENT = {
    "9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fakeowner", "gpfs", "lustre", "ncpfs", "nfs",
    "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip


def of_folders(folders: list[str], stop: threading.Event) -> Events:
    """Sets of (kind of change, path) in these folders, not in those below, until `stop` is set.

    An empty set comes every TICK_MS without an event. The folders are watched when this returns.
    Raises OSError or RuntimeError when they cannot be watched, ImportError without watchfiles.
    """
    from watchfiles import watch

    events = watch(
        *folders,
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        rust_timeout=TICK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
        debug=False,
        force_polling=False,
        recursive=False,
        ignore_permission_denied=False,  # else it hides that a folder is not there
    )
    next(events, None)  # a generator watches from its first step on
    return events  # type: ignore[return-value] # its kinds are an IntEnum


def silent_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """The type of the file system, if it is one that sends no events; else "" (also: unknown)."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place, kind, longest = os.path.realpath(path), "", -1
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            fields[1] = fields[1].replace(code, sign)
        point = fields[1].rstrip("/")
        if (place == point or place.startswith(f"{point}/")) and len(point) >= longest:
            longest, kind = len(point), fields[2]
    return kind if kind in SILENT or kind.startswith("fuse") else ""
