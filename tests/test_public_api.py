"""The public modules: complete, documented, typed, and light."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import attention_katas

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (attention_katas\.\w+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))

MISTAKES = """
from typing import Any

from attention_katas.authoring import convention, formula, harmless, mistake


@formula
def _doubled(x: Any, *, factor: float = 2.0) -> Any:
    return factor * x


@mistake("triples", question="How often does x stand there?")
def triples(x: Any) -> Any:
    return _doubled(x, factor=3.0)


@convention("doubles the half", contract="x is doubled as it is")
def half(x: Any) -> Any:
    return x


@harmless("adds")
def adds(x: Any) -> Any:
    return x + x
"""
FORMATS = """
from collections.abc import Sequence

from attention_katas.formats import About, GradeFormat, Result, RunFormat, line
from attention_katas.verdict import Verdict


def words(verdicts: Sequence[Verdict]) -> str:
    return "".join(f"{verdict.kata} {verdict.outcome}\\n" for verdict in verdicts)


def rows(results: Sequence[Result], about: About) -> str:
    return "".join(f"{line(result.student.shown)} {result.points}\\n" for result in results)


RUN = RunFormat("one line for each verdict", words)
GRADE = GradeFormat("one line for each student", file="-", holds_class=True, render=rows)
"""


def documented(section: str) -> set[str]:
    """The names in the first column of the tables of a section."""
    cells = re.findall(r"^\| (`.*?) \|", section, re.M)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_every_public_module_has_a_section():
    assert set(SECTIONS) == {
        f"attention_katas.{name}"
        for name in ("authoring", "formats", "packs", "service", "verdict")
    }


@pytest.mark.parametrize("module", SECTIONS)
def test_documented_and_exported_names_are_the_same(module):
    exported = importlib.import_module(module).__all__
    assert sorted(exported) == sorted(set(exported))
    assert documented(SECTIONS[module]) == set(exported)
    for name in exported:
        getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("module", SECTIONS)
def test_all_is_complete(module):
    public = importlib.import_module(module)
    names = {
        name
        for name, value in vars(public).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and str(getattr(value, "__module__", module)).startswith("attention_katas")
        and name != "annotations"
    }
    assert names <= set(public.__all__)


def test_every_class_and_function_has_a_docstring():
    for module in SECTIONS:
        public = importlib.import_module(module)
        for name in public.__all__:
            value = getattr(public, name)
            if isinstance(value, type | types.FunctionType):
                assert value.__doc__, f"{module}.{name}"


def test_public_modules_import_no_torch():
    code = f"import sys, {', '.join(SECTIONS)}; sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "harness", check=False)
    assert done.returncode == 0


def test_the_package_is_typed():
    assert (Path(attention_katas.__file__).parent / "py.typed").exists()


def test_a_third_party_passes_mypy_strict(tmp_path):
    """A pack's mistakes and a format, checked against the installed package."""
    (tmp_path / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    (tmp_path / "lines.py").write_text(FORMATS, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {ROOT / 'harness'}\n", encoding="utf-8"
    )
    (tmp_path / "wrong.py").write_text(
        FORMATS.replace("render=rows", "render=words"), encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [text for text in done.stdout.splitlines() if ": error: " in text]
    assert len(errors) == 1, done.stdout
    assert errors[0].startswith("wrong.py:")
    assert "GradeFormat" in errors[0]


def test_the_sample_program_of_the_page(tmp_path):
    """It judges a file as written there."""
    program = re.search(r"```python\n(.*?)```", PAGE, re.S)
    assert program is not None
    (tmp_path / "softmax.py").write_text(
        "import torch\n\n\ndef softmax(x, dim=-1):\n    return x\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", program[1].replace("open_service(catalog)", COLD)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("failed "), done.stderr


COLD = "open_service(catalog, [catalog['softmax']], cold=True)"
