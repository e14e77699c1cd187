"""The learner's folder: flat files, one per kata, and a hidden .kata/ beside them.

Nothing in here is ever overwritten without a copy in .kata/backups/.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from attention_katas.errors import KataError, NoWorkspace
from attention_katas.packs.catalog import Catalog, Kata

MARK = ".kata"
DEFAULT = "my-katas"


@dataclass(frozen=True)
class Workspace:
    """A folder in which `kata init` has been run."""

    root: Path

    @property
    def private(self) -> Path:
        return self.root / MARK

    @property
    def progress_file(self) -> Path:
        """The record of all packs; see `Kata.key`."""
        return self.private / "progress.db"

    def path(self, kata: Kata) -> Path:
        return self.root / kata.file

    def shown(self, kata: Kata) -> str:
        """The file's path as the learner would type it from here."""
        path = self.path(kata)
        try:
            near = os.path.relpath(path)
        except ValueError:  # another drive, on Windows
            return str(path)
        return str(path) if near.startswith(os.path.join("..", "..")) else near

    def write_stub(self, kata: Kata) -> bool:
        """Write the stub unless the file is there already; whether it was written."""
        try:
            with self.path(kata).open("xb") as file:
                file.write(kata.stub.read_bytes())
        except FileExistsError:
            return False
        return True

    def reset(self, kata: Kata) -> Path | None:
        """Put the stub back; returns the backup of what was there, or None if nothing was."""
        path, backup = self.path(kata), None
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise KataError(
                f"{path} is not an ordinary file, so it is left alone",
                f"move it away, then kata reset {kata.name}",
            )
        try:
            if path.exists() and path.read_bytes() != kata.stub.read_bytes():
                backup = self._backup_path(path)
                backup.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, backup)
            self.write_stub(kata)
        except OSError as error:
            message = f"{self.shown(kata)} cannot be put aside: {error.strerror}"
            raise KataError(message, "make the workspace writable") from None
        return backup

    def _backup_path(self, path: Path) -> Path:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        folder = self.private / "backups"
        names = (f"{path.stem}-{stamp}{suffix}{path.suffix}" for suffix in ("", *_numbers()))
        return next(folder / name for name in names if not (folder / name).exists())


def _numbers() -> list[str]:
    return [f"-{number}" for number in range(2, 1000)]


def create(root: Path, catalog: Catalog) -> tuple[Workspace, list[str], list[str]]:
    """Make `root` a workspace; returns it, the files written and the files left as they were."""
    workspace = Workspace(root.resolve())
    if root.exists() and not root.is_dir():
        raise KataError(f"{root} is a file, not a folder", "kata init ANOTHER_FOLDER")
    try:
        workspace.private.mkdir(parents=True, exist_ok=True)
        is_new = {kata.file: workspace.write_stub(kata) for kata in catalog.ready}
    except OSError as error:
        raise KataError(
            f"{root} cannot be written: {error.strerror}", "kata init ANOTHER_FOLDER"
        ) from None
    new_files = [name for name, new in is_new.items() if new]
    return workspace, new_files, [name for name in is_new if name not in new_files]


def find(start: Path | None = None) -> Workspace:
    """The workspace here or above, or my-katas/ below. Raises NoWorkspace."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, here / DEFAULT):
        if (folder / MARK).is_dir():
            return Workspace(folder)
    raise NoWorkspace(f"there is no workspace in {here} or above it", f"kata init {DEFAULT}")
