"""Does the ban on a built-in hold here? Every known route to it is tried in a sandbox worker.

torch changes; a route that opens in a new version must be noticed before a learner finds it. The
short list is tried by every judge before its first verdict, the full one by `kata doctor`, by the
tests, and once for each version of torch, Python and this package before strangers' code is
judged.
"""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata
from pathlib import Path

from attention_katas import __version__
from attention_katas.errors import CouldNotGrade
from attention_katas.sandbox.selftest import ask
from attention_katas.sandbox.start import Workers
from attention_katas.verdict import reasons, steps
from attention_katas.verdict.unjudged import Unjudged

SHORT = {
    "softmax": """
torch.softmax(x, -1)
torch._C._VariableFunctions.softmax(x, -1)
torch.ops.aten._softmax(x, -1, False)
torch.ops.aten._log_softmax(x, -1, False).exp()
torch.ops.aten._masked_softmax(x, torch.zeros_like(x).bool(), -1, 1)
torch.vmap(lambda row: torch._C._VariableFunctions.softmax(row, -1))(x)
torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x4, x4, x4)
in_thread(lambda: torch.ops.aten._softmax(x, -1, False))
without_modes(lambda: torch.ops.aten._softmax(x, -1, False))
""",
    "attention": """
F.scaled_dot_product_attention(x4, x4, x4)
torch._C._nn.scaled_dot_product_attention(x4, x4, x4)
torch.ops.aten._scaled_dot_product_attention_math(x4, x4, x4)
torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x4, x4, x4)
torch.vmap(torch._C._nn.scaled_dot_product_attention)(x4, x4, x4)
in_thread(lambda: torch._C._nn.scaled_dot_product_attention(x4, x4, x4))
""",
}
FULL = {
    "softmax": """
x.softmax(-1)
x.softmax(-1, dtype=torch.float64)
x.half().softmax(-1)
x.double().softmax(-1)
torch.softmax(x, -1, out=torch.empty_like(x))
F.softmax(x, -1)
F.softmin(-x, -1)
F.log_softmax(x, -1).exp()
F.gumbel_softmax(x, dim=-1)
F.cross_entropy(x, torch.zeros(3).long())
torch.special.softmax(x, -1)
torch.special.log_softmax(x, -1).exp()
torch.nn.Softmax(-1)(x)
torch.nn.Softmin(-1)(-x)
torch.nn.Softmax2d()(x4)
torch.nn.LogSoftmax(-1)(x).exp()
getattr(torch, "soft" + "max")(x, -1)
torch._C.TensorBase.softmax(x, -1)
torch.ops.aten.softmax.int(x, -1)
torch.ops.aten.softmax.int_out(x, -1, out=torch.empty_like(x))
torch.ops.aten._softmax.out(x, -1, False, out=torch.empty_like(x))
torch.ops.aten._softmax.default.redispatch(cpu, x, -1, False)
torch.ops.aten._softmax.default.decompose(x, -1, False)
torch._C._jit_get_operation("aten::_softmax")[0](x, -1, False)
torch.library.get_kernel("aten::_softmax", "CPU").call_boxed(cpu, x, -1, False)
torch.ops.aten._safe_softmax(x, -1)
torch.ops.quantized.softmax(quantized, -1, 0.1, 0)
torch._refs.softmax(x, -1)
torch._refs.log_softmax(x, -1).exp()
torch._refs.special.softmax(x, -1)
torch._refs.nn.functional.softmax(x, -1)
torch._refs.nn.functional.softmin(-x, -1)
torch._decomp.decompositions._softmax(x, -1, False)
table["post_autograd"][torch.ops.aten._softmax.default](x, -1, False)
table["post_autograd"][torch.ops.aten._log_softmax.default](x, -1, False)
torch.sparse.softmax(x.to_sparse(), -1)
torch.sparse.log_softmax(x.to_sparse(), -1)
torch.masked.softmax(x, -1, mask=torch.ones_like(x).bool())
F.softmax(torch.nested.nested_tensor([x, x]), -1)
x.to_mkldnn().softmax(-1).to_dense()
torch.func.grad(lambda y: torch.ops.aten._softmax(y, -1, False).sum())(x)
torch.func.jacrev(lambda y: y.softmax(-1))(x)
torch.func.vmap(torch.func.grad(lambda y: y.softmax(-1).sum()))(x)
torch.distributions.Categorical(logits=x).probs
torch.jit.script(soft)(x)
torch.jit.trace(soft, x)(x)
F.scaled_dot_product_attention(x, torch.eye(4), torch.eye(4), scale=1.0)
F.multi_head_attention_forward(*heads)
torch.nn.MultiheadAttention(4, 1)(x[None], x[None], x[None])
inference(lambda: torch.ops.aten._softmax(x, -1, False))
without_dispatch(lambda: torch.ops.aten._softmax(x, -1, False))
autocast(lambda: x.softmax(-1))
subclass(lambda y: y.softmax(-1))
""",
    "attention": """
torch.ops.aten.scaled_dot_product_attention(x4, x4, x4)
torch.nn.MultiheadAttention(4, 2)(x4[0], x4[0], x4[0])
torch.nn.MultiheadAttention(4, 2).eval()(x4[0], x4[0], x4[0])
torch.nn.MultiheadAttention(4, 2)(x4[0], x4[0], x4[0], need_weights=False)
torch.nn.TransformerEncoderLayer(4, 2, 8)(x4[0])
torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()(x4[0])
torch.nn.TransformerDecoderLayer(4, 2, 8)(x4[0], x4[0])
torch.nn.Transformer(4, 2, 1, 1, 8)(x4[0], x4[0])
F.multi_head_attention_forward(*heads)
torch.ops.aten._native_multi_head_attention(x4[0], x4[0], x4[0], 4, 2, w12, b12, w4, b4)
torch.ops.aten._transform_bias_rescale_qkv(torch.randn(2, 3, 12), torch.zeros(12), 2)
torch.func.grad(lambda y: torch._C._nn.scaled_dot_product_attention(y, y, y).sum())(x4)
torch.vmap(torch.vmap(torch._C._nn.scaled_dot_product_attention))(x4, x4, x4)
torch.jit.script(attend)(x4)
torch.jit.trace(attend, x4)(x4)
inference(lambda: attend(x4))
without_modes(lambda: attend(x4))
without_dispatch(lambda: attend(x4))
autocast(lambda: attend(x4))
subclass(lambda y: attend(y.view(1, 1, 3, 4)))
torch.func.jvp(attend, (x4,), (x4,))
torch.func.functionalize(attend)(x4)
torch.fx.experimental.proxy_tensor.make_fx(attend)(x4)
""",
}
# These import the compiler, for seconds.
SLOW = {
    "softmax": """
torch.compile(soft, backend="eager")(x)
torch.compile(soft, backend="aot_eager")(x)
""",
    "attention": """
torch.compile(attend, backend="eager")(x4)
torch.nn.attention.flex_attention.flex_attention(x4, x4, x4)
""",
}
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

def tried(route):
    try:
        space = dict(globals())
        if "quantized" in route:
            space["quantized"] = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = eval(route, space)
    except BaseException as error:
        return 0 if "switched off" in str(error) else 2
    return 1 if any(isinstance(t, torch.Tensor) for t in tree_leaves(answer)) else 2

def check_bans():
    return torch.tensor([tried(route) for route in ROUTES])
"""


def routes(family: str, *lists: dict[str, str]) -> list[str]:
    """The routes of a family in some of SHORT, FULL and SLOW."""
    return [line for part in lists for line in part[family].strip().splitlines()]


def attempt(workers: Workers, bans: tuple[str, ...], lines: list[str]) -> dict[str, int]:
    """Route -> CLOSED, OPEN, or ABSENT (torch has no such thing here), under these bans."""
    states = ask(workers, f"ROUTES = {lines!r}\n{PROGRAM}", "check_bans", bans)
    if len(states) != len(lines):
        raise CouldNotGrade("the check of the bans gave no answer")
    return dict(zip(lines, states, strict=True))


def check(workers: Workers, bans: tuple[str, ...], *lists: dict[str, str]) -> int:
    """Try all routes of the banned families; returns how many.

    Raises CouldNotGrade when one is open.
    """
    count = 0
    for family in bans:
        states = attempt(workers, bans, routes(family, *lists))
        opened = [route for route, state in states.items() if state == OPEN]
        if opened or CLOSED not in states.values():
            raise Unjudged(reasons.BanOpen(family, opened[0] if opened else ""), steps.Doctor())
        count += len(states)
    return count


def record_path() -> Path:
    """The file that records with which versions of everything the full list was tried."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        folder = Path(cache) if cache else Path.home() / ".cache"
    except RuntimeError:  # a user without a home, as in containers: it is tried again each time
        folder = Path(os.devnull)
    return folder / "attention-katas" / "canaries.json"


def check_once(workers: Workers, bans: tuple[str, ...], record: Path) -> None:
    """The full check, unless `record` says that it held with these versions."""
    key = f"{metadata.version('torch')} {platform.python_version()} {__version__} {' '.join(bans)}"
    try:
        held = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        held = []
    if key in held:
        return
    check(workers, bans, SHORT, FULL, SLOW)
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps([*held[-20:], key]), encoding="utf-8")
    except OSError:
        return  # it is tried again next time
