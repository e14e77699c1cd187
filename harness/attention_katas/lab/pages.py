"""The HTML pages of the lab, from the templates in `templates`."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment

from attention_katas.render import templates


@dataclass(frozen=True)
class Offline:
    """What the page contains if no server stands behind it.

    style: the style sheet.
    script: the modules of the page as one.
    data: what the script reads instead of asking the server.
    """

    style: str
    script: str
    data: dict[str, Any]


def index(offline: Offline | None = None) -> str:
    """The lab: with what it needs inside, or with links to the files of the server."""
    return _environment().get_template("index.html").render(offline=offline)


def closed() -> str:
    """What a browser gets that has no token."""
    return _environment().get_template("closed.html").render()


def redirect(address: str) -> str:
    """A page that leads to `address` at once."""
    return _environment().get_template("redirect.html").render(address=address)


@functools.cache
def _environment() -> Environment:
    return templates.html(__package__)
