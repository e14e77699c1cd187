"""The command as a person uses it: what it prints, what it leaves, how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from attention_katas import cli
from attention_katas.packs.catalog import load_catalog

KATAS = [kata.name for kata in load_catalog().ready]
RIGHT = """
import torch
def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
"""
WRONG = RIGHT.replace("e.sum(dim", "e.sum(-1")


def kata(*words, cwd, **environment):
    """The command, as a user has it: with a daemon, which all of these calls share."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COLUMNS"))}
    clean |= {"KATA_COLD": "", "CI": "", "XDG_RUNTIME_DIR": clean.get("KATA_TEST_RUNTIME", "")}
    return subprocess.run(
        [sys.executable, "-m", "attention_katas", *words],
        cwd=cwd,
        env={**clean, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture
def space(tmp_path):
    done = kata("init", "work", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path / "work"


def test_a_whole_day(space):
    """From the stub to a pass, with the states on the way."""
    untouched = kata("run", "softmax", cwd=space)
    assert untouched.returncode == 1
    assert "not started" in untouched.stdout
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    wrong = kata("run", "softmax", cwd=space)
    assert wrong.returncode == 1
    assert "✗ Sums to one along dim, not always" in wrong.stdout
    assert "pending:" in kata("list", cwd=space).stdout
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    right = kata("run", "softmax", "--seed", "11", cwd=space)
    assert right.returncode == 0
    assert "seed 11" in right.stdout
    assert "What carries forward" in right.stdout
    assert "next:  kata show dot-product" in right.stdout
    assert "done: passed" in kata("list", cwd=space).stdout
    (space / "softmax.py").write_text(RIGHT + "\n# a note\n", encoding="utf-8")
    assert "done: passed" in kata("list", cwd=space).stdout  # a note does not undo a pass
    (space / "softmax.py").write_text(RIGHT + "\nx = 1\n", encoding="utf-8")
    assert "stale: your file, or one" in kata("progress", cwd=space).stdout
    assert "2 attempts" in kata("progress", cwd=space).stdout  # looking at a stub is none


def test_run_without_a_name_takes_the_next(space):
    done = kata("run", cwd=space)
    assert done.returncode == 1
    assert "dot-product  not started" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that is in use")
def test_a_folder_that_is_gone(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && {Path(sys.executable).parent / 'kata'} list"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the folder you are in cannot be used" in done.stderr


def test_json_keeps_to_its_schema(space):
    root = Path(__file__).parents[1]
    schema = json.loads((root / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    bodies = (
        RIGHT,
        WRONG,
        "def softmax(:",
        "def softmax(x, dim=-1):\n    return x / 0 * x\n",
        "def softmax(x, dim=-1):\n    raise ValueError('no')\n",
    )
    for body in bodies:
        (space / "softmax.py").write_text(body, encoding="utf-8")
        done = kata("run", "--all", "--format", "json", cwd=space)
        report = json.loads(done.stdout)
        validator.validate(report)
        assert report["exit_code"] == done.returncode == 1
        assert [one["kata"] for one in report["verdicts"]] == KATAS


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["run", "sofmax"], 2, "did you mean 'softmax'?"),
        (["run", "--file", "x.py"], 2, "give its name"),
        (["run", "softmax", "--file", "no.py"], 2, "there is no file no.py"),
        (["run", "softmax", "--all"], 2, "not both"),
        (["run", "softmax", "--seed", "9" * 30], 2, "is not in the range"),
        (["run", "my-katas/dot_produkt.py"], 2, "next:  kata run dot-product"),
        (["run", "softmax", "--device", "tpu"], 2, "'tpu' is not one of"),
        (["run", "softmax", "--seed", "x"], 2, "not a valid integer"),
        (["rnu"], 2, "Did you mean 'run'?"),
        (["hint", "softmax", "--level", "9"], 2, "has 4 hints"),
        (["reset"], 2, "which kata?"),
    ],
)
def test_what_cannot_be_done_is_said_with_exit_2(space, words, code, says):
    done = kata(*words, cwd=space)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("words", [["run"], ["run", "softmax"], ["progress"], ["reset", "softmax"]])
def test_without_a_workspace_the_next_step_is_init(tmp_path, words):
    done = kata(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "next:  kata init my-katas" in done.stderr


def test_a_missing_file_is_not_started(space):
    (space / "softmax.py").unlink()
    done = kata("run", "softmax", cwd=space)
    assert done.returncode == 1
    assert "next:  kata reset softmax" in done.stdout


def test_hints_climb_and_stay(space):
    titles = [kata("hint", "softmax", cwd=space).stdout.split("\n")[1] for _ in range(5)]
    assert [title.split(":")[0] for title in titles] == [
        f"softmax, hint {n} of 4" for n in (1, 2, 3, 4, 4)
    ]


def test_reset_keeps_a_copy(space):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    done = kata("reset", "softmax", cwd=space)
    assert done.returncode == 0
    (copy,) = (space / ".kata" / "backups").iterdir()
    assert copy.read_text(encoding="utf-8") == RIGHT
    assert copy.name in done.stdout


def test_a_file_from_elsewhere_leaves_no_trace(space, tmp_path):
    (tmp_path / "mine.py").write_text(RIGHT, encoding="utf-8")
    before = sorted(space.rglob("*"))
    done = kata("run", "softmax", "--file", str(tmp_path / "mine.py"), cwd=space)
    assert done.returncode == 0
    assert sorted(space.rglob("*")) == before
    assert f"0 of {len(KATAS)} done" in kata("list", cwd=space).stdout


def test_files_named_like_modules_do_no_harm(space):
    for name in ("torch", "random", "numpy", "click", "json", "conftest", "sitecustomize"):
        (space / f"{name}.py").write_text("raise SystemExit('shadowed')\n", encoding="utf-8")
    (space / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n", encoding="utf-8")
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    done = kata("run", "softmax", cwd=space, PYTEST_ADDOPTS="--collect-only", PYTEST_PLUGINS="nope")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["list"],
        ["show", "softmax"],
        ["hint", "softmax"],
        ["progress"],
        ["run", "softmax"],
    ],
)
def test_what_does_not_judge_starts_light(space, words):
    """Neither torch nor pytest: an untouched stub is told without them."""
    program = (
        "import sys\nfrom attention_katas.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'pytest', 'numpy', 'safetensors', 'textual', 'watchfiles'}\n"
        "heavy &= set(sys.modules)\n"
        "print('HEAVY', sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=space,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert "HEAVY []" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {"COLUMNS": "40"},
        {"COLUMNS": "60", "NO_COLOR": "1"},
        {"TERM": "dumb"},
        {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        {"COLUMNS": "200"},
    ],
)
def test_every_terminal_can_read_it(space, environment):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    done = kata("run", "softmax", cwd=space, **environment)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout
    width = int(environment.get("COLUMNS", 80))
    long = [line for line in done.stdout.splitlines() if len(line) > max(width, 60)]
    assert not long
    if environment.get("PYTHONIOENCODING") == "ascii":
        assert done.stdout.isascii()


def test_spawned_is_the_same(space):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    found = [
        json.loads(
            kata("run", "softmax", "--seed", "3", "--format", "json", *more, cwd=space).stdout
        )
        for more in ([], ["--spawn"])
    ]
    outcomes = [
        [(c["name"], c["outcome"], c["rung"], c["message"]) for c in one["verdicts"][0]["checks"]]
        for one in found
    ]
    assert outcomes[0] == outcomes[1]


def test_a_progress_file_that_cannot_be_written_does_not_hide_the_verdict(space):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    database = space / ".kata" / "progress.db"
    database.mkdir()
    done = kata("run", "softmax", cwd=space)
    assert done.returncode == 0
    assert "not recorded" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_is_pleased(tmp_path):
    done = kata("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert f"the {KATAS[-1]} reference: passed" in done.stdout


def commands(group=cli.main, prefix="kata"):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_explains_itself(name):
    command = dict(commands())[name]
    assert command.help
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    assert all(p.help for p in options)


def test_files_called_like_modules_are_in_nobodys_way(space):
    for name in ("torch", "random", "timeit", "click", "sqlite3", "json"):
        (space / f"{name}.py").write_text("raise SystemExit('hijacked')\n", encoding="utf-8")
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    done = kata("run", "softmax", cwd=space)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_progress_that_cannot_be_opened_takes_no_verdict_away(space):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    (space / ".kata" / "progress.db").mkdir()
    done = kata("run", "softmax", cwd=space)
    assert done.returncode == 0
    assert "softmax  passed" in done.stdout
    assert "progress is not recorded" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a limit in the place of a full disk")
def test_a_full_disk_takes_no_verdict_away(space):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    command = f"ulimit -f 0; exec {sys.executable} -m attention_katas run softmax"
    done = subprocess.run(
        ["sh", "-c", command], cwd=space, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert "softmax  passed" in done.stdout
    assert "progress is not recorded" in done.stderr
    assert kata("run", "softmax", cwd=space).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_sign_of_life_on_a_terminal(space):
    import pexpect

    (space / "softmax.py").write_text("import time\ntime.sleep(2)\n" + RIGHT, encoding="utf-8")
    child = pexpect.spawn(
        sys.executable, ["-m", "attention_katas", "run", "softmax"], cwd=str(space), timeout=60
    )
    child.expect("judging softmax")
    child.close(force=True)
