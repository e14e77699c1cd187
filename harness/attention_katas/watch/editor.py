"""Which editor opens a file, and whether it needs the terminal for itself."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Editors with a window of their own: they do not use the terminal.
WINDOWED = {
    "atom", "bbedit", "code", "code-insiders", "codium", "cursor", "gedit", "geany",
    "gnome-text-editor", "gvim", "idea", "kate", "kwrite", "mate", "mousepad", "notepad",
    "notepad++", "open", "pluma", "positron", "pycharm", "start", "subl", "sublime_text",
    "vscodium", "windsurf", "xdg-open", "xed", "zed",
}  # fmt: skip
LIKE_CODE = {"code", "code-insiders", "codium", "cursor", "positron", "vscodium", "windsurf"}
USUAL = ("sensible-editor", "nano", "vim", "vi")
WAITS = {"--wait", "-w"}


@dataclass(frozen=True)
class Editor:
    """A command that opens a file.

    words: the command line.
    windowed: whether the editor has a window of its own and does not need this terminal.
    """

    words: tuple[str, ...]
    windowed: bool

    @property
    def name(self) -> str:
        return name_of(self.words[0])

    def start(self) -> str:
        """Start the editor; if it needs the terminal, wait for its end. Returns a problem or ""."""
        try:
            if self.windowed:
                subprocess.Popen(
                    self.words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                return ""
            code = subprocess.run(self.words, check=False).returncode
        except OSError as error:
            return f"{self.name} cannot be started: {error.strerror}"
        return f"{self.name} ended with exit code {code}" if code else ""


def editor(path: Path, environment: Mapping[str, str] = os.environ) -> Editor | None:
    """The editor: $VISUAL, VS Code if this is its terminal, $EDITOR, or a usual one that exists."""
    inside = environment.get("TERM_PROGRAM") == "vscode" and shutil.which("code")
    commands = (environment.get("VISUAL"), "code" if inside else "", environment.get("EDITOR"))
    for command in commands:
        try:
            words = shlex.split(command or "", posix=os.name != "nt")
        except ValueError:
            continue
        if words:
            return _command(words, path)
    usual = next((name for name in USUAL if shutil.which(name)), None)
    return _command([usual], path) if usual else None


def _command(words: list[str], path: Path) -> Editor:
    name = name_of(words[0])
    if name in LIKE_CODE:
        words = [word for word in words if word not in WAITS]
        words += [] if {"-g", "--goto"} & set(words) else ["-g"]
    windowed = name in WINDOWED
    return Editor((*words, str(path)), windowed)


def name_of(command: str) -> str:
    base = os.path.basename(command.strip('"').replace("\\", "/")).lower()
    for ending in (".exe", ".cmd", ".bat"):
        base = base.removesuffix(ending)
    return base
