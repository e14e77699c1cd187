"""Devices: chosen without importing torch where that can be; katas judged without float64.

No accelerator is at hand. What can be shown without one: that no hidden test needs float64 (mps
has none), and how a device is chosen.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from attention_katas import devices
from attention_katas.errors import KataError
from attention_katas.judge.judge import Judge
from attention_katas.packs.submission import submission
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.test_cli import KATAS


class WithoutFloat64(devices.Device):
    """The cpu, as if it were mps: the most exact dtype is float32."""

    @property
    def precise(self) -> str:
        return "float32"

    @property
    def dtypes(self) -> tuple[str, ...]:
        return ("bfloat16", "float16")

    def tolerance(self, dtype: torch.dtype) -> float:
        return max(super().tolerance(dtype), devices.ACCELERATOR_FLOAT32)


@pytest.fixture(scope="module")
def judge_without_float64(catalog, judge):
    return Judge(catalog.ready, judge.workers, WithoutFloat64("cpu"))


@pytest.mark.parametrize("name", KATAS)
def test_no_kata_needs_float64(catalog, judge_without_float64, name):
    kata = catalog[name]
    for seed in range(3):
        verdict = judge_without_float64.judge(submission(catalog, kata, kata.reference), seed)
        assert verdict.outcome == v.PASSED, f"{words.verdict(verdict)} (seed {seed})"


def test_nothing_wrong_passes_without_float64(catalog, judge_without_float64):
    from tests.conftest import submission_of

    wrong = "def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(-1, keepdim=True)\n"
    verdict = judge_without_float64.judge(submission_of(catalog, "softmax", wrong))
    assert verdict.outcome == v.FAILED


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a cuda device")
def test_a_device_that_is_not_there_is_said():
    with pytest.raises(KataError, match="sees no cuda device"):
        devices.choose("cuda")


@pytest.mark.skipif(sys.platform != "linux", reason="reads device nodes")
def test_auto_asks_torch_only_where_there_could_be_an_accelerator():
    program = (
        "import sys\nfrom attention_katas import devices\n"
        "devices._could_have_accelerator = lambda: False\n"
        "print(devices.choose('auto').name, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.split() == ["cpu", "False"]


def test_auto_takes_the_accelerator(monkeypatch):
    monkeypatch.setattr(devices, "_could_have_accelerator", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert devices.choose("auto").name == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert devices.choose("auto").name == "mps"


def test_tolerances():
    cpu, cuda = devices.Device("cpu"), devices.Device("cuda")
    assert cpu.tolerance(torch.float64) < cpu.tolerance(torch.float32)
    assert cpu.tolerance(torch.float32) < cuda.tolerance(torch.float32)
    assert cpu.tolerance(torch.bool) == 0.0
