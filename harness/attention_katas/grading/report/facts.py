"""What a report says of a failure or of a changed grade, as codes and facts.

`grading.words` has a label or a sentence for each.
"""

from __future__ import annotations

from typing import Union

from attention_katas.verdict import data as v
from attention_katas.verdict.facts import Fact

# What is known of a failure: a mistake that has a name, or one of APART.
NAMED = "named"
EARLIER = "earlier"
SYMPTOMS = "symptoms"
UNNAMED = "unnamed"
UNFINISHED = "unfinished"
NOT_RUN = "not run"
APART = (EARLIER, SYMPTOMS, UNNAMED, UNFINISHED, NOT_RUN)


# What differs between two gradings of the same code


class OtherWorth(Fact, frozen=True):
    """The kata is worth other points."""

    before: int
    now: int


class OtherTests(Fact, frozen=True):
    """The kata has other tests."""


class OtherVersion(Fact, frozen=True):
    """A package has another version."""

    package: str
    before: str
    now: str


class OtherInputs(Fact, frozen=True):
    """The tests drew other inputs."""


class OtherOutcome(Fact, frozen=True):
    """The outcome is another one."""

    before: v.Outcome
    now: v.Outcome


class NothingDiffers(Fact, frozen=True):
    """Tests, inputs and versions are the same."""


Explanation = Union[  # noqa: UP007
    OtherWorth, OtherTests, OtherVersion, OtherInputs, OtherOutcome, NothingDiffers
]
