"""The proxy: a learner's function behaves like a function in this process, gradients included."""

from __future__ import annotations

import contextlib

import pytest
import torch

from attention_katas.judge import proxy
from attention_katas.judge.failures import CheckFailed
from attention_katas.judge.proxy import RemoteSolution, Solution
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.conftest import submission_of

RIGHT = """
import torch
def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
"""


@contextlib.contextmanager
def solution_of(judge, catalog, source, **others):
    found = submission_of(catalog, "softmax", source, **others)
    worker = judge.workers.take(found.digest, found.kata.banned)
    remote = RemoteSolution(found, judge._references.of(found.kata), worker, "cpu", set())
    remote.load()
    try:
        yield Solution(found.kata, remote.call), remote
    finally:
        judge.workers.give_back(worker)


def test_backward_reaches_the_caller(judge, catalog):
    with solution_of(judge, catalog, RIGHT) as (solution, _):
        x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        (solution.softmax(x * 2)[:, 0] ** 2).sum().backward()
        y = x.detach().clone().requires_grad_()
        (torch.softmax(y * 2, -1)[:, 0] ** 2).sum().backward()
        assert torch.allclose(x.grad, y.grad)


def test_gradcheck_works_through_the_process(judge, catalog):
    with solution_of(judge, catalog, RIGHT) as (solution, _):
        x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(solution.softmax, (x,))


def test_gradcheck_sees_a_cut_gradient(judge, catalog):
    cut = RIGHT.replace("keepdim=True)\n", "keepdim=True).detach()\n")
    with solution_of(judge, catalog, cut) as (solution, _):
        x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
        assert not torch.autograd.gradcheck(solution.softmax, (x,), raise_exception=False)


def test_calls_are_kept_with_inputs_and_answers(judge, catalog):
    with solution_of(judge, catalog, RIGHT) as (solution, remote):
        x = torch.randn(2, 3)
        answer = solution.softmax(x, dim=0)
    (call,) = remote.calls
    assert call.text == "softmax(x, dim=0)"
    assert call.inputs[0].startswith("x (2, 3) float32, from ")
    assert torch.equal(call.answer, answer)


def test_a_function_that_is_not_asked_for_is_no_attribute(judge, catalog):
    with (
        solution_of(judge, catalog, RIGHT) as (solution, _),
        pytest.raises(AttributeError, match="attention"),
    ):
        solution.attention  # noqa: B018


def test_earlier_katas_can_be_imported(submit):
    uses = (
        "from softmax import softmax\ndef attention_scores(q, k):\n    return softmax(q @ k.mT)\n"
    )
    broken = submit("dot-product", uses)
    assert "No module named 'softmax'" in words.verdict(broken)
    verdict = submit("dot-product", uses, softmax=RIGHT)
    assert verdict.outcome == "failed"
    assert verdict.first_failure.rung == "values"


def test_an_unwritten_earlier_kata_is_named(submit, catalog):
    uses = (
        "from softmax import softmax\ndef attention_scores(q, k):\n    return softmax(q @ k.mT)\n"
    )
    stub = catalog["softmax"].stub.read_text(encoding="utf-8")
    verdict = submit("dot-product", uses, softmax=stub)
    assert "needs softmax from softmax.py, which is not written yet" in words.verdict(verdict)


def test_no_frame_of_ours_is_shown(judge, catalog):
    deep = "def softmax(x, dim=-1):\n    return inner(x)\ndef inner(x):\n    return x @ x\n"
    with solution_of(judge, catalog, deep) as (solution, _), pytest.raises(CheckFailed) as caught:
        solution.softmax(torch.ones(2, 3))
    frames = caught.value.evidence.raised.frames
    assert [(f.file, f.line, f.function) for f in frames] == [
        ("softmax.py", 2, "softmax"),
        ("softmax.py", 4, "inner"),
    ]
    assert frames[-1].code == "    return x @ x"


def test_a_line_that_is_not_in_the_file_is_not_shown(submit):
    """Code can be compiled with any number of a line, such as an input of the hidden tests."""
    source = (
        "def softmax(x, dim=-1):\n"
        "    code = compile('\\n' * 7_000_000 + '1 / 0', 'softmax.py', 'exec')\n"
        "    exec(code)\n"
    )
    frames = submit("softmax", source).checks[0].evidence.raised.frames
    assert len(frames) == 2
    assert max(frame.line for frame in frames) <= len(source.split("\n"))


def test_a_worker_cannot_put_words_into_the_notices():
    entries = [["process-lost", "look here"], ["fork", "a lie"], ["fork", ""], 3, [["fork"], ""]]
    assert proxy._notices(entries) == [v.Notice("fork")]
