"""`kata classroom init`, the workflows of this repository, and what they do when something breaks.

Nothing here can run GitHub Actions, Gradescope or Classroom 50: their steps and scripts run on this
machine, with a `kata` and a `pip` that are made up.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from attention_katas import __version__
from attention_katas.classroom import course, package, writing
from attention_katas.cli.classroom import NEXT
from attention_katas.errors import KataError
from attention_katas.packs.catalog import Selection, load_catalog
from tests import actions
from tests.packs import add_kata, make_pack, only
from tests.test_cli import KATAS, kata

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
REPORTER = "classroom-resources/autograding-grading-reporter@v1"
STUBS = [f"{name.replace('-', '_')}.py" for name in KATAS]
STUDENTS = sorted([*STUBS, "README.md", ".gitignore", "requirements.txt"])
posix = pytest.mark.skipif(sys.platform == "win32", reason="Actions and Gradescope run bash")
checkout = pytest.mark.skipif(not GITHUB.is_dir(), reason="not a git checkout")


def make(root, target="actions", spec=package.DEFAULT, catalog=None, **wishes):
    """The folder of a course."""
    plan = course.Course(catalog or load_catalog(), package.parse(spec), target, **wishes)
    writing.write(root, plan)
    return root


def tree(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return path


# --- what is written ---


def test_the_template_of_a_class_has_what_it_needs_and_no_more(tmp_path):
    done = kata("classroom", "init", "class", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "class") == sorted([*STUDENTS, ".github/workflows/katas.yml"])
    assert "✓ .github/workflows/katas.yml" in done.stdout
    for one in load_catalog().ready:
        assert (tmp_path / "class" / one.file).read_bytes() == one.stub.read_bytes()
        assert f"| `{one.file}` |" in (tmp_path / "class" / "README.md").read_text("utf-8")
    wanted = (tmp_path / "class" / "requirements.txt").read_text("utf-8").splitlines()
    assert f"attention-katas=={__version__}" in wanted
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in wanted


@pytest.mark.parametrize(
    ("target", "grader"),
    [
        ("classroom50", ["autograder.py", "requirements.txt", "runtime.json"]),
        ("gradescope", ["requirements.txt", "run_autograder", "setup.sh"]),
    ],
)
def test_a_bundle_has_one_folder_for_students_and_one_for_the_grader(tmp_path, target, grader):
    root = make(tmp_path / "class", target)
    assert tree(root / "students") == STUDENTS
    assert tree(root / "grader") == grader
    rest = {"README.md"} | ({"autograder.zip"} if target == "gradescope" else set())
    assert {path.name for path in root.iterdir() if path.is_file()} == rest


@pytest.mark.parametrize("target", course.TARGETS)
def test_students_get_no_hidden_test_and_no_reference(tmp_path, target):
    root = make(tmp_path / "class", target)
    katas, hidden, shown = load_catalog(), set(), set()
    for one in katas.ready:
        shown |= lines(one.stub)
        for path in (one.reference, *(p for p in one.folder.iterdir() if p != one.stub)):
            hidden |= lines(path)
    hidden = {line for line in hidden - shown if len(line) > 20}
    assert len(hidden) > 1000
    for path in root.rglob("*"):
        if path.is_file() and path.suffix != ".zip":
            told = {line for line in lines(path) & hidden if line not in blurbs(katas)}
            assert not told, path


def lines(path):
    if not path.is_file():
        return set()
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}


def blurbs(katas):
    return {line for one in katas.ready for line in (one.blurb, one.title)}


@pytest.mark.parametrize("target", course.TARGETS)
def test_nothing_that_is_there_is_overwritten(tmp_path, target):
    root = make(tmp_path / "class", target)
    for path in (path for path in root.rglob("*") if path.is_file()):
        path.write_bytes(b"mine")
    (root / "README.md").unlink()
    done = kata("classroom", "init", "class", "--for", target, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "✓ README.md" in done.stdout
    assert done.stdout.count("(left as it is") == len(tree(root)) - 1
    assert "files or name another folder, then run it again" in " ".join(done.stdout.split())
    assert course_next(target) not in done.stdout
    assert {p.read_bytes() for p in root.rglob("*") if p.is_file() and p.name != "README.md"} == {
        b"mine"
    } | ({(root / "students/README.md").read_bytes()} if (root / "students").exists() else set())


def course_next(target):
    return " ".join(NEXT[target].split()[:3])


def test_a_wheel_after_a_first_try_without_one(tmp_path):
    """As docs/classroom.md has it: the first call says that nobody can install this version."""
    path = wheel(tmp_path)
    first = kata("classroom", "init", "class", cwd=tmp_path)
    assert "nobody can install it" in first.stderr
    assert "pip install build" in first.stderr
    assert course_next("actions") not in first.stdout
    again = ("classroom", "init", "class", "--package", path.name)
    left = kata(*again, cwd=tmp_path)
    assert left.returncode == 0
    assert "delete that file or name another folder" in left.stdout
    assert course_next("actions") not in left.stdout
    (tmp_path / "class" / "requirements.txt").unlink()
    done = kata(*again, cwd=tmp_path)
    assert course_next("actions") in done.stdout
    assert path.name in (tmp_path / "class" / "requirements.txt").read_text("utf-8")


def test_a_seed_that_is_there_is_no_conflict(tmp_path):
    spec = "git+https://example.org/someone/attention-katas@v0.1.0"
    words = ("classroom", "init", "c", "--for", "gradescope", "--secret-seed", "--package", spec)
    kata(*words, cwd=tmp_path)
    seed = (tmp_path / "c" / "grader" / "seed").read_bytes()
    done = kata(*words, cwd=tmp_path)
    assert "say otherwise" not in done.stdout
    assert course_next("gradescope") in done.stdout
    assert (tmp_path / "c" / "grader" / "seed").read_bytes() == seed


@checkout
def test_students_are_told_the_versions_of_python_that_fit(tmp_path):
    said = (make(tmp_path / "class") / "README.md").read_text("utf-8")
    [(first, last)] = re.findall(r"Python (3\.\d+) to (3\.\d+)", said)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'requires-python = ">={first}"' in project
    assert f"({first} to {last})" in (ROOT / "README.md").read_text("utf-8")
    listed = re.findall(r"Programming Language :: Python :: 3\.(\d+)", project)
    assert max(map(int, listed)) <= int(last.partition(".")[2])


def test_it_goes_into_a_repository_that_is_there(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "LICENSE").write_text("mine", encoding="utf-8")
    assert kata("classroom", "init", ".", cwd=tmp_path).returncode == 0
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert len(status.splitlines()) == len(STUDENTS) + 2


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "class").write_text("a file", encoding="utf-8")
    done = kata("classroom", "init", "class", cwd=tmp_path)
    assert done.returncode == 2
    assert "class is a file, not a folder" in done.stderr
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".github").write_text("a file", encoding="utf-8")
    done = kata("classroom", "init", "b", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


# --- the package ---


def wheel(folder):
    path = folder / f"attention_katas-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("attention_katas/__init__.py", "")
    return path


def test_a_wheel_is_copied_and_pinned(tmp_path):
    path = wheel(tmp_path)
    root = make(tmp_path / "class", spec=str(path))
    assert (root / "wheels" / path.name).read_bytes() == path.read_bytes()
    assert f"./wheels/{path.name}" in (root / "requirements.txt").read_text("utf-8").split()
    bundle = make(tmp_path / "bundle", "gradescope", spec=str(path))
    assert f"wheels/{path.name}" in zipfile.ZipFile(bundle / "autograder.zip").namelist()


def test_a_git_address_is_pinned_and_git_is_installed(tmp_path):
    spec = "git+https://example.org/someone/attention-katas@v0.1.0"
    root = make(tmp_path / "class", "gradescope", spec=spec)
    assert f"attention-katas @ {spec}" in (root / "grader/requirements.txt").read_text("utf-8")
    assert " git " in (root / "grader/setup.sh").read_text("utf-8")
    assert " git " not in (make(tmp_path / "b", "gradescope") / "grader/setup.sh").read_text()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("attention-katas", "pins no version"),
        ("attention-katas>=1", "pins no version"),
        ("attention-katas==1\n--index-url=https://evil", "pins no version"),
        ("attention-katas==1 ; x", "pins no version"),
        ("", "pins no version"),
        ("git+https://example.org/a/b", "@TAG or @COMMIT"),
        ("git+ssh://git@example.org/a/b@v1", "@TAG or @COMMIT"),
        ("git+https://me:secret@example.org/a/b@v1", "password"),
        ("git+https://secret@example.org/a/b@v1", "password"),
        ("nowhere/attention_katas-1-py3-none-any.whl", "there is no wheel"),
        ("a wheel.whl", "not called as a wheel is"),
        ("empty-1-py3-none-any.whl", "empty-1-py3-none-any.whl is not a wheel"),
    ],
)
def test_a_package_that_is_not_pinned_is_refused(tmp_path, monkeypatch, spec, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty-1-py3-none-any.whl").touch()
    with pytest.raises(KataError, match=said):
        package.parse(spec)
    done = kata("classroom", "init", "class", "--package", spec, cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "class").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "gradescope", "--fail-under", "60"], "--fail-under is for Actions"),
        (["--for", "classroom50", "--tag-only"], "--tag-only is for Actions"),
        (["--for", "classroom50", "--no-reporter"], "--no-reporter is for Actions"),
        (["--for", "classroom50", "--secret-seed"], "publishes the grader"),
        (["--katas-repository", "a/b"], "needs both --katas DIR"),
        (["--fail-under", "101"], "101.0 is not in the range"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, words, said):
    done = kata("classroom", "init", "class", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "class").exists()


# --- a private set ---


@pytest.fixture
def private(tmp_path):
    assert kata("dev", "new", "double", "--katas", "mine", cwd=tmp_path).returncode == 0
    return tmp_path / "mine"


def test_a_private_set_never_goes_to_students(tmp_path, private):
    alone = kata("classroom", "init", "class", "--only-katas", str(private), cwd=tmp_path)
    assert alone.returncode == 2
    assert "--katas-repository OWNER/NAME" in alone.stderr
    words = ["--only-katas", str(private), "--katas-repository", "us/katas"]
    assert kata("classroom", "init", "class", *words, cwd=tmp_path).returncode == 0
    expected = ["double.py", "README.md", ".gitignore", "requirements.txt"]
    assert tree(tmp_path / "class") == sorted([*expected, ".github/workflows/katas.yml"])
    steps = job(tmp_path / "class/.github/workflows/katas.yml")["steps"]
    fetch = next(step for step in steps if "ssh-key" in step.get("with", {}))
    assert fetch["with"]["repository"] == "us/katas"
    grade = next(step for step in steps if step.get("id") == "kata")
    assert f"--only-katas {fetch['with']['path']} " in grade["run"]
    assert "env" not in grade


def test_a_private_set_is_packed_for_the_grader(tmp_path, private):
    root = make(tmp_path / "class", "gradescope", catalog=only(private))
    names = zipfile.ZipFile(root / "autograder.zip").namelist()
    assert "set/mine/double/test_double.py" in names
    assert "set/mine/reference/double.py" in names
    assert tree(root / "students") == [".gitignore", "README.md", "double.py"]
    assert 'cp -R "$source/set" "$home/set"' in (root / "grader/setup.sh").read_text("utf-8")
    assert only(root / "grader" / "set" / "mine").ready[0].name == "double"


# --- workflows ---


def job(path):
    return next(iter(actions.read(path.read_text(encoding="utf-8"))["jobs"].values()))


WISHES = [
    {},
    {"reporter": False},
    {"tag_only": True},
    {"fail_under": 60},
    {"secret_seed": True, "feedback": "full"},
    {"repository": "us/katas"},
    {"repository": "us/katas", "secret_seed": True, "fail_under": 0},
]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The workflow in every shape that it can have."""
    pack = make_pack(tmp_path_factory.mktemp("pack") / "mine", "mine")
    add_kata(pack, "double")
    found = []
    for wish in WISHES:
        catalog = load_catalog(Selection((pack,))) if "repository" in wish else None
        root = make(tmp_path_factory.mktemp("class") / "class", catalog=catalog, **wish)
        found.append(root / ".github/workflows/katas.yml")
    return found


def everything(generated):
    return [*generated, *WORKFLOWS]


def test_workflows_ask_for_little_and_end(generated):
    for path in everything(generated):
        flow = actions.read(path.read_text(encoding="utf-8"))
        assert flow["permissions"] == {}, path
        assert flow["concurrency"]["group"], path
        assert "pull_request_target" not in flow["on"], path
        for name, one in flow["jobs"].items():
            assert one["timeout-minutes"] <= 30, (path, name)
            assert one["permissions"], (path, name)
            writes = {key for key, may in one["permissions"].items() if may != "read"}
            assert writes <= ({"id-token"} if name == "publish" else set()), (path, name)


def uses(path):
    """(action, version as pinned, comment) for every action that a file calls."""
    pattern = r"^\s*(?:- )?uses: ([\w./-]+)@(\S+)(?: # (\S+))?$"
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.M)


def test_actions_are_pinned_and_everywhere_to_the_same(generated):
    pins = {}
    for path in [*everything(generated), *GITHUB.glob("actions/*/action.yml")]:
        found = uses(path)
        assert len(found) == path.read_text(encoding="utf-8").count("uses: ") - (
            path.read_text(encoding="utf-8").count("#       uses: OWNER")
            + path.read_text(encoding="utf-8").count("#   - uses: OWNER")
        )
        for name, version, comment in found:
            if f"{name}@{version}" == REPORTER:
                continue  # its only tag; the contract is with exactly this one
            assert re.fullmatch(r"[0-9a-f]{40}", version), (path, name)
            assert re.fullmatch(r"v\d+\.\d+\.\d+", comment), (path, name)
            pins.setdefault(name, set()).add((version, comment))
    assert {name: len(versions) for name, versions in pins.items() if len(versions) > 1} == {}


def steps_of(path):
    whole = actions.read(path.read_text(encoding="utf-8"))
    jobs = whole["jobs"].values() if "jobs" in whole else [whole["runs"]]
    return list(itertools.chain.from_iterable(one["steps"] for one in jobs))


@posix
def test_scripts_hold_no_expression_and_are_bash(generated):
    for path in [*everything(generated), *GITHUB.glob("actions/*/action.yml")]:
        for step in steps_of(path):
            if "run" in step:
                assert "${{" not in step["run"], path
                syntax(step["run"])
            if "actions/checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def syntax(text):
    checked = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    assert checked.returncode == 0, checked.stderr


def test_files_are_what_their_schemas_say(generated):
    """The schemas are those that come with check-jsonschema."""
    pytest.importorskip("check_jsonschema")
    for schema, files in {
        "github-workflows": everything(generated),
        "github-actions": list(GITHUB.glob("actions/*/action.yml")),
        "dependabot": list(GITHUB.glob("dependabot.yml")),
    }.items():
        if files:
            command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
            done = subprocess.run(
                [*command, f"vendor.{schema}", *map(str, files)], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("actionlint"), reason="actionlint is not installed")
def test_actionlint_finds_nothing(generated):
    done = subprocess.run(
        ["actionlint", *map(str, everything(generated))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@checkout
def test_no_workflow_names_a_kata():
    """Else the points of another one are lost: the reporter finds them in its environment."""
    for path in (GITHUB / "actions/grade/action.yml", GITHUB / "workflows/grade.yml"):
        step = next(step for step in steps_of(path) if step.get("uses") == REPORTER)
        assert set(step) == {"name", "if", "uses", "with"}
        text = path.read_text(encoding="utf-8")
        assert "_RESULTS" not in text


def test_tag_only_runs_for_tags_only(tmp_path):
    root = make(tmp_path / "class", tag_only=True)
    flow = actions.read((root / ".github/workflows/katas.yml").read_text("utf-8"))
    assert flow["on"]["push"] == {"tags": ["submit/**"]}
    assert "git push origin submit/1" in (root / "README.md").read_text("utf-8")
    every = make(tmp_path / "every") / ".github/workflows/katas.yml"
    assert "tags" not in actions.read(every.read_text("utf-8"))["on"]["push"]


# --- what the steps do ---

GITHUB_CALL = ["grade", ".", "--layout", "one", "--github", "--feedback", "named"]
OUTPUTS = {"dot_product": "ZG90", "softmax": "c29mdA==", "runners": "dot_product,softmax"}
FAKE_KATA = r"""
printf '%s\n' "$@" >"$SEEN/kata"
env >"$SEEN/environment"
[ -z "$WRITES" ] || printf '%b' "$WRITES" >>"$GITHUB_OUTPUT"
[ -z "$VARIABLES" ] || printf '%b' "$VARIABLES" >>"$GITHUB_ENV"
exit "$CODE"
"""


@pytest.fixture
def stage(tmp_path):
    """Where steps run: a checkout, and programs that only note how they were called."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "work").mkdir()
    program(tmp_path / "bin" / "kata", FAKE_KATA)
    program(tmp_path / "bin" / "pip", 'printf "%s\\n" "$@" >"$SEEN/pip"; exit "${PIP_CODE:-0}"')

    def play(steps, code=0, outputs=OUTPUTS, pip=0, **contexts):
        environment = {
            "PATH": f"{tmp_path / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "SEEN": str(tmp_path),
            "CODE": str(code),
            "PIP_CODE": str(pip),
            "WRITES": "".join(f"{name}={text}\\n" for name, text in outputs.items()),
            "VARIABLES": "".join(
                f"{name.upper()}_RESULTS={text}\\n" for name, text in outputs.items()
            ),
            "GITHUB_ACTION_PATH": str(GITHUB / "actions" / "grade"),
            **contexts.pop("environment", {}),
        }
        return actions.run(steps, tmp_path / "work", environment, **contexts)

    play.folder = tmp_path
    play.said = lambda name: (tmp_path / name).read_text("utf-8").splitlines()
    return play


def reported(done):
    return [(env, given) for used, env, given in done.used if used == REPORTER]


@posix
def test_the_workflow_grades_and_reports(stage, tmp_path):
    steps = job(make(tmp_path / "class") / ".github/workflows/katas.yml")["steps"]
    done = stage(steps)
    assert not done.failed
    assert stage.said("pip")[-2:] == ["-r", "requirements.txt"]
    assert stage.said("kata") == GITHUB_CALL
    [(environment, given)] = reported(done)
    assert environment["DOT_PRODUCT_RESULTS"] == "ZG90"
    assert "MASK_RESULTS" not in environment
    assert given == {"runners": "dot_product,softmax"}


@posix
def test_below_the_threshold_the_job_fails_and_still_reports(stage, tmp_path):
    root = make(tmp_path / "class", fail_under=60, secret_seed=True)
    steps = job(root / ".github/workflows/katas.yml")["steps"]
    done = stage(steps, code=1, secrets={"KATA_GRADING_SEED": "s3cret"})
    assert done.failed
    assert stage.said("kata")[-2:] == ["--fail-under", "60"]
    assert "KATA_GRADING_SEED=s3cret" in stage.said("environment")
    assert len(reported(done)) == 1


@posix
def test_a_grader_that_fails_reports_nothing(stage, tmp_path):
    steps = job(make(tmp_path / "class") / ".github/workflows/katas.yml")["steps"]
    assert reported(stage(steps, code=3, outputs={})) == []
    done = stage(steps, pip=1)
    assert done.failed
    assert reported(done) == []
    assert done.ran[-1] == "Install the judge"


@posix
def test_without_the_reporter_no_result_is_written_for_it(stage, tmp_path):
    steps = job(make(tmp_path / "class", reporter=False) / ".github/workflows/katas.yml")["steps"]
    done = stage(steps, outputs={})
    assert not done.failed
    assert stage.said("kata")[4:8] == ["--to", "actions", "--to", "annotations"]
    assert reported(done) == []


def defaults(declared):
    return {name: one.get("default", "") for name, one in declared.items()}


@posix
@checkout
@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_composite_action(stage, code):
    path = GITHUB / "actions/grade/action.yml"
    inputs = defaults(actions.read(path.read_text(encoding="utf-8"))["inputs"])
    done = stage(steps_of(path), code=code, inputs=inputs)
    assert done.failed == (code != 0)
    assert stage.said("kata") == GITHUB_CALL
    assert not any(line.startswith("KATA_GRADING_SEED") for line in stage.said("environment"))
    assert (Path(stage.said("pip")[-1]) / "pyproject.toml").exists()
    assert len(reported(done)) == 1
    inputs |= {"package": "attention-katas==9", "fail-under": "50", "seed": "x y", "path": "a b"}
    quiet = stage(steps_of(path), inputs={**inputs, "reporter": "false"})
    assert stage.said("pip")[-1] == "attention-katas==9"
    assert stage.said("kata")[1] == "a b"
    assert stage.said("kata")[-2:] == ["--fail-under", "50"]
    assert "KATA_GRADING_SEED=x y" in stage.said("environment")
    assert reported(quiet) == []


@posix
@checkout
def test_the_reusable_workflow(stage):
    path = GITHUB / "workflows/grade.yml"
    asked = actions.read(path.read_text(encoding="utf-8"))["on"]["workflow_call"]["inputs"]
    inputs = defaults(asked) | {"package": "attention-katas==9; touch pwned"}
    done = stage(steps_of(path), inputs=inputs)
    assert not done.failed
    assert stage.said("pip")[-1] == "attention-katas==9; touch pwned"
    assert not list(stage.folder.glob("**/pwned"))
    assert stage.said("kata") == GITHUB_CALL
    assert len(reported(done)) == 1
    strict = stage(steps_of(path), code=1, inputs=inputs | {"fail-under": "50"})
    assert strict.failed
    assert stage.said("kata")[-2:] == ["--fail-under", "50"]


@posix
@checkout
@pytest.mark.parametrize(
    ("tag", "version", "log", "fine"),
    [
        ("v0.2.0", "0.2.0", "## 0.2.0 - 2026-12-01", True),
        ("v0.2.0", "0.2.0", "## [0.2.0] - 2026-12-01", True),
        ("v0.2.0", "0.2.0", "## Unreleased", False),
        ("v0.2.1", "0.2.0", "## 0.2.1", False),
        ("v0.2", "0.2.0", "## 0.2", False),
    ],
)
def test_a_tag_that_is_not_the_version_is_not_released(tmp_path, tag, version, log, fine):
    step = next(s for s in steps_of(GITHUB / "workflows/release.yml") if "tag is" in str(s))
    (tmp_path / "work" / "dist").mkdir(parents=True)
    for name in (
        f"attention_katas-{version}-py3-none-any.whl",
        f"attention_katas-{version}.tar.gz",
    ):
        (tmp_path / "work" / "dist" / name).touch()
    (tmp_path / "work" / "CHANGELOG.md").write_text(f"# Changelog\n\n{log}\n", encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "GITHUB_REF_NAME": tag}
    assert actions.run([step], tmp_path / "work", environment).failed != fine


# --- Gradescope ---

RESULTS = {"score": 12, "tests": [{"name": "softmax", "score": 12, "max_score": 20}]}


@pytest.fixture
def container(tmp_path):
    """What Gradescope's container looks like from within, with a kata that does as told."""
    root = make(tmp_path / "class", "gradescope", secret_seed=True)
    (tmp_path / "autograder" / "submission").mkdir(parents=True)
    shutil.copytree(root / "grader", tmp_path / "autograder" / "source")
    (tmp_path / "opt" / "bin").mkdir(parents=True)
    (tmp_path / "opt" / "bin" / "python").symlink_to(sys.executable)

    def grade(does, script=None):
        program(tmp_path / "opt" / "bin" / "kata", does)
        text = (tmp_path / "autograder/source/run_autograder").read_text(encoding="utf-8")
        runner = program(tmp_path / "autograder" / "run_autograder", (script or str)(text))
        done = subprocess.run(
            ["bash", str(runner)],
            cwd=tmp_path / "autograder",
            env={
                **os.environ,
                "KATA_AUTOGRADER_ROOT": str(tmp_path / "autograder"),
                "KATA_HOME": str(tmp_path / "opt"),
                "SECRET_OF_THE_PLATFORM": "x",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / "autograder/results/results.json").read_text("utf-8"))
        return found, done.stdout

    return grade


# The fake finds the file that --to names; its own name for it is $to.
WRITES = "for word; do case $word in gradescope=*) to=${word#gradescope=};; esac; done\n"


@posix
def test_gradescope_gets_the_results_of_kata(container):
    seen = 'printf "%s " "$@"; env; '
    found, log = container(f"{WRITES}{seen}echo '{json.dumps(RESULTS)}' >$to")
    assert found == RESULTS
    assert "/submission --layout one --workers 1 --feedback named --to" in log
    assert "--allow-weak-sandbox" in log
    assert re.search(r"^KATA_GRADING_SEED=[0-9a-f]{32}$", log, re.M)
    assert "SECRET_OF_THE_PLATFORM" not in log


@posix
@pytest.mark.parametrize(
    "does",
    [
        "exit 1",
        "exit 3",
        "kill -9 $$",
        "exit 0",
        f"{WRITES}echo '{{' >$to",
        f"{WRITES}echo '[]' >$to",
        f"{WRITES}echo '{json.dumps(RESULTS)}' >$to; exit 2",
        f"{WRITES}echo '{json.dumps(RESULTS)}' >$to; exit 3",
        f"{WRITES}ln -s /etc/hostname $to",
        f"{WRITES}echo '{json.dumps(RESULTS)}' >$to.2; ln -s $to.2 $to",
        "seq 1 100000; exit 7",
    ],
)
def test_gradescope_always_gets_a_results_file(container, does):
    found, log = container(does)
    assert found["score"] == 0
    assert found["tests"] == []
    assert found["extra_data"] == {"could_not_grade": True}
    assert "The fault is the grader's, not yours" in found["output"]
    assert "could not grade" in log
    assert len(log) < 40_000


@posix
def test_gradescope_is_told_in_time(container):
    found, log = container(
        "sleep 30",
        lambda text: text.replace("limit=540 ", "limit=1 ").replace("after=15", "after=1"),
    )
    assert found["extra_data"] == {"could_not_grade": True}
    assert "ended with 124" in log


@posix
@pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0 or not shutil.which("setpriv"), reason="needs root"
)
def test_in_the_container_submissions_are_judged_by_a_user_without_rights():
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        base.chmod(0o755)
        shutil.copytree(
            make(base / "c", "gradescope", secret_seed=True) / "grader", base / "source"
        )
        (base / "submission").mkdir()
        (base / "opt" / "bin").mkdir(parents=True)
        (base / "opt" / "bin" / "python").symlink_to(sys.executable)
        acts = {
            "root": "[ $(id -u) = 0 ]",
            "seed": f"cat {base}/source/seed",
            "results": f"echo x >>{base}/results/results.json",
            "gone": f"rm -rf {base}/results/results.json; [ ! -e {base}/results ]",
            "source": f"echo x >>{base}/source/run_autograder",
            "submission": f"touch {base}/submission/x",
            "kata": f"touch {base}/opt/bin/kata",
        }
        tried = "\n".join(f"if {act}; then echo did-{name}; fi" for name, act in acts.items())
        fake = f"{WRITES}{tried}\necho '{json.dumps(RESULTS)}' >$to"
        program(base / "opt" / "bin" / "kata", fake)
        script = (base / "source/run_autograder").read_text(encoding="utf-8")
        script = script.replace("id kata", "id nobody").replace(" kata)", " nobody)")
        runner = program(base / "run", script.replace("chown kata", "chown nobody"))
        done = subprocess.run(
            ["bash", str(runner)],
            env={**os.environ, "KATA_AUTOGRADER_ROOT": folder, "KATA_HOME": str(base / "opt")},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert json.loads((base / "results/results.json").read_text("utf-8")) == RESULTS
        assert "did-" not in done.stdout, done.stdout


@posix
@pytest.mark.parametrize("old", [False, True])
def test_the_image_is_set_up(tmp_path, private, old):
    root = make(tmp_path / "class", "gradescope", catalog=only(private))
    shutil.copytree(root / "grader", tmp_path / "autograder" / "source")
    note = f'echo "$(basename "$0") $*" >>"{tmp_path}/calls"'
    for name in ("apt-get", "useradd", "chown", "setpriv"):
        program(tmp_path / "bin" / name, note)
    program(tmp_path / "bin" / "id", '[ "$1" != kata ] && echo 7')
    program(tmp_path / "tool", f"{note}\n[ $(basename $0) != kata ] || exit 1")
    install = (
        f'mkdir -p "$3/bin"; cp "{tmp_path}/tool" "$3/bin/pip"; cp "{tmp_path}/tool" "$3/bin/kata"'
    )
    program(
        tmp_path / "bin" / "python3", f"{note}\ncase $1 in -c) exit {int(old)};; esac\n{install}"
    )
    done = subprocess.run(
        ["bash", str(tmp_path / "autograder/source/setup.sh")],
        env={
            "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
            "KATA_AUTOGRADER_ROOT": str(tmp_path / "autograder"),
            "KATA_HOME": str(tmp_path / "katas"),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    if old:
        assert done.returncode == 1
        assert "choose Ubuntu 22.04 or later" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text(encoding="utf-8")
    assert "pip install --no-cache-dir --disable-pip-version-check -r requirements.txt" in calls
    assert "useradd --system" in calls
    assert (tmp_path / "katas/set/mine/double/test_double.py").exists()
    as_kata = "setpriv --reuid 7 --regid 7 --clear-groups"
    assert calls.splitlines()[-1] == f"{as_kata} {tmp_path}/katas/bin/kata doctor"


@posix
def test_the_zip_is_what_is_in_the_folder_now(tmp_path):
    root = make(tmp_path / "class", "gradescope")
    with zipfile.ZipFile(root / "autograder.zip") as archive:
        modes = {one.filename: one.external_attr >> 16 & 0o777 for one in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    assert modes["requirements.txt"] == 0o644
    (root / "grader" / "setup.sh").write_text("mine", encoding="utf-8")
    (root / "autograder.zip").unlink()
    make(root, "gradescope")
    assert zipfile.ZipFile(root / "autograder.zip").read("setup.sh") == b"mine"


@posix
@pytest.mark.parametrize("seed", [False, True])
def test_scripts_are_clean(tmp_path, seed):
    for spec in (package.DEFAULT, "git+https://example.org/a/b@v1"):
        root = make(tmp_path / spec[:3], "gradescope", spec=spec, secret_seed=seed)
        for name in ("setup.sh", "run_autograder"):
            syntax((root / "grader" / name).read_text(encoding="utf-8"))
            if shutil.which("shellcheck"):
                done = subprocess.run(
                    ["shellcheck", str(root / "grader" / name)], capture_output=True, text=True
                )
                assert done.returncode == 0, done.stdout


# --- Classroom 50 ---


@pytest.fixture
def shim(tmp_path, monkeypatch):
    """autograder.py as a module, in a checkout, with a kata that does as told."""
    folder = make(tmp_path / "class", "classroom50") / "grader"
    found = importlib.util.spec_from_file_location("autograder", folder / "autograder.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")

    def grade(does):
        program(tmp_path / "bin" / "kata", does)
        monkeypatch.setattr(module, "install", lambda folder: tmp_path / "bin")
        return module.main()

    grade.module = module
    return grade


@posix
def test_classroom50_gets_a_result(shim):
    Path("release-body.md").write_text("a student's", encoding="utf-8")
    assert shim('printf "%s\\n" "$@" >words; echo "{}" >result.json') == 0
    assert Path("result.json").read_text("utf-8") == "{}\n"
    assert not Path("release-body.md").exists()
    words = Path("words").read_text("utf-8").split()
    assert words[:6] == ["grade", ".", "--layout", "one", "--to", "classroom50=result.json"]
    assert words[-2:] == ["--feedback", "named"]


@posix
@pytest.mark.parametrize("does", ["exit 3", "exit 1", "exit 0", 'echo "{}" >result.json; exit 3'])
def test_classroom50_publishes_no_score_when_the_grader_fails(shim, does):
    Path("result.json").write_text("a student's", encoding="utf-8")
    assert shim(does) == 1
    assert not Path("result.json").exists()


def test_classroom50_is_told_that_the_judge_cannot_be_installed(shim, monkeypatch, capsys):
    calls = []

    def fails(command, **_):
        calls.append(command)
        if "pip" in command:
            raise subprocess.CalledProcessError(1, ["pip"])

    monkeypatch.setattr(shim.module.subprocess, "run", fails)
    assert shim.module.main() == 1
    assert [command[1] for command in calls] == ["-I", "-I"]
    assert capsys.readouterr().out.startswith("::error::the grader itself failed: ")
