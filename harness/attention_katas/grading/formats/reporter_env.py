"""Variables for the steps after this one: what the autograding reporter of GitHub Classroom reads.

The reporter looks for `<NAME>_RESULTS` in its environment (see `reporter`). Written to the file of
$GITHUB_ENV, they reach it without a workflow that names every kata.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.formats import About
from attention_katas.grading.formats.reporter import encoded_of
from attention_katas.grading.results import Result

SUMMARY = "variables for the autograding reporter of GitHub Classroom"
FILE = "$GITHUB_ENV"
CLASS = False


def render(results: Sequence[Result], about: About) -> str:
    texts = encoded_of(results, about)
    return "".join(f"{name.upper()}_RESULTS={text}\n" for name, text in texts.items())
