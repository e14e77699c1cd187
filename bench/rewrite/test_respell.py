"""A respelled file does what the original does: every known mistake and look-alike, every style."""

from __future__ import annotations

import functools
import math
from types import ModuleType

import pytest
import torch

from attention_katas.authoring import mistakes
from attention_katas.judge.modules import load_module
from attention_katas.packs.catalog import load_catalog
from attention_katas.sandbox.fake_device import CLAIM, FakeDeviceTensor, fake_device
from rewrite.respell import STYLES, plain, respell

CATALOG = load_catalog()
KATAS = [kata.name for kata in CATALOG.ready]
DOUBLE, SINGLE, HALF = torch.float64, torch.float32, torch.float16
TOLERANCE = {DOUBLE: 1e-9, SINGLE: 1e-4, HALF: 2e-2}
INF = math.inf
REFERENCE = "reference"


class Draw:
    """Numbers from a seed, so that every file is asked the same."""

    def __init__(self):
        self.generator = torch.Generator().manual_seed(7)

    def __call__(self, *shape, dtype=DOUBLE, spread=1.0, offset=0.0):
        made = torch.randn(shape, generator=self.generator, dtype=DOUBLE)
        return (made * spread + offset).to(dtype)

    def tower(self, *shape):
        """The last position is far larger than the others."""
        made = self(*shape)
        made[:, -1] *= 3000.0
        return made

    def layer(self, width, context, dtype=DOUBLE, low=False):
        """Weights and biases; low: such that every score lies far below zero."""
        sizes = {"q": width, "k": context, "v": context, "o": width}
        made = {
            **{f"w_{n}": self(width, size, dtype=dtype, spread=0.5) for n, size in sizes.items()},
            **{f"b_{n}": self(width, dtype=dtype) for n in sizes},
        }
        if low:
            made["b_q"] += 200.0
            made["b_k"] -= 200.0
        return made


def pairs(draw):
    yield draw(3, 5), draw(4, 5)
    yield draw(2, 3, 4, 6), draw(2, 3, 5, 6)
    yield draw(4, 4), draw(4, 4)
    yield draw(3, 3, 3, 3), draw(3, 3, 3, 3)
    yield draw(2, 1, 5), draw(2, 1, 5)
    yield draw(4, 3, 2).transpose(0, 1), draw(5, 3, 2).transpose(0, 1)
    yield draw(3, 5), draw(4, 6)
    yield draw(3, 1), draw(4, 6)
    infinite = draw(3, 5)
    infinite[1, 2] = -INF
    yield infinite, draw(4, 5)
    yield draw(2, 4, 8, dtype=SINGLE, offset=100.0), draw(2, 3, 8, dtype=SINGLE, spread=30.0)
    yield draw(2, 4, 8, dtype=HALF), draw(2, 3, 8, dtype=HALF)
    yield draw(4, 8, dtype=HALF, offset=150.0), draw(3, 8, dtype=HALF, offset=150.0)


def rows(draw):
    yield (draw(3, 5),)
    yield (draw(2, 3, 4, 5),)
    yield draw(2, 3, 4), 1
    yield draw(2, 3, 4), 0
    yield (draw(4, 4),)
    yield (draw(3, 3, 3),)
    yield (draw(6),)
    yield (draw(5, 4, 3).transpose(0, 2),)
    yield draw(3, 4), 5
    infinite = draw(3, 4)
    infinite[0, 1] = infinite[1, 3] = -INF
    yield (infinite,)
    infinite = draw(3, 4)
    infinite[0] = -INF
    infinite[1, 1] = INF
    yield (infinite,)
    for offset in (0.0, 1000.0, -1000.0):
        yield (draw(3, 5, dtype=SINGLE, spread=3.0, offset=offset),)
    yield (draw(3, 5, dtype=HALF, spread=2.0),)
    yield (draw(3, 40, dtype=HALF, offset=-30.0),)


def lengths(_):
    yield from ((5, 5), (4, 7), (7, 4), (1, 6), (1, 1), (2, 2050))
    yield 3, 4, "cpu"


def holes(batch, keys):
    """Padding that leaves the first query without a key, and one sequence without any."""
    keep = torch.ones(batch, keys, dtype=torch.bool)
    keep[0, 1] = keep[1, 0] = False
    keep[-1] = False
    return keep


def scores(draw):
    yield (draw(2, 3, 4, 5),)
    yield draw(3, 2, 4, 5), holes(3, 5)
    yield draw(3, 3, 3, 3), holes(3, 3)
    yield draw(2, 3, 5, 4).transpose(-2, -1), holes(2, 5)
    towers = draw(2, 2, 4, 4, dtype=SINGLE)
    towers[..., 3] += 1000.0
    yield towers, holes(2, 4)
    yield draw(2, 1, 3, 4, dtype=SINGLE, spread=50.0, offset=-2e4), holes(2, 4)
    yield draw(2, 2, 3, 4, dtype=HALF), holes(2, 4)
    yield (draw(2, 2, 4, 4, dtype=HALF, spread=3.0, offset=1000.0),)
    hidden = draw(1, 1, 3, 3, dtype=HALF, offset=-5e4)
    hidden[..., 2] = 4e4
    yield (hidden,)


def attentions(draw):
    yield draw(2, 3, 4, 6), draw(2, 3, 5, 6), draw(2, 3, 5, 7)
    yield draw(2, 3, 5, 6), draw(2, 3, 4, 6), draw(2, 3, 4, 7), False
    yield draw(3, 3, 3, 3), draw(3, 3, 3, 3), draw(3, 3, 3, 3)
    yield draw(1, 2, 4, 4).transpose(1, 2), draw(1, 4, 3, 4), draw(1, 4, 3, 2), True
    wide = {"dtype": SINGLE, "spread": 8.0}
    yield draw(2, 2, 4, 6, **wide), draw(2, 2, 5, 6, **wide), draw(2, 2, 5, 7, dtype=SINGLE)
    towers = draw(1, 2, 4, 4, dtype=SINGLE)
    towers[..., 3, :] += 500.0
    yield draw(1, 2, 4, 4, dtype=SINGLE, offset=2.0), towers, draw(1, 2, 4, 3, dtype=SINGLE)
    yield draw(1, 2, 4, 4, offset=100.0), draw(1, 2, 4, 4, offset=-100.0), draw(1, 2, 4, 3)
    yield draw(2, 2, 4, 4, dtype=HALF), draw(2, 2, 3, 4, dtype=HALF), draw(2, 2, 3, 5, dtype=HALF)


def widths(draw):
    yield draw(2, 3, 8), 4
    yield draw(4, 4, 4), 2
    yield draw(2, 3, 8).transpose(0, 1), 2
    yield draw(2, 3, 7), 2
    yield draw(2, 3, 8), 0
    yield draw(2, 3, 8, dtype=HALF), 1


def heads(draw):
    yield (draw(2, 3, 4, 5),)
    yield (draw(3, 3, 3, 3),)
    yield (draw(2, 4, 3, 5).transpose(1, 2),)
    yield (draw(2, 3, 4, 5, dtype=HALF),)


def selves(draw):
    yield draw(3, 5, 8), draw.layer(8, 8), 4
    yield draw(3, 5, 8), draw.layer(8, 8), 2, True, holes(3, 5)
    yield draw(4, 4, 4), draw.layer(4, 4), 4, False, holes(4, 4)
    yield draw(2, 3, 7), draw.layer(7, 7), 2
    single = draw(2, 4, 6, dtype=SINGLE, spread=5.0, offset=3.0)
    yield single, draw.layer(6, 6, SINGLE), 3, True, holes(2, 4)
    yield draw.tower(2, 4, 6), draw.layer(6, 6), 2, True
    yield draw(2, 4, 6), draw.layer(6, 6, low=True), 2, True
    yield draw(2, 4, 6, dtype=HALF), draw.layer(6, 6, HALF), 2, True


def crossings(draw):
    yield draw(3, 4, 8), draw(3, 5, 6), draw.layer(8, 6), 4
    yield draw(3, 4, 8), draw(3, 5, 6), draw.layer(8, 6), 2, holes(3, 5)
    yield draw(4, 4, 4), draw(4, 4, 4), draw.layer(4, 4), 4, holes(4, 4)
    yield draw(2, 3, 7), draw(2, 4, 7), draw.layer(7, 7), 2
    single = draw(2, 4, 6, dtype=SINGLE, spread=5.0, offset=3.0)
    yield single, draw(2, 4, 6, dtype=SINGLE), draw.layer(6, 6, SINGLE), 3, holes(2, 4)
    keep = torch.tensor([[True, True, True, False], [True, False, True, False]])
    yield draw(2, 4, 6), draw.tower(2, 4, 6), draw.layer(6, 6), 2, keep
    yield draw(2, 4, 6), draw(2, 4, 6), draw.layer(6, 6, low=True), 2, keep
    yield draw(2, 3, 6, dtype=HALF), draw(2, 4, 4, dtype=HALF), draw.layer(6, 4, HALF), 2


INPUTS = {
    "attention_scores": pairs,
    "scaled_scores": pairs,
    "softmax": rows,
    "causal_mask": lengths,
    "masked_weights": scores,
    "scaled_dot_product_attention": attentions,
    "split_heads": widths,
    "merge_heads": heads,
    "multi_head_attention": selves,
    "cross_attention": crossings,
}


@pytest.fixture(autouse=True)
def one_thread():
    """Threads cost more than they give for tensors so small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def module_of(source):
    module = ModuleType("respelled")
    exec(compile(source, "respelled.py", "exec"), vars(module))
    return module


def mapped(value, change):
    """The arguments with every tensor changed; weights are a dict of them."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {name: mapped(item, change) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(mapped(item, change) for item in value)
    return value


def tensors_in(value):
    found = []
    mapped(value, lambda tensor: found.append(tensor))
    return found


def answer(function, args):
    """(exception or result, gradients, inputs afterwards), without and with gradients."""
    leaves = mapped(args, lambda t: t.detach().requires_grad_(t.dtype == DOUBLE))
    given = mapped(leaves, lambda t: t * 1 if t.requires_grad else t.clone())
    torch.default_generator.manual_seed(0)
    try:
        result = function(*given)
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return type(error), None, tensors_in(given)
    wanted = [leaf for leaf in tensors_in(leaves) if leaf.requires_grad]
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return result, None, tensors_in(given)
    upstream = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).reshape(result.shape)
    try:
        slopes = torch.autograd.grad(result, wanted, upstream, allow_unused=True)
    except RuntimeError as error:
        slopes = type(error)
    return result.detach(), slopes, tensors_in(given)


def device_of(function, args):
    """Where the result is when the inputs are on another device, or what goes wrong."""
    there = mapped(args, lambda tensor: FakeDeviceTensor(tensor.clone()))
    there = tuple(CLAIM if value == "cpu" else value for value in there)
    try:
        with fake_device():
            return function(*there).device.type
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return type(error).__name__


@functools.cache
def cases(name):
    return list(INPUTS[name](Draw()))


def behaviour(source, name):
    function = getattr(module_of(source), name)
    return [answer(function, args) for args in cases(name)]


def device(source, name):
    return device_of(getattr(module_of(source), name), cases(name)[-1])


def difference(one, other, allowed):
    """In what two answers differ; "" if they agree."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if (one.dtype, one.shape, one.device) != (other.dtype, other.shape, other.device):
            return f"{one.dtype} {list(one.shape)}, {other.dtype} {list(other.shape)}"
        if not one.is_floating_point():
            return "" if torch.equal(one, other) else "values"
        for kind in (torch.isnan, torch.isposinf, torch.isneginf):
            if not torch.equal(kind(one), kind(other)):
                return kind.__name__
        close = torch.allclose(one, other, rtol=allowed, atol=allowed, equal_nan=True)
        return "" if close else f"values, {(one - other).abs().nan_to_num().max():.3g} apart"
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        if len(one) != len(other):
            return "how many"
        parts = (difference(a, b, allowed) for a, b in zip(one, other, strict=True))
        return next((f"[{n}] {part}" for n, part in enumerate(parts) if part), "")
    return "" if type(one) is type(other) and one == other else f"{one!r:.60}, {other!r:.60}"


def differences(one, other):
    """Those of all cases. What passes through half precision is as exact as that."""
    for number, (before, after) in enumerate(zip(one, other, strict=True)):
        dtypes = [tensor.dtype for tensor in tensors_in(before)]
        allowed = max((TOLERANCE.get(dtype, 0) for dtype in dtypes), default=0)
        found = difference(before, after, allowed)
        if found:
            yield f"case {number}: {found}"


@functools.cache
def entries(name):
    """(id, function, source) of every entry of a kata, and of its reference for each function."""
    kata = CATALOG[name]
    found = [
        (entry.id, entry.function or kata.functions[0], mistakes.source_of(kata, entry))
        for entry in mistakes.mistakes_in(load_module(kata.mistakes))
    ]
    reference = kata.reference.read_text(encoding="utf-8")
    return [*found, *((REFERENCE, function, reference) for function in kata.functions)]


@functools.cache
def of_original(name, number):
    _, function, source = entries(name)[number]
    return behaviour(source, function)


@functools.cache
def texts(name, number):
    """What the function of an entry, and all that it uses, looks like: as it was, in each style."""
    _, function, source = entries(name)[number]
    short = plain(source, [function])
    return {"": short, **{style: respell(short, style, [function]) for style in STYLES}}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kata", KATAS)
def test_every_entry_behaves_as_before(kata, style):
    differ = []
    for number, (entry, function, _) in enumerate(entries(kata)):
        text = texts(kata, number)
        if text[style] == text[""]:
            continue
        found = differences(of_original(kata, number), behaviour(text[style], function))
        differ += [f"{function}, {entry}, {told}" for told in found]
        if STYLES[number % len(STYLES)] == style:  # the slowest question, to one style of each
            devices = device(text[""], function), device(text[style], function)
            differ += [f"{function}, {entry}, {devices}"] if len(set(devices)) > 1 else []
    assert differ == []


@pytest.mark.parametrize("kata", KATAS)
def test_the_questions_tell_mistakes_from_the_reference(kata):
    """Else it would mean little that the styles answer them alike."""
    right = {name: n for n, (entry, name, _) in enumerate(entries(kata)) if entry == REFERENCE}
    known = mistakes.mistakes_in(load_module(CATALOG[kata].mistakes))
    unseen = [
        entry.id
        for number, entry in enumerate(known)
        if not entry.harmless
        for function in [entry.function or CATALOG[kata].functions[0]]
        for reference in [right[function]]
        if not any(differences(of_original(kata, reference), of_original(kata, number)))
        and device(texts(kata, reference)[""], function)
        == device(texts(kata, number)[""], function)
    ]
    assert len(unseen) <= len(known) // 10, unseen


@pytest.mark.parametrize("kata", KATAS)
def test_nearly_every_entry_has_two_styles_that_differ(kata):
    """Of those that are a single line there may be only one."""
    few = []
    for number, (entry, _, _) in enumerate(entries(kata)):
        text = texts(kata, number)
        styles = {text[style] for style in STYLES} - {text[""]}
        assert styles, entry
        few += [entry] if len(styles) < 2 else []
    assert len(few) <= 0.05 * len(entries(kata)), few


SHORT = """
import torch

def _weights(x, dim):
    return torch.softmax(x, dim)

def attend(q, k, v=None):
    if v is None:
        v = k
    return _weights(q @ k.transpose(-2, -1), -1) @ v
"""


@pytest.mark.parametrize("style", STYLES)
def test_the_contract_keeps_its_names(style):
    made = module_of(respell(SHORT, style))
    q, k = Draw()(2, 3), Draw()(4, 3)
    assert torch.allclose(made.attend(q=q, k=k), torch.softmax(q @ k.T, -1) @ k)
    assert torch.allclose(made.attend(q, k, v=2 * k), 2 * torch.softmax(q @ k.T, -1) @ k)


def test_each_style_has_its_own_signs():
    made = {style: respell(SHORT, style) for style in STYLES}
    assert "@" not in made["einsum"] + made["loops"] + made["functions"]
    assert "torch.einsum" in made["einsum"]
    assert "for row in" in made["loops"]
    assert "axis=-1" in respell("def f(x):\n    return x.sum(-1)", "functions")
    assert "softmax" not in made["steps"]
    assert "_weights" not in made["steps"]


def test_the_softmax_kata_gets_no_built_in_softmax():
    for number in range(len(entries("softmax"))):
        for text in texts("softmax", number).values():
            assert "torch.softmax" not in text
            assert ".softmax(" not in text


def test_numbers_are_no_tensors():
    made = respell("def f(x, n):\n    return x * (n + 1) ** -0.5 + 2 * n", "functions")
    assert "torch.add(n" not in made
    assert module_of(made).f(2.0, 3) == 7.0


def test_guards_and_early_ends_are_turned_round():
    source = """
def _sign(x):
    if x < 0:
        return -1
    if x == 0:
        return 0
    return 1

def signs(numbers):
    if not numbers:
        raise ValueError("none")
    return [_sign(x) for x in numbers if x is not None]
"""
    made = module_of(respell(source, "steps"))
    assert made.signs([-3, None, 0, 8]) == [-1, 0, 1]
    with pytest.raises(ValueError, match="none"):
        made.signs([])


def test_what_is_evaluated_when_stays():
    source = """
def f(a, b, log):
    a, b = b, a
    first = a > 1 and log.append("asked") is None
    return [x for pair in (a, b) for x in range(pair) if x or first], a if b else None
"""
    made = module_of(respell(source, "steps"))
    for arguments in ((1, 2), (2, 1), (0, 3)):
        before, after = [], []
        expected = module_of(source).f(*arguments, before)
        assert (made.f(*arguments, after), after) == (expected, before)


def test_a_style_or_a_name_that_cannot_be():
    with pytest.raises(KeyError):
        respell(SHORT, "haiku")
    with pytest.raises(ValueError, match="_loop_sum of its own"):
        respell("def f(x):\n    return _loop_sum(x)\ndef _loop_sum(x): return x", "loops")
