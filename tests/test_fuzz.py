"""Bytes that nobody meant: on the line from a learner, and in a learner's file."""

from __future__ import annotations

import io
import os
import random
import socket
import struct
import sys
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_katas.packs.precheck import read_submission
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import channel, frames, wire
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.worker import Worker, WorkerDied
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from attention_katas.verdict.data import Verdict
from tests.test_cli import RIGHT

INTERESTING = [0, 1, 7, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]


class Deaf(Worker):
    """A learner whose answers are given, on each kind of line in turn."""

    made = 0

    def __init__(self, answers: bytes) -> None:
        Deaf.made += 1
        kinds = [threaded] if sys.platform == "win32" else [threaded, polled]
        super().__init__(kinds[Deaf.made % len(kinds)](answers), Limits())

    def end(self) -> str:
        self.close()
        return "it was ended"


def threaded(answers: bytes) -> channel.Line:
    return channel.PipeChannel(io.BytesIO(), io.BytesIO(answers), io.BytesIO(), Limits())


def polled(answers: bytes) -> channel.Line:
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    os.close(writer)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    theirs.sendall(answers)
    theirs.close()
    return channel.SocketChannel(ours, reader, Limits())


def good_frame() -> bytes:
    tensors: wire.Tensors = {}
    spec = wire.pack([torch.ones(2, 3), {"w": torch.arange(4)}, None], tensors)
    return wire.encode({"returned": spec, "changed": [], "device": "cpu"}, tensors)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few changes of the kinds that break parsers."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(found) + 1)
        kind = chance.randrange(6)
        if kind == 0:
            found[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            del found[at : at + chance.randint(1, 40)]
        elif kind == 2:
            found[at:at] = chance.randbytes(chance.randint(1, 40))
        elif kind == 3:
            found[at : at + 8] = struct.pack("<Q", chance.choice(INTERESTING))
        elif kind == 4:
            found[at : at + 4] = struct.pack("<I", chance.choice(INTERESTING) & 0xFFFFFFFF)
        else:
            found += found[at : at + 64]
    return bytes(found)


def test_any_answer_is_understood_or_the_learner_has_died():
    """Three thousand mutated answers, as the judge would hear them."""
    chance, frame = random.Random(1), good_frame()
    outcomes = {"understood": 0, "refused": 0}
    for _ in range(3000):
        worker = Deaf(mutated(frame, chance))
        try:
            message, tensors = worker.receive(5.0)
        except WorkerDied:
            outcomes["refused"] += 1
            continue
        worker.close()
        assert isinstance(message, dict)
        assert all(isinstance(tensor, torch.Tensor) for tensor in tensors.values())
        outcomes["understood"] += 1
    assert min(outcomes.values()) > 0, outcomes


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_any_lengths_and_any_bodies(data, head, body):
    frame = frames.PREFIX.pack(frames.MAGIC, head, body) + data
    with pytest.raises(WorkerDied):
        Deaf(frame).receive(5.0)


def body_of(text: bytes, payload: bytes) -> bytes:
    body = struct.pack("<Q", len(text)) + text + payload
    return frames.PREFIX.pack(frames.MAGIC, 2, len(body)) + b"{}" + body


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        b'"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        b'"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
        b'{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}',
        b'{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}',
        b'{"a":{"dtype":"F32","shape":[9223372036854775807,2],"data_offsets":[0,8]}}',
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551615,8]}}',
        b'{"a":{"dtype":"F32","shape":' + b"[" * 5000 + b"]" * 5000 + b',"data_offsets":[0,8]}}',
        b'{"a":' * 2000 + b"1" + b"}" * 2000,
        b'{"__metadata__":{"x":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
        b"{",
        b"",
        b"\xff\xfe",
    ],
)
def test_tensors_that_overlap_overflow_or_nest_are_refused(text):
    with pytest.raises(WorkerDied):
        Deaf(body_of(text, bytes(12))).receive(5.0)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_file_is_a_submission_or_has_an_outcome(tmp_path_factory, catalog, data):
    path = tmp_path_factory.getbasetemp() / "softmax.py"
    path.write_bytes(data)
    found = read_submission(catalog, catalog["softmax"], path)
    if isinstance(found, Verdict):
        assert found.outcome in (v.BROKEN, v.NOT_STARTED)
    else:
        assert isinstance(found, Submission)
        assert found.digest


TOKENS = ["e", "x", "dim", "-1", "keepdim=True", ".sum", "(", ")", ",", ":", "\n", "    ", "=", "/"]
TOKENS += ["\x00", "\t", "\r", "\ufeff", "\u2028", "ſ", "'''", "\\", "#", "lambda", "await", "0x"]


def test_any_change_of_a_right_file_is_judged(judge, catalog, tmp_path):
    """Never a traceback, a hang or our fault; what passes is right for other seeds too."""
    chance, passed = random.Random(2), 0
    path = tmp_path / "softmax.py"
    until = time.monotonic() + 20
    for _ in range(120):
        if time.monotonic() > until:
            break
        text = RIGHT
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            cut = chance.choice([0, 0, 1, 2, 8])
            text = text[:at] + chance.choice([*TOKENS, ""]) + text[at + cut :]
        path.write_text(text, encoding="utf-8")
        found = read_submission(catalog, catalog["softmax"], path)
        verdict = found if isinstance(found, Verdict) else judge.judge(found, 1)
        assert verdict.outcome in v.OUTCOMES
        assert verdict.outcome != v.COULD_NOT_GRADE, f"{words.verdict(verdict)}\n{text}"
        if verdict.outcome == v.PASSED:
            passed += 1
            again = [judge.judge(found, seed).outcome for seed in (2, 3)]
            assert again == [v.PASSED] * 2, text
    assert passed < 60


def test_random_files_never_pass(judge, catalog, tmp_path):
    chance, path = random.Random(3), tmp_path / "softmax.py"
    for _ in range(40):
        path.write_bytes(chance.randbytes(chance.randint(0, 600)))
        found = read_submission(catalog, catalog["softmax"], path)
        verdict = found if isinstance(found, Verdict) else judge.judge(found, 1)
        assert verdict.outcome in (v.BROKEN, v.NOT_STARTED)


@pytest.mark.skipif(sys.platform != "linux", reason="kills by process id")
def test_a_short_soak(tmp_path):
    """Twelve processes killed at random; the long one is bench/soak.py."""
    from bench import soak

    count = soak.soak(tmp_path / "space", 12, random.Random(7))
    assert count["killed"] == 12
    assert (count["lost"], count["orphans"], count["wrong"]) == (0, 0, 0), count
    assert count["next_run_works"]
