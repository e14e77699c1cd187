"""Where a class gets this package from: an index, a git repository or a wheel, always pinned."""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from attention_katas import __version__
from attention_katas.errors import KataError

NAME = "attention-katas"
DEFAULT = f"{NAME}=={__version__}"
WHEELS = "wheels"
EXAMPLES = (
    f"--package {DEFAULT}, --package git+https://HOST/OWNER/{NAME}@v{__version__}, "
    f"or --package dist/{NAME.replace('-', '_')}-{__version__}-py3-none-any.whl"
)
BUILD = "pip install build, then python -m build --wheel"


@dataclass(frozen=True)
class Package:
    """How requirements.txt names this package.

    line: the requirement.
    wheel: a file that goes into wheels/, if the line names one.
    git: pip has to clone, so git must be installed.
    """

    line: str
    wheel: Path | None = None
    git: bool = False


def is_from_an_index() -> bool:
    """Whether this installation came from an index, where others find the same version."""
    try:
        return metadata.distribution(NAME).read_text("direct_url.json") is None
    except metadata.PackageNotFoundError:
        return False


def parse(spec: str) -> Package:
    """The package that `--package SPEC` names. Raises KataError unless everybody gets the same."""
    if spec.endswith(".whl"):
        return _wheel(spec)
    if spec.startswith("git+"):
        return _git(spec)
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?==[\w.!+-]+", spec, re.ASCII):
        raise KataError(f"--package {spec!r} pins no version", EXAMPLES)
    return Package(spec)


def _git(url: str) -> Package:
    match = re.fullmatch(r"git\+https://([\w.:-]+)/([\w./~-]+?)@([\w./-]+)", url, re.ASCII)
    if match:
        return Package(f"{NAME} @ {url}", git=True)
    if re.match(r"git\+https://[^/]*@", url):
        raise KataError("--package holds a password, and would be there for all to read", EXAMPLES)
    raise KataError(
        f"--package {url!r} is no git+https:// address with @TAG or @COMMIT at its end", EXAMPLES
    )


def _wheel(spec: str) -> Package:
    path = Path(spec)
    if not re.fullmatch(r"[\w.]+-[\w.!+]+(-[\w.]+){3,4}\.whl", path.name, re.ASCII):
        raise KataError(f"--package {spec!r} is not called as a wheel is", EXAMPLES)
    if not path.is_file():
        raise KataError(f"--package: there is no wheel {os.fspath(path)}", BUILD)
    if not zipfile.is_zipfile(path):
        raise KataError(f"--package: {os.fspath(path)} is not a wheel", BUILD)
    return Package(f"./{WHEELS}/{path.name}", wheel=path)
