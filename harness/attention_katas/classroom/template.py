"""The texts in templates/: parts that come and go, and words that are filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "templates"
# A line by itself: `#: if NAME`, `#: unless NAME`, `#: end`; in Markdown `<!--: if NAME -->`.
MARK = re.compile(r"\s*(?:#|<!--): (if|unless|end)(?: ([\w-]+))?(?: -->)?\s*")
WORD = re.compile(r"@([a-z_]+)@")


def fill(name: str, facts: Mapping[str, bool], words: Mapping[str, str]) -> str:
    """The template called `name`, as these facts want it. A fact or word unknown is a KeyError."""
    kept, wanted = [], True
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        mark = MARK.fullmatch(line)
        if mark:
            wanted = mark[1] == "end" or facts[mark[2]] == (mark[1] == "if")
        elif wanted:
            kept.append(line)
    return WORD.sub(lambda found: words[found[1]], "\n".join(kept)) + "\n"
