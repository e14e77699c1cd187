"""`kata dev new`: the folder of a new kata, with everything that `kata dev check` asks for.

In a folder without a pack, the pack is made, too.
"""

from __future__ import annotations

import re
from pathlib import Path

from attention_katas.errors import BadContent, KataError
from attention_katas.packs import names
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.kata import name_problems
from attention_katas.packs.pack import FILE, NAME, SHIPPED, locate, read_pack

# What the author has to replace; `kata dev check` looks for it.
PLACEHOLDERS = (
    "say in a line what it is about",
    "Say in a line what it is about",
    "Say what comes back",
    "say what it is",
    "Write the right answer here",
    "Say where to look.",
    "Say what the idea is.",
    "Say how to put it together",
    "Say why this piece exists.",
    "Say what to keep in mind.",
)
PACK = """\
format = 1
name = "{name}"
title = "{title}"
version = "1"
"""

TOML = """\
format = 1
title = "{title}"
blurb = "say in a line what it is about"
requires = [{requires}]
functions = ["{module}"]
points = 10
banned = ["attention"]
out_of_scope = []
"""

STUB = '''\
"""Kata: {name}. Say in a line what it is about."""

import torch


def {module}(x: torch.Tensor) -> torch.Tensor:
    """Say what comes back.

    x   (..., T, D)  say what it is
    ->  (..., T, D)  say what it is
    """
    raise NotImplementedError("{module} is yours to write")
'''

REFERENCE = '''\
"""Reference: {name}."""

import torch


def {module}(x: torch.Tensor) -> torch.Tensor:
    """Write the right answer here; doubling stands in for it."""
    return 2 * x
'''

TESTS = '''\
"""Hidden tests of the {name} kata. Give every axis a size of its own."""

import pytest


def test_a_batch(solution, draw, agree):
    """Works on a batch"""
    agree(solution.{module}, draw(2, 3, 5))


def test_other_dtypes(solution, draw, agree, dtypes):
    """Returns the dtype of its input, also in half precision"""
    for dtype in dtypes:
        agree(solution.{module}, draw(2, 3, 5, dtype=dtype))


@pytest.mark.law("{module}")
def test_follows_the_device(solution, draw, follows_device):
    """Creates every tensor on the device of its input"""
    follows_device(solution.{module}, draw(2, 3, 5))
'''

HINTS = """\
# Hints: {name}

## Where to look

Say where to look.

## The idea

Say what the idea is.

## Almost there

Say how to put it together, in words: never the line itself.
"""

LESSON = """\
# {title}

## Why

Say why this piece exists.

## What carries forward

Say what to keep in mind.
"""

MISTAKES = '''\
"""Known ways of getting {name} wrong, and right ones that look odd."""

from attention_katas.authoring import harmless, mistake


@mistake("gives back its input", question="What did your function do to x?", hint="Where to look")
def does_nothing(x):
    return x.clone()


@harmless("adds instead of multiplying")
def adds(x):
    return x + x
'''


def new_kata(catalog: Catalog, folder: Path, name: str) -> list[Path]:
    """Write the files of a new kata into the pack in `folder`; returns their paths.

    It comes after the last kata of the pack. A folder that holds no pack yet becomes one.
    catalog: the katas that are there. Raises KataError for a name that cannot be one, or that is
    taken.
    """
    module = _checked(catalog, name)
    place, reference, texts = _pack_in(folder)
    target = reference / f"{module}.py"
    if (place / name).exists() or target.exists():
        raise KataError(f"there is a kata called {name} already", f"kata dev check {name}")
    inside = [kata for kata in catalog.katas if kata.folder.parent.resolve() == place.resolve()]
    words = {
        "name": name,
        "module": module,
        "title": name.replace("-", " ").capitalize(),
        "requires": ", ".join(f'"{kata.name}"' for kata in inside[-1:]),
    }
    templates = {
        place / name / "kata.toml": TOML,
        place / name / f"{module}.py": STUB,
        place / name / f"test_{module}.py": TESTS,
        place / name / "hints.md": HINTS,
        place / name / "lesson.md": LESSON,
        place / name / "mistakes.py": MISTAKES,
        target: REFERENCE,
    }
    texts |= {path: text.format(**words) for path, text in templates.items()}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KataError(
            f"{place} cannot be written: {error.strerror}",
            "kata dev new --katas A_FOLDER_OF_YOURS",
        ) from None
    return list(texts)


def _checked(catalog: Catalog, name: str) -> str:
    """The module name of a new kata. Raises KataError when the name cannot be one."""
    if name_problems(name):
        raise KataError(
            f"{name!r} is no name for a kata", "small letters, digits and single hyphens"
        )
    module = name.replace("-", "_")
    why = names.trouble(module)
    if why:
        raise KataError(f"no kata can be called {name!r}: it {why}", "another name")
    if any(name == kata.name or module in kata.functions for kata in catalog.katas):
        raise KataError(f"there is a kata called {name} already", f"kata dev check {name}")
    return module


def _pack_in(folder: Path) -> tuple[Path, Path, dict[Path, str]]:
    """Where katas and references of the pack in a folder are, and what has to be written first."""
    try:
        pack = read_pack(locate(folder))
    except BadContent:
        if any(folder.glob("*/kata.toml")) or any(folder.glob("katas/*/kata.toml")):
            raise
        words = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
        name = words if NAME.fullmatch(words) and words != SHIPPED else "my-pack"
        text = PACK.format(name=name, title=name.replace("-", " ").capitalize())
        return folder, folder / "reference", {folder / FILE: text}
    return pack.folder, pack.reference, {}
