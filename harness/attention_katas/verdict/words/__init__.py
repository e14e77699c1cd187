"""Every sentence about a verdict is written here, from facts; nothing reads a sentence back.

reasons     why a check did not pass, why a submission was not judged
steps       what to do next
symptoms    what a diagnosis saw
diagnoses   causes, evidence, earlier work at fault
"""

from __future__ import annotations

from attention_katas.verdict import data as v
from attention_katas.verdict.words.diagnoses import diagnosis, evidence, headline, says
from attention_katas.verdict.words.notices import notice
from attention_katas.verdict.words.reasons import SENTENCES as REASONS
from attention_katas.verdict.words.reasons import reason, rung
from attention_katas.verdict.words.steps import SENTENCES as STEPS
from attention_katas.verdict.words.steps import step
from attention_katas.verdict.words.symptoms import SENTENCES as SYMPTOMS
from attention_katas.verdict.words.symptoms import symptom

__all__ = [
    "REASONS",
    "STEPS",
    "SYMPTOMS",
    "check",
    "diagnosis",
    "evidence",
    "headline",
    "next_step",
    "notice",
    "reason",
    "rung",
    "says",
    "step",
    "symptom",
    "verdict",
]


def verdict(verdict: v.Verdict) -> str:
    """Why it is not a pass, in one sentence; "" for a pass."""
    return reason(verdict.why)


def check(check: v.Check) -> str:
    """Why the check did not pass, in one sentence; "" for a pass."""
    return reason(check.reason)


def next_step(verdict: v.Verdict) -> str:
    """What to do now; "" when it is simply to change the file."""
    return step(verdict.next_step)
