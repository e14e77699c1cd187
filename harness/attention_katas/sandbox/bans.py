"""Built-ins that a kata wants written by hand, switched off inside the learner process.

A ban sits in PyTorch's dispatcher, on every key that has a kernel for the operator, so that an
alias, `torch.ops`, a thread, `vmap` or a switched-off Python mode all meet it. Composites that
exist only in Python are replaced by name. This teaches "write it yourself"; it is a rule, not a
security boundary (somebody with ctypes can go round it, and the locks still hold).

The operator lists are the smallest that closed every dispatcher route tried on torch 2.13.
"""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import torch


class BannedBuiltin(RuntimeError):
    """A built-in was called that this kata asks the learner to write."""

    def __init__(self, called: str, family: str) -> None:
        super().__init__(f"{called} is switched off in this kata")
        self.called = called
        self.family = family


@dataclass(frozen=True)
class Family:
    """A set of built-ins that answer the same question.

    operators: dispatcher names; public: the name a learner would know it by.
    python: dotted names of Python composites, replaced where they exist.
    """

    public: str
    operators: tuple[str, ...]
    python: tuple[str, ...]


ATTENTION = Family(
    public="PyTorch's built-in attention",
    operators=(
        "aten::scaled_dot_product_attention",
        "aten::_scaled_dot_product_attention_math",
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        "aten::_scaled_dot_product_fused_attention_overrideable",
        "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention",
        "aten::_flash_attention_forward",
        "aten::_efficient_attention_forward",
        "aten::_safe_softmax",
        "aten::_native_multi_head_attention",
        "aten::_native_multi_head_attention.out",
        "aten::_transformer_encoder_layer_fwd",
        "aten::_transformer_encoder_layer_fwd.out",
        "aten::_transform_bias_rescale_qkv",
        "aten::_transform_bias_rescale_qkv.out",
        "aten::_triton_multi_head_attention",
        "aten::_triton_scaled_dot_attention",
    ),
    python=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention.forward",
        "torch.nn.TransformerEncoderLayer.forward",
        "torch.nn.TransformerDecoderLayer.forward",
        "torch.nn.attention.flex_attention.flex_attention",
        "torch._decomp.decompositions.scaled_dot_product_flash_attention_for_cpu",
    ),
)

SOFTMAX = Family(
    public="PyTorch's built-in softmax",
    operators=(
        "aten::softmax.int",
        "aten::softmax.int_out",
        "aten::log_softmax.int",
        "aten::log_softmax.int_out",
        "aten::special_softmax",
        "aten::special_log_softmax",
        "aten::_softmax",
        "aten::_softmax.out",
        "aten::_log_softmax",
        "aten::_log_softmax.out",
        "aten::_safe_softmax",
        "aten::_masked_softmax",
        "aten::_sparse_softmax",
        "aten::_sparse_log_softmax",
        "aten::_nested_tensor_softmax_with_shape",
        "quantized::softmax",
        "aten::cross_entropy_loss",
    ),
    python=(
        "torch.softmax",
        "torch.log_softmax",
        "torch.Tensor.softmax",
        "torch.Tensor.log_softmax",
        "torch.special.softmax",
        "torch.special.log_softmax",
        "torch.nn.functional.softmax",
        "torch.nn.functional.log_softmax",
        "torch.nn.functional.softmin",
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.functional.cross_entropy",
        "torch.nn.Softmax.forward",
        "torch.nn.Softmax2d.forward",
        "torch.nn.Softmin.forward",
        "torch.nn.LogSoftmax.forward",
        # PyTorch's own recipes in Python, which never meet the dispatcher's operator.
        "torch._refs.softmax",
        "torch._refs.log_softmax",
        "torch._refs.special.softmax",
        "torch._refs.special.log_softmax",
        "torch._refs.nn.functional.softmax",
        "torch._refs.nn.functional.log_softmax",
        "torch._refs.nn.functional.softmin",
        "torch._decomp.decompositions._softmax",
        "torch._decomp.decompositions._log_softmax",
    ),
)

# The banned built-ins that were called in this process since the list was last cleared.
called_here: list[str] = []

FAMILIES = {"attention": ATTENTION, "softmax": SOFTMAX}

# Keys that carry no kernel worth replacing, or that must stay as they are.
_SKIPPED_KEYS = {"debug", "Meta", "Functionalize", "Python", "BackendSelect", "PythonDispatcher"}
_KEY_LINE = re.compile(r"^(\w+)(?:\[alias\])?: registered at")


def install(families: Iterable[str]) -> None:
    """Switch off the named families in this process, for good.

    Each call is noted in `called_here`, so that code which swallows the exception is still seen.
    Raises KeyError for an unknown family.
    """
    for name in families:
        family = FAMILIES[name]
        for operator in family.operators:
            _ban_operator(operator, family, name)
        for dotted in family.python:
            _ban_python(dotted, name)
        _ban_recipes(family, name)


def registered_keys(operator: str) -> list[str]:
    """The dispatch keys on which this build of torch has a kernel for `operator`."""
    try:
        dump = torch._C._dispatch_dump(operator)
    except RuntimeError:
        return []
    keys = (match.group(1) for line in dump.splitlines() if (match := _KEY_LINE.match(line)))
    return [key for key in keys if key not in _SKIPPED_KEYS]


def _ban_operator(operator: str, family: Family, name: str) -> None:
    namespace, _, op = operator.partition("::")

    def refuse(*_: Any, **__: Any) -> NoReturn:
        called_here.append(operator)
        raise BannedBuiltin(f"{family.public} ({operator})", name)

    for key in registered_keys(operator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library = torch._C._dispatch_library("IMPL", namespace, key, __file__, 0)
            library.impl(op, key, refuse)
        # Leaked on purpose: a handle that Python can reach could be found and reset.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def _ban_python(dotted: str, name: str) -> None:
    path, _, attribute = dotted.rpartition(".")
    owner = _loaded(path)
    if owner is None or not hasattr(owner, attribute):
        return
    called = dotted.removesuffix(".forward")

    def refuse(*_: Any, **__: Any) -> NoReturn:
        called_here.append(called)
        raise BannedBuiltin(called, name)

    setattr(owner, attribute, refuse)


def _loaded(path: str) -> Any:
    """The module or class at `path` if it is imported already; importing it could cost seconds."""
    owner: Any = torch
    for part in path.split(".")[1:]:
        owner = getattr(owner, part, None)
    return owner


def _ban_recipes(family: Family, name: str) -> None:
    """Replace the entries of the decomposition tables for the banned operators."""
    banned = {operator.partition("::")[2] for operator in family.operators}
    banned |= {operator + ".default" for operator in banned if "." not in operator}

    def refuse(*_: Any, **__: Any) -> NoReturn:
        called_here.append("torch._decomp")
        raise BannedBuiltin(f"{family.public} (torch._decomp)", name)

    for table in torch._decomp.global_decomposition_table.values():
        for operator in list(table):
            if getattr(operator, "namespace", "") == "aten" and (
                str(operator).removeprefix("aten.") in banned
            ):
                table[operator] = refuse
