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
    magic, head_size, body_size = PREFIX.unpack(read_exactly(PREFIX.size))
    if magic != MAGIC:
        raise BadFrame("wrong magic")
    if head_size > HEADER_CAP or body_size > BODY_CAP:
        raise BadFrame(f"a frame of {head_size} + {body_size} bytes is over the cap")
    return read_exactly(head_size), read_exactly(body_size)
