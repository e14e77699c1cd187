"""Saves are never missed: however an editor writes, and whatever the file system says about it."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time

import pytest

from attention_katas.watch import saves as module
from attention_katas.watch.events import silent_file_system
from attention_katas.watch.saves import CHANGED, GONE, TOUCHED, Saves

NAMES = ("softmax.py", "mask.py", "scale.py")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other files")


class Seen:
    """What was told, in order; `until` waits for it."""

    def __init__(self):
        self.saves, self.reasons = [], []
        self._news = threading.Condition()

    def tell(self, save):
        with self._news:
            self.saves.append(save)
            self._news.notify_all()

    def say(self, reason):
        with self._news:
            self.reasons.append(reason)
            self._news.notify_all()

    def until(self, condition, seconds=10.0):
        with self._news:
            assert self._news.wait_for(condition, seconds), (self.saves, self.reasons)

    def names(self, what, since=0):
        return {name for save in self.saves[since:] for name in save.names(what)}

    def changed(self, name="softmax.py", what=CHANGED, since=0):
        self.until(lambda: name in self.names(what, since))


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    for name in NAMES:
        (root / name).write_text("x = 0\n", encoding="utf-8")
    return root


@pytest.fixture
def watching(folder):
    """`watching(**options)` starts; both ways of seeing must see everything."""
    started = []

    def start(**options):
        seen = Seen()
        found = Saves(folder, NAMES, seen.tell, seen.say, **options)
        found.start()
        started.append(found)
        return seen

    yield start
    for one in started:
        one.stop()
        assert not any(t is one._thread for t in threading.enumerate())


@pytest.fixture(params=["events", "polling"])
def seen(request, watching):
    return watching(poll=request.param == "polling")


def atomically(path, text):
    aside = path.with_name(f".{path.name}.tmp")
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, path)


def test_a_plain_save(seen, folder):
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    assert seen.names(CHANGED) == {"softmax.py"}
    assert abs(seen.saves[0].at - time.time()) < 10


def test_an_atomic_save(seen, folder):
    atomically(folder / "softmax.py", "x = 2\n")
    seen.changed()
    assert seen.names(CHANGED) == {"softmax.py"}


def test_a_save_by_way_of_a_backup(seen, folder):
    """As vim does: the file is moved away, and a new one is written in its place."""
    path = folder / "softmax.py"
    os.replace(path, folder / "softmax.py~")
    path.write_text("x = 3\n", encoding="utf-8")
    seen.changed()
    assert seen.names(GONE) == set()


def test_a_file_that_is_cut_and_then_written_is_told_once(watching, folder):
    seen = watching()
    path = folder / "softmax.py"
    with path.open("wb") as file:  # cut to nothing here
        time.sleep(0.02)
        file.write(b"def f(")
        file.flush()
        time.sleep(0.02)
        file.write(b"x):\n    return x\n")
    seen.changed()
    assert len(seen.saves) == 1
    assert seen.saves[0].files == {"softmax.py": CHANGED}


def test_an_empty_file_is_told_in_the_end(seen, folder):
    (folder / "softmax.py").write_bytes(b"")
    seen.changed()


def test_a_save_without_a_change(seen, folder):
    os.utime(folder / "softmax.py", ns=(1, 1))
    seen.changed(what=TOUCHED)
    assert seen.names(CHANGED) == set()
    atomically(folder / "mask.py", "x = 0\n")
    seen.changed("mask.py", TOUCHED)
    assert seen.names(CHANGED) == set()


def test_saves_within_one_tick_of_the_clock(seen, folder):
    """The same size and the same time: only the content tells them apart."""
    path = folder / "softmax.py"
    for number in range(1, 6):
        told = len(seen.saves)
        path.write_text(f"x = {number}\n", encoding="utf-8")
        os.utime(path, ns=(7, 7))
        seen.changed(since=told)
    told = len(seen.saves)
    path.write_text("x = 8\n", encoding="utf-8")
    path.write_text("x = 9\n", encoding="utf-8")
    os.utime(path, ns=(7, 7))
    seen.changed(since=told)


@pytest.mark.parametrize("poll", [False, True], ids=["events", "polling"])
def test_the_last_of_many_saves_is_never_missed(folder, poll):
    """Whoever reads the file when told has read its last content in the end."""
    path, seen, read = folder / "softmax.py", Seen(), []

    def tell(save):
        read.append(path.read_text(encoding="utf-8"))
        seen.tell(save)

    found = Saves(folder, NAMES, tell, poll=poll)
    found.start()
    try:
        for number in range(100):
            text = f"x = {number:03}\n"
            atomically(path, text) if number % 3 else path.write_text(text, encoding="utf-8")
        seen.until(lambda: read and read[-1] == "x = 099\n")
    finally:
        found.stop()


def test_deleted_and_there_again(seen, folder):
    path = folder / "softmax.py"
    path.unlink()
    seen.changed(what=GONE)
    path.write_text("x = 0\n", encoding="utf-8")
    seen.changed(what=CHANGED)


def test_the_folder_deleted_and_there_again(watching, folder):
    seen = watching()
    shutil.rmtree(folder)
    seen.until(lambda: seen.names(GONE) == set(NAMES))
    folder.mkdir()
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    seen.until(lambda: "the folder is not there" not in seen.reasons[-1:])
    told = len(seen.saves)
    atomically(folder / "mask.py", "x = 4\n")
    seen.changed("mask.py", since=told)
    assert "this folder sends no events" not in seen.reasons


def test_the_folder_replaced_at_once(watching, folder):
    seen = watching()
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    os.replace(folder, folder.with_name("old"))
    os.replace(other, folder)
    for number in range(3):
        told = len(seen.saves)
        atomically(folder / "softmax.py", f"x = 1{number}\n")
        seen.changed(since=told)


def test_what_editors_leave_beside_a_file_causes_nothing(seen, folder):
    for name in (".softmax.py.swp", "softmax.py~", "4913", "#softmax.py#", "notes.txt"):
        (folder / name).write_text("x = 5\n", encoding="utf-8")
        (folder / name).unlink()
    (folder / "softmax.py").read_bytes()
    (folder / "mask.py").write_text("x = 6\n", encoding="utf-8")
    seen.changed("mask.py")
    assert [save.files for save in seen.saves] == [{"mask.py": CHANGED}]


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_for_a_moment(seen, folder):
    path = folder / "softmax.py"
    path.chmod(0)
    path.chmod(0o644)
    path.write_text("x = 1\n", encoding="utf-8")
    seen.changed()


def test_reading_that_fails_for_a_moment(seen, folder, monkeypatch):
    """As on Windows, while an editor or a virus scanner holds the file."""
    failures = iter(range(3))
    real = module.Path.read_bytes

    def read(path):
        if path.name == "softmax.py" and next(failures, None) is not None:
            raise PermissionError(13, "in use")
        return real(path)

    monkeypatch.setattr(module.Path, "read_bytes", read)
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    assert [save.files for save in seen.saves] == [{"softmax.py": CHANGED}]


@posix
def test_a_link_is_followed(folder, tmp_path, watching):
    target = tmp_path / "elsewhere" / "mine.py"
    target.parent.mkdir()
    target.write_text("x = 0\n", encoding="utf-8")
    (folder / "softmax.py").unlink()
    (folder / "softmax.py").symlink_to(target)
    seen = watching()
    target.write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    told = len(seen.saves)
    atomically(target, "x = 2\n")
    seen.changed(since=told)
    assert seen.reasons == []


@posix
def test_what_is_no_file_does_not_stop_the_watch(seen, folder):
    (folder / "softmax.py").unlink()
    os.mkfifo(folder / "softmax.py")
    seen.changed()
    (folder / "mask.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed("mask.py")


def test_every_save_of_a_file_that_is_too_large_counts(seen, folder):
    """It is not read: its stamp decides, and one of any other file only says TOUCHED."""
    for number in range(2):
        before = len(seen.saves)
        atomically(folder / "softmax.py", str(number) * (module.SIZE_CAP + 1))
        seen.changed(since=before)
    assert "softmax.py" not in seen.names(TOUCHED)


def mute(folders, stop):
    """A file system that sends no events."""
    assert folders
    while not stop.wait(0.05):
        yield set()


def test_without_events_it_polls_and_says_so(watching, folder, monkeypatch):
    monkeypatch.setattr(module, "SLOW", 0.2)
    seen = watching(folder_events=mute)
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    seen.until(lambda: seen.reasons == ["this folder sends no events"])
    told, start = len(seen.saves), time.monotonic()
    monkeypatch.setattr(module, "SLOW", 60.0)
    atomically(folder / "softmax.py", "x = 2\n")
    seen.changed(since=told)
    assert time.monotonic() - start < 5


def test_a_late_event_is_not_taken_for_none(watching, folder, monkeypatch):
    monkeypatch.setattr(module, "SLOW", 0.1)

    path = folder / "softmax.py"

    def late(folders, stop):
        content, due = "x = 0\n", float("inf")
        while not stop.wait(0.02):
            now = path.read_text(encoding="utf-8")
            if now != content:
                content, due = now, time.monotonic() + 0.3
            if time.monotonic() >= due:
                due = float("inf")
                yield {(2, str(path))}
            else:
                yield set()

    seen = watching(folder_events=late)
    path.write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    told = len(seen.saves)
    time.sleep(0.5)  # until the event of the first save has come
    path.write_text("x = 2\n", encoding="utf-8")
    seen.changed(since=told)
    time.sleep(0.5)
    assert seen.reasons == []


def test_no_watch_to_be_had(watching, folder):
    def refuses(folders, stop):
        raise OSError(28, "inotify watch limit reached")

    seen = watching(folder_events=refuses)
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    assert len(seen.reasons) == 1
    assert "inotify watch limit reached" in seen.reasons[0]


def test_events_that_break_off(watching, folder):
    def breaks(folders, stop):
        raise RuntimeError("the watcher is gone")
        yield

    seen = watching(folder_events=breaks)
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()
    assert "the watcher is gone" in seen.reasons[0]


def test_file_systems_that_are_known_to_be_silent(watching, folder, tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda / ext4 rw 0 0\n"
        f"C:\\134 {folder.parent} 9p rw,aname=drvfs 0 0\n"
        f"host:/a {tmp_path}/with\\040space fuse.sshfs rw 0 0\n",
        encoding="utf-8",
    )
    (tmp_path / "with space").mkdir()
    assert silent_file_system(folder, mounts) == "9p"
    assert silent_file_system(tmp_path / "with space", mounts) == "fuse.sshfs"
    assert silent_file_system(tmp_path.parent, mounts) == ""
    assert silent_file_system(folder, tmp_path / "nothing") == ""
    seen = watching(mounts=mounts)
    assert seen.reasons == ["this folder is on 9p, which sends no events"]
    (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    seen.changed()


def test_a_fault_while_telling_does_not_end_the_watch(folder):
    seen, first = Seen(), iter([True])

    def tell(save):
        if next(first, False):
            raise ValueError("a fault of the listener")
        seen.tell(save)

    found = Saves(folder, NAMES, tell, seen.say)
    found.start()
    try:
        (folder / "softmax.py").write_text("x = 1\n", encoding="utf-8")
        seen.until(lambda: seen.reasons)
        assert "a fault of the listener" in seen.reasons[0]
        seen.changed()  # told again
        (folder / "mask.py").write_text("x = 1\n", encoding="utf-8")
        seen.changed("mask.py")
    finally:
        found.stop()


def test_stopping_is_quick(folder):
    found = Saves(folder, NAMES, lambda save: None)
    found.start()
    start = time.monotonic()
    found.stop()
    found.stop()
    assert time.monotonic() - start < 2
