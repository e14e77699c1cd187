"""The outside of a frame: two capped lengths, and then as many bytes. Needs no torch.

The judge's reading threads work on this level only. They must not import anything: an import in
a thread, beside the main thread's import of torch, can lock up for good when Ctrl-C comes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

PREFIX = struct.Struct("<4sIQ")
MAGIC = b"AKF1"
HEADER_CAP = 8 << 20
BODY_CAP = 64 << 20


class BadFrame(Exception):
    """The bytes are not a frame of ours."""


def build(head: bytes, body: bytes) -> bytes:
    """One frame. Raises BadFrame when it would exceed the caps."""
    if len(head) > HEADER_CAP or len(body) > BODY_CAP:
        raise BadFrame(f"a frame of {len(head)} + {len(body)} bytes is too large to send")
    return PREFIX.pack(MAGIC, len(head), len(body)) + head + body


def read(read_exactly: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """Header and body of the next frame, from a function that returns exactly n bytes.

    Raises BadFrame for anything that is not a frame, and whatever `read_exactly` raises at the
    end of the stream.
    """
    head_size, body_size = _sizes(read_exactly(PREFIX.size))
    return read_exactly(head_size), read_exactly(body_size)


def split(buffer: bytes | bytearray) -> tuple[bytes, bytes, int] | None:
    """Header, body and whole size of the frame at the start of a buffer; None if it is not whole.

    Raises BadFrame as soon as it can be none.
    """
    if len(buffer) < PREFIX.size:
        return None
    head, body = _sizes(bytes(buffer[: PREFIX.size]))
    end = PREFIX.size + head + body
    if len(buffer) < end:
        return None
    start = PREFIX.size + head
    return bytes(buffer[PREFIX.size : start]), bytes(buffer[start:end]), end


def _sizes(prefix: bytes) -> tuple[int, int]:
    magic, head_size, body_size = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise BadFrame("wrong magic")
    if head_size > HEADER_CAP or body_size > BODY_CAP:
        raise BadFrame(f"a frame of {head_size} + {body_size} bytes is over the cap")
    return head_size, body_size
