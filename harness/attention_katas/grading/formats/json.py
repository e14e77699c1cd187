"""Everything, as JSON: for programs of your own. The schema is docs/grades.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import msgspec

from attention_katas.grading import remarks, words
from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.results import Item, Result
from attention_katas.render.formats.json import Verdict, spoken

SCHEMA = 2

Count = Annotated[int, msgspec.Meta(ge=0)]


class Kata(msgspec.Struct):
    """One kata of one student.

    points: null if it could not be graded; then it counts neither for nor against.
    worth: the most points there are.
    verdict: as far as the feedback shows it, and without its seed.
    """

    kata: str
    points: Count | None
    worth: Count
    verdict: Verdict


class Remark(msgspec.Struct):
    """Something about the submission that a teacher should know, and its sentence."""

    remark: remarks.Remark
    message: str


class Graded(msgspec.Struct):
    """All katas of one student.

    student: unique in the class and the same in every run.
    ids: other ids: canvas, sis, moodle, login, email.
    graded: all katas could be graded.
    points: of the katas that could be graded.
    """

    student: str
    name: str
    ids: dict[str, str]
    late: bool
    remarks: list[Remark]
    graded: bool
    points: Count
    worth: Count
    katas: list[Kata]


class Document(msgspec.Struct, tag_field="schema", tag=SCHEMA):
    """What `kata grade --to json` writes.

    title: of the assignment.
    feedback: how much of the verdicts there is: full, named or points.
    """

    title: str
    feedback: str
    results: list[Graded]


def render(results: Sequence[Result], about: About) -> str:
    document = Document(about.title, about.feedback, [_graded(result) for result in results])
    return json.dumps(msgspec.to_builtins(document), indent=2) + "\n"


def _graded(result: Result) -> Graded:
    return Graded(
        student=result.student.id,
        name=result.student.name,
        ids=dict(result.student.ids),
        late=result.late,
        remarks=[Remark(remark, words.remark(remark)) for remark in result.remarks],
        graded=result.graded,
        points=result.points,
        worth=result.worth,
        katas=[_kata(item) for item in result.items],
    )


def _kata(item: Item) -> Kata:
    return Kata(item.kata, item.points, item.worth, spoken(item.verdict))


FORMAT = GradeFormat(
    summary="everything, for programs",
    file="-",
    holds_class=True,
    render=render,
)
