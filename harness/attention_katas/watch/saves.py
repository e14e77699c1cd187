"""Sees every save of the learner's files.

What counts is what stands in the files. Events of the file system only say "look now"; a slow look
of our own finds what they miss. Where they say nothing at all (a Windows drive under WSL, a network
mount, some containers) the files are looked at several times a second instead.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from attention_katas.packs.submission import SIZE_CAP, parse
from attention_katas.watch import events

# What became of a file: other content; saved as it was; not there any more.
CHANGED, TOUCHED, GONE = "changed", "touched", "gone"
# Why a file was not read.
NOT_ORDINARY, TOO_LARGE, UNREADABLE = "not-ordinary", "too-large", "unreadable"

SLOW = 1.0  # between two looks that no event asked for
POLL = 0.15  # the same, where there are no events
AGAIN = 0.05  # until a file that seems half written is looked at again
PATIENCE = 10  # how often that is done
GRACE = 0.4  # how late an event may come before it counts as missing
RECENT = 3.0  # for so long a stamp may hide another save: some clocks tick every two seconds

UNKNOWN = (("", 0, 0),)


@dataclass(frozen=True)
class Save:
    """What one look at the files came to.

    files: name -> CHANGED, TOUCHED or GONE.
    at: when it was seen, in seconds of `time.time`.
    seen: the same in seconds of `time.perf_counter`, for measuring.
    """

    files: dict[str, str]
    at: float
    seen: float

    def names(self, what: str) -> set[str]:
        return {name for name, change in self.files.items() if change == what}


@dataclass(frozen=True)
class File:
    """A file as one look saw it.

    stamp: see `stamp`; empty when the file is not there.
    content: None when the file is not there.
    fault: why it was not read: NOT_ORDINARY, TOO_LARGE or UNREADABLE; "" when it was.
    errno: of an UNREADABLE file.
    """

    stamp: tuple[int, ...] = ()
    content: bytes | None = None
    fault: str = ""
    errno: int | None = None

    @property
    def whole(self) -> bool:
        """It does not look like half of a save."""
        if self.fault or not self.content or not self.content.strip():
            return False
        return parse(self.content.decode("utf-8", "replace")) is not None

    def same(self, other: File) -> bool:
        """Whether nothing but the stamp may differ; of what is too large, not even that."""
        if self.fault == TOO_LARGE and self.stamp != other.stamp:
            return False
        content_and_fault = self.content, self.fault, self.errno
        return content_and_fault == (other.content, other.fault, other.errno)


class Saves:
    """Calls `tell` for every save of the files `names` in the folder `root`, from its own thread.

    say: called with the reason when the files have to be polled, and with "" when there are
        events again.
    poll: poll from the start.
    folder_events: where events come from.
    mounts: the table of mounted file systems.
    """

    def __init__(
        self,
        root: Path,
        names: Collection[str],
        tell: Callable[[Save], None],
        say: Callable[[str], None] = lambda reason: None,
        *,
        poll: bool = False,
        folder_events: events.Source = events.of_folders,
        mounts: Path = Path("/proc/mounts"),
    ) -> None:
        self.root, self.names = root, tuple(names)
        self._tell, self._say = tell, say
        self._open, self._mounts = folder_events, mounts
        self._always = "you asked for it" if poll else ""
        self._events: events.Events | None = None
        self._watched: tuple[tuple[str, int, int], ...] = ()
        self._known: dict[str, File] = {}
        self._fresh: dict[str, float] = {}
        self._next_look = 0.0
        self._excused = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="saves", daemon=True)
        self.polling = ""

    def start(self) -> None:
        """From here on no save is missed."""
        silent = events.silent_file_system(self.root, self._mounts)
        if silent and not self._always:
            self._always = f"this folder is on {silent}, which sends no events"
        self._listen()
        for name in self.names:
            self._known[name] = self._read(name)
            self._fresh[name] = time.monotonic()
        self._next_look, self._excused = time.monotonic() + SLOW, False
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5.0)
        if not self._thread.is_alive() or self._thread is threading.current_thread():
            self._close()  # a generator that runs in another thread cannot be closed

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._turn()
            except Exception as error:  # noqa: BLE001
                # A watch that ended in silence would miss every save from here on.
                self._poll_from_now(f"watching failed: {type(error).__name__}: {error}")
                self._stop.wait(SLOW)

    def _turn(self) -> None:
        """Wait for something to happen, or for the time of the next look, and look."""
        announced = self._wait()
        if self._stop.is_set() or not (announced or time.monotonic() >= self._next_look):
            return
        self._next_look = time.monotonic() + SLOW
        changed = self._look(every=announced)
        excused, self._excused = self._excused or announced, False
        if changed and self._events is not None and not excused:
            if self._announced(GRACE):
                self._look(every=True)
            elif not self._stop.is_set():
                self._poll_from_now("this folder sends no events")
        if self._folders() != self._watched and not self._always:
            self._listen()

    def _wait(self) -> bool:
        """Whether an event said that there is something to see."""
        if self._events is None:
            self._stop.wait(POLL)
            self._next_look = 0.0
            return False
        return self._announced(max(self._next_look - time.monotonic(), 0.001))

    def _announced(self, seconds: float) -> bool:
        """Whether an event comes within that time that has to do with the files."""
        end = time.monotonic() + seconds
        while self._events is not None and not self._stop.is_set():
            try:
                changes = next(self._events)
            except StopIteration:
                if not self._stop.is_set():
                    self._poll_from_now("its events ended")
                return not self._stop.is_set()
            except (OSError, RuntimeError) as error:
                self._poll_from_now(f"its events cannot be had: {error}")
                return True
            # A list, so that each is looked at: one may say that the folder itself is gone.
            concerns = [self._concerns(path) for _, path in changes]
            if any(concerns):
                return True
            if time.monotonic() >= end:
                return False
        return False

    def _concerns(self, path: str) -> bool:
        folders = [folder for folder, _, _ in self._watched]
        if path.rstrip(os.sep) in folders:
            self._watched = UNKNOWN  # the folder itself changed: it may be another one now
            return True
        name = os.path.basename(path)
        return name in self.names or name in self._targets()

    def _look(self, every: bool) -> bool:
        """Tell what is new; whether anything was. every: read files that look the same, too."""
        files: dict[str, str] = {}
        looks: dict[str, File] = {}
        now, seen = time.time(), time.perf_counter()
        for name in self.names:
            before = self._known[name]
            if not every and not self._may_differ(name, before):
                continue
            after = self._settled(name, before)
            if after.stamp != before.stamp:
                self._fresh[name] = time.monotonic()
            looks[name] = after
            if not after.same(before):
                files[name] = GONE if after.content is None and not after.fault else CHANGED
            elif after.stamp != before.stamp and after.stamp:
                files[name] = TOUCHED
        if files and not self._stop.is_set():
            self._tell(Save(files, now, seen))
        self._known.update(looks)  # not before it is told
        return bool(files)

    def _may_differ(self, name: str, before: File) -> bool:
        if before.fault or time.monotonic() - self._fresh[name] < RECENT:
            return True
        try:
            return stamp(os.stat(self.root / name)) != before.stamp
        except OSError:
            return bool(before.stamp)

    def _settled(self, name: str, before: File) -> File:
        """The file, once it does not look as if its save were under way."""
        file = self._read(name)
        for _ in range(PATIENCE):
            if file.same(before) or file.whole or self._stop.wait(AGAIN):
                break
            later = self._read(name)
            if later.same(file) and not later.fault:
                return later
            file = later
        return file

    def _read(self, name: str) -> File:
        path = self.root / name
        for _ in range(5):
            try:
                status = os.stat(path)
                if not stat.S_ISREG(status.st_mode):
                    return File(stamp(status), b"", NOT_ORDINARY)
                if status.st_size > SIZE_CAP:
                    return File(stamp(status), b"", TOO_LARGE)
                content = path.read_bytes()
                if stamp(os.stat(path)) == stamp(status):
                    break  # else it changed while it was read
            except (FileNotFoundError, NotADirectoryError):
                return File()
            except OSError as error:
                return File((), b"", UNREADABLE, error.errno)
        return File(stamp(status), content)

    def _folders(self) -> tuple[tuple[str, int, int], ...]:
        """The folders whose events are wanted: that of the files, and those that links lead to."""
        return tuple(self._each_folder())

    def _each_folder(self) -> Iterator[tuple[str, int, int]]:
        links = {os.path.dirname(target) for target in self._targets().values()}
        for folder in (os.path.realpath(self.root), *sorted(links)):
            try:
                status = os.stat(folder)
            except OSError:
                continue
            yield folder, status.st_dev, status.st_ino

    def _targets(self) -> dict[str, str]:
        """Files that are links: name of the target -> its path."""
        paths = [self.root / name for name in self.names]
        real = [os.path.realpath(path) for path in paths if path.is_symlink()]
        return {os.path.basename(path): path for path in real}

    def _listen(self) -> None:
        """Open the events anew, for the folders that there are now."""
        if self._always:
            self._poll_from_now(self._always)
            return
        self._close()
        self._watched = self._folders()
        if not os.path.isdir(self.root):
            self._watched = ()
            self._polling("the folder is not there")
            return
        try:
            self._events = self._open([folder for folder, _, _ in self._watched], self._stop)
        except (OSError, RuntimeError, ImportError) as error:
            self._poll_from_now(f"its events cannot be had: {error}")
            return
        self._next_look, self._excused = 0.0, True  # what happened while nobody listened
        self._polling("")

    def _poll_from_now(self, reason: str) -> None:
        self._always = self._always or reason
        self._close()
        self._polling(reason)

    def _polling(self, reason: str) -> None:
        if reason != self.polling:
            self.polling = reason
            self._say(reason)

    def _close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None


def stamp(status: os.stat_result) -> tuple[int, ...]:
    """What a save changes even where it leaves the content as it was."""
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev
