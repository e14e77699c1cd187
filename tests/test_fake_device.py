"""The fake device: right code runs with its numbers, tensors of another device are caught."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from attention_katas.sandbox.fake_device import DeviceMismatch, FakeDeviceTensor, fake_device


def run(function, *shapes):
    held = [torch.randn(shape) for shape in shapes]
    with fake_device():
        answer = function(*(FakeDeviceTensor(tensor) for tensor in held))
    return answer, function(*held)


def fill(q):
    out = torch.empty(q.shape[0], q.shape[0], device=q.device)
    for i in range(q.shape[0]):
        for j in range(q.shape[0]):
            out[i, j] = (q[i] * q[j]).sum()
    return out


def in_place(x):
    y = x.clone()
    y[0] = x.new_full((3,), 2.0)
    y.sub_(1).masked_fill_(y > 0, 0.0)
    return y


RIGHT = {
    "softmax": lambda x: (x - x.amax(-1, keepdim=True)).exp(),
    "0-d root": lambda x: x / torch.sqrt(torch.tensor(x.size(-1))),
    "math": lambda x: x @ x.mT / math.sqrt(3),
    "einsum": lambda x: torch.einsum("id,jd->ij", x, x),
    "mask there": lambda x: x.masked_fill(
        torch.ones(3, 3, dtype=torch.bool, device=x.device).triu(1), -1.0
    ),
    "arange": lambda x: x * (torch.arange(3, device=x.device) > 1),
    "like": lambda x: torch.where(torch.ones_like(x) > 0, x, torch.zeros_like(x)),
    "tensor": lambda x: x * torch.tensor([1.0, 2.0, 3.0], device=x.device),
    "new tensor": lambda x: x * x.new_tensor([1.0, 2.0, 3.0]),
    "cpu index": lambda x: x[:, torch.arange(2)],
    "item": lambda x: x * 2 if x.max().item() > -100 else x,
    "any": lambda x: x * 2 if x.any() else x,
    "stack": lambda x: torch.stack([row / row.sum() for row in x]),
    "vmap": lambda x: torch.vmap(lambda row: row.exp())(x),
    "moved": lambda x: x + torch.zeros(3, 3).to(x.device),
    "functional": lambda x: F.softmax(x, -1),
    "loops": fill,
    "in place": in_place,
}

WRONG = {
    "mask": lambda x: x.masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(1), -1.0),
    "add": lambda x: x + torch.zeros(3, 3),
    "where": lambda x: torch.where(torch.ones(3, 3) > 0, x, x),
    "matmul": lambda x: torch.ones(3, 3) @ x,
    "round trip": lambda x: x.cpu() + x,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_keeps_its_numbers(name):
    answer, plain = run(RIGHT[name], (3, 3))
    assert type(answer) is FakeDeviceTensor
    assert answer.device.type == "meta"
    assert torch.allclose(answer.numbers, plain)


@pytest.mark.parametrize("name", WRONG)
def test_tensors_of_two_devices_may_not_meet(name):
    with pytest.raises(DeviceMismatch):
        run(WRONG[name], (3, 3))


def test_an_answer_on_the_cpu_is_seen():
    def copies(x):
        out = torch.zeros(3, 3)
        out[:] = x
        return out

    answer, _ = run(copies, (3, 3))
    assert type(answer) is torch.Tensor


def test_nothing_is_left_changed():
    before = torch.tensor
    run(RIGHT["softmax"], (3, 3))
    assert torch.tensor is before
