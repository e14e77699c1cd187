"""Packs that tests make: copies of the katas that ship, and small ones of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

from attention_katas.errors import BadContent
from attention_katas.packs.catalog import Catalog, Selection, load_catalog
from attention_katas.packs.pack import FILE

PACK = 'format = 1\nname = "{name}"\ntitle = "A pack"\nversion = "1"\n'
KATA = """
format = 1
title = "T"
blurb = "b"
requires = {requires}
functions = {functions}
points = 1
banned = {banned}
out_of_scope = []
panels = {panels}
"""
REFERENCE = "def {function}(x):\n    return 2 * x\n"
TESTS = "def test_it(solution, draw, agree):\n    agree(solution.{function}, draw(2, 3))\n"


def quoted(names) -> str:
    return str(list(names)).replace("'", '"')


def make_pack(folder: Path, name: str) -> Path:
    """A pack without katas."""
    (folder / "reference").mkdir(parents=True)
    (folder / FILE).write_text(PACK.format(name=name), encoding="utf-8")
    return folder


def add_kata(pack: Path, name: str, requires=(), functions=(), banned=(), panels=()) -> Path:
    """A kata that can be judged: doubling, under its own name."""
    module = name.replace("-", "_")
    functions = list(functions) or [module]
    folder = pack / name
    folder.mkdir()
    (folder / "kata.toml").write_text(
        KATA.format(
            requires=quoted(requires),
            functions=quoted(functions),
            banned=quoted(banned),
            panels=quoted(panels),
        ),
        encoding="utf-8",
    )
    stub = "".join(f"def {each}(x):\n    raise NotImplementedError\n" for each in functions)
    reference = "".join(REFERENCE.format(function=each) for each in functions)
    (folder / f"{module}.py").write_text(stub, encoding="utf-8")
    (folder / f"test_{module}.py").write_text(TESTS.format(function=functions[0]), "utf-8")
    (pack / "reference" / f"{module}.py").write_text(reference, encoding="utf-8")
    return folder


def copied(catalog: Catalog, root: Path, *names: str) -> Path:
    """A pack of its own with some katas that ship, in root/katas and root/reference."""
    shipped = catalog.packs[0]
    for name in names:
        shutil.copytree(shipped.folder / name, root / "katas" / name)
    shutil.copytree(shipped.shared, root / "katas" / "shared")
    shutil.copytree(shipped.reference, root / "reference")
    (root / "katas" / "shared" / "bans.toml").unlink()
    (root / "katas" / FILE).write_text(PACK.format(name="copied"), encoding="utf-8")
    return root


def only(*folders: Path) -> Catalog:
    """The katas of these packs and of no other. Raises BadContent when one is refused."""
    catalog = load_catalog(Selection(folders, only=True))
    for refusal in catalog.refusals:
        raise BadContent(refusal.message, refusal.next_step)
    return catalog
