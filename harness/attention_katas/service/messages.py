"""What processes say to each other about verdicts: one type for each message.

A verdict is the body of the frame whose header is `Judged`: it is encoded once, where it is made.
"""

from __future__ import annotations

import functools
from typing import Final, Literal, TypeAlias

import msgspec

from attention_katas.errors import NoSuchKata
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.precheck import versions
from attention_katas.packs.submission import Submission
from attention_katas.verdict import reasons
from attention_katas.verdict.reasons import Refusal

# Codes of `Refused`.
# The daemon is made of other files: it ends, and the client starts a new one.
RESTART: Final = "restart"
OTHER_DEVICE: Final = "other device"
UNKNOWN_KATA: Final = "unknown kata"
OTHER_CONTENT: Final = "other content"
OTHER_VERSION: Final = "other version"
NO_KATAS: Final = "no katas"
LOST: Final = "lost"


class Message(msgspec.Struct, frozen=True, tag=str.lower):
    """Anything that one process sends to another."""


class Judge(Message, frozen=True):
    """Asks for a verdict. File names are left out: a path may hold the name of a student.

    kata: name of the kata.
    digest: of the pack that the kata comes from, as the sender has it.
    versions: name -> version of each package that must be the same.
    sources: module name -> source text.
    unwritten: module name -> functions that are still the stub.
    absent: module name -> why an imported kata cannot be read.
    seed: decides all inputs; None for a fresh one.
    device: where the code has to run: "cpu", or "auto" for any.
    """

    kata: str
    digest: str
    versions: dict[str, str]
    sources: dict[str, str]
    unwritten: dict[str, frozenset[str]]
    absent: dict[str, reasons.Unreadability]
    seed: int | None = None
    device: str = "cpu"


class Hold(Message, frozen=True):
    """Keeps the daemon from going idle for as long as the connection is open.

    kata: name of the kata that is likely next.
    """

    kata: str


class Status(Message, frozen=True):
    """Asks how the daemon is."""


class Stop(Message, frozen=True):
    """Asks the daemon to end."""


class Started(Message, frozen=True):
    """The process `pid` takes requests, or has taken this one."""

    pid: int


class Busy(Message, frozen=True):
    """A sign of life while a verdict is made."""


class Judged(Message, frozen=True):
    """The verdict is the body of this frame."""


class Refused(Message, frozen=True):
    """There will be no verdict.

    code: why, as one of the constants above.
    where: the machine that refuses.
    name: the kata, the pack or the package that differs.
    here: what the refusing process has.
    expected: what the request asks for.
    detail: what the system says.
    """

    code: Refusal | Literal["restart", "lost"]
    where: str = ""
    name: str = ""
    here: str = ""
    expected: str = ""
    detail: str = ""


class StatusReport(Message, frozen=True):
    """How the daemon is.

    pid: its process.
    version: of this package.
    started: when, in seconds since the epoch.
    judged: how many verdicts it has made.
    warm: whether the warm-up is over.
    idle_seconds_left: seconds until it ends for want of work; None while it is in use.
    memory_mb: proportional memory of all its processes, in MiB.
    """

    pid: int
    version: str
    started: float
    judged: int
    warm: bool
    idle_seconds_left: float | None
    memory_mb: float


class Stopping(Message, frozen=True):
    """The daemon `pid` is ending."""

    pid: int


AnyMessage: TypeAlias = (
    Judge | Hold | Status | Stop | Started | Busy | Judged | Refused | StatusReport | Stopping
)


def judging_versions() -> dict[str, str]:
    """What must be the same wherever a class is judged; torch without the name of its build."""
    names = dict(_versions())
    torch = names["torch"].partition("+")[0].replace(" ", "-")
    return {"attention-katas": names["attention-katas"], "torch": torch}


@functools.cache
def _versions() -> tuple[tuple[str, str], ...]:
    """They are read from the disk, and stay the same for as long as this process lives."""
    return tuple(versions().items())


def request_of(submission: Submission, seed: int | None, device: str = "cpu") -> Judge:
    """The message that asks for a verdict on a submission."""
    return Judge(
        kata=submission.kata.name,
        digest=submission.kata.pack.digest,
        versions=judging_versions(),
        sources=submission.sources,
        unwritten=submission.unwritten,
        absent=submission.absent,
        seed=seed,
        device=device,
    )


def submission_of(request: Judge, catalog: Catalog) -> Submission | Refused:
    """The submission that a request carries, or why it is not judged by these katas."""
    try:
        kata = catalog[request.kata]
    except NoSuchKata:
        return Refused(UNKNOWN_KATA, name=request.kata)
    digest = kata.pack.digest
    if digest != request.digest:
        return Refused(OTHER_CONTENT, name=kata.pack.name, here=digest, expected=request.digest)
    versions_here = judging_versions()
    for name, expected in request.versions.items():
        if versions_here.get(name) != expected:
            return Refused(
                OTHER_VERSION, name=name, here=versions_here.get(name, ""), expected=expected
            )
    return Submission(kata, request.sources, kata.file, request.unwritten, request.absent)
