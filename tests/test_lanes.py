"""Two examiners side by side say what one says."""

from __future__ import annotations

import os
import signal

import pytest
import torch

from attention_katas.judge import lanes
from attention_katas.packs.submission import submission
from attention_katas.service.local import open_judge
from tests.conftest import submission_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="lanes are forks")

WRONG = "import torch\n\ndef softmax(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(-1)\n"
RAISES = "def softmax(x, dim=-1):\n    print('here')\n    return x.nonsense()\n"
LATE = """import torch

def softmax(x, dim=-1):
    m = x.max()
    e = torch.exp(x - m)
    return e / e.sum(dim, keepdim=True)
"""


@pytest.fixture(scope="module")
def two_lanes(catalog):
    with open_judge(catalog, catalog.ready, "cpu", lanes=2) as judge:
        yield judge


def plain(verdict):
    """A verdict without its times."""
    told = verdict.to_dict()
    told["seconds"] = 0
    for check in told["checks"]:
        check["seconds"] = 0
    return told


@pytest.mark.parametrize("source", [WRONG, RAISES, LATE], ids=["wrong", "raises", "late"])
def test_two_lanes_say_what_one_says(catalog, judge, two_lanes, source):
    found = submission_of(catalog, "softmax", source)
    assert plain(two_lanes.judge(found, 7)) == plain(judge.judge(found, 7))


@pytest.mark.parametrize("name", ["dot-product", "mask", "cross-attention"])
def test_right_code_passes_in_two_lanes(catalog, judge, two_lanes, name):
    found = submission(catalog, catalog[name], catalog[name].reference)
    assert plain(two_lanes.judge(found, 3)) == plain(judge.judge(found, 3))


def test_a_lost_lane_costs_no_verdict(catalog, judge, two_lanes, monkeypatch):
    fork, lane = os.fork, []

    def forked():
        pid = fork()
        if pid:
            lane.append(pid)
            os.kill(pid, signal.SIGKILL)
        return pid

    monkeypatch.setattr(os, "fork", forked)
    found = submission_of(catalog, "softmax", WRONG)
    assert plain(two_lanes.judge(found, 7)) == plain(judge.judge(found, 7))
    assert lane
    with pytest.raises(ChildProcessError):
        os.waitpid(lane[0], 0)


def test_no_second_process_means_one_lane(catalog, judge, two_lanes, monkeypatch):
    def refused():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    found = submission_of(catalog, "softmax", WRONG)
    assert plain(two_lanes.judge(found, 7)) == plain(judge.judge(found, 7))


def test_one_core_means_one_lane(monkeypatch):
    monkeypatch.setattr(lanes, "_cores", lambda: 1)
    assert not lanes.can_run([None] * 9)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(2, 3).half(),
        torch.randn(3, 4, dtype=torch.float64).T,
        torch.tensor(3.0, requires_grad=True),
        torch.tensor([float("nan"), float("-inf")]).bfloat16(),
        torch.zeros(0, 4),
        torch.ones(2, 2, dtype=torch.bool),
        torch.randn(1, 3).expand(2, 3),
    ],
    ids=["half", "transposed", "leaf", "odd", "empty", "bool", "expanded"],
)
def test_tensors_travel_between_lanes(tensor):
    import io
    import pickle

    written = io.BytesIO()
    lanes._Pickler(written).dump([tensor, tensor])
    first, second = pickle.loads(written.getvalue())
    assert first is second
    assert first.dtype == tensor.dtype
    assert first.requires_grad == tensor.requires_grad
    assert torch.allclose(first.double(), tensor.double(), equal_nan=True)
