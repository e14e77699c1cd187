"""Closed descriptors: no file or socket that the judge has open can be used."""

from __future__ import annotations

import os
from collections.abc import Iterable

NAME = "closed descriptors"


def apply(keep: Iterable[int]) -> str:
    """Close every descriptor except the three standard ones and `keep`."""
    descriptors = sorted({0, 1, 2, *keep})
    for low, high in zip(descriptors, [*descriptors[1:], 4096], strict=True):
        os.closerange(low + 1, high)
    return NAME
