"""Right variants as data: files whose first lines may name sibling files to import from."""

from __future__ import annotations

import re
from pathlib import Path

RIGHT = Path(__file__).parent / "right"
FILES = sorted(RIGHT.glob("*/*.py"))


def siblings(source: str) -> dict[str, str]:
    """Module name -> source of every `# sibling: kata/file` line."""
    names = re.findall(r"^# sibling: (\S+)$", source, re.MULTILINE)
    paths = {name.partition("/")[0].replace("-", "_"): RIGHT / f"{name}.py" for name in names}
    return {module: path.read_text(encoding="utf-8") for module, path in paths.items()}
