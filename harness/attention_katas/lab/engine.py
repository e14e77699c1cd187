"""The threads that compute: what a page asks goes in, answers come out, and the newest wins.

Each page has one place for each panel. What is asked while an answer is under way waits there, and
is replaced by what is asked after it: so nothing queues behind a slow function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from attention_katas.errors import KataError
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.panels import Answer
from attention_katas.lab.panels.params import Unclear

Reply = Callable[[dict[str, Any]], None]


class Engine:
    """One thread, with learner's functions of its own, for some of the panels."""

    def __init__(self, name: str, live: LearnerFunctions, panels: dict[str, Answer]) -> None:
        self.panels = panels
        self._live = live
        self._waiting: dict[tuple[object, str], tuple[dict[str, Any], Reply]] = {}
        self._changed: set[str] = set()
        self._news = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask(self, page: object, request: dict[str, Any], reply: Reply) -> None:
        """Answer this next, in place of what the same page asked before for the same panel."""
        with self._news:
            self._waiting[page, request["panel"]] = (request, reply)
            self._news.notify()

    def leave(self, page: object) -> None:
        """This page is gone."""
        with self._news:
            for key in [key for key in self._waiting if key[0] is page]:
                del self._waiting[key]

    def changed(self, names: set[str]) -> None:
        """These files were saved: whatever is asked from here on is answered by what they hold."""
        with self._news:
            self._changed |= names

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify()
        self._thread.join(10.0)

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or self._waiting)
                if self._closed:
                    break
                key = next(iter(self._waiting))
                request, reply = self._waiting.pop(key)
                changed, self._changed = self._changed, set()
            if changed:
                self._live.forget(changed)
            reply(answer(self._live, self.panels, request))
        self._live.close()


def numbered(number: object) -> bool:
    """Whether this is the number of a question: what comes back as it was."""
    return type(number) is int and abs(number) < 1 << 53


def answer(
    live: LearnerFunctions, panels: dict[str, Answer], request: dict[str, Any]
) -> dict[str, Any]:
    """The answer to one request; in words, when it cannot be answered."""
    panel, question, number = request.get("panel"), request.get("ask", {}), request.get("id")
    reply = {
        "event": "answer",
        "panel": str(panel)[:40],
        "id": number if numbered(number) else None,
    }
    try:
        if not isinstance(panel, str) or panel not in panels:
            raise Unclear(f"there is no panel {str(panel)[:40]!r}")
        if not isinstance(question, dict):
            raise Unclear("that is no request")
        return {**reply, **panels[panel](live, question)}
    except Unclear as error:
        return {**reply, "unclear": str(error)}
    except KataError as error:
        return {**reply, "unclear": error.message}
    except Exception as error:  # noqa: BLE001
        # Ours. The next drag is to be answered all the same.
        return {**reply, "unclear": f"a fault of this program: {type(error).__name__}: {error}"}
