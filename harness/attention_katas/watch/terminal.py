"""Whether this terminal can show a full screen."""

from __future__ import annotations

import os
import sys


def problem() -> str:
    """Why this terminal cannot show a full screen, or ""."""
    term = os.environ.get("TERM", "" if os.name != "nt" else "windows")
    if term in ("", "dumb", "unknown"):
        return "this terminal cannot show a full screen"
    encoding = getattr(sys.stdout, "encoding", "") or ""
    if "utf" not in encoding.lower():
        return f"this terminal's encoding is {encoding or 'unknown'}, not UTF-8"
    return ""
