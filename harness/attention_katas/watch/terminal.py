"""Can this terminal show a screen that is drawn again and again?"""

from __future__ import annotations

import os
import sys


def problem() -> str:
    """Why it cannot, in words; "" when it can."""
    term = os.environ.get("TERM", "" if os.name != "nt" else "windows")
    if term in ("", "dumb", "unknown"):
        return "this terminal cannot be drawn on"
    encoding = getattr(sys.stdout, "encoding", "") or ""
    if "utf" not in encoding.lower():
        return f"this terminal's encoding is {encoding or 'unknown'}, not UTF-8"
    return ""
