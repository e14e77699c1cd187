"""The channel between the judge and one sandbox worker: frames both ways, and what the code prints.

`SocketChannel` waits for both with poll() in the thread that asks, because a run has many workers
and a thread for each would cost time. `PipeChannel` is for systems that cannot poll pipes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import threading
import time
from typing import Any, Protocol

from attention_katas.sandbox import frames
from attention_katas.sandbox.limits import Limits

SEND_SECONDS = 10.0
LAST_OUTPUT_SECONDS = 1.0  # to wait for what a process printed before it ended
MAX_UNREAD = 2  # answers that may wait to be read: each request has one
UNREQUESTED = "answers without a request"

# A frame's two parts, the error if the bytes are no frame, or None at the end of the channel.
Frame = tuple[bytes, bytes] | frames.BadFrame | None


class Flooded(Exception):
    """The code printed more than it may."""


class Channel(Protocol):
    """Carries requests, answers and output of a worker. Who gets Flooded has to end the worker."""

    def send(self, frame: bytes) -> None:
        """Send a request. Raises OSError if the worker does not read it."""

    def receive(self, seconds: float) -> Frame:
        """The next answer. Raises TimeoutError if none came in time, or Flooded."""

    def printed(self, ended: bool) -> bytes:
        """What was printed since the last call.

        ended: the process has ended, so wait for the rest of its output.
        """

    def close(self) -> None: ...


class Printed:
    """The first `kept_bytes` of what was printed, and the size of all of it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._text = bytearray()
        self._size = 0

    def note(self, part: bytes) -> bool:
        """Add a part; whether more was printed in all than is allowed."""
        self._text += part[: max(self._limits.kept_bytes - len(self._text), 0)]
        self._size += len(part)
        return self._size > self._limits.output_bytes

    def take(self) -> bytes:
        """The text since the last call."""
        text, self._text = bytes(self._text), bytearray()
        return text


class SocketChannel:
    """A socket for frames, and a pipe for what is printed."""

    def __init__(self, connection: socket.socket, output: int, limits: Limits) -> None:
        self._connection, self._output = connection, output
        self._printed = Printed(limits)
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._poll.register(output, select.POLLIN)
        self._open = {connection.fileno(), output}
        os.set_blocking(output, False)
        connection.settimeout(SEND_SECONDS)

    def send(self, frame: bytes) -> None:
        self._read(0.0)
        if self._buffer:
            return  # an answer came before its request: `receive` reports it
        try:
            self._connection.sendall(frame)
        except TimeoutError:
            raise OSError("the worker does not read") from None

    def receive(self, seconds: float) -> Frame:
        until = time.monotonic() + seconds
        while True:
            try:
                parts = frames.split(self._buffer)
            except frames.BadFrame as error:
                return error
            if parts is not None:
                head, body, size = parts
                if len(self._buffer) > size:
                    return frames.BadFrame(UNREQUESTED)
                self._buffer = bytearray()
                return head, body
            if self._connection.fileno() not in self._open:
                return None
            seconds_left = until - time.monotonic()
            if seconds_left <= 0:
                raise TimeoutError
            self._read(seconds_left)

    def _read(self, seconds: float) -> None:
        """Wait until there is something to read, and read it."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._output:
                self._read_output()
                continue
            try:
                part = self._connection.recv(frames.CHUNK)
            except (TimeoutError, OSError):
                part = b""
            self._buffer += part
            if not part:
                self._forget(descriptor)

    def _read_output(self) -> bool:
        """Read what was printed; whether there may be more."""
        try:
            part = os.read(self._output, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            part = b""
        if not part:
            self._forget(self._output)
        elif self._printed.note(part):
            raise Flooded
        return bool(part)

    def _forget(self, descriptor: int) -> None:
        self._open.discard(descriptor)
        self._poll.unregister(descriptor)

    def printed(self, ended: bool) -> bytes:
        until = time.monotonic() + (LAST_OUTPUT_SECONDS if ended else 0.0)
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        with contextlib.suppress(Flooded):
            while self._output in self._open:
                seconds_left = max(until - time.monotonic(), 0.0)
                if not poll.poll(seconds_left * 1000) or not self._read_output():
                    break
        return self._printed.take()

    def close(self) -> None:
        self._connection.close()
        if self._output >= 0:
            os.close(self._output)
        self._open.clear()
        self._output = -1


class Stream(Protocol):
    """The methods of a binary file that a channel needs."""

    def read(self, size: int, /) -> bytes | None: ...
    def write(self, data: bytes, /) -> int | None: ...
    def close(self) -> None: ...


class PipeChannel:
    """Three pipes, two of them read by threads."""

    def __init__(self, requests: Stream, answers: Stream, output: Stream, limits: Limits) -> None:
        self._requests, self._answers, self._output = requests, answers, output
        self._frames: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._printed = Printed(limits)
        self._output_ended = threading.Event()
        for target in (self._read_answers, self._read_output):
            threading.Thread(target=target, daemon=True).start()

    def send(self, frame: bytes) -> None:
        try:
            view = memoryview(frame)
            while view:
                view = view[self._requests.write(bytes(view)) or 0 :]
        except ValueError:  # closed meanwhile
            raise OSError("closed") from None

    def receive(self, seconds: float) -> Frame:
        try:
            frame = self._frames.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(frame, Flooded):
            raise frame
        return frame  # type: ignore[no-any-return]

    def printed(self, ended: bool) -> bytes:
        if ended:
            self._output_ended.wait(LAST_OUTPUT_SECONDS)
        return self._printed.take()

    def close(self) -> None:
        for stream in (self._requests, self._answers, self._output):
            with contextlib.suppress(OSError):
                stream.close()

    def _read_answers(self) -> None:
        read_exactly = frames.exact_reader(self._answers.read)
        try:
            while True:
                self._frames.put(frames.read(read_exactly))
                if self._frames.qsize() > MAX_UNREAD:
                    raise frames.BadFrame(UNREQUESTED)
        except frames.BadFrame as error:
            self._frames.put(error)
        except (EOFError, OSError, ValueError, AttributeError):  # the last: closed meanwhile
            self._frames.put(None)

    def _read_output(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := self._output.read(1 << 16):
                if self._printed.note(part):
                    self._frames.put(Flooded())
                    break
        self._output_ended.set()
