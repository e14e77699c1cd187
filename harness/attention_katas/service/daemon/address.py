"""Where the daemon of this very installation is to be found. Starts without torch.

The name of its socket says what it is made of: this package (every file of it, by size and time),
the katas, the interpreter, torch, the packages beside it, and what in the environment changes how
they behave. Whatever is upgraded or edited gets another name, and with it another daemon.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attention_katas import __version__
from attention_katas.packs.catalog import Catalog, load_catalog

PACKAGE = Path(__file__).resolve().parents[2]
# Bytes of the folder's path. That of a socket may have 107, and the name takes up to 45: with the
# process that is about to put it there.
LONGEST = 107 - 45
# Variables that change what Python finds, or how torch and its libraries compute. (Those that say
# how many threads there are do not count: a daemon has one.)
READ_AT_START = (
    *("PYTHONPATH", "PYTHONHOME", "LD_", "CUDA_VISIBLE_DEVICES"),
    *("TORCH_", "PYTORCH_", "ATEN_", "OPENBLAS_CORE", "OPENBLAS_L2"),
)


@dataclass(frozen=True)
class Address:
    """Of one daemon. `family` is the same for older and newer ones of the same installation.

    Not for those that were started with other limits or variables: these live side by side.
    """

    folder: Path
    family: str
    key: str

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.family}-{self.key}.sock"

    @property
    def lock(self) -> Path:
        return self.folder / f"{self.family}-{self.key}.lock"

    def others(self) -> list[Address]:
        """Those that this one replaces, those that are gone among them."""
        return [
            address for address in self.all() if address.family == self.family and address != self
        ]

    def all(self) -> list[Address]:
        """Every daemon of this user of which there is a trace."""
        names = {path.stem for path in self.folder.glob("*-*.[ls]o[c]k")}
        return [Address(self.folder, *name.split("-", 1)) for name in sorted(names)]


def address(catalog: Catalog | None = None) -> Address | None:
    """Where the daemon is, or would be; None where none can be.

    catalog: the katas that it judges; None: those that it judges when no pack is named.
    """
    folder = private_folder()
    if folder is None:
        return None
    catalog = catalog or load_catalog()
    named = (str(catalog.selection.only), *map(str, catalog.selection.folders))
    family = _short(str(PACKAGE), sys.prefix, *named, *_surroundings())
    return Address(folder, family, _short(*_made_of(catalog)))


def private_folder() -> Path | None:
    """A folder that nobody else can enter. Made if need be; None if that cannot be had."""
    if sys.platform != "linux":
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folders = [Path(runtime, "attention-katas")] if os.path.isabs(runtime) else []
    folders.append(Path(tempfile.gettempdir(), f"attention-katas-{os.getuid()}"))
    fitting = (folder for folder in folders if len(os.fsencode(folder)) <= LONGEST)
    return next((folder for folder in fitting if _is_private(folder)), None)


def _is_private(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    is_own = status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode)
    return is_own and not status.st_mode & 0o077 and os.access(folder, os.W_OK | os.X_OK)


def _made_of(catalog: Catalog) -> Iterator[str]:
    """Everything that a verdict may depend on beside the submission."""
    yield __version__
    yield from (sys.prefix, sys.version, str(sys.flags.optimize), str(sys.flags.dev_mode))
    yield from _files(PACKAGE)
    for pack in catalog.packs:
        yield pack.digest
    spec = importlib.util.find_spec("torch")
    if spec is not None and spec.origin is not None:
        # What is installed beside it changes the time of the folder that holds them all.
        torch = Path(spec.origin).parent
        yield from (_when(torch.parent), _when(torch), _when(torch / "version.py"))


def _surroundings() -> Iterator[str]:
    """What a process has from where it was started, and a daemon would keep."""
    import resource

    for name in sorted(os.environ):
        if name.startswith(READ_AT_START):
            yield f"{name}={os.environ[name]}"
    for name in ("mnt", "pid", "user", "net"):
        yield _namespace(name)
    yield str(os.getpriority(os.PRIO_PROCESS, 0))
    yield str(sorted(os.sched_getaffinity(0)))
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
        yield str(resource.getrlimit(limit))


def _files(folder: Path) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _files(Path(entry.path))
        else:
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


def _when(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return f"{path} is not there"
    return f"{path} {status.st_ino} {status.st_mtime_ns}"


def _namespace(name: str) -> str:
    """Containers that share a folder for temporary files do not share processes."""
    try:
        return os.readlink(f"/proc/self/ns/{name}")
    except OSError:
        return ""


def _short(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:12]
