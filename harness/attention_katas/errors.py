"""Everything `kata` can say no with.

KataError                 exit 2: what was asked for cannot be done as asked
+-- NoSuchKata
+-- NoWorkspace
+-- BadContent            a kata folder breaks the contract of katas/
+-- ProgressUnavailable   the progress file cannot be read or written
+-- CouldNotGrade         exit 3: a fault of ours, never the learner's
"""

from __future__ import annotations


class KataError(Exception):
    """Base class. `next_step` is what the reader should type or do now."""

    exit_code = 2

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class NoSuchKata(KataError):
    """The name is not one of the katas; `nearest` may be the one that was meant."""

    def __init__(self, message: str, nearest: str = "") -> None:
        super().__init__(message, "" if nearest else "kata list")
        self.nearest = nearest


class NoWorkspace(KataError):
    """There is no workspace here or above."""


class BadContent(KataError):
    """A kata folder breaks the contract of `katas/`."""


class ProgressUnavailable(KataError):
    """The progress file cannot be read or written."""


class CouldNotGrade(KataError):
    """Our own fault: the learner's code was not judged."""

    exit_code = 3
