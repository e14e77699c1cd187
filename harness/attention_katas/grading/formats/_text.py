"""Text that a student may have had a hand in, made harmless for the place it goes to."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and the cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]"
)
_DOUBTFUL = re.compile(r"[^\n\t\x20-\x7e]")
_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def line(text: str, limit: int = 300) -> str:
    """One line of at most `limit` characters: no control character, no escape sequence."""
    kept = " ".join(_clean(text[: 8 * limit].replace("\n", " ").replace("\t", " ")).split())
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def block(text: str, limit: int = 4000) -> str:
    """Lines with tabs and nothing else that moves a cursor; of a long text the end, which tells."""
    kept = _clean(text[-8 * limit :]).strip("\n")
    return kept if len(kept) <= limit else "…\n" + kept[len(kept) - limit + 2 :]


def _clean(text: str) -> str:
    text = _BREAK.sub("\n", _ESCAPE.sub("", text))
    text = _DOUBTFUL.sub(_kept, text)
    # A runner of GitHub Actions takes "##[error]" for a command wherever it stands in a line.
    return text.replace("##[", "## [")


def _kept(found: re.Match[str]) -> str:
    category = unicodedata.category(found[0])
    if category == "Cs":  # half a character: no encoding holds it
        return "\N{REPLACEMENT CHARACTER}"
    return "" if category in ("Cc", "Cf") else found[0]
