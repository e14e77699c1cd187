"""`--format json`: the verdicts as they are. The schema stands in docs/report.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date

from attention_katas.render.formats import RunFormat
from attention_katas.verdict.data import SCHEMA_VERSION, Verdict, exit_code


def render(verdicts: Sequence[Verdict], on: date | None = None) -> str:
    """All verdicts as one JSON document; `on` is the day, for what is kept."""
    document = {
        "schema": SCHEMA_VERSION,
        **({"date": on.isoformat()} if on else {}),
        "exit_code": exit_code(list(verdicts)),
        "verdicts": [verdict.to_dict() for verdict in verdicts],
    }
    return json.dumps(document, indent=2)


FORMAT = RunFormat("the verdicts as JSON, for programs", lambda verdicts: render(verdicts) + "\n")
