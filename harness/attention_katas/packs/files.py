"""The text files of a pack, read so that a broken one is refused by its name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from attention_katas.errors import BadContent

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_text(path: Path) -> str:
    """The text of a file. Raises FileNotFoundError, or BadContent, naming the file.

    A FIFO is refused before it is opened: to open it waits for a writer.
    """
    if path.exists() and not path.is_file():
        raise BadContent(f"{path} cannot be read: it is not an ordinary file")
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadContent(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadContent(f"{path}: not text in UTF-8: {error}", "kata dev check") from None


def toml_of(text: str, path: Path) -> dict[str, Any]:
    """The contents of the TOML file `path`. Raises BadContent, naming the file."""
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadContent(f"{path}: not TOML: {error}", "kata dev check") from None
    except RecursionError:
        raise BadContent(f"{path}: nested too deeply", "kata dev check") from None
    return data
