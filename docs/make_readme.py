"""Fill README.md and docs/screens.md with real output: `make readme`.

Each `<!-- run: COMMAND -->` line owns the code block below it; the command runs in the root of
the checkout, 80 columns wide, and what it prints replaces the block. `--check` changes nothing
and exits 1 when a block is out of date. Seconds differ from run to run: a block in which
nothing else differs is left as it is.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "screens.md")
BLOCK = re.compile(r"(<!-- run: (?P<command>.+?) -->\n```text\n)(?P<text>.*?)(```)", re.DOTALL)
SECONDS = re.compile(r"\b\d+\.\d+ s\b")


def output_of(command: str) -> str:
    """What the command prints, as a user with an 80-column terminal would see it."""
    words = shlex.split(command)
    if words[0] == "kata":
        words[:1] = [sys.executable, "-m", "attention_katas"]
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return f"$ {command}\n{done.stdout.rstrip()}\n"


def filled(text: str) -> str:
    def fill(match: re.Match[str]) -> str:
        new = output_of(match.group("command"))
        same = SECONDS.sub("", new) == SECONDS.sub("", match.group("text"))
        return match.group(0) if same else match.group(1) + new + match.group(4)

    return BLOCK.sub(fill, text)


def main() -> int:
    check = "--check" in sys.argv
    stale = []
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        if before != after:
            stale.append(page.name)
            if not check:
                page.write_text(after, encoding="utf-8")
    if check:
        print(
            f"out of date: {', '.join(stale)}: make readme" if stale else "the pages are up to date"
        )
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
