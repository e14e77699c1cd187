"""The sentences of `kata grade`: remarks, and why katas did not run to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from attention_katas.grading import remarks as m
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import words
from attention_katas.verdict.facts import Fact

SENTENCES: dict[type, Callable[[Any], str]] = {
    m.NotAnArchive: lambda fact: f"{fact.file} is not a zip that can be opened: {fact.problem}",
    m.TooManyMembers: lambda fact: f"{fact.file} holds more than {fact.count:,} files",
    m.ArchiveInArchive: lambda fact: f"{fact.file} is a zip inside {fact.archive}: not opened",
    m.NotANotebook: lambda fact: f"{fact.file} is not a notebook of format 4",
    m.TooMuchCode: lambda fact: f"{fact.file} holds more than {fact.kilobytes} KB of code",
    m.FolderIsLink: lambda fact: "its folder is a link: not followed",
    m.NoKataFile: lambda fact: "no kata file was found",
    m.SeveralFiles: lambda fact: (
        f"{fact.file} is there {fact.count} times; {fact.graded} was graded"
    ),
    m.FilesNotRead: lambda fact: f"only {fact.limit} of {fact.count} other files were read",
}

# What a remark is called where many are counted; any other is called OTHER.
LATE = "late"
OTHER = "another remark"
_ARCHIVES = (m.NotAnArchive, m.TooManyMembers, m.ArchiveInArchive, r.DamagedInArchive)
KINDS: dict[type, str] = {
    m.NoKataFile: "no kata file",
    m.SeveralFiles: "a file is there more than once",
    **dict.fromkeys(_ARCHIVES, "an archive was not read"),
}


def remark(fact: m.Remark) -> str:
    """The sentence for a remark."""
    write = SENTENCES.get(type(fact))
    return write(fact) if write else words.reason(fact)  # type: ignore[arg-type]


def kind(fact: m.Remark) -> str:
    """What a remark is called where many are counted."""
    return KINDS.get(type(fact), OTHER)


def without_file(fact: r.Reason | None) -> r.Reason | None:
    """The reason without the name of its file: the same for katas that share a cause."""
    if isinstance(fact, Fact) and hasattr(fact, "file"):
        return msgspec.structs.replace(fact, file="")
    return fact


def reason_without_file(fact: r.Reason | None) -> str:
    """`does not load: ...`: the sentence for a reason without the name of its file."""
    return words.reason(without_file(fact)).strip()


def katas(names: Sequence[str], every: bool) -> str:
    """`softmax, mask`, or `all 6 katas`."""
    return f"all {len(names)} katas" if every else ", ".join(names)


def not_run(names: Sequence[str], every: bool, outcome: v.Outcome, fact: r.Reason | None) -> str:
    """`all 6 katas: broken: does not load: ...`"""
    parts = (katas(names, every), outcome, reason_without_file(fact))
    return ": ".join(filter(None, parts))
