"""Sections of the page: what the teacher should look at, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import NameList, Rows, first_rows, name_list
from attention_katas.grading.report.similarity import RIGHT_SIZE, WRONG_SIZE, Alike, Likeness
from attention_katas.verdict import data as v
from attention_katas.verdict import words as verdict_words


@dataclass(frozen=True)
class LostLine:
    """A kata of one student that could not be graded."""

    name: str
    kata: str
    reason: str


@dataclass(frozen=True)
class WaitingLine:
    """Katas of one student that are not judged yet."""

    name: str
    katas: Sequence[str]


@dataclass(frozen=True)
class WaitingView:
    """What is not judged yet. count: katas of all students."""

    lines: Rows[WaitingLine]
    count: int


@dataclass(frozen=True)
class RemarkLine:
    """What was noted about the submission of one student."""

    name: str
    remarks: Sequence[str]


@dataclass(frozen=True)
class RemarksView:
    """Submissions with a remark. counts: kinds of remarks, the most frequent first."""

    lines: Rows[RemarkLine]
    counts: list[tuple[str, int]]
    students: int


@dataclass(frozen=True)
class AuditLine:
    """Something that the code of one student did, and in which katas."""

    name: str
    event: str
    katas: Sequence[str]


@dataclass(frozen=True)
class AuditView:
    """What Python noted while code ran. lines: None without names."""

    lines: Rows[AuditLine] | None
    students: int


@dataclass(frozen=True)
class GroupLine:
    """Students whose code is alike, and the katas in which it is."""

    students: NameList
    katas: Sequence[Likeness]


@dataclass(frozen=True)
class AlikeView:
    """Code of the same form.

    groups: None without names.
    count: of the groups.
    forms: how many forms were left out, and why.
    right_size, wrong_size: nodes of the syntax tree from which on a likeness is counted.
    """

    groups: Rows[GroupLine] | None
    count: int
    forms: Alike
    right_size: int = RIGHT_SIZE
    wrong_size: int = WRONG_SIZE


def lost(report: Report) -> Rows[LostLine] | None:
    """What could not be graded; None if all could."""
    lines = [LostLine(report.names[student], kata, reason) for student, kata, reason in report.lost]
    return first_rows(lines) if lines else None


def waiting(report: Report) -> WaitingView | None:
    """What is not judged yet; None if everything is."""
    if not report.waiting:
        return None
    lines = [WaitingLine(report.names[student], katas) for student, katas in report.waiting.items()]
    return WaitingView(first_rows(lines), sum(map(len, report.waiting.values())))


def remarks(report: Report) -> RemarksView | None:
    """Remarks about submissions; None if there are none."""
    if not report.remark_lines:
        return None
    lines = [
        RemarkLine(report.names[student], remarks)
        for student, remarks in report.remark_lines.items()
    ]
    return RemarksView(first_rows(lines), report.kinds.most_common(), len(lines))


def audit(report: Report) -> AuditView | None:
    """Events that the audit hook noted, by student and event; None if there are none."""
    if not report.audited:
        return None
    katas: dict[tuple[str, v.Notice], list[str]] = {}
    for student, kata, notices in report.audited:
        for notice in notices:
            katas.setdefault((student, notice), []).append(kata)
    lines = [
        AuditLine(report.names[student], verdict_words.notice(notice), names)
        for (student, notice), names in katas.items()
    ]
    students = len({student for student, _, _ in report.audited})
    return AuditView(None if report.anonymous else first_rows(lines), students)


def alike(report: Report) -> AlikeView:
    """Groups of students whose code has the same form."""
    lines = [
        GroupLine(name_list(report, group.students), group.katas) for group in report.alike.groups
    ]
    groups = None if report.anonymous else first_rows(lines)
    return AlikeView(groups, len(lines), report.alike)
