"""A folder is the whole act: a seventh kata in a copy of the tree, and everything follows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attention_katas.grading import formats
from attention_katas.packs.catalog import load_catalog
from tests import actions
from tests.packs import KATA, REFERENCE, TESTS, quoted

ROOT = Path(__file__).parents[1]
NAME, FILE, POINTS = "rotate-half", "rotate_half.py", 30
TREES = ("harness", "katas", "reference", "docs", ".github")
RIGHT = REFERENCE.format(function="rotate_half")
# They fill a student's total into a file of the learning platform.
FILLED_IN = {"canvas", "moodle"}
# What the runner of Classroom 50 says.
CLASSROOM50 = {
    "CLASSROOM": "class",
    "ASSIGNMENT": "attention",
    "OWNER": "me",
    "SUBMISSION_TAG": "submit/1",
    "COMMIT_URL": "https://github.com/me/katas/commit/0123456",
    "RELEASE_URL": "https://github.com/me/katas/releases/tag/1",
    "REVIEW_URL": "https://github.com/me/katas/pull/1",
}

pytestmark = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="not a git checkout")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with another folder in katas/ and a file in reference/."""
    root = tmp_path_factory.mktemp("tree")
    for name in TREES:
        ignored = shutil.ignore_patterns("__pycache__", "*.png")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    folder = root / "katas" / NAME
    folder.mkdir()
    text = KATA.format(requires=quoted(["scale"]), functions=quoted(["rotate_half"]),
                       banned=quoted(["attention"]), panels=quoted(["lookup"]))  # fmt: skip
    text = text.replace("points = 1\n", f"points = {POINTS}\n")
    text = text.replace('title = "T"', 'title = "Rotate half"').replace('"b"', '"turn pairs"')
    (folder / "kata.toml").write_text(text, encoding="utf-8")
    stub = 'def rotate_half(x):\n    raise NotImplementedError("yours")\n'
    (folder / FILE).write_text(stub, encoding="utf-8")
    (folder / f"test_{FILE}").write_text(TESTS.format(function="rotate_half"), encoding="utf-8")
    (root / "reference" / FILE).write_text(RIGHT, encoding="utf-8")
    return root


def python(tree, *words, cwd, **more):
    """A command of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "harness"), "KATA_COLD": "1", **more}
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=300,
    )  # fmt: skip


def kata(tree, *words, cwd, **more):
    done = python(tree, "-m", "attention_katas", *words, cwd=cwd, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def space(tree, tmp_path_factory):
    """A workspace in which the new kata is right, and judged."""
    where = tmp_path_factory.mktemp("seventh")
    kata(tree, "init", "space", cwd=where)
    (where / "space" / FILE).write_text(RIGHT, encoding="utf-8")
    assert "passed" in kata(tree, "run", NAME, cwd=where / "space")
    return where / "space"


def test_a_workspace_lists_shows_judges_and_remembers_it(tree, space, catalog):
    listed = kata(tree, "list", cwd=space)
    assert NAME in listed
    assert f"1 of {len(catalog.ready) + 1} done" in listed
    assert "turn pairs" in kata(tree, "show", NAME, cwd=space)
    assert f"{NAME}: 1 attempt" in kata(tree, "progress", cwd=space)


@pytest.mark.parametrize("target", ["actions", "classroom50", "gradescope"])
def test_a_class_gets_it(tree, tmp_path, target):
    kata(tree, "classroom", "init", "class", "--for", target, cwd=tmp_path)
    students = tmp_path / "class" / ("" if target == "actions" else "students")
    assert (students / FILE).is_file()
    assert f"| `{FILE}` | turn pairs | {POINTS} |" in (students / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def graded(tree, space):
    """What every format holds of a submission, by its name."""
    wanted = [name for name in formats.REGISTRY.names() if name not in FILLED_IN]
    places = {name: space.parent / f"out-{name}" for name in wanted}
    targets = [part for name in wanted for part in ("--to", f"{name}={places[name]}")]
    more = ["--layout", "one", "--allow-weak-sandbox", "--feedback", "full"]
    done = python(tree, "-m", "attention_katas", "grade", str(space), *more, *targets,
                  cwd=space.parent, **CLASSROOM50)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: places[name].read_text(encoding="utf-8") for name in wanted}


def test_every_format_holds_its_points(graded, catalog):
    total = sum(each.points for each in catalog.ready) + POINTS
    for name in graded.keys() - {"annotations"}:  # which name what failed, and the total
        names = (NAME, "rotate_half", "ROTATE_HALF", "Rotate half")
        assert any(word in graded[name] for word in names), name
    assert f"{POINTS}/{total}" in graded["annotations"]
    result = json.loads(graded["json"])["results"][0]
    points = {each["kata"]: each["points"] for each in result["katas"]}
    assert points[NAME] == POINTS
    assert result["points"] == POINTS
    assert result["worth"] == total
    assert NAME in graded["csv"].splitlines()[0]


def test_a_workflow_hands_its_result_to_the_reporter(tree, graded):
    outputs = dict(line.split("=", 1) for line in graded["reporter"].splitlines())
    variables = dict(line.split("=", 1) for line in graded["reporter-env"].splitlines())
    assert "rotate_half" in outputs["runners"].split(",")
    assert variables["ROTATE_HALF_RESULTS"] == outputs["rotate_half"]
    for path in (tree / ".github/actions/grade/action.yml", tree / ".github/workflows/grade.yml"):
        text = path.read_text(encoding="utf-8")
        assert "RESULTS" not in text  # they come by the environment, whatever katas there are
        assert "--github" in text
        assert actions.read(text)


def test_the_lab_shows_it(tree, tmp_path):
    program = (
        "import json\nfrom pathlib import Path\n"
        "from attention_katas.lab.lab import greeting\n"
        "from attention_katas.lab.panels import panels_of\n"
        "from attention_katas.packs.catalog import load_catalog\n"
        "from attention_katas.packs.workspace import create\n"
        "catalog = load_catalog()\nspace = create(Path('space'), catalog)[0]\n"
        "print(json.dumps(greeting(catalog, space, panels_of(catalog), 0, [])))\n"
    )
    done = python(tree, "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    hello = json.loads(done.stdout)
    assert NAME in [each["name"] for each in hello["katas"]]


def test_the_docs_list_it(tree):
    assert python(tree, "docs/make_katas.py", "--check", cwd=tree).returncode == 1
    assert python(tree, "docs/make_katas.py", cwd=tree).returncode == 0
    text = (tree / "docs" / "katas.md").read_text(encoding="utf-8")
    assert f"| {NAME} | turn pairs | `rotate_half` | scale | {POINTS} |" in text


def test_the_docs_list_the_katas_that_ship():
    text = (ROOT / "docs" / "katas.md").read_text(encoding="utf-8")
    for each in load_catalog().ready:
        assert not each.pack.ships or f"| {each.name} | {each.blurb} |" in text
