"""For test_cluster: calls that are noted, and tasks that kill their worker. Workers import this."""

from __future__ import annotations

import functools
import json
import os
import signal
import time
from concurrent.futures import Executor

from attention_katas.grading import worker


class Noting(Executor):
    """Another one, with every call noted in a file, and a worker killed by each poisoned task."""

    def __init__(self, inner, file):
        self.inner, self.file = inner, file

    def submit(self, fn, /, *args, **kwargs):
        assert fn is worker.judge
        return self.inner.submit(functools.partial(noted, str(self.file)), *args, **kwargs)


def noted(file, text):
    """Runs in a worker."""

    def note(what):
        with open(file, "a") as opened:
            opened.write(json.dumps([what, asked["task"]["key"], os.getpid()]) + "\n")

    asked = json.loads(text)
    note("begun")
    source = "".join(asked["task"]["submission"]["sources"].values())
    if "# poison" in source:
        time.sleep(1.0)  # as it takes to eat all memory
        os.kill(os.getpid(), signal.SIGKILL)
    if "# slow" in source:
        time.sleep(1.0)
    found = worker.judge(text)
    note("done")
    return found
