"""Does the ban on a built-in hold here? Every known route to it is tried in a sandbox worker.

torch changes; a route that opens in a new version must be noticed before a learner finds it. The
routes are content of a pack (`packs.families`), written with the names of PROGRAM. The short list
is tried by every judge before its first verdict, the full one by `kata doctor`, by the tests, and
once for each version of torch, Python and this package before strangers' code is judged.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib import metadata
from pathlib import Path

from attention_katas import __version__
from attention_katas.errors import CouldNotGrade
from attention_katas.packs.families import Family
from attention_katas.sandbox.selftest import ask
from attention_katas.sandbox.start import Workers
from attention_katas.verdict import reasons, steps
from attention_katas.verdict.unjudged import Unjudged

SHORT, FULL, SLOW = "short", "full", "slow"
CLOSED, OPEN, ABSENT = 0, 1, 2
PROGRAM = """
import threading, warnings
import torch
import torch.nn.functional as F
from torch.utils._pytree import tree_leaves

x = torch.arange(12.0).reshape(3, 4)
x4 = torch.randn(2, 2, 3, 4)
w12, b12, w4, b4 = torch.randn(12, 4), torch.zeros(12), torch.randn(4, 4), torch.zeros(4)
heads = (x[None], x[None], x[None], 4, 1, w12, b12, None, None, False, 0.0, w4, b4)
cpu = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
table = torch._decomp.global_decomposition_table

def soft(y: torch.Tensor) -> torch.Tensor:
    return y.softmax(-1)

def attend(y: torch.Tensor) -> torch.Tensor:
    return torch._C._nn.scaled_dot_product_attention(y, y, y)

def in_thread(act):
    failed = []
    def body():
        try:
            act()
        except BaseException as error:
            failed.append(error)
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]

def within(manager, act):
    with manager:
        return act()

def without_modes(act):
    return within(torch._C.DisableTorchFunction(), act)

def without_dispatch(act):
    return within(torch._C._DisableTorchDispatch(), act)

def inference(act):
    return within(torch.inference_mode(), act)

def autocast(act):
    return within(torch.autocast("cpu", torch.bfloat16), act)

def subclass(act):
    class Mine(torch.Tensor):
        pass
    return act(x.as_subclass(Mine))

def names_of(error):
    # The classes of an exception and of those behind it; C++ puts their names into its text.
    names = set()
    while error is not None:
        names |= {type(error).__name__, *str(error).replace(":", " ").split()}
        error = error.__cause__ or error.__context__
    return names

def tried(route):
    try:
        space = dict(globals())
        if "quantized" in route:
            space["quantized"] = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = eval(route, space)
    except BaseException as error:
        return 0 if "BannedBuiltin" in names_of(error) else 2
    return 1 if any(isinstance(t, torch.Tensor) for t in tree_leaves(answer)) else 2

def check_bans():
    return torch.tensor([tried(route) for route in ROUTES])
"""


def routes(family: Family, *levels: str) -> list[str]:
    """The routes of a family in some of SHORT, FULL and SLOW."""
    return [route for level in levels for route in getattr(family, level)]


def attempt(workers: Workers, bans: tuple[Family, ...], lines: list[str]) -> dict[str, int]:
    """Route -> CLOSED, OPEN, or ABSENT (torch has no such thing here), under these bans."""
    states = ask(workers, f"ROUTES = {lines!r}\n{PROGRAM}", "check_bans", bans)
    if len(states) != len(lines):
        raise CouldNotGrade("the check of the bans gave no answer")
    return dict(zip(lines, states, strict=True))


def check(workers: Workers, bans: tuple[Family, ...], *levels: str) -> int:
    """Try all routes of the banned families; returns how many.

    Raises CouldNotGrade when one is open.
    """
    count = 0
    for family in bans:
        states = attempt(workers, bans, routes(family, *levels))
        opened = [route for route, state in states.items() if state == OPEN]
        if opened or CLOSED not in states.values():
            route = opened[0] if opened else ""
            raise Unjudged(reasons.BanOpen(family.name, route), steps.Doctor())
        count += len(states)
    return count


def record_path() -> Path:
    """The file that records with which versions of everything the full list was tried."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        folder = Path(cache) if cache else Path.home() / ".cache"
    except RuntimeError:  # a user without a home, as in containers: it is tried again each time
        folder = Path(os.devnull)
    return folder / "attention-katas" / "ban-checks.json"


def check_once(workers: Workers, bans: tuple[Family, ...], record: Path) -> None:
    """The full check, unless `record` says that it held with these versions."""
    families = hashlib.sha256(repr(bans).encode()).hexdigest()[:12]
    key = f"{metadata.version('torch')} {platform.python_version()} {__version__} {families}"
    try:
        keys = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        keys = []
    if key in keys:
        return
    check(workers, bans, SHORT, FULL, SLOW)
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps([*keys[-20:], key]), encoding="utf-8")
    except OSError:
        return  # it is tried again next time
