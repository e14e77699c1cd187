"""Packs of katas, and what a learner submits to one."""

from attention_katas.packs.catalog import Catalog, Kata, Selection, load_catalog
from attention_katas.packs.precheck import read_submission
from attention_katas.packs.submission import Submission

__all__ = ["Catalog", "Kata", "Selection", "Submission", "load_catalog", "read_submission"]
