"""What the daemon and those who ask it say to each other: JSON in frames, over a socket."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from typing import Any

from attention_katas.sandbox import frames

Message = dict[str, Any]


class Garbled(Exception):
    """What came is no message."""


def send(line: socket.socket, message: Message) -> None:
    """Raises OSError."""
    line.sendall(frames.build(json.dumps(message).encode("ascii"), b""))


def receive(line: socket.socket) -> Message | None:
    """The next message; None at the end of the line. Raises OSError, TimeoutError or Garbled."""

    def read_exactly(size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = line.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    try:
        head, _ = frames.read(read_exactly)
        found = json.loads(head)
    except EOFError:
        return None
    except (frames.BadFrame, ValueError) as error:
        raise Garbled(str(error)) from None
    if not isinstance(found, dict):
        raise Garbled("not an object")
    return found


def has_input(line: socket.socket) -> bool:
    """Whether there is something to read, or the other end has hung up."""
    return bool(select.select([line], [], [], 0)[0])


def peer(line: socket.socket) -> tuple[int, int]:
    """Process and user at the other end of a Unix socket."""
    data = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", data)
    return pid, user


def is_own(line: socket.socket) -> bool:
    return peer(line)[1] == os.getuid()
