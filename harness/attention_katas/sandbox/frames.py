"""The one framing of messages between processes: two capped lengths, a header and a body.

Every pair of processes uses it: judge and sandbox worker (`wire`), judge and fork server
(`encode`, `decode`), and whoever asks for a verdict and whoever makes it (`service.rpc`). It needs
the standard library only, since the sandbox worker loads it too. Reading threads work on this
level: they must not import anything, because an import in a thread, beside the main thread's
import of torch, can deadlock when Ctrl-C comes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

PREFIX = struct.Struct("<4sIQ")
MAGIC = b"AKF1"
HEADER_CAP = 8 << 20
BODY_CAP = 64 << 20
CHUNK = 1 << 20


class BadFrame(Exception):
    """The bytes are not a frame of ours."""


def build(head: bytes, body: bytes) -> bytes:
    """One frame. Raises BadFrame when it would exceed the caps."""
    if len(head) > HEADER_CAP or len(body) > BODY_CAP:
        raise BadFrame(f"a frame of {len(head)} + {len(body)} bytes is too large to send")
    return PREFIX.pack(MAGIC, len(head), len(body)) + head + body


def exact_reader(read: Callable[[int], bytes | None]) -> Callable[[int], bytes]:
    """A function that reads exactly n bytes, by one that reads at most n.

    It raises EOFError at the end of the stream, and what `read` raises.
    """

    def read_exactly(size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = read(min(size - len(data), CHUNK))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    return read_exactly


def read(read_exactly: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """Header and body of the next frame, from a function that returns exactly n bytes.

    Raises BadFrame for anything that is not a frame, and whatever `read_exactly` raises at the
    end of the stream.
    """
    head_size, body_size = _sizes(read_exactly(PREFIX.size))
    return read_exactly(head_size), read_exactly(body_size)


def encode(message: dict[str, Any]) -> bytes:
    """A message of JSON as one frame, for a channel that keeps message boundaries."""
    return build(json.dumps(message).encode("ascii"), b"")


def decode(data: bytes) -> dict[str, Any]:
    """The message of `encode`. Raises BadFrame for anything else."""
    parts = split(data)
    message = json.loads(parts[0]) if parts else None
    if not isinstance(message, dict):
        raise BadFrame("not one whole message")
    return message


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
