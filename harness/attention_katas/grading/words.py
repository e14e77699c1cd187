"""The sentences of `kata grade`: remarks, and why katas did not run to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from attention_katas.grading import remarks as m
from attention_katas.grading.report import facts as f
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import words

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


# What is known of a failure, as a report says it.
KNOWLEDGE = {
    f.NAMED: "named",
    f.EARLIER: "earlier work is to blame",
    f.SYMPTOMS: "only symptoms",
    f.UNNAMED: "no diagnosis",
    f.UNFINISHED: "not all of it written",
    f.NOT_RUN: "did not run to the end",
}

EXPLANATIONS: dict[type, Callable[[Any], str]] = {
    f.OtherWorth: lambda fact: f"worth {fact.now} points, before {fact.before}",
    f.OtherTests: lambda fact: "other tests",
    f.OtherVersion: lambda fact: f"{fact.package} {fact.before} -> {fact.now}",
    f.OtherInputs: lambda fact: "other inputs",
    f.OtherOutcome: lambda fact: f"{fact.now}, before {fact.before}",
    f.NothingDiffers: lambda fact: "same tests, inputs and versions",
}

# Reasons whose `file` is the file of the kata itself. The subject of their sentences is that file.
OwnFile = (
    r.FileMissing
    | r.LinkDangling
    | r.NotAnOrdinaryFile
    | r.TooLarge
    | r.Utf16
    | r.NulByte
    | r.NotUtf8
    | r.LinkNotFollowed
    | r.DamagedInArchive
    | r.StillStub
    | r.FunctionMissing
    | r.NotPython
    | r.DoesNotLoad
)


def remark(fact: m.Remark) -> str:
    """The sentence for a remark."""
    write = SENTENCES.get(type(fact))
    return write(fact) if write else words.reason(fact)  # type: ignore[arg-type]


def kind(fact: m.Remark) -> str:
    """What a remark is called where many are counted."""
    return KINDS.get(type(fact), OTHER)


def explanations(facts: Sequence[f.Explanation]) -> list[str]:
    """What differs between two gradings of the same code, in words."""
    return [EXPLANATIONS[type(fact)](fact) for fact in facts]


def without_file(fact: r.Reason | None) -> r.Reason | None:
    """The reason without the name of the kata's file: the same for katas that share a cause."""
    return msgspec.structs.replace(fact, file="") if isinstance(fact, OwnFile) else fact


def reason_about(fact: r.Reason | None, file: str = "") -> str:
    """`does not load: ...`, behind the name of `file`: for katas that share a reason.

    A reason that is not about the file of a kata has its sentence as it is.
    """
    if not isinstance(fact, OwnFile):
        return words.reason(fact)
    return " ".join(filter(None, (file, predicate(fact))))


def predicate(fact: OwnFile) -> str:
    """The sentence for a reason without its subject, which is the file."""
    return words.reason(fact).removeprefix(f"{fact.file} ")


def katas(names: Sequence[str], every: bool) -> str:
    """`softmax, mask`, or `all 6 katas`."""
    return f"all {len(names)} katas" if every else ", ".join(names)


def not_run(names: Sequence[str], every: bool, outcome: v.Outcome, fact: r.Reason | None) -> str:
    """`all 6 katas: broken: does not load: ...`"""
    if isinstance(fact, r.NotJudgedYet):  # its sentence says all, and no fault of ours
        return f"{katas(names, every)}: {words.reason(fact)}"
    parts = (katas(names, every), outcome, reason_about(fact))
    return ": ".join(filter(None, parts))
