"""What the files of a kata import: known mistakes, and the questions of the diagnosis.

Importing this loads no torch.
"""

from attention_katas.authoring.mistakes import convention, formula, harmless, mistake
from attention_katas.authoring.probing import ask, broken, close, furthest, probe, symptom

__all__ = [
    "ask",
    "broken",
    "close",
    "convention",
    "formula",
    "furthest",
    "harmless",
    "mistake",
    "probe",
    "symptom",
]
