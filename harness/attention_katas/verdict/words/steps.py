"""What to do next: a sentence for each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention_katas.verdict import steps as s


def step(fact: s.Step | None) -> str:
    """The sentence for a step; "" for none."""
    return "" if fact is None else SENTENCES[type(fact)](fact)


SENTENCES: dict[type, Callable[[Any], str]] = {
    s.RunKata: lambda fact: f"kata run {fact.kata}",
    s.ResetKata: lambda fact: f"kata reset {fact.kata} writes a fresh stub",
    s.CheckKata: lambda fact: f"kata dev check {fact.kata}",
    s.Doctor: lambda fact: "kata doctor, then the same again" if fact.again else "kata doctor",
    s.AllowWeakSandbox: lambda fact: "kata doctor, or the same with --allow-weak-sandbox",
    s.CloseOtherPrograms: lambda fact: "close other programs, then run it again",
    s.PutBeside: lambda fact: f"put it beside {fact.file}",
    s.Advice: lambda fact: fact.text,
}
