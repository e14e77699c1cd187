"""Text that a student may have written part of, made harmless for its place."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and the cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]"
)
_DOUBTFUL = re.compile(r"[^\n\t\x20-\x7e]")
_DEVICE = re.compile("con|prn|aux|nul|conin\\$|conout\\$|com\\d|lpt\\d", re.IGNORECASE)
_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def line(text: str, limit: int = 300) -> str:
    """One line of at most `limit` characters: no control character, no escape sequence."""
    plain = " ".join(_clean(text[: 8 * limit].replace("\n", " ").replace("\t", " ")).split())
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def block(text: str, limit: int = 4000) -> str:
    """Lines with tabs and nothing else that moves a cursor; of a long text the end, which tells."""
    plain = _clean(text[-8 * limit :]).strip("\n")
    return plain if len(plain) <= limit else "…\n" + plain[len(plain) - limit + 2 :]


def file_names(ids: Iterable[str]) -> dict[str, str]:
    """A file name for each id, without suffix: of one folder on every system, and never the same.

    An id that had to be changed, or differs from another one in case only, ends with a digest of
    it; so does one that looks as if it did.
    """
    names = {student: _file_name(student) for student in ids}
    counts = Counter(_compared(name) for name in names.values())
    return {
        student: name if _is_own(student, name, counts) else f"{name}-{_digest(student)}"
        for student, name in names.items()
    }


def _is_own(text: str, name: str, counts: Counter[str]) -> bool:
    looks = re.search(r"-[0-9a-f]{16}$", name, re.IGNORECASE)
    return name == text and counts[_compared(name)] == 1 and not looks


def _file_name(text: str) -> str:
    name = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", text[:400]))[:60].strip("._-")
    stem = name.partition(".")[0]
    return "_" if not name else f"_{name}" if _DEVICE.fullmatch(stem) else name


def _compared(name: str) -> str:
    """The same for names that some file system takes for one."""
    return unicodedata.normalize("NFKC", name).casefold()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _clean(text: str) -> str:
    text = _BREAK.sub("\n", _ESCAPE.sub("", text))
    text = _DOUBTFUL.sub(_safe, text)
    # A runner of GitHub Actions takes "##[error]" for a command wherever it stands in a line.
    return text.replace("##[", "## [")


def _safe(match: re.Match[str]) -> str:
    category = unicodedata.category(match[0])
    if category == "Cs":  # half a character: no encoding holds it
        return "\N{REPLACEMENT CHARACTER}"
    return "" if category in ("Cc", "Cf") else match[0]
