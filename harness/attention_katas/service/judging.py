"""The judging process itself: `python -m attention_katas.service.judging SETTINGS CORE`.

It reads requests from standard input and writes answers to standard output until nobody asks.
"""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import sys
import threading
import time
from collections.abc import Callable

import msgspec

from attention_katas.errors import BadContent, KataError
from attention_katas.judge.judge import Judge
from attention_katas.packs.catalog import Catalog, load_catalog
from attention_katas.sandbox.limits import Limits
from attention_katas.service import messages, rpc
from attention_katas.service.local import open_judge
from attention_katas.service.settings import Settings, settings_from
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons

MAX_BYTES = 8 << 20  # of a verdict; the largest honest ones have some hundred thousand
Send = Callable[..., None]


def main() -> None:
    """Judge what comes on standard input until that ends."""
    settings, core = settings_from(sys.argv[1]), sys.argv[2]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints is no answer
    requests: queue.SimpleQueue[messages.Judge] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=[requests], daemon=True).start()
    if core:
        _stay_on(int(core))

    def send(message: messages.AnyMessage, body: bytes = b"") -> None:
        answers.write(rpc.encode(message, body))
        answers.flush()

    try:
        catalog = _load_catalog(settings)
    except KataError as error:
        _refuse_all(error, requests, send)
    _judge_all(settings, catalog, requests, send)


def _load_catalog(settings: Settings) -> Catalog:
    """Raises BadContent when there is nothing to judge."""
    catalog = load_catalog(settings.packs)
    for refusal in catalog.refusals:
        if refusal.selected:
            raise BadContent(refusal.message)
    if not catalog.ready:
        raise BadContent("there are no katas")
    return catalog


def _listen(requests: queue.SimpleQueue[messages.Judge]) -> None:
    """Take in requests. When nobody asks any more, nobody wants what is being made."""
    with contextlib.suppress(OSError, rpc.Garbled):
        while request := rpc.read_message(sys.stdin.buffer.read):
            if isinstance(request[0], messages.Judge):
                requests.put(request[0])
    os._exit(0)


def _stay_on(core: int) -> None:
    """On one processor core: the judge and its workers take turns, and share its cache."""
    if hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})


def _refuse_all(error: KataError, requests: queue.SimpleQueue[messages.Judge], send: Send) -> None:
    """There are no katas here; never returns."""
    send(messages.Started(os.getpid()))
    while requests.get():
        send(messages.Refused(messages.NO_KATAS, where=_machine(), detail=error.message))


def _judge_all(
    settings: Settings,
    catalog: Catalog,
    requests: queue.SimpleQueue[messages.Judge],
    send: Send,
) -> None:
    limits = Limits(kata_seconds=settings.kata_seconds)
    with open_judge(
        catalog, catalog.ready, settings.device, limits=limits, strict=not settings.weak
    ) as judge:
        send(messages.Started(os.getpid()))
        while True:
            send(*_answer(judge, catalog, requests.get()))


def _answer(
    judge: Judge, catalog: Catalog, request: messages.Judge
) -> tuple[messages.AnyMessage, bytes]:
    started = time.perf_counter()
    submission = messages.submission_of(request, catalog)
    if isinstance(submission, messages.Refused):
        return msgspec.structs.replace(submission, where=_machine()), b""
    verdict = judge.judge(submission, request.seed)
    verdict.seconds = time.perf_counter() - started
    return messages.Judged(), _encoded(verdict)


def _encoded(verdict: v.Verdict) -> bytes:
    """A verdict in bytes; of one that is too large to send, only the outcome."""
    data = rpc.encode_verdict(verdict)
    if len(data) > MAX_BYTES:
        verdict.checks, verdict.diagnoses, verdict.audit = [], [], []
        verdict.raised, verdict.output = None, ""
        verdict.outcome, verdict.reason = v.CRASHED, reasons.VerdictTooLarge()
        data = rpc.encode_verdict(verdict)
    return data


def _machine() -> str:
    return platform.node() or "a machine without a name"


if __name__ == "__main__":
    main()
