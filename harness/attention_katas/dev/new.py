"""`kata dev new`: the folder of a new kata, with everything that `kata dev check` asks for."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from attention_katas.errors import KataError
from attention_katas.packs.catalog import Catalog

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
# Modules that a kata's file would hide, and names that Windows keeps for itself.
TAKEN = {"torch", "numpy", "pytest", "conftest", "con", "aux", "nul", "prn"}

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

from attention_katas.authoring.mistakes import harmless, mistake


@mistake("gives back its input", question="What did your function do to x?", hint="Where to look")
def does_nothing(x):
    return x.clone()


@harmless("adds instead of multiplying")
def adds(x):
    return x + x
'''


def new_kata(catalog: Catalog, name: str) -> list[Path]:
    """Write the files of a new kata after the last one; returns their paths.

    Raises KataError for a name that cannot be one, or that is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 32:
        raise KataError(
            f"{name!r} is no name for a kata", "small letters, digits and single hyphens"
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in TAKEN or module in sys.stdlib_module_names:
        raise KataError(
            f"{name!r} means something else in Python, so no kata can be called that",
            "another name",
        )
    folder, reference = catalog.folder / name, catalog.reference / f"{module}.py"
    if folder.exists() or reference.exists():
        raise KataError(f"there is a kata called {name} already", f"kata dev check {name}")
    requires = f'"{catalog.katas[-1].name}"' if catalog.katas else ""
    words = {
        "name": name,
        "module": module,
        "title": name.replace("-", " ").capitalize(),
        "requires": requires,
    }
    texts = {
        folder / "kata.toml": TOML,
        folder / f"{module}.py": STUB,
        folder / f"test_{module}.py": TESTS,
        folder / "hints.md": HINTS,
        folder / "lesson.md": LESSON,
        folder / "mistakes.py": MISTAKES,
        reference: REFERENCE,
    }
    try:
        folder.mkdir(parents=True)
        reference.parent.mkdir(exist_ok=True)
        for path, text in texts.items():
            path.write_text(text.format(**words), encoding="utf-8")
    except OSError as error:
        raise KataError(
            f"{folder} cannot be written: {error.strerror}",
            "kata dev new --katas A_FOLDER_OF_YOURS",
        ) from None
    return list(texts)
