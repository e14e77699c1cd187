"""Messages between processes: a frame with a message in its header, over a socket or a pipe."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from collections.abc import Callable

import msgspec

from attention_katas.sandbox import frames
from attention_katas.service.messages import AnyMessage
from attention_katas.verdict import data as v


class Garbled(Exception):
    """The bytes that came are not a message."""


def encode(message: AnyMessage, body: bytes = b"") -> bytes:
    """One frame. Raises frames.BadFrame for what is too large to send."""
    # Not msgspec.json: it refuses the lone surrogates that file names and sources may hold.
    return frames.build(json.dumps(msgspec.to_builtins(message)).encode("ascii"), body)


def read_message(read_some: Callable[[int], bytes | None]) -> tuple[AnyMessage, bytes] | None:
    """The next message and its body, by a function that reads at most n bytes.

    None at the end of the stream. Raises Garbled, and what `read_some` raises.
    """
    try:
        head, body = frames.read(frames.exact_reader(read_some))
        message: AnyMessage = msgspec.convert(json.loads(head), AnyMessage)
        return message, body
    except EOFError:
        return None
    except (frames.BadFrame, ValueError, RecursionError) as error:
        raise Garbled(str(error)) from None


def split(frame: bytes) -> tuple[AnyMessage, bytes]:
    """The message and the body of one frame. Raises Garbled."""
    view = memoryview(frame)

    def read_some(size: int) -> bytes:
        nonlocal view
        part, view = bytes(view[:size]), view[size:]
        return part

    message = read_message(read_some)
    if message is None:
        raise Garbled("not a whole frame")
    return message


def send(connection: socket.socket, message: AnyMessage, body: bytes = b"") -> None:
    """Raises OSError, and frames.BadFrame for what is too large to send."""
    connection.sendall(encode(message, body))


def receive(connection: socket.socket) -> tuple[AnyMessage, bytes] | None:
    """The next message and its body; None at the end. Raises OSError, TimeoutError, Garbled."""
    return read_message(connection.recv)


def encode_verdict(verdict: v.Verdict) -> bytes:
    """The body of a `Judged` frame."""
    return v.encode(verdict).encode("ascii")


def decode_verdict(body: bytes) -> v.Verdict:
    """The verdict in the body of a `Judged` frame. Raises Garbled."""
    try:
        return v.decode(body)
    except (ValueError, RecursionError) as error:
        raise Garbled(str(error)) from None


def has_input(connection: socket.socket) -> bool:
    """Whether there is something to read, or the other end has hung up."""
    return bool(select.select([connection], [], [], 0)[0])


def peer(connection: socket.socket) -> tuple[int, int]:
    """Process id and user id at the other end of a Unix socket."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", data)
    return pid, user


def is_own(connection: socket.socket) -> bool:
    """Whether the other end of a Unix socket is a process of this user."""
    return peer(connection)[1] == os.getuid()
