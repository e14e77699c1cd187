"""The types of a verdict: facts and codes, no sentences. `words` writes the sentences."""

from attention_katas.verdict.data import (
    SCHEMA_VERSION,
    Cause,
    Check,
    Diagnosis,
    Evidence,
    Fault,
    Frame,
    Grid,
    Raised,
    Verdict,
    decode,
    encode,
    exit_code,
)
from attention_katas.verdict.reasons import Reason
from attention_katas.verdict.steps import Step
from attention_katas.verdict.symptoms import Symptom

__all__ = [
    "SCHEMA_VERSION",
    "Cause",
    "Check",
    "Diagnosis",
    "Evidence",
    "Fault",
    "Frame",
    "Grid",
    "Raised",
    "Reason",
    "Step",
    "Symptom",
    "Verdict",
    "decode",
    "encode",
    "exit_code",
]
