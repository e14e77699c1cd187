"""The line between the judge and one sandbox worker: frames both ways, and what the code prints.

`SocketChannel` waits for both with poll(), in the thread that asks: no thread of its own has to be
started for each of the many processes of a run, and no answer changes hands. `PipeChannel` is for
pipes on systems where those cannot be polled.
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
LAST_WORDS = 1.0  # seconds to wait for what a process printed before it ended
UNREAD = 2  # answers that may wait to be read: there is one for each question
UNASKED = "answers that nobody asked for"

# A frame's two parts, what was no frame, or None when the line has ended.
Frame = tuple[bytes, bytes] | frames.BadFrame | None


class Flooded(Exception):
    """More was printed than is allowed."""


class Channel(Protocol):
    """What a sandbox worker needs of its line. Whoever gets Flooded ends the process."""

    def send(self, frame: bytes) -> None:
        """Raises OSError when nobody takes it."""

    def receive(self, seconds: float) -> Frame:
        """The next frame. Raises TimeoutError when none came in time, and Flooded."""

    def printed(self, ended: bool) -> bytes:
        """What was printed since the last call; ended: the process is gone, so wait for it all."""

    def close(self) -> None: ...


class Printed:
    """What was printed, up to what is worth keeping."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept = bytearray()
        self._size = 0

    def note(self, part: bytes) -> bool:
        """Keep it; whether that is more than is allowed in all."""
        self._kept += part[: max(self._limits.kept_bytes - len(self._kept), 0)]
        self._size += len(part)
        return self._size > self._limits.output_bytes

    def take(self) -> bytes:
        printed, self._kept = bytes(self._kept), bytearray()
        return printed


class SocketChannel:
    """A socket for frames and a pipe for what is printed."""

    def __init__(self, line: socket.socket, output: int, limits: Limits) -> None:
        self._line, self._output = line, output
        self._printed = Printed(limits)
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)
        self._poll.register(output, select.POLLIN)
        self._open = {line.fileno(), output}
        os.set_blocking(output, False)
        line.settimeout(SEND_SECONDS)

    def send(self, frame: bytes) -> None:
        self._look(0.0)
        if self._buffer:
            return  # an answer before its question: the reader is told
        try:
            self._line.sendall(frame)
        except TimeoutError:
            raise OSError("nobody reads") from None

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
                    return frames.BadFrame(UNASKED)
                self._buffer = bytearray()
                return head, body
            if self._line.fileno() not in self._open:
                return None
            seconds_left = until - time.monotonic()
            if seconds_left <= 0:
                raise TimeoutError
            self._look(seconds_left)

    def _look(self, seconds: float) -> None:
        """Wait until something comes, and take it."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._output:
                self._take_output()
                continue
            try:
                part = self._line.recv(frames.CHUNK)
            except (TimeoutError, OSError):
                part = b""
            self._buffer += part
            if not part:
                self._forget(descriptor)

    def _take_output(self) -> bool:
        """Take what was printed; whether there may be more."""
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
        until = time.monotonic() + (LAST_WORDS if ended else 0.0)
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        with contextlib.suppress(Flooded):
            while self._output in self._open:
                seconds_left = max(until - time.monotonic(), 0.0)
                if not poll.poll(seconds_left * 1000) or not self._take_output():
                    break
        return self._printed.take()

    def close(self) -> None:
        self._line.close()
        if self._output >= 0:
            os.close(self._output)
        self._open.clear()
        self._output = -1


class Stream(Protocol):
    """The little of a binary file that a line needs."""

    def read(self, size: int, /) -> bytes | None: ...
    def write(self, data: bytes, /) -> int | None: ...
    def close(self) -> None: ...


class PipeChannel:
    """Three pipes, two of them read by threads."""

    def __init__(self, requests: Stream, answers: Stream, output: Stream, limits: Limits) -> None:
        self._requests, self._answers, self._output = requests, answers, output
        self._frames: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._printed = Printed(limits)
        self._quiet = threading.Event()
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
            self._quiet.wait(LAST_WORDS)
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
                if self._frames.qsize() > UNREAD:
                    raise frames.BadFrame(UNASKED)
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
        self._quiet.set()
