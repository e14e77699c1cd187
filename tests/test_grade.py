"""`kata grade` as it is typed: a class with everything in it, killed, resumed, interrupted."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attention_katas.grading import screen as shown
from attention_katas.grading.results import points_for
from attention_katas.grading.run import Summary
from attention_katas.verdict import data as v
from tests.packs import copied
from tests.test_cli import KATAS, kata

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the locks of Linux")

CLASS = {
    "right": None,  # the reference
    "same": None,
    "zeros": "import torch\ndef softmax(x, dim=-1):\n    return torch.zeros_like(x)\n",
    "raw": "def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, keepdim=True)\n",
    "hangs": "def softmax(x, dim=-1):\n    while True:\n        pass\n",
    "sleeps": "import time\ndef softmax(x, dim=-1):\n    time.sleep(1.5)\n    return x\n",
    "exits": "import os\ndef softmax(x, dim=-1):\n    os._exit(0)\n",
    "eats": "import torch\ndef softmax(x, dim=-1):\n    return torch.ones(1 << 31, dtype=x.dtype)",
    "broken": "def softmax(x:\n",
    "void": "",
    "snoops": "print(open('/etc/passwd').read())\ndef softmax(x, dim=-1):\n    return x\n",
}


@pytest.fixture
def classroom(tmp_path, catalog):
    for name, text in CLASS.items():
        folder = tmp_path / "class" / name
        folder.mkdir(parents=True)
        text = catalog["softmax"].reference.read_text() if text is None else text
        (folder / "softmax.py").write_text(text)
    (tmp_path / "class" / "nobody").mkdir()
    (tmp_path / "seed").write_text("a secret")
    return tmp_path


HOW = ("--only", "softmax", "--workers", "2", "--seed-file", "seed", "--allow-weak-sandbox")


def graded(folder, *options, path="class"):
    done = kata(
        "grade", path, *HOW, *options, "--ledger", "l.db", "--to", "json=out.json", cwd=folder
    )
    return done, json.loads((folder / "out.json").read_text())["results"]


def outcomes(results):
    return {
        one["student"]: (one["katas"][0]["verdict"]["outcome"], one["points"]) for one in results
    }


def rows(folder):
    db = sqlite3.connect(folder / "l.db")
    try:
        return db.execute("select key, at, outcome from verdicts order by key").fetchall()
    finally:
        db.close()


def test_everybody_in_a_class_gets_a_result(classroom):
    """What hangs, crashes or is not there is graded like all else, and harms nobody else."""
    done, results = graded(classroom, "--time-limit", "6")
    assert done.returncode == 0, done.stdout + done.stderr
    found = outcomes(results)
    assert set(found) == {*CLASS, "nobody"}
    assert found["right"] == found["same"] == (v.PASSED, 20)
    assert found["zeros"] == (v.FAILED, 0)
    assert found["raw"][0] == v.FAILED
    assert 0 < found["raw"][1] < 20
    assert found["hangs"] == (v.TIMED_OUT, 0)
    assert found["sleeps"] == (v.TIMED_OUT, 0)
    assert found["exits"][0] == v.CRASHED
    assert found["eats"][0] == v.OUT_OF_MEMORY
    assert found["broken"] == (v.BROKEN, 0)
    assert found["void"] == (v.NOT_STARTED, 0)
    assert found["snoops"][1] == 0
    assert found["nobody"] == (v.NOT_STARTED, 0)
    text = (classroom / "out.json").read_text()
    assert "root:" not in text
    assert "takes exponentials without subtracting the maximum" in text  # by its name
    before = rows(classroom)
    assert len(before) == len(CLASS) + 1 - 1  # `same` is `right`

    again, results = graded(classroom, "--time-limit", "6")
    assert again.returncode == 0
    assert outcomes(results) == found
    assert [row[:2] for row in rows(classroom) if row[2] != v.NOT_STARTED] == [
        row[:2] for row in before if row[2] != v.NOT_STARTED
    ]


def command(folder, *options):
    return [sys.executable, "-m", "attention_katas", "grade", "class", *HOW, *options]


def slow_class(folder, count):
    """Distinct submissions that are wrong, and take a moment."""
    for number in range(count):
        home = folder / "class" / f"s{number:02}"
        home.mkdir(parents=True)
        (home / "softmax.py").write_text(
            f"def softmax(x, dim=-1):\n    return x * {number}.5\n", encoding="utf-8"
        )
    (folder / "seed").write_text("a secret")


def judged(folder):
    try:
        return {row[0] for row in rows(folder)}
    except sqlite3.OperationalError:
        return set()


def until(is_so, seconds=60.0):
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends, "it did not come"
        time.sleep(0.02)


def workers_of(pid):
    """The judging processes that a command has started."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in children for child in file.read_text().split()]


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_killed_at_any_moment_it_goes_on_where_it_stopped(tmp_path):
    slow_class(tmp_path, 30)
    environment = {**os.environ, "KATA_COLD": "1"}
    started = subprocess.Popen(
        command(tmp_path, "--ledger", "l.db"),
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: len(judged(tmp_path)) >= 5)
    workers = workers_of(started.pid)
    started.kill()
    started.wait()
    before = {row[0]: row[1] for row in rows(tmp_path)}
    assert 5 <= len(before) < 30
    until(lambda: all(map(gone, workers)))
    done, results = graded(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(results) == 30
    assert {one["points"] for one in results} <= set(range(20))
    after = {row[0]: row[1] for row in rows(tmp_path)}
    assert len(after) == 30
    assert before.items() <= after.items()  # nothing that was done is done again


def test_workers_that_are_killed_are_replaced(tmp_path):
    slow_class(tmp_path, 20)
    started = subprocess.Popen(
        command(tmp_path, "--ledger", "l.db", "--to", "json=out.json"),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: len(judged(tmp_path)) >= 3)
    for pid in workers_of(started.pid):
        os.kill(pid, signal.SIGKILL)
    assert started.wait(120) == 0
    results = json.loads((tmp_path / "out.json").read_text())["results"]
    assert len(results) == 20
    assert all(one["graded"] for one in results)
    assert workers_of(started.pid) == []


def test_ctrl_c_keeps_what_is_done_and_leaves_nothing_running(tmp_path):
    slow_class(tmp_path, 30)
    started = subprocess.Popen(
        command(tmp_path, "--ledger", "l.db", "--to", "json=out.json"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until(lambda: len(judged(tmp_path)) >= 3)
    workers = workers_of(started.pid)
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=30)[0]
    assert started.returncode == 130, said
    assert "katas judged; the ledger keeps them" in said
    assert "Traceback" not in said
    until(lambda: all(map(gone, workers)), 10)
    results = json.loads((tmp_path / "out.json").read_text())["results"]
    assert len(results) == 30
    done = [one for one in results if one["graded"]]
    assert len(judged(tmp_path)) == len(done) < 30
    missing = next(one for one in results if not one["graded"])
    assert missing["katas"][0]["points"] is None
    assert "could not grade" not in said
    assert "not judged yet" in said
    report = kata("grade", "report", "l.db", "--out", "page.html", cwd=tmp_path)
    assert "not judged yet" in report.stdout
    assert "could not" not in report.stdout
    next_step = " ".join(report.stdout.rpartition("next:")[2].split())
    typed = command(tmp_path, "--ledger", "l.db", "--to", "json=out.json")[3:]
    assert next_step == shlex.join(["kata", *typed])


def test_a_stopped_run_leaves_the_documents_of_a_whole_one(tmp_path):
    slow_class(tmp_path, 10)
    (tmp_path / "out.json").write_text("whole")
    started = subprocess.Popen(
        command(tmp_path, "--ledger", "l.db", "--to", "json=out.json"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until(lambda: len(judged(tmp_path)) >= 1)
    started.send_signal(signal.SIGINT)
    asked = time.monotonic()
    said = started.communicate(timeout=30)[0]
    assert started.returncode == 130, said
    assert time.monotonic() - asked < 5  # no worker is started anew
    assert "out.json is left as it was" in said
    assert (tmp_path / "out.json").read_text() == "whole"


def test_a_single_submission_on_the_screen(tmp_path, catalog):
    (tmp_path / "softmax.py").write_text(CLASS["raw"])
    done = kata("grade", "softmax.py", "--allow-weak-sandbox", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "! softmax takes exponentials without subtracting the maximum" in done.stdout
    assert f"of {sum(kata.points for kata in catalog.ready)} points" in done.stdout
    assert "seed" not in done.stdout
    assert list(tmp_path.glob("*.db")) == []
    low = kata("grade", ".", "--only", "scale", "--fail-under", "50", cwd=tmp_path)
    assert low.returncode == 1
    assert re.search(r"1 is below 50 %: \S+ 0 %", low.stderr)


def test_who_is_below_is_said_the_lowest_first():
    low = [(f"s{i:02}", 60 - i / 3) for i in range(15)]
    found = Summary(percents=[*low, ("fine", 60.0)])
    assert shown.below(found, None) == ""
    assert shown.below(Summary(percents=[("fine", 60.0)]), 60) == ""
    said = shown.below(found, 60)
    assert said.startswith("14 are below 60 %: s14 55.3 %, s13 55.6 %, ")
    assert said.endswith(", s05 58.3 % and 4 more")
    assert shown.below(Summary(percents=[("x\x1b[2J\n", 59.99)]), 60) == (
        "1 is below 60 %: x\\x1b[2J  59.9 %"
    )


def test_a_class_into_a_folder(tmp_path):
    """A document for each, of the judge's making; what cannot be one is refused before."""
    for name in ("anna", "ben"):
        (tmp_path / "class" / name).mkdir(parents=True)
    (tmp_path / "class" / "anna" / "softmax.py").write_text(CLASS["raw"])
    (tmp_path / "texts").mkdir()
    done = kata(
        *("grade", "class", *HOW[:4], "--allow-weak-sandbox"),
        *("--to", "text=texts", "--to", "gradescope=scope/", "--fail-under", "10"),
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "text: texts (2 documents)" in done.stdout
    assert "1 is below 10 %: ben 0 %" in done.stderr
    assert {file.name for file in (tmp_path / "texts").iterdir()} == {"anna.txt", "ben.txt"}
    assert {file.name for file in (tmp_path / "scope").iterdir()} == {"anna.json", "ben.json"}
    text = (tmp_path / "texts" / "anna.txt").read_text(encoding="utf-8")
    assert "softmax takes exponentials without subtracting the maximum" in text
    assert re.search(r"hint: kata hint softmax --level \d", text)
    assert "begin: kata show softmax" in (tmp_path / "texts" / "ben.txt").read_text()
    for target in ("actions=texts", "csv=out/", "canvas"):
        done = kata("grade", "class", "--to", target, "--ledger", "new.db", cwd=tmp_path)
        assert done.returncode == 2
        assert "next:" in done.stderr
    assert not (tmp_path / "new.db").exists()


def test_modules_that_are_handed_in_are_none_of_ours(tmp_path, catalog):
    (tmp_path / "softmax.py").write_text(catalog["softmax"].reference.read_text())
    for name in ("torch", "json", "pytest", "click", "attention_katas", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken in')")
    script = Path(sys.executable).with_name("kata")
    done = subprocess.run(
        [script, "grade", ".", "--only", "softmax", "--allow-weak-sandbox"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 of 20   passed" in done.stdout


def test_nothing_is_asked_of_a_worker_when_nothing_is_written(tmp_path):
    """Without torch, in a moment: as in a first push of the template."""
    (tmp_path / "anna").mkdir()
    done = kata("grade", ".", "--layout", "class", cwd=tmp_path)
    assert done.returncode == 0
    assert "6 " not in done.stderr
    assert "no kata file was found" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nowhere"], "there is no"),
        ([".", "--to", "nonsense"], "there is no format"),
        ([".", "--to", "html=page.html"], "`kata grade report` writes the page"),
        ([".", "--points", "softmax"], "whole number"),
        ([".", "--only", "sofmax"], "did you mean"),
        ([".", "--points", "mask=3", "--only", "softmax"], "is not graded here"),
        ([".", "--seed-file", "nowhere"], "cannot be read"),
        (["softmax.py", "--layout", "class"], "no .py"),
        ([".", "--ledger", "softmax.py"], "softmax.py"),
    ],
)
def test_what_cannot_be_done(tmp_path, options, said):
    (tmp_path / "softmax.py").write_text("x = 1")
    done = kata("grade", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert (tmp_path / "softmax.py").read_text() == "x = 1"


LAZY = {
    "zeros": "import torch\ndef {f}(*a, **k):\n    return torch.zeros_like(a[0])\n",
    "ones": "import torch\ndef {f}(*a, **k):\n    return torch.ones_like(a[0])\n",
    "itself": "def {f}(*a, **k):\n    return a[0]\n",
    "refuses": "def {f}(*a, **k):\n    raise ValueError\n",
    "nothing": "def {f}(*a, **k):\n    return None\n",
}


@pytest.mark.parametrize("lazy", LAZY)
@pytest.mark.parametrize("name", KATAS)
def test_laziness_earns_nothing(catalog, submit, name, lazy):
    kata = catalog[name]
    source = "\n".join(LAZY[lazy].replace("{f}", function) for function in kata.functions)
    assert points_for(submit(name, source), kata.points) == 0


def test_formats_of_one_submission_side_by_side(tmp_path):
    """As a step in Actions: outputs and summary are added to, commands fenced, all in one go."""
    for name in ("out", "env", "sum"):
        (tmp_path / name).write_text("from the step before\n")
    (tmp_path / "softmax.py").write_text(
        "print('::error::mine')\n"
        "def softmax(x, dim=-1):\n    raise ValueError('::notice::Points 9')\n"
    )
    done = kata(
        *("grade", ".", "--only", "softmax", "--github", "--to", "junit=r/j.xml"),
        *("--feedback", "full", "--allow-weak-sandbox"),
        cwd=tmp_path,
        GITHUB_OUTPUT="out",
        GITHUB_ENV="env",
        GITHUB_STEP_SUMMARY="sum",
        GITHUB_ACTIONS="true",
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_text().startswith("from the step before\nsoftmax=")
    assert (tmp_path / "env").read_text().startswith("from the step before\nSOFTMAX_RESULTS=")
    assert (tmp_path / "sum").read_text().startswith("from the step before\n")
    assert "<testsuite" in (tmp_path / "r" / "j.xml").read_text()
    lines = done.stdout.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    fenced = lines[1 : lines.index(f"::{token}::")]
    assert len(token) == 32
    assert any("softmax" in line for line in fenced)
    after = [line for line in lines[len(fenced) + 2 :] if line.startswith("::")]
    assert [line.partition(" ")[0] for line in after] == ["::error", "::notice"]
    assert "Points 0/20" in after[-1]


def test_a_class_does_not_fit_into_a_form_for_one(tmp_path):
    """That is told before anything is judged."""
    for name in ("anna", "ben"):
        (tmp_path / name).mkdir()
    done = kata("grade", ".", "--layout", "class", "--to", "junit=x", cwd=tmp_path)
    assert done.returncode == 2
    assert "junit is for one student, and here are 2" in done.stderr
    assert list(tmp_path.glob("*.db")) == []
    done = kata("grade", ".", "--to", "moodle", "--worksheet", "none.csv", cwd=tmp_path)
    assert "there is no file none.csv" in done.stderr


def test_our_fault_leaves_no_older_document_and_exits_with_3(tmp_path, catalog):
    """Gradescope would take what a run before wrote for the result of this one."""
    copied(catalog, tmp_path, "softmax")
    toml = tmp_path / "katas" / "softmax" / "kata.toml"
    toml.write_text(re.sub(r"requires = .*", "requires = []", toml.read_text()))
    (tmp_path / "katas" / "softmax" / "test_softmax.py").write_text("def test_(: broken")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "softmax.py").write_text("def softmax(x, dim=-1):\n    return x\n")
    (tmp_path / "results.json").write_text("{}")
    (tmp_path / "each").mkdir()
    (tmp_path / "each" / "work.json").write_text("{}")
    done = kata(
        *("grade", "work", "--only-katas", ".", "--to", "gradescope", "--to", "json=all.json"),
        *("--allow-weak-sandbox", "--to", "gradescope=each", "--student", "work"),
        cwd=tmp_path,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert not (tmp_path / "results.json").exists()
    assert list((tmp_path / "each").iterdir()) == []
    assert f"there is no {Path('each', 'work.json')}: softmax could not be graded" in done.stderr
    (result,) = json.loads((tmp_path / "all.json").read_text())["results"]
    assert not result["graded"]
    assert result["katas"][0]["points"] is None
    assert "could not" in done.stdout + done.stderr
