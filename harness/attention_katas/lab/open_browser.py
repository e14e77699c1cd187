"""Opens the page in a browser, so that nobody else gets to see its token.

Whatever is on a command line, every user of the machine can read. So the browser gets the name of a
file that only this user can, and the file leads to the page.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from attention_katas.lab import pages

PATIENCE = 30.0  # seconds in which a browser has to have asked for the page
WITH_PYTHON = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


class Door:
    """A file that leads to `address`, until somebody has come in or it is closed."""

    def __init__(self, address: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="kata-lab-"))  # 0700
        self.path = self._folder / "open.html"
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(pages.redirect(address))

    def open(self, came_in: threading.Event, failed: Callable[[], None]) -> None:
        """Launch a browser and do not wait for it: `failed` is called if nobody comes in."""
        waiting = (came_in, failed)
        threading.Thread(target=self._lead, args=waiting, name="door", daemon=True).start()

    def _lead(self, came_in: threading.Event, failed: Callable[[], None]) -> None:
        process = launched(self.path.as_uri())
        until = time.monotonic() + PATIENCE
        while process and not process.poll() and time.monotonic() < until:
            # The browser may be the process that was launched, or one that it has told.
            if came_in.wait(0.1):
                break
        if not came_in.is_set():
            failed()
        self.close()
        if process:
            process.wait()  # however long the browser stays

    def close(self) -> None:
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder)


def launched(address: str) -> subprocess.Popen[bytes] | None:
    """Whatever opens pages here, away from this terminal: Ctrl-C is for us alone."""
    with_python = [sys.executable, "-I", "-c", WITH_PYTHON]  # nothing of this folder
    own = {"darwin": "open", "win32": ""}.get(sys.platform, "xdg-open")
    command = [own] if own and shutil.which(own) else with_python
    try:
        return subprocess.Popen(
            [*command, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
