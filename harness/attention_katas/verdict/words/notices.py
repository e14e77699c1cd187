"""What code did that is odd, for a teacher: a sentence for each notice."""

from __future__ import annotations

from attention_katas.verdict.data import Notice, Oddity

SENTENCES: dict[Oddity, str] = {
    "c-library": "loads a C library",
    "c-symbol": "looks up a C function",
    "c-call": "calls a C function",
    "raw-memory": "reads raw memory",
    "object-search": "searches all objects",
    "byte-code-load": "loads byte code",
    "byte-code-make": "makes byte code",
    "fork": "forks",
    "program": "starts a program",
    "signal": "sends a signal",
    "socket": "opens a socket",
    "tracing": "traces code",
    "audit-hook": "adds an audit hook",
    "torch-source": "opens {}",
    "process-lost": "{}, twice: look at what it does",
}


def notice(fact: Notice) -> str:
    """What the code did, to follow the name of the student."""
    return SENTENCES[fact.code].format(fact.detail)
