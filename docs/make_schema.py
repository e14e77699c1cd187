"""Writes docs/report.schema.json from the types of the verdict: python docs/make_schema.py"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from attention_katas.render.formats.json import Document

FILE = Path(__file__).with_name("report.schema.json")


def text() -> str:
    """The JSON Schema of `kata run --format json`."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kata run --format json",
        **msgspec.json.schema(Document),
    }
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
