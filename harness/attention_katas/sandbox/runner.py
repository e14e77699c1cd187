"""Runs the learner's code in the sandbox worker: load it, call it, send back what it returned.

A worker gets nothing but source text and inputs. The judge trusts none of its answers: it decides
from the bytes of the returned tensors.
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

# Bound before a submission can replace them.
_exec, _compile, _type = exec, compile, type
_tensor_type = torch.Tensor
_backward: Callable[..., None] = torch.Tensor.backward
_grad_is_on = torch.is_grad_enabled
_enable_grad = torch.enable_grad
_empty_strided = torch.empty_strided
_strided = torch.strided
_complex_half = torch.complex32
_save = save_tensors
_equal = torch.equal
_view = torch.Tensor.view
_is_complex = torch.Tensor.is_complex
_as_real = torch.view_as_real
_shape: Callable[[torch.Tensor], Sequence[int]] = torch.Tensor.size
_clock = time.perf_counter
_bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

MESSAGE_CAP = 2000


class CannotBeSent(Exception):
    """The function returned something that is no plain dense tensor.

    code: what it is; see `verdict.reasons.CannotBeSent`.
    detail: its class, dtype or layout; or how deep it may be nested; or what the encoder says.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail = code, detail


class Siblings(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the other katas of a submission from source text, without files."""

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
    """Answers the judge's requests, one at a time.

    module: the loaded file; None before it is loaded.
    sources: the source text of every module of the submission, by name.
    answers: what earlier calls returned, by the id of the call.
    """

    def __init__(self) -> None:
        self.module: types.ModuleType | None = None
        self.sources: dict[str, str] = {}
        self.answers: dict[int, _Answer] = {}

    def answer(self, request: wire.Message, tensors: wire.Tensors) -> bytes:
        """The reply to one request, as a frame.

        tensors: of any shapes, by the names in the request.
        """
        act = {"load": self.load, "call": self.call, "backward": self.backward}[request["do"]]
        bans.called_here.clear()
        outputs: wire.Tensors = {}
        try:
            reply = act(request, tensors, outputs)
        except BaseException as error:  # noqa: BLE001 - sys.exit() is an answer too
            reply, outputs = {"raised": self.describe(error)}, {}
        reply["banned"] = list(bans.called_here)
        reply["audit"] = list(audit.notes)
        _flush()
        try:
            return wire.encode(reply, outputs)
        except Exception as error:  # noqa: BLE001 - a dtype or a size that cannot be sent
            described = self.describe(CannotBeSent("other", _text(error)[:200]))
            return wire.encode({"raised": described, "banned": []})

    def load(self, request: wire.Message, _: wire.Tensors, __: wire.Tensors) -> wire.Message:
        """Compile and run the file; the reply has the kind of each function that the kata asks for.

        Tensors of any shape are ignored: a file is loaded from its text.
        """
        for name in self.sources:
            sys.modules.pop(name, None)
        self.sources = request["sources"]
        self.answers.clear()
        sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "Siblings"]
        sys.meta_path.insert(0, Siblings(self.sources))
        self.module = None
        self.module = importlib.import_module(request["module"])
        kinds = {name: _kind(getattr(self.module, name, None)) for name in request["functions"]}
        names = [name for name, value in vars(self.module).items() if callable(value)]
        return {"functions": kinds, "names": names[:200]}

    def call(
        self, request: wire.Message, tensors: wire.Tensors, outputs: wire.Tensors
    ) -> wire.Message:
        """Call a function on fresh copies of the inputs.

        tensors: the inputs, of any shapes. outputs: gets what the function returned.
        """
        inputs: list[tuple[torch.Tensor, wire.Message]] = []
        leaves: list[torch.Tensor] = []

        def place(tensor: torch.Tensor, spec: wire.Message) -> torch.Tensor:
            placed = _place(tensor, spec, request["device"])
            if spec["grad"]:
                leaves.append(placed.requires_grad_())
                # Not the leaf itself: changing a leaf in place raises an autograd error, and the
                # learner needs to read "your function changes its input".
                placed = placed.clone()
            inputs.append((placed, spec))
            return placed

        on_fake_device = request.get("fake_device") is True
        function = getattr(self.module, request["function"])
        with _enable_grad():
            args = wire.unpack(
                request["args"], tensors, _to_fake_device if on_fake_device else place
            )
            kwargs = wire.unpack(
                request["kwargs"], tensors, _to_fake_device if on_fake_device else place
            )
            dicts = [value for value in [*args, *kwargs.values()] if _type(value) is dict]
            before = [dict(value) for value in dicts]
            with fake_device.fake_device() if on_fake_device else contextlib.nullcontext():
                started = _clock()
                returned = function(*args, **kwargs)
                seconds = _clock() - started
            gradients_on = _grad_is_on()
        results = _tensors_in(returned) if request.get("nested") is True else [returned]
        is_fake = any(type(output) is fake_device.FakeDeviceTensor for output in results)
        reply: wire.Message = {
            "changed": _changed(inputs, tensors, outputs),
            "overwrote": any(answer.overwritten() for answer in self.answers.values()),
            "rearranged": [_rebound(old, new) for old, new in zip(before, dicts, strict=True)],
            "gradients_off": not gradients_on,
            "seconds": seconds,
        }
        if not results or not all(isinstance(output, _tensor_type) for output in results):
            return {**reply, "odd": _type(returned).__name__, "repr": _short(returned)}
        devices = [fake_device.NAME if is_fake else str(output.device) for output in results]
        reply["device"] = next((name for name in devices if name != devices[0]), devices[0])
        reply["returned"] = _pack_answer(returned, outputs)
        plain = [getattr(output, "numbers", output) if is_fake else output for output in results]
        self.answers[request["id"]] = _Answer(plain, leaves, inputs, tensors)
        return reply

    def backward(
        self, request: wire.Message, tensors: wire.Tensors, gradients: wire.Tensors
    ) -> wire.Message:
        """The backward pass of an earlier call: the gradients of its inputs.

        tensors: the gradients of the outputs, of any shape.
        gradients: gets the gradients of the inputs, each of the shape of its input.
        """
        answer = self.answers[request["id"]]
        inputs = answer.leaves
        place = lambda tensor, _: tensor.to(answer.outputs[0].device)  # noqa: E731
        upstreams = wire.unpack(request["upstream"], tensors, place)
        outputs = zip(answer.outputs, upstreams, strict=True)
        pairs = [(y, g) for y, g in outputs if g is not None and y.requires_grad]
        if not pairs:
            return {"gradients": [None] * len(inputs)}
        # Through a scalar: with `grad_outputs` torch first imports sympy, for half a second. And by
        # backward(), not autograd.grad(): reentrant checkpoints refuse the latter.
        for leaf in inputs:
            leaf.grad = None
        with _enable_grad():
            _backward(sum(_inner_product(y, g) for y, g in pairs), retain_graph=True)
        specs = [None if t.grad is None else wire.pack(_dense(t.grad), gradients) for t in inputs]
        changed = _changed(answer.inputs, answer.tensors, gradients)
        return {"gradients": specs, "changed": changed}

    def describe(self, error: BaseException) -> wire.Message:
        """An exception as data, with only those frames that are in the learner's own files."""
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
        if isinstance(error, fake_device.DeviceMismatch):
            described["mismatch"] = True
        if isinstance(error, CannotBeSent):
            described["unsendable"] = [error.code, error.detail]
        return described


class _Answer:
    """What a call returned, with its inputs, for the backward pass.

    outputs: the returned tensors. A later call must not change them, as one does that returns the
        same buffer every time.
    leaves: the inputs that need gradients.
    inputs: all inputs as the function got them, each with its spec.
    tensors: the inputs as the judge sent them.
    copies: the outputs as they were when they were returned.
    """

    def __init__(
        self,
        outputs: list[torch.Tensor],
        leaves: list[torch.Tensor],
        inputs: list[tuple[torch.Tensor, wire.Message]],
        tensors: wire.Tensors,
    ) -> None:
        self.outputs, self.leaves, self.inputs, self.tensors = outputs, leaves, inputs, tensors
        self.copies = [output.detach().clone() for output in outputs]

    def overwritten(self) -> bool:
        """Whether a later call changed what this one returned."""
        pairs = zip(self.copies, self.outputs, strict=True)
        return not all(_same(copy, output.detach()) for copy, output in pairs)


def _place(tensor: torch.Tensor, spec: wire.Message, device: str) -> torch.Tensor:
    """A copy of the judge's tensor on the device, with its strides.

    On the cpu as well: the original is compared with the input after the call.
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


def _pack_answer(value: Any, tensors: wire.Tensors, levels: int = wire.MOST_LEVELS) -> wire.Message:
    """An answer as a spec for the wire. Raises CannotBeSent."""
    if not levels:
        raise CannotBeSent("levels", str(wire.MOST_LEVELS))
    if value is None:
        return {"value": None}
    if isinstance(value, dict):
        return {"dict": {str(key): _pack_answer(value[key], tensors, levels - 1) for key in value}}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_pack_answer(item, tensors, levels - 1) for item in value]}
    spec: wire.Message = wire.pack(_dense(getattr(value, "numbers", value)), tensors)
    return spec


def _inner_product(output: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
    """A real scalar whose gradient in `output` is `upstream`, for complex tensors too.

    PyTorch's convention for a real loss L is dL/dRe + i dL/dIm ("Autograd for complex numbers").
    """
    product = output * upstream.conj() if output.is_complex() else output * upstream
    return product.sum().real if product.is_complex() else product.sum()


def _to_fake_device(tensor: torch.Tensor, _: wire.Message) -> torch.Tensor:
    return fake_device.FakeDeviceTensor(tensor)


def _changed(
    inputs: list[tuple[torch.Tensor, wire.Message]], tensors: wire.Tensors, outputs: wire.Tensors
) -> list[wire.Message]:
    """The inputs whose numbers are no longer those that were sent, with their present numbers."""
    changed = []
    for position, (now, spec) in enumerate(inputs):
        before, after = wire.tensor_of(spec, tensors), now.detach().to("cpu")
        if not _same(before, after):
            changed.append({"position": position, "now": wire.pack(_dense(after), outputs)})
    return changed


def _rebound(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first key of a dict argument whose value is another object after the call, or ""."""
    for key in [*old, *new]:
        if old.get(key) is not new.get(key):
            return str(key)
    return ""


def _same(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether shapes, dtypes and all bits are equal; NaN equals NaN."""
    # By the functions bound above: the submission may have replaced == of tensors.
    before, after = _plain(before), _plain(after)
    if _is_complex(before) and _is_complex(after):
        before, after = _as_real(before), _as_real(after)
    bits = _bits.get(before.element_size())
    if bits is None or not _shape(before):
        return _save({"t": before}) == _save({"t": after})
    alike = before.dtype is after.dtype and _shape(before) == _shape(after)
    return alike and _equal(_view(before, bits), _view(after, bits))


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with lazy conjugation and negation carried out."""
    return tensor.resolve_conj().resolve_neg().contiguous()


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """A plain copy that can be sent. Raises CannotBeSent for others."""
    if _type(tensor) not in (_tensor_type, torch.nn.Parameter):
        raise CannotBeSent("subclass", _type(tensor).__name__)
    if tensor.dtype is _complex_half:  # torch itself hardly computes with it
        raise CannotBeSent("dtype", str(tensor.dtype))
    if tensor.layout is not _strided or tensor.is_quantized:
        raise CannotBeSent("layout", str(tensor.layout))
    tensor = tensor.detach()
    return tensor.to("cpu").contiguous().clone()


def _kind(function: Any) -> str:
    """What a name of the kata is bound to: "function", or what it is instead."""
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
