"""How a daemon's process begins: alone, or not at all. Imports torch only once it is alone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from attention_katas.packs.catalog import Selection
from attention_katas.service.daemon.address import Address


@contextlib.contextmanager
def _locked(address: Address) -> Iterator[bool]:
    """Whether this process is the one that may be the daemon of this address."""
    with open(address.lock, "a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield True


def main(text: str) -> None:
    """text: JSON with the parts of the address, `idle_seconds`, and the packs that are named."""
    arguments = json.loads(text)
    address = Address(Path(arguments["folder"]), arguments["family"], arguments["key"])
    with _locked(address) as is_alone:
        if is_alone:
            from attention_katas.service.daemon import server

            packs = Selection(tuple(map(Path, arguments["packs"])), arguments["only"])
            server.run(address, arguments["idle_seconds"], packs)
