"""Banned built-ins raise by every route that was found, and nothing else is touched."""

from __future__ import annotations

import pytest

from attention_katas import banned
from attention_katas.learner import bans

SOFTMAX_ROUTES = """
torch.softmax(x, -1)
x.softmax(-1)
x.softmax(-1, dtype=torch.float64)
F.softmax(x, -1)
F.softmin(-x, -1)
F.log_softmax(x, -1).exp()
torch.special.softmax(x, -1)
torch.nn.Softmax(-1)(x)
torch.nn.LogSoftmax(-1)(x).exp()
getattr(torch, "soft" + "max")(x, -1)
torch._C._VariableFunctions.softmax(x, -1)
torch._C.TensorBase.softmax(x, -1)
torch.ops.aten.softmax.int(x, -1)
torch.ops.aten._softmax(x, -1, False)
torch.ops.aten._softmax.out(x, -1, False, out=torch.empty_like(x))
torch.ops.aten._safe_softmax(x, -1)
torch.ops.aten._masked_softmax(x, torch.zeros_like(x).bool(), -1, 1)
torch._refs.softmax(x, -1)
torch._decomp.decompositions._softmax(x, -1, False)
table["post_autograd"][torch.ops.aten._softmax.default](x, -1, False)
torch.sparse.softmax(x.to_sparse(), -1)
torch.vmap(lambda row: torch._C._VariableFunctions.softmax(row, -1))(x)
torch.func.grad(lambda y: torch.ops.aten._softmax(y, -1, False).sum())(x)
torch.distributions.Categorical(logits=x).probs
torch.jit.script(soft)(x)
F.scaled_dot_product_attention(x, torch.eye(4), torch.eye(4), scale=1.0)
torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x4, x4, x4)
in_thread(lambda: torch.ops.aten._softmax(x, -1, False))
without_modes(lambda: torch.ops.aten._softmax(x, -1, False))
inference(lambda: torch.ops.aten._softmax(x, -1, False))
""".strip().splitlines()

ATTENTION_ROUTES = """
F.scaled_dot_product_attention(x4, x4, x4)
torch._C._nn.scaled_dot_product_attention(x4, x4, x4)
torch.ops.aten.scaled_dot_product_attention(x4, x4, x4)
torch.ops.aten._scaled_dot_product_attention_math(x4, x4, x4)
torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x4, x4, x4)
torch.nn.MultiheadAttention(4, 2)(x4[0], x4[0], x4[0])
torch.nn.MultiheadAttention(4, 2).eval()(x4[0], x4[0], x4[0])
torch.nn.TransformerEncoderLayer(4, 2, 8)(x4[0])
torch.vmap(torch._C._nn.scaled_dot_product_attention)(x4, x4, x4)
in_thread(lambda: torch._C._nn.scaled_dot_product_attention(x4, x4, x4))
""".strip().splitlines()

PROGRAM = """
import threading
import torch
import torch.nn.functional as F

x = torch.arange(12.0).reshape(3, 4)
x4 = torch.randn(2, 2, 3, 4)
table = torch._decomp.global_decomposition_table

def soft(y: torch.Tensor) -> torch.Tensor:
    return y.softmax(-1)

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

def without_modes(act):
    with torch._C.DisableTorchFunction():
        return act()

def inference(act):
    with torch.inference_mode():
        return act()

ROUTES = {routes!r}

def softmax(y, dim=-1):
    opened = []
    for route in ROUTES:
        try:
            eval(route)
        except BaseException as error:
            if "switched off" in str(error):
                continue
            opened.append(f"{{route}}: {{type(error).__name__}}: {{error}}")
        else:
            opened.append(route + ": ran")
    raise ValueError("OPEN" + repr(opened))
"""


@pytest.mark.parametrize("routes", [SOFTMAX_ROUTES, ATTENTION_ROUTES], ids=["softmax", "attention"])
def test_every_route_is_closed(submit, routes):
    verdict = submit("softmax", PROGRAM.format(routes=routes))
    raised = verdict.first_failure.evidence.raised
    assert verdict.first_failure.rung == "answered"
    assert raised.message == "OPEN[]", raised.message


def test_a_kata_bans_only_its_own(submit):
    source = (
        "import torch\ndef attention_scores(q, k):\n    torch.softmax(q, -1)\n    return q @ k.mT\n"
    )
    assert submit("dot-product", source).outcome == "passed"


def test_the_message_teaches(submit):
    source = "import torch\n\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n"
    check = submit("softmax", source).first_failure
    assert "torch.softmax is switched off here" in check.message
    assert "by hand" in check.message
    assert check.evidence.raised.where.line == 4
    assert check.evidence.raised.where.code == "    return torch.softmax(x, dim)"


def test_logsumexp_stays_legal(submit):
    source = "def softmax(x, dim=-1):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()\n"
    assert submit("softmax", source).outcome == "passed"


def test_every_family_has_a_name_for_people():
    assert set(bans.FAMILIES) == set(banned.FAMILIES)


@pytest.mark.parametrize("operator", bans.SOFTMAX.operators[:10] + bans.ATTENTION.operators[:3])
def test_operators_still_exist_in_this_torch(operator):
    assert bans.registered_keys(operator), f"{operator} has no kernel: renamed by torch?"
