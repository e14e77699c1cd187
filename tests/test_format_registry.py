"""A format is one file in a folder, or one entry point of an installed package."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from attention_katas import cli
from attention_katas.errors import KataError
from attention_katas.grading import formats as grade_formats
from attention_katas.render import formats as run_formats

ROOT = Path(__file__).resolve().parents[1]
RUN_MODULE = '''
"""One word for each verdict."""
from attention_katas.render.formats import RunFormat

FORMAT = RunFormat("one word for each verdict", lambda verdicts: f"{len(verdicts)} judged\\n")
'''
GRADE_MODULE = '''
"""One line for each student."""
from attention_katas.grading.formats import GradeFormat

FORMAT = GradeFormat(
    summary="one line for each student",
    file="-",
    holds_class=True,
    render=lambda results, about: "".join(f"{r.student.id} of {about.title}\\n" for r in results),
)
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """`installed(module, **entry_points)`: a package with these formats, and a fresh registry."""
    modules = set(sys.modules)

    def install(source, *entry_points, package="third_party"):
        (tmp_path / f"{package}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n", encoding="utf-8")
        lines = ["[attention_katas.formats]", *entry_points]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        importlib.invalidate_caches()

    monkeypatch.syspath_prepend(tmp_path)
    for registry in (run_formats.REGISTRY, grade_formats.REGISTRY):
        monkeypatch.setattr(registry, "_installed", None)
        monkeypatch.setattr(registry, "problems", [])
    yield install
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    CliRunner().invoke(cli.main, ["init", str(folder)])
    monkeypatch.chdir(folder)
    return folder


def kata(*words):
    return CliRunner().invoke(cli.main, words)


@pytest.mark.parametrize(
    ("package", "source"), [(run_formats, RUN_MODULE), (grade_formats, GRADE_MODULE)]
)
def test_one_file_in_the_folder_is_the_whole_act(tmp_path, monkeypatch, package, source):
    (tmp_path / "my_words.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    assert "my-words" in package.REGISTRY.names()
    assert "one" in package.REGISTRY.load("my-words").summary
    command = "run" if package is run_formats else "grade"
    shown = kata("run", "--help") if command == "run" else kata("grade", "--formats")
    assert "my-words" in "".join(shown.output.split())
    del sys.modules[f"{package.__name__}.my_words"]


def test_a_format_of_a_package_for_run(installed, workspace):
    installed(RUN_MODULE, "words = third_party:FORMAT")
    answer = kata("run", "softmax", "--format", "words", "--cold")
    assert answer.output == "1 judged\n"
    assert "words" not in grade_formats.REGISTRY.names()


def test_a_format_of_a_package_for_grade(installed, workspace):
    installed(GRADE_MODULE, "lines = third_party:FORMAT")
    answer = kata("grade", ".", "--student", "ada", "--to", "lines", "--title", "Week 3")
    assert answer.stdout == "ada of Week 3\n"
    listed = [line.split(maxsplit=1) for line in kata("grade", "--formats").stdout.splitlines()]
    assert ["lines", "one line for each student"] in listed


def test_the_sample_of_the_docs_is_a_format(installed, workspace):
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    [sample] = re.findall(r"```python\n(.*?)```", text.partition("## To add one")[2], re.DOTALL)
    assert "._" not in sample  # a private module
    installed(sample, "lines = third_party:FORMAT")
    answer = kata("grade", ".", "--student", "ada", "--to", "lines=-")
    assert re.fullmatch(r"ada: 0 of \d+\n", answer.stdout)


def test_what_breaks_is_said_and_skipped(installed):
    installed(
        GRADE_MODULE + "NUMBER = 3\n",
        "good = third_party:FORMAT",
        "csv = third_party:FORMAT",
        "absent = third_party:NOTHING",
        "number = third_party:NUMBER",
    )
    answer = kata("grade", "--formats")
    assert answer.exit_code == 0
    assert "\ngood " in answer.stdout
    assert "absent" not in answer.stdout
    said = " ".join(answer.stderr.split())
    assert "'csv' of third_party is skipped: a built-in format has that name" in said
    assert "'absent' of third_party is skipped: AttributeError" in said
    assert "'number' of third_party is skipped: it is neither" in said


def test_two_packages_with_one_name(installed):
    installed(GRADE_MODULE, "lines = third_party:FORMAT")
    installed(GRADE_MODULE, "lines = fourth_party:FORMAT", package="fourth_party")
    with pytest.raises(KataError, match="no format called 'lines'"):
        grade_formats.REGISTRY.load("lines")
    assert len(grade_formats.REGISTRY.problems) == 2
    assert "several installed packages" in grade_formats.REGISTRY.problems[0]


def test_no_format_is_called_like_the_screen(installed):
    installed(RUN_MODULE, "text = third_party:FORMAT")
    assert "text" not in run_formats.REGISTRY.names()
    assert "built-in" in run_formats.REGISTRY.problems[0]


def test_built_in_formats_load_no_package(installed, workspace):
    installed("raise SystemExit('loaded')", "words = third_party:FORMAT")
    answer = kata("run", "softmax", "--format", "json", "--cold")
    assert json.loads(answer.output)["verdicts"][0]["kata"] == "softmax"
    assert "third_party" not in sys.modules


def test_a_format_that_is_not_there(workspace):
    answer = kata("run", "softmax", "--format", "excel")
    assert answer.exit_code == 2
    assert "there is no format 'excel'; there are text, json, junit" in answer.output
