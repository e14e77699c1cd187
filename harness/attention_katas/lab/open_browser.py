"""Opens the page in a browser without showing its token to other users of the machine.

Every user can read the command line of every process. So the browser gets the name of a file that
only this user can read, and the file redirects to the page.
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


class RedirectFile:
    """A private file that redirects to `address`; it is deleted by `close` and after `open`."""

    def __init__(self, address: str) -> None:
        """Write the file. Raises OSError."""
        self._folder = Path(tempfile.mkdtemp(prefix="kata-lab-"))  # 0700
        self.path = self._folder / "open.html"
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(pages.redirect(address))

    def open(self, opened: threading.Event, failed: Callable[[], None]) -> None:
        """Launch a browser and return at once.

        opened: set by the server when a browser asks for the page.
        failed: called from another thread if none does.
        """
        arguments = (opened, failed)
        threading.Thread(target=self._open, args=arguments, name="browser", daemon=True).start()

    def _open(self, opened: threading.Event, failed: Callable[[], None]) -> None:
        process = launch_browser(self.path.as_uri())
        deadline = time.monotonic() + PATIENCE
        while process and not process.poll() and time.monotonic() < deadline:
            # The browser may be this process, or another one that this process has asked.
            if opened.wait(0.1):
                break
        if not opened.is_set():
            failed()
        self.close()
        if process:
            process.wait()  # however long the browser stays

    def close(self) -> None:
        """Delete the file."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder)


def launch_browser(address: str) -> subprocess.Popen[bytes] | None:
    """Start what opens pages on this system, or None if that cannot be started.

    It runs in a session of its own: Ctrl-C in this terminal does not reach it.
    """
    with_python = [sys.executable, "-I", "-c", WITH_PYTHON]  # -I: no module of this folder
    opener = {"darwin": "open", "win32": ""}.get(sys.platform, "xdg-open")
    command = [opener] if opener and shutil.which(opener) else with_python
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
