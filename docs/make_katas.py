"""Write docs/katas.md, the list of the katas that ship: `make readme`.

`--check` changes nothing and exits 1 when the file is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from attention_katas.packs.catalog import load_catalog

FILE = Path(__file__).with_name("katas.md")
HEAD = """\
# The katas that ship

Written by `docs/make_katas.py` from the kata.toml of each. They build on each other from top to
bottom.

| kata | about | you write | after | points |
|---|---|---|---|---|
"""


def listing() -> str:
    """The page, with a row for each kata of the pack that ships."""
    rows = []
    for kata in (kata for kata in load_catalog().ready if kata.pack.ships):
        functions = ", ".join(f"`{name}`" for name in kata.functions)
        after = ", ".join(kata.requires) or "nothing"
        rows.append(f"| {kata.name} | {kata.blurb} | {functions} | {after} | {kata.points} |\n")
    return HEAD + "".join(rows)


def main() -> int:
    if "--check" in sys.argv:
        current = FILE.is_file() and FILE.read_text(encoding="utf-8") == listing()
        print("docs/katas.md is up to date" if current else "out of date: make readme")
        return 0 if current else 1
    FILE.write_text(listing(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
