"""solution, checkpoint, dev new, JUnit, private sets, completion, faults of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from xml.etree import ElementTree as xml

import pytest

from attention_katas.render.formats import junit
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons
from tests.test_cli import KATAS, RIGHT, WRONG, kata, space

__all__ = ["space"]


def test_the_solution_is_shown_after_a_pass(space):
    before = kata("solution", "softmax", cwd=space)
    assert before.returncode == 2
    assert "kata solution softmax --peek" in before.stderr
    assert "exponentials" in kata("solution", "softmax", "--peek", cwd=space).stdout
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    assert kata("run", "softmax", cwd=space).returncode == 0
    assert "exponentials" in kata("solution", "softmax", cwd=space).stdout


def test_a_checkpoint_writes_a_dated_certificate(space, catalog):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    part = kata("checkpoint", cwd=space)
    assert part.returncode == 1
    assert "next:  kata run dot-product" in part.stdout
    for one in catalog.ready:
        (space / one.file).write_text(one.reference.read_text(encoding="utf-8"), encoding="utf-8")
    whole = kata("checkpoint", cwd=space)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    pages = sorted(space.glob("certificate-*.md"))
    kept = json.loads(pages[0].with_suffix(".json").read_text(encoding="utf-8"))
    assert kept["date"] in pages[0].stem
    assert len(pages) == 2
    last = max(pages, key=lambda page: page.stat().st_mtime_ns)
    assert f"{len(KATAS)} of {len(KATAS)} katas passed" in last.read_text(encoding="utf-8")
    report = json.loads(last.with_suffix(".json").read_text(encoding="utf-8"))
    assert [one["outcome"] for one in report["verdicts"]] == [v.PASSED] * len(KATAS)
    assert len({one["seed"] for one in report["verdicts"]}) > 1
    assert kata("run", cwd=space).stdout.startswith("Every kata is done.")
    assert f"{len(KATAS)} of {len(KATAS)} done" in kata("list", cwd=space).stdout


def test_junit_is_xml_with_a_case_for_each_check(space):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    done = kata("run", "softmax", "scale", "--format", "junit", cwd=space)
    assert done.returncode == 1
    softmax, scale = xml.fromstring(done.stdout.encode("utf-8"))
    assert (softmax.get("name"), scale.get("name")) == ("softmax", "scale")
    assert int(softmax.get("tests")) == len(softmax.findall("testcase")) > 10
    assert [part.tag for part in softmax][:2] == ["properties", "testcase"]
    assert int(softmax.get("failures")) == len(softmax.findall("testcase/failure")) > 0
    assert int(softmax.get("skipped")) == len(softmax.findall("testcase/skipped")) > 0
    assert scale.find("testcase/failure").get("type") == "not started"


def test_junit_holds_what_xml_cannot():
    check = v.Check("a", "A \x00 \x1b[31m \ud800", v.FAILED, reason=reasons.LawBroken("\x07 & <b>"))
    text = junit.render([v.Verdict("softmax", v.FAILED, [check])])
    case = xml.fromstring(text.encode("utf-8")).find("testsuite/testcase")
    assert case.get("name") == "A ? ?[31m ?"
    assert case.find("failure").get("message") == "? & <b>"


def test_could_not_grade_is_an_error_in_junit():
    text = junit.render(
        [v.Verdict("softmax", v.COULD_NOT_GRADE, reason=reasons.CannotJudge("ours"))]
    )
    assert xml.fromstring(text.encode("utf-8")).find("testsuite").get("errors") == "1"


@pytest.fixture
def private(tmp_path):
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def test_a_new_kata_passes_dev_check_but_for_what_it_has_to_say(private):
    done = kata("dev", "new", "my-rope", "--katas", str(private), cwd=private)
    assert done.returncode == 0, done.stderr
    assert "next:  write it, then kata dev check my-rope" in done.stdout
    checked = kata("dev", "check", "--katas", str(private), cwd=private)
    assert checked.returncode == 1
    said = [line.strip() for line in checked.stdout.splitlines()]
    assert "✗ mistakes.py: 1 mistakes, at least 6" in said
    assert "✗ my-rope/lesson.md still has the template's 'Say why this piece exists.'" in said
    assert "6 problems" in said
    again = kata("dev", "new", "my-rope", "--katas", str(private), cwd=private)
    assert again.returncode == 2
    assert "there is a kata called my-rope already" in again.stderr


@pytest.mark.parametrize(
    "name", ["Rope", "a b", "../x", "-x", "x" * 40, "class", "torch", "json", "con"]
)
def test_bad_names_are_refused(private, name):
    done = kata("dev", "new", "--katas", str(private), "--", name, cwd=private)
    assert done.returncode == 2
    assert list(private.iterdir()) == []


def test_a_pack_is_used_everywhere(private, tmp_path):
    kata("dev", "new", "double", "--katas", str(private), cwd=private)
    only = ("--only-katas", str(private))
    assert kata("init", "space", *only, cwd=tmp_path).returncode == 0
    space = tmp_path / "space"
    assert (space / "double.py").exists()
    assert not (space / "softmax.py").exists()
    (space / "double.py").write_text("def double(x):\n    return x + x\n", encoding="utf-8")
    assert kata("run", "double", *only, cwd=space).returncode == 0
    assert kata("run", "double", "--katas", str(private), cwd=space).returncode == 0
    assert kata("list", "--only-katas", str(tmp_path), cwd=space).returncode == 2
    both = kata("list", "--katas", str(private), *only, cwd=space)
    assert both.returncode == 2
    assert "--katas adds packs and --only-katas replaces them" in both.stderr


def test_a_pack_is_added_to_the_others(private, tmp_path):
    kata("dev", "new", "double", "--katas", str(private), cwd=private)
    assert kata("init", "space", "--katas", str(private), cwd=tmp_path).returncode == 0
    assert (tmp_path / "space" / "double.py").exists()
    assert (tmp_path / "space" / "softmax.py").exists()


def test_no_variable_of_the_environment_selects_a_pack(private, tmp_path):
    kata("dev", "new", "double", "--katas", str(private), cwd=private)
    variables = {name: str(private) for name in ("KATAS_PATH", "KATAS", "KATA_KATAS")}
    assert "double" not in kata("list", cwd=tmp_path, **variables).stdout


def test_init_within_a_workspace_brings_it_up_to_date(space):
    (space / "mask.py").unlink()
    (space / "deep").mkdir()
    done = kata("init", cwd=space / "deep")
    assert "✓ mask.py" in done.stdout
    assert (space / "mask.py").exists()
    assert not (space / "deep" / "my-katas").exists()
    assert "next:  kata show dot-product" in done.stdout


def test_what_is_not_written_yet_takes_a_line(space):
    (space / "mask.py").write_text(
        (space / "mask.py")
        .read_text(encoding="utf-8")
        .replace(
            'raise NotImplementedError("causal_mask is yours to write")',
            "return torch.ones(t_q, t_k, device=device).tril() > 0",
        ),
        encoding="utf-8",
    )
    said = kata("run", "mask", cwd=space).stdout
    assert "· masked_weights is not written yet (" in said
    assert said.count("not written yet") == 2
    assert "✗" not in said


def test_an_exception_says_what_was_expected(space):
    (space / "dot_product.py").write_text("def attention_scores(q, k):\n    return q @ k\n")
    said = kata("run", "dot-product", cwd=space).stdout
    assert "expected   (3, 4) float64" in said
    assert "mat1 and mat2 shapes cannot be multiplied" in " ".join(said.split())


def test_a_file_says_which_kata_it_is(space, tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "softmax.py").write_text(WRONG, encoding="utf-8")
    done = kata("run", "--file", str(folder / "softmax.py"), cwd=space, COLUMNS="300")
    assert f"--file '{folder}/softmax.py'" in " ".join(done.stdout.split())
    (folder / "mask.py").write_text("import scale\n", encoding="utf-8")
    alone = kata("run", "--file", str(folder / "mask.py"), cwd=space)
    assert "scale.py is not there" in alone.stdout
    assert "next:  put it beside" in alone.stdout


def test_hint_without_a_name_is_for_the_next_kata(space):
    assert "dot-product, hint 1" in kata("hint", cwd=space).stdout
    assert "Did you mean one of: 'hint'" in kata("hnit", cwd=space).stderr


def test_next_steps_stay_in_the_private_set(private):
    kata("dev", "new", "double", "--katas", str(private), cwd=private)
    option = f"--only-katas {private}"
    made = kata("init", "space", "--only-katas", str(private), cwd=private, COLUMNS="300")
    assert f"kata show double {option}" in " ".join(made.stdout.split())
    run = kata("run", "double", "--only-katas", str(private), cwd=private / "space", COLUMNS="300")
    assert f"kata run double {option}" in " ".join(run.stdout.split())
    nothing = kata("run", "triple", "--only-katas", str(private), cwd=private / "space")
    assert option in nothing.stderr


def test_a_private_set_has_a_record_of_its_own(space, private):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    assert kata("run", "softmax", cwd=space).returncode == 0
    kata("dev", "new", "softmax", "--only-katas", str(private), cwd=private)
    kata("run", "softmax", "--only-katas", str(private), cwd=space)
    assert f"1 of {len(KATAS)} done" in kata("list", cwd=space).stdout
    assert "0 of 1 done" in kata("list", "--only-katas", str(private), cwd=space).stdout


def test_a_folder_of_katas_that_is_not_there(tmp_path):
    gone = str(tmp_path / "gone")
    assert "there is no folder" in kata("list", "--katas", gone, cwd=tmp_path).stderr
    assert "softmax" in kata("list", "--katas", gone, cwd=tmp_path).stdout
    assert kata("list", "--only-katas", gone, cwd=tmp_path).returncode == 2
    assert kata("dev", "new", "double", "--katas", gone, cwd=tmp_path).returncode == 0


def test_an_empty_folder_becomes_a_private_set(tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    assert kata("dev", "new", "double", "--katas", str(folder), cwd=tmp_path).returncode == 0
    assert (folder / "pack.toml").exists()
    assert (folder / "double" / "kata.toml").exists()
    assert (folder / "reference" / "double.py").exists()
    assert not (tmp_path / "reference").exists()


def test_an_import_of_an_earlier_kata_that_is_not_there_is_said(space):
    (space / "mask.py").write_text("from softmax import softmax\n", encoding="utf-8")
    (space / "softmax.py").unlink()
    gone = kata("run", "mask", cwd=space)
    assert "it imports softmax, but softmax.py is not there" in gone.stdout
    assert "next:  kata run softmax" in gone.stdout
    (space / "softmax.py").write_bytes(b"\xff\xfe")
    assert "softmax.py is saved as UTF-16" in kata("run", "mask", cwd=space).stdout


def test_after_a_pass_comes_the_next_kata_show_it_or_run_it(space):
    (space / "dot_product.py").write_text("def attention_scores(q, k):\n    return q\n")
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    assert "next:  kata show dot-product" in kata("run", "softmax", cwd=space).stdout
    kata("run", "dot-product", cwd=space)
    assert "next:  kata run dot-product" in kata("run", "softmax", cwd=space).stdout


def test_a_half_finished_kata_does_not_stop_the_others(private):
    kata("dev", "new", "double", "--katas", str(private), cwd=private)
    kata("dev", "new", "half", "--katas", str(private), cwd=private)
    (private / "half" / "test_half.py").unlink()
    (private / "half" / "half.py").unlink()
    found = kata("list", "--only-katas", str(private), cwd=private)
    assert found.returncode == 0
    assert "half/half.py, half/test_half.py" in found.stdout
    for words in (["show", "half"], ["run", "half"]):
        kata("init", "space", "--katas", str(private), cwd=private)
        done = kata(*words, "--katas", str(private), cwd=private / "space")
        assert done.returncode == 2
        assert "unfinished" in done.stderr
    checked = kata("dev", "check", "--katas", str(private), cwd=private)
    assert checked.returncode == 1
    assert "test_half.py is missing" in checked.stdout


def test_names_are_completed(space):
    done = kata(cwd=space, _KATA_COMPLETE="bash_complete", COMP_WORDS="kata run s", COMP_CWORD="2")
    assert [line.split(",")[1] for line in done.stdout.split()] == ["scale", "softmax"]


def test_all_gives_a_line_each_and_the_first_failure_whole(space):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    done = kata("run", "--all", cwd=space)
    assert done.returncode == 1
    for name in KATAS:
        assert name in done.stdout
    assert done.stdout.count("called   ") == 1
    assert "softmax  failed" in done.stdout


def test_a_fault_of_ours_is_no_traceback(tmp_path, space):
    """Content that breaks while it is read, in a way that nobody foresaw."""
    program = (
        "import sys\nfrom attention_katas import cli\nimport attention_katas.cli.list\n"
        "def broken(*_): raise RuntimeError('unforeseen')\n"
        "command = sys.modules['attention_katas.cli.list']\n"
        "command.load = broken\ncli.main(['list'], prog_name='kata')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=space,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 3
    assert "kata: a fault of this program: RuntimeError: unforeseen" in done.stderr
    assert "Traceback" not in done.stderr
    loud = subprocess.run(
        [sys.executable, "-c", program],
        cwd=space,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "KATA_TRACEBACK": "1"},
        check=False,
    )
    assert "Traceback" in loud.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX pipe")
@pytest.mark.parametrize("words", [["list"], ["show", "mask"], ["run", "softmax"]])
def test_a_closed_pipe_is_no_drama(space, words):
    (space / "softmax.py").write_text(WRONG, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "attention_katas", *words],
        cwd=space,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=60)


def test_two_runs_at_once_are_both_recorded(space):
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    command = [sys.executable, "-m", "attention_katas", "run", "softmax"]
    both = [subprocess.Popen(command, cwd=space, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert "softmax: 2 attempts" in kata("progress", cwd=space).stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_said(space):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "attention_katas", "list"],
            cwd=space,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr
