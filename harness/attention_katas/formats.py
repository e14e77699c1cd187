"""What the author of a format imports. docs/formats.md says how a package brings formats."""

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._text import block, line
from attention_katas.grading.results import Item, Result, Student
from attention_katas.render.formats import RunFormat

__all__ = ["About", "GradeFormat", "Item", "Result", "RunFormat", "Student", "block", "line"]
