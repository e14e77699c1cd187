"""A lab in this process, on a workspace of its own: for the tests of its server and its page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from websockets.sync.client import ClientConnection, connect

from attention_katas.lab import examples, server
from attention_katas.lab.lab import Lab
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.progress import Progress
from attention_katas.packs.workspace import create
from attention_katas.verdict import data as v

TOKEN = "a-token-for-tests"
LOOKUP = {
    "query": [0.9, 0.7],
    "values": [list(each) for each in examples.VALUES],
    "d_k": 2,
    "divide": True,
    "temperature": 1,
}

# Five bugs in softmax, and what tells each from the others on the page.
NO_SUM = "def softmax(x, dim=-1):\n    return (x - x.amax(dim, keepdim=True)).exp()\n"
OVERFLOW = (
    "def softmax(x, dim=-1):\n    p = (x * 1000).exp()\n    return p / p.sum(dim, keepdim=True)\n"
)
WRONG_AXIS = "import torch\n\n\ndef softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(0)\n"
SYNTAX = "def softmax(x, dim=-1)\n    return x\n"
HALVED = "def softmax(x, dim=-1):\n    p = (x / 2).exp()\n    return p / p.sum(dim, keepdim=True)\n"
ENDLESS = "def softmax(x, dim=-1):\n    while True:\n        pass\n"
RAISES = "def softmax(x, dim=-1):\n    return x.no_such_method()\n"


class Judge:
    """A bench that knows one mistake by its name, and takes no time."""

    def judge(self, submission, seed=None):
        if "x.exp().sum(0)" not in submission.source:
            return v.Verdict(submission.kata.name, v.PASSED)
        cause = v.Cause(
            "sums-over-rows", "sums along the wrong axis", "Which axis?", hint="Axes", level=2
        )
        found = v.Diagnosis("softmax", v.MISTAKE, [cause])
        return v.Verdict(submission.kata.name, v.FAILED, diagnoses=[found])

    def cancel(self):
        pass

    def expect(self, kata):
        pass

    def close(self):
        pass


class Running:
    """A lab with its server in a thread."""

    def __init__(self, catalog: Catalog, root: Path, spawn: bool = False) -> None:
        self.catalog = catalog
        self.space, _, _ = create(root, catalog)
        self.root = self.space.root
        self.restore()
        self.lab = Lab(catalog, self.space, Judge(), Progress(root / "progress.db"), spawn=spawn)
        listening = server.listen(0)
        self.port = listening.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.origin}/?token={TOKEN}"
        self._server = server.server(server.application(self.lab, self.port, TOKEN))
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve(sockets=[listening]))
        )
        self.lab.start()
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    def restore(self) -> None:
        """Right answers in every file."""
        for kata in self.catalog.ready:
            if (self.root / kata.file).read_bytes() != kata.reference.read_bytes():
                shutil.copyfile(kata.reference, self.root / kata.file)

    def write(self, name: str, source: str) -> int:
        """Save a file; returns the generation in which the lab has read it."""
        before = self.lab.generation
        (self.root / name).write_text(source, encoding="utf-8")
        return self.wait(before)

    def unwrite(self, name: str) -> int:
        """Put the stub of a kata back."""
        return self.write(self.catalog[name].file, self.catalog[name].stub.read_text("utf-8"))

    def wait(self, before: int) -> int:
        until = time.monotonic() + 10
        while self.lab.generation == before and time.monotonic() < until:
            time.sleep(0.002)
        assert self.lab.generation > before, "the save was not seen"
        return self.lab.generation

    @contextlib.contextmanager
    def line(self, token: str = TOKEN, **headers) -> Iterator[ClientConnection]:
        headers.setdefault("origin", self.origin)
        address = f"ws://127.0.0.1:{self.port}/line?token={token}"
        with connect(address, **headers) as line:
            yield line

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self.lab.close()


def ask(line: ClientConnection, panel: str, number: int = 1, **asked) -> dict:
    """The answer to one question."""
    line.send(json.dumps({"panel": panel, "id": number, "ask": asked}))
    return hear(line, "answer")


def hear(line: ClientConnection, event: str, **wanted) -> dict:
    """The next message of a kind."""
    while True:
        message = json.loads(line.recv(timeout=20))
        if message["event"] == event and wanted.items() <= message.items():
            return message
