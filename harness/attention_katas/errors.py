"""The errors of `kata`, and their exit codes.

KataError                 exit 2: the request cannot be carried out as it stands
+-- NoSuchKata
+-- NoWorkspace
+-- BadContent            a kata folder breaks the contract of katas/
+-- ProgressUnavailable   the progress file cannot be read or written
+-- CouldNotGrade         exit 3: a fault of this package, never of the learner's code
"""

from __future__ import annotations


class KataError(Exception):
    """Base class of all errors.

    message: what is wrong.
    next_step: what the reader should type or do now; "" for nothing.
    exit_code: the status that the command ends with.
    """

    exit_code = 2

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class NoSuchKata(KataError):
    """No kata has this name.

    nearest: the name of a kata that is close to it; "" if none is.
    """

    def __init__(self, message: str, nearest: str = "") -> None:
        super().__init__(message, "" if nearest else "kata list")
        self.nearest = nearest


class NoWorkspace(KataError):
    """Neither this folder nor one above it is a workspace."""


class BadContent(KataError):
    """A kata folder breaks the contract of `katas/`."""


class ProgressUnavailable(KataError):
    """The progress file cannot be read or written."""


class CouldNotGrade(KataError):
    """A fault of this package: the learner's code was not judged."""

    exit_code = 3
