"""What a teacher should know about a submission, as facts: one struct for each remark.

`Remark` is the union of all. `grading.words` has the sentences.
"""

from __future__ import annotations

from typing import Union

from attention_katas.verdict import reasons as r
from attention_katas.verdict.facts import Fact

# Why an archive or a notebook was not read, which is up to the student


class NotAnArchive(Fact, frozen=True):
    """The file is not a zip that can be opened.

    problem: what the zip reader says.
    """

    file: str
    problem: str


class TooManyMembers(Fact, frozen=True):
    """The archive holds more files than are looked at.

    count: the limit.
    """

    file: str
    count: int


class ArchiveInArchive(Fact, frozen=True):
    """An archive inside another archive is not opened."""

    file: str
    archive: str


class NotANotebook(Fact, frozen=True):
    """The file is not a notebook of format 4."""

    file: str


class TooMuchCode(Fact, frozen=True):
    """The code cells of a notebook hold more than the katas can need.

    kilobytes: the limit.
    """

    file: str
    kilobytes: int


# About a submission as a whole


class FolderIsLink(Fact, frozen=True):
    """The student's folder is a link, which is not followed."""


class NoKataFile(Fact, frozen=True):
    """No file of the submission belongs to a kata."""


class SeveralFiles(Fact, frozen=True):
    """Several files belong to the same kata.

    file: the name that the kata asks for.
    count: how many there are.
    graded: the path of the one that was graded.
    """

    file: str
    count: int
    graded: str


class FilesNotRead(Fact, frozen=True):
    """There are more files without a kata's name than are searched for functions.

    limit: how many of `count` were read.
    """

    limit: int
    count: int


# Why an archive or a notebook was not read.
Refusal = Union[  # noqa: UP007
    NotAnArchive, TooManyMembers, ArchiveInArchive, NotANotebook, TooMuchCode
]
# Why something could not be read, which is not up to the student.
ReadFault = Union[r.CannotBeRead, r.FolderNotListed, r.GraderFault]  # noqa: UP007

Remark = Union[  # noqa: UP007
    r.Unreadability, Refusal, ReadFault, FolderIsLink, NoKataFile, SeveralFiles, FilesNotRead
]
