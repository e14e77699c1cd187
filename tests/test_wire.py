"""Frames: what goes in comes out, and nothing else is taken."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_katas.sandbox import frames, wire


def reader(data: bytes):
    stream = io.BytesIO(data)

    def read_exactly(size: int) -> bytes:
        part = stream.read(size)
        if len(part) < size:
            raise EOFError
        return part

    return read_exactly


def round_trip(value):
    tensors: wire.Tensors = {}
    spec = wire.pack(value, tensors)
    header, body = wire.read(reader(wire.encode({"spec": spec}, tensors)))
    return wire.unpack(header["spec"], body, lambda tensor, _: tensor)


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16", "float16", "bool", "int64"])
def test_tensors_of_every_dtype_survive(name):
    tensor = torch.arange(24).reshape(2, 3, 4).to(getattr(torch, name))
    assert torch.equal(round_trip(tensor), tensor)
    assert round_trip(tensor).dtype == tensor.dtype


def test_odd_tensors_survive():
    odd = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
    assert torch.equal(round_trip(odd).view(torch.int32), odd.view(torch.int32))
    assert round_trip(torch.tensor(3.0)).shape == ()
    strided = torch.arange(12.0).reshape(3, 4).t()
    assert torch.equal(round_trip(strided), strided)


def test_nested_values_survive():
    value = [1, 2.5, None, True, "ß", ("a", 2), {"w": torch.ones(2)}, torch.float16]
    back = round_trip(value)
    assert back[:6] == value[:6]
    assert torch.equal(back[6]["w"], torch.ones(2))
    assert back[7] == torch.float16


def test_strides_are_told():
    tensors: wire.Tensors = {}
    assert wire.pack(torch.zeros(3, 4).t(), tensors)["strides"] == [1, 4]


@pytest.mark.parametrize(
    "data",
    [
        b"nope" + bytes(12),
        frames.PREFIX.pack(frames.MAGIC, frames.HEADER_CAP + 1, 0),
        frames.PREFIX.pack(frames.MAGIC, 0, frames.BODY_CAP + 1),
        frames.PREFIX.pack(frames.MAGIC, 2, 0) + b"[]",
        frames.PREFIX.pack(frames.MAGIC, 2, 0) + b"{]",
        frames.PREFIX.pack(frames.MAGIC, 200_000, 0) + b"[" * 200_000,
        frames.PREFIX.pack(frames.MAGIC, 2, 8) + b"{}" + bytes(8),
        frames.PREFIX.pack(frames.MAGIC, 2, 8) + b"{}" + b"\xff" * 8,
        frames.PREFIX.pack(frames.MAGIC, 4, 0) + b"\xff\xfe\xff\xfe",
    ],
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(wire.BadFrame):
        wire.read(reader(data))


def body_of(header: dict, payload: bytes) -> bytes:
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text + payload
    return frames.PREFIX.pack(frames.MAGIC, 2, len(body)) + b"{}" + body


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 8]},
        {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]},
        "text",
    ],
)
def test_lying_tensors_are_refused(entry):
    with pytest.raises(wire.BadFrame):
        wire.read(reader(body_of({"t": entry}, bytes(8))))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_are_a_bad_frame_or_an_end(data):
    with pytest.raises((wire.BadFrame, EOFError)):
        wire.read(reader(data))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 400), st.integers(0, 255))
def test_one_changed_byte_never_breaks_the_reader(position, value):
    frame = bytearray(wire.encode({"a": [1, {"b": None}]}, {"x": torch.ones(2, 3)}))
    frame[position % len(frame)] = value
    with contextlib.suppress(wire.BadFrame, EOFError):  # refused; anything else fails this test
        wire.read(reader(bytes(frame)))


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["tensor", "list", "dict", "dtype", "value"]), inner, max_size=2
            )
        ),
        max_leaves=8,
    )
)
def test_any_spec_is_unpacked_or_refused(spec):
    with contextlib.suppress(wire.BadFrame):
        wire.unpack(spec, {"0": torch.ones(1)}, lambda tensor, _: tensor)
