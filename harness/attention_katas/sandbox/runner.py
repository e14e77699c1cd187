"""The learner's code runs here: load it, call it, send back what it said.

This module lives in the learner process. It is told nothing but source text and inputs, and
nothing that it answers is believed: a verdict is made elsewhere, from the bytes of the answers.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import inspect
import linecache
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import torch
from safetensors.torch import save as save_tensors

from . import audit, bans, fake_device, wire

# Kept before any submission can replace them.
_exec, _compile, _type = exec, compile, type
_tensor_type = torch.Tensor
_backward: Callable[..., None] = torch.Tensor.backward
_grad_is_on = torch.is_grad_enabled
_enable_grad = torch.enable_grad
_empty_strided = torch.empty_strided
_strided = torch.strided
_save = save_tensors
_equal = torch.equal
_view = torch.Tensor.view
_shape: Callable[[torch.Tensor], Sequence[int]] = torch.Tensor.size
_clock = time.perf_counter
_bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

MESSAGE_CAP = 2000


class Unanswerable(Exception):
    """What came back cannot travel: not a plain dense tensor."""


class Siblings(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets one kata import another, from source text that never touches a directory."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.sources = sources

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.sources:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=f"{name}.py")

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        source, file = self.sources[name], f"{name}.py"
        module.__file__ = file
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        _exec(_compile(source, file, "exec", dont_inherit=True), module.__dict__)


class Runner:
    """Answers the judge's requests, one at a time."""

    def __init__(self) -> None:
        self.module: types.ModuleType | None = None
        self.sources: dict[str, str] = {}
        self.answers: dict[int, _Answer] = {}

    def answer(self, request: wire.Message, tensors: wire.Tensors) -> bytes:
        """The reply to one request, as a frame."""
        act = {"load": self.load, "call": self.call, "backward": self.backward}[request["do"]]
        bans.called_here.clear()
        sent: wire.Tensors = {}
        try:
            reply = act(request, tensors, sent)
        except BaseException as error:  # noqa: BLE001 - sys.exit() is an answer too
            reply, sent = {"raised": self.describe(error)}, {}
        reply["banned"] = list(bans.called_here)
        reply["audit"] = list(audit.noted)
        _flush()
        try:
            return wire.encode(reply, sent)
        except Exception as error:  # noqa: BLE001 - a dtype or a size that cannot travel
            said = f"something that cannot be compared: {_text(error)[:200]}"
            odd = {"type": "Unanswerable", "message": said, "frames": []}
            return wire.encode({"raised": odd, "banned": []})

    def load(self, request: wire.Message, _: wire.Tensors, __: wire.Tensors) -> wire.Message:
        """Compile and run the file, and say what became of each wanted function."""
        for name in self.sources:
            sys.modules.pop(name, None)
        self.sources = request["sources"]
        self.answers.clear()
        sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "Siblings"]
        sys.meta_path.insert(0, Siblings(self.sources))
        self.module = None
        self.module = importlib.import_module(request["module"])
        found = {name: _kind(getattr(self.module, name, None)) for name in request["functions"]}
        names = [name for name, value in vars(self.module).items() if callable(value)]
        return {"functions": found, "names": names[:200]}

    def call(
        self, request: wire.Message, tensors: wire.Tensors, sent: wire.Tensors
    ) -> wire.Message:
        """Call a function on fresh copies of the inputs."""
        inputs: list[tuple[torch.Tensor, wire.Message]] = []
        leaves: list[torch.Tensor] = []

        def place(tensor: torch.Tensor, spec: wire.Message) -> torch.Tensor:
            placed = _place(tensor, spec, request["device"])
            if spec["grad"]:
                leaves.append(placed.requires_grad_())
                # Not the leaf itself: changing that in place raises an autograd riddle, where
                # "your function changes its input" is what the learner needs to hear.
                placed = placed.clone()
            inputs.append((placed, spec))
            return placed

        away = request.get("elsewhere") is True
        function = getattr(self.module, request["function"])
        with _enable_grad():
            args = wire.unpack(request["args"], tensors, _move_away if away else place)
            kwargs = wire.unpack(request["kwargs"], tensors, _move_away if away else place)
            dicts = [value for value in [*args, *kwargs.values()] if _type(value) is dict]
            before = [dict(value) for value in dicts]
            with fake_device.fake_device() if away else contextlib.nullcontext():
                started = _clock()
                returned = function(*args, **kwargs)
                seconds = _clock() - started
            left_on = _grad_is_on()
        outputs = _tensors_in(returned) if request.get("nested") is True else [returned]
        fake = any(type(output) is fake_device.FakeDeviceTensor for output in outputs)
        reply: wire.Message = {
            "changed": _changed(inputs, tensors, sent),
            "overwrote": any(answer.overwritten() for answer in self.answers.values()),
            "rearranged": [_moved(was, now) for was, now in zip(before, dicts, strict=True)],
            "gradients_off": not left_on,
            "seconds": seconds,
        }
        if not outputs or not all(isinstance(output, _tensor_type) for output in outputs):
            return {**reply, "odd": _type(returned).__name__, "repr": _short(returned)}
        devices = ["elsewhere" if fake else str(output.device) for output in outputs]
        reply["device"] = next((name for name in devices if name != devices[0]), devices[0])
        reply["returned"] = _pack_answer(returned, sent)
        plain = [getattr(output, "held", output) if fake else output for output in outputs]
        self.answers[request["id"]] = _Answer(plain, leaves, inputs, tensors)
        return reply

    def backward(
        self, request: wire.Message, tensors: wire.Tensors, sent: wire.Tensors
    ) -> wire.Message:
        """The gradients that reach each input for given gradients of the outputs."""
        answer = self.answers[request["id"]]
        wanted = answer.leaves
        place = lambda tensor, _: tensor.to(answer.outputs[0].device)  # noqa: E731
        upstreams = wire.unpack(request["upstream"], tensors, place)
        both = zip(answer.outputs, upstreams, strict=True)
        pairs = [(y, g) for y, g in both if g is not None and y.requires_grad]
        if not pairs:
            return {"gradients": [None] * len(wanted)}
        # Through a scalar: with `grad_outputs` torch first imports sympy, for half a second. And by
        # backward(), not autograd.grad(): reentrant checkpoints refuse the latter.
        for leaf in wanted:
            leaf.grad = None
        with _enable_grad():
            _backward(sum(_inner_product(y, g) for y, g in pairs), retain_graph=True)
        specs = [None if t.grad is None else wire.pack(_dense(t.grad), sent) for t in wanted]
        changed = _changed(answer.inputs, answer.sent, sent)
        return {"gradients": specs, "changed": changed}

    def describe(self, error: BaseException) -> wire.Message:
        """An exception as data: only the frames of the learner's own files."""
        files = {f"{name}.py" for name in self.sources}
        frames, column = [], None
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename in files:
                frames.append([code.co_filename, trace.tb_lineno, code.co_name])
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and error.filename in files:
            frames.append([error.filename, error.lineno or 1, "<module>"])
            column = error.offset
        message = error.msg if isinstance(error, SyntaxError) else _text(error)
        described: wire.Message = {
            "type": _type(error).__name__,
            "kinds": [kind.__name__ for kind in _type(error).__mro__],
            "message": message[:MESSAGE_CAP],
            "frames": frames[:1] + frames[1:][-9:],
            "column": column,
            "memory": _is_memory(error, message),
        }
        if isinstance(error, bans.BannedBuiltin):
            described["banned"] = [error.called, error.family]
        if isinstance(error, ImportError) and error.name:
            described["missing"] = error.name
        return described


class _Answer:
    """An answer that was given, with what it came from: backward needs both, and so does honesty.

    An answer must stay what it was: a function that gives the same buffer back at every call
    rewrites its earlier answers.
    """

    def __init__(
        self,
        outputs: list[torch.Tensor],
        leaves: list[torch.Tensor],
        inputs: list[tuple[torch.Tensor, wire.Message]],
        sent: wire.Tensors,
    ) -> None:
        self.outputs, self.leaves, self.inputs, self.sent = outputs, leaves, inputs, sent
        self.copies = [output.detach().clone() for output in outputs]

    def overwritten(self) -> bool:
        pairs = zip(self.copies, self.outputs, strict=True)
        return not all(_same(copy, output.detach()) for copy, output in pairs)


def _place(tensor: torch.Tensor, spec: wire.Message, device: str) -> torch.Tensor:
    """A copy of the judge's tensor on the right device, with the strides that it had.

    A copy on the cpu too: what was sent is kept, to see whether the input changes.
    """
    strides = tuple(spec.get("strides", tensor.stride()))
    placed = _empty_strided(tuple(tensor.shape), strides, dtype=tensor.dtype, device=device)
    return placed.copy_(tensor)


def _tensors_in(value: Any) -> list[Any]:
    """The leaves of nested tuples, lists and dicts, without None, in the order of the wire."""
    if isinstance(value, dict):
        value = [value[key] for key in value]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _tensors_in(item)]
    return [] if value is None else [value]


def _pack_answer(value: Any, sent: wire.Tensors) -> wire.Message:
    """An answer as a spec for the wire. Raises Unanswerable for what cannot travel."""
    if value is None:
        return {"value": None}
    if isinstance(value, dict):
        return {"dict": {str(key): _pack_answer(value[key], sent) for key in value}}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_pack_answer(item, sent) for item in value]}
    spec: wire.Message = wire.pack(_dense(getattr(value, "held", value)), sent)
    return spec


def _inner_product(output: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
    """A real scalar whose gradient in `output` is `upstream`, for complex tensors too.

    PyTorch's convention for a real loss L is dL/dRe + i dL/dIm ("Autograd for complex numbers").
    """
    product = output * upstream.conj() if output.is_complex() else output * upstream
    return product.sum().real if product.is_complex() else product.sum()


def _move_away(tensor: torch.Tensor, _: wire.Message) -> torch.Tensor:
    return fake_device.FakeDeviceTensor(tensor)


def _changed(
    inputs: list[tuple[torch.Tensor, wire.Message]], tensors: wire.Tensors, sent: wire.Tensors
) -> list[wire.Message]:
    """Which inputs no longer hold what was sent, with what they hold now."""
    changed = []
    for position, (now, spec) in enumerate(inputs):
        before, after = wire.tensor_of(spec, tensors), now.detach().to("cpu")
        if not _same(before, after):
            changed.append({"position": position, "now": wire.pack(_dense(after), sent)})
    return changed


def _moved(was: dict[str, Any], now: dict[str, Any]) -> str:
    """The first key under which a dict of the caller's no longer holds what it held, or ""."""
    for key in [*was, *now]:
        if was.get(key) is not now.get(key):
            return str(key)
    return ""


def _same(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Equal in shape, dtype and every bit; NaN equals NaN."""
    # With functions that were kept: the submission may have replaced what == means for tensors.
    before, after = _plain(before), _plain(after)
    bits = _bits.get(before.element_size())
    if bits is None or not _shape(before):
        return _save({"t": before}) == _save({"t": after})
    alike = before.dtype is after.dtype and _shape(before) == _shape(after)
    return alike and _equal(_view(before, bits), _view(after, bits))


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Without negations and conjugations that are only promised."""
    return tensor.resolve_conj().resolve_neg().contiguous()


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """A plain copy that can travel. Raises Unanswerable for layouts that hold no dense numbers."""
    if _type(tensor) not in (_tensor_type, torch.nn.Parameter):
        raise Unanswerable(f"a {_type(tensor).__name__}, not a plain tensor")
    if tensor.layout is not _strided or tensor.is_quantized:
        raise Unanswerable(f"a tensor with layout {tensor.layout}, not a dense one")
    tensor = tensor.detach()
    return tensor.to("cpu").contiguous().clone()


def _kind(function: Any) -> str:
    """What stands under a wanted name: "function", or what is wrong with it."""
    if function is None:
        return "missing"
    if inspect.isclass(function):
        return "class"
    if inspect.iscoroutinefunction(function):
        return "async"
    if inspect.isgeneratorfunction(function):
        return "generator"
    return "function" if callable(function) else "not callable"


def _text(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "sys.exit() or exit() was called"
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a learner's own exception class may fail to print
        return ""


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - as above
        return ""
    return text if len(text) <= 60 else text[:57] + "..."


def _is_memory(error: BaseException, message: str) -> bool:
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and (
        "allocate memory" in message or "not enough memory" in message or "out of memory" in message
    )


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # The submission may have closed or replaced it.
        with contextlib.suppress(Exception):
            stream.flush()


def serve(read_exactly: Callable[[int], bytes], send: Callable[[bytes], None]) -> None:
    """Answer requests until the judge hangs up."""
    runner = Runner()
    audit.start()
    while True:
        try:
            request, tensors = wire.read(read_exactly)
        except EOFError:
            return
        if request["do"] == "prepare":
            bans.install(request["bans"])
            send(wire.encode({"prepared": True}))
        else:
            send(runner.answer(request, tensors))
