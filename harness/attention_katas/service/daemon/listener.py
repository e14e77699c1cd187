"""The sockets that the daemon waits at: one for clients, one for signals."""

from __future__ import annotations

import contextlib
import os
import signal
import socket

from attention_katas.service.daemon.address import Address


class Listener:
    """The daemon's socket. It appears under its name only when it accepts connections."""

    def __init__(self, address: Address) -> None:
        self.path = address.socket
        self.socket = socket.socket(socket.AF_UNIX)
        early = f"{self.path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            os.unlink(early)
        self.socket.bind(early)
        self.socket.listen(16)
        self._inode = os.stat(early).st_ino
        os.rename(early, self.path)

    def is_reachable(self) -> bool:
        """Whether the file that clients connect to is still this socket."""
        try:
            return os.stat(self.path).st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.is_reachable():
                os.unlink(self.path)
        self.socket.close()


class Waker:
    """A socket with something to read after a signal: a fork has ended, or the daemon has to."""

    def __init__(self) -> None:
        self.socket, self._other = socket.socketpair()
        for end in (self.socket, self._other):
            end.setblocking(False)
        signal.set_wakeup_fd(self._other.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def clear(self) -> None:
        """Forget the signals so far."""
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(64):
                continue
