"""Writes docs/report.schema.json and docs/grades.schema.json from the types:
python docs/make_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from attention_katas.grading.formats.json import Document as Grades
from attention_katas.render.formats.json import Document

FOLDER = Path(__file__).parent
REPORT = "report.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def text() -> str:
    """The JSON Schema of `kata run --format json`."""
    schema = {
        "$schema": DIALECT,
        "title": "kata run --format json",
        **msgspec.json.schema(Document),
    }
    return json.dumps(schema, indent=2) + "\n"


def grades_text() -> str:
    """The JSON Schema of `kata grade --to json`, which refers to the other one."""
    shared = msgspec.json.schema(Document)["$defs"]
    own = msgspec.json.schema(Grades)
    definitions = {
        name: schema for name, schema in own["$defs"].items() if name not in _same(shared, own)
    }
    schema = {
        "$schema": DIALECT,
        "$id": "grades.schema.json",
        "title": "kata grade --to json",
        "$ref": own["$ref"],
        "$defs": definitions,
    }
    return json.dumps(_referring(schema, set(definitions)), indent=2) + "\n"


def _same(shared: dict[str, Any], own: dict[str, Any]) -> set[str]:
    return {name for name in shared if own["$defs"].get(name) == shared[name]}


def _referring(schema: Any, names: set[str]) -> Any:
    """The schema with references to definitions of the other file."""
    if isinstance(schema, list):
        return [_referring(part, names) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: _referring(part, names) for key, part in schema.items()}
    name = str(parts.get("$ref", "")).rpartition("/")[2]
    if name and name not in names:
        parts["$ref"] = f"{REPORT}#/$defs/{name}"
    return parts


if __name__ == "__main__":
    (FOLDER / REPORT).write_text(text(), encoding="utf-8")
    (FOLDER / "grades.schema.json").write_text(grades_text(), encoding="utf-8")
