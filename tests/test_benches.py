"""Every bench runs, measures what it says, and fails when what it measures failed."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import measurement, processes

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
NEEDS_LINUX = ("grading", "hostile", "latency", "soak")
CHROMIUM = shutil.which(os.environ.get("KATA_BROWSER", "chromium"))
KEYS = {
    "diagnosis": "total named pairs_total pairs_named respelled_total respelled_named"
    " left_out_total false_names harmless_total harmless_blamed median_ms",
    "grading": "per_second_per_core otter_over_ours nbgrader_over_ours scaling_2"
    " scaling_2_without_start resume_ok worker_mb growth growth_100 start_up_s submission_s"
    " submission_median_s verdict_median_s verdicts_per_second_per_core not_as_meant"
    " otter_over_ours_one_core nbgrader_over_ours_one_core otter_over_ours_cold"
    " nbgrader_over_ours_cold",
    "hostile": "tried right_outcome examiner_deaths leaked_processes leaked_files added_ms"
    " canary_ms",
    "lab": "drag_median_ms drag_p95_ms echo_p95_ms save_repaint_ms loop_recovery_s page_kb",
    "latency": "save_median_ms save_p95_ms save_spawn_ms warm_over_import cold_over_import"
    " pytest_over_watch torch_judge_over_watch katas peak_mb watch_peak_mb",
    "peers": "answers ours_asked ours_right ours_wrong_accepted ours_right_rejected"
    " ours_no_verdict ours_wrong_rejected ours_distinct_messages ours_median_s"
    " torch_judge_asked torch_judge_right torch_judge_wrong_accepted torch_judge_right_rejected"
    " torch_judge_no_verdict torch_judge_wrong_rejected torch_judge_distinct_messages"
    " torch_judge_median_s torchleet_asked torchleet_right torchleet_wrong_accepted"
    " torchleet_right_rejected torchleet_no_verdict torchleet_wrong_rejected"
    " torchleet_distinct_messages torchleet_median_s",
    "soak": "killed reported orphans crashed wrong lost next_run_works",
    "truth": "right_tried right_rejected wrong_tried wrong_accepted",
}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "harness")},
        capture_output=True,
        encoding="utf-8",
        timeout=600,  # of a bench that hangs
    )


def smoke(name: str) -> dict:
    """The last line of a bench's smallest run."""
    if name in NEEDS_LINUX and sys.platform != "linux":
        pytest.skip("it reads /proc, or forks")
    if name == "lab" and importlib.util.find_spec("playwright") is None:
        pytest.skip("playwright is not installed")
    if name == "lab" and CHROMIUM is None:
        pytest.skip("there is no Chromium")
    process = run(str(BENCH / f"{name}.py"), "--smoke")
    assert process.returncode == 0, process.stdout + process.stderr
    result = json.loads(process.stdout.splitlines()[-1])
    assert result.keys() == {*KEYS[name].split()}
    return result


def test_every_bench_is_tried():
    programs = {path.stem for path in BENCH.glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert programs == KEYS.keys()


def test_diagnosis():
    result = smoke("diagnosis")
    for kind, right in (("", "named"), ("pairs_", "pairs_named"), ("respelled_", None)):
        assert result[f"{kind}total"] >= 1
        assert 0 <= result[right or f"{kind}named"] <= result[f"{kind}total"]
    assert result["named"] == result["total"]
    assert (result["false_names"], result["harmless_blamed"]) == (0, 0)
    assert result["left_out_total"] >= 1
    assert result["harmless_total"] >= 1
    assert result["median_ms"] > 1


def test_grading():
    result = smoke("grading")
    assert result["resume_ok"] is True
    assert result["not_as_meant"] == 0
    assert 0 < result["per_second_per_core"] < 100
    assert 0 < result["verdict_median_s"] <= result["submission_median_s"]
    assert result["worker_mb"] is None or 100 < result["worker_mb"] < 10_000


def test_hostile():
    result = smoke("hostile")
    assert 1 <= result["right_outcome"] <= result["tried"]
    assert (result["examiner_deaths"], result["leaked_processes"]) == (0, 0)
    assert math.isfinite(result["added_ms"])
    assert result["canary_ms"] > 1


def test_lab():
    result = smoke("lab")
    assert 0 < result["drag_median_ms"] <= result["drag_p95_ms"]
    assert result["echo_p95_ms"] > 0
    assert result["save_repaint_ms"] > 0
    assert result["loop_recovery_s"] > 0.5  # the limit of a call
    assert 20 < result["page_kb"] < 1000


def test_latency():
    result = smoke("latency")
    assert 0 < result["save_median_ms"] <= result["save_p95_ms"]
    assert 0 < result["warm_over_import"] < result["cold_over_import"]
    assert result["katas"].keys() == {"softmax"}
    for key in ("peak_mb", "watch_peak_mb"):
        # A judge holds PyTorch at least once, which alone takes more than 100 MB.
        assert result[key] is None or 100 < result[key] < 10_000


def test_peers():
    result = smoke("peers")
    assert result["answers"] == result["ours_asked"] == result["ours_right"] == 3
    assert result["ours_wrong_rejected"] == result["ours_distinct_messages"] == 2
    assert (result["ours_wrong_accepted"], result["ours_no_verdict"]) == (0, 0)
    assert 0 < result["ours_median_s"] < 60
    for peer in ("torch_judge", "torchleet"):
        absent = importlib.util.find_spec(peer) is None
        assert (result[f"{peer}_asked"] is None) == absent


def test_soak():
    result = smoke("soak")
    assert result["killed"] == 3
    assert result["reported"] >= 1
    assert (result["orphans"], result["lost"], result["wrong"]) == (0, 0, 0)
    assert result["next_run_works"] == 1


def test_truth():
    result = smoke("truth")
    assert result["right_tried"] >= 1
    assert result["wrong_tried"] >= 1
    assert (result["right_rejected"], result["wrong_accepted"]) == (0, 0)


BROKEN = {
    "hostile": "from attention_katas.sandbox.restrictions import apply\ndel apply.apply_all",
    "diagnosis": "from attention_katas.diagnosis import diagnose\ndiagnose.diagnose = lambda: []",
}
COMPLAINT = {"hostile": "AttributeError", "diagnosis": "the diagnosis"}


@pytest.mark.parametrize("name", BROKEN)
def test_a_bench_whose_work_fails_fails(name):
    if name in NEEDS_LINUX and sys.platform != "linux":
        pytest.skip("it forks")
    path = str(BENCH / f"{name}.py")
    program = f"""
import runpy, sys
sys.path.insert(0, {str(BENCH)!r})
{BROKEN[name]}
sys.argv = [{path!r}, "--smoke"]
runpy.run_path({path!r}, run_name="__main__")
"""
    process = run("-c", program)
    assert process.returncode == 1
    assert COMPLAINT[name] in process.stderr
    assert not any(line.startswith("{") for line in process.stdout.splitlines())


def test_an_empty_sample_is_an_error():
    with pytest.raises(measurement.BenchError, match="saves: nothing was measured"):
        measurement.median("saves", [])
    with pytest.raises(measurement.BenchError, match="lost: nothing was tried"):
        measurement.part("lost", 0, 0)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_figure_that_cannot_be_is_an_error(value):
    with pytest.raises(measurement.BenchError, match="cannot be"):
        measurement.p95("saves", [1.0, value])


def test_a_sum_that_cannot_be_is_an_error():
    with pytest.raises(measurement.BenchError, match="3 of 2 cannot be"):
        measurement.part("named", 3, 2)


@pytest.mark.parametrize("result", [{"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_a_result_has_its_keys(result, capsys):
    with pytest.raises(measurement.BenchError):
        measurement.report(result, ("a", "b"))
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_the_memory_of_a_process_tree():
    child = "x = bytearray(60_000_000); input()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    process = subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE)
    with process, processes.PeakMemory(lambda: processes.tree_of(process.pid), 0.01) as memory:
        while (memory.mb is not None and memory.mb < 60) or memory.processes < 2:
            assert process.poll() is None
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
    assert memory.processes == 2
    assert memory.mb is None or 60 < memory.mb < 200
    assert not processes.alive(process.pid)
