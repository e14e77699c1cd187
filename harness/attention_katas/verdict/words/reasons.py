"""Why a check did not pass, or why a submission was not judged: a sentence for each reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention_katas.verdict import reasons as r
from attention_katas.verdict.words.numbers import apart, index, number, shape


def reason(fact: r.Reason | None) -> str:
    """The sentence for a reason; "" for none."""
    return "" if fact is None else SENTENCES[type(fact)](fact)


_SIGNALS = {
    "SIGSEGV": " (segmentation fault)",
    "SIGABRT": " (abort)",
    "SIGXCPU": " (processor time)",
}
_KINDS = {
    "class": "is a class; the kata asks for a function",
    "async": "is an async function; the kata asks for a plain one",
    "generator": "is a generator (it has a yield); the kata asks for a plain function",
    "not callable": "is not a function",
}
_ENTRIES = {"nan": "NaN", "finite": "a finite number"}
# How a rung of the ladder is called when it is the one that does not hold.
_RUNGS = {"answered": "answer", "inputs unchanged": "inputs", "nothing banned": "banned"}
# What went wrong at a rung, where a student may see no more than that; "" for a law.
_NOT_RIGHT = {
    "": "it does not do what this check asks for",
    "answered": "the call gave no answer",
    "type": "the answer is not of the type that the kata asks for",
    "shape": "the shape is wrong",
    "dtype": "the dtype is wrong",
    "device": "the answer is on the wrong device",
    "finite": "NaN or infinity stands in a wrong place, or is missing",
    "values": "the values are wrong",
    "gradients": "the gradients are wrong",
    "inputs unchanged": "it changes its inputs",
    "nothing banned": "it uses a built-in that is switched off",
}
_UNSENDABLE = {
    "subclass": "returned a {}, not a plain tensor",
    "dtype": "returned a tensor of {}, which cannot be compared",
    "layout": "returned a tensor with layout {}, not a dense one",
    "levels": "returned an answer nested in more than {} levels",
    "other": "returned something that cannot be compared: {}",
}
_REPLIES = {
    "": "the sandbox worker sent something that is not a reply",
    "load": "the sandbox worker did not say what the file defines",
    "call": "the sandbox worker replied with no tensor",
    "backward": "the sandbox worker's reply to backward() makes no sense",
}


def _function_missing(fact: r.FunctionMissing) -> str:
    if fact.empty:
        return f"{fact.file} is empty"
    hint = f"; it does define {fact.near}, which is close" if fact.near else ""
    return f"{fact.file} defines no function called {fact.function}{hint}"


def _does_not_load(fact: r.DoesNotLoad) -> str:
    text = f"{fact.type}: {fact.text}" if fact.text else fact.type
    return f"{fact.file} does not load: {text}"


def _cannot_be_read(fact: r.CannotBeRead) -> str:
    return f"{fact.file} cannot be read" + (f": {fact.problem}" if fact.problem else "")


def _ban_open(fact: r.BanOpen) -> str:
    route = f"by {fact.route}" if fact.route else "by every route"
    return (
        f"the built-in {fact.family} can be reached {route}: "
        "this version of torch is not known well enough here"
    )


def _machine_busy(fact: r.MachineBusy) -> str:
    share = f"{fact.processor_seconds:.1f} s of processor time in {fact.seconds:.0f} s"
    return f"this machine is too busy to judge: your code got {share}"


def _timed_out(fact: r.TimedOut) -> str:
    doubt = "" if fact.loading else ": a loop that never ends?"
    return f"stopped after {fact.seconds:g} s without an answer{doubt}"


def _memory(fact: r.MemoryExceeded) -> str:
    if fact.refused:
        return f"asked for more than the {fact.megabytes} MB that a check may use"
    return f"it took more than {fact.megabytes} MB"


def _killed(fact: r.ProcessKilled) -> str:
    return f"the process was ended by {fact.signal}{_SIGNALS.get(fact.signal, '')}"


def _banned(fact: r.Banned) -> str:
    if not fact.name:
        return "uses a built-in that is switched off here: this kata is about writing it by hand"
    if fact.stopped:
        return f"{fact.name} is switched off here: this kata is about writing it by hand"
    return f"calls {fact.name}, which this kata wants written by hand"


def rung(name: str) -> str:
    """What a rung of the ladder looks at, in one word or two; "" for no rung."""
    return _RUNGS.get(name, name)


def _wrong_dtype(fact: r.WrongDtype) -> str:
    source = ", the dtype of the input" if fact.of_input else ""
    return f"torch.{fact.yours} came back, expected torch.{fact.expected}{source}"


def _not_finite(fact: r.NotFinite) -> str:
    kind = _ENTRIES.get(fact.kind, fact.kind)
    return f"{kind} in {fact.count} of {fact.total} entries, first at {index(fact.at)}"


def _hidden(fact: r.HiddenNotZero) -> str:
    return (
        f"{fact.count} masked entries are not exactly zero, "
        f"such as {number(fact.value)} at {index(fact.at)}"
    )


def _entries_differ(fact: r.EntriesDiffer) -> str:
    yours, expected = apart(fact.yours, fact.expected)
    start = f"{fact.count} of {fact.total} entries differ, most"
    if fact.factor is not None:
        start = f"every entry is {fact.factor:.3g} times what was expected; most apart"
    return f"{start} at {index(fact.at)}: {yours} came back, expected {expected}"


def _gradient_differs(fact: r.GradientDiffers) -> str:
    verb = "differs" if fact.finite else "is not finite"
    count = f" in {fact.count} of {fact.total} entries" if fact.total else ""
    return f"the gradient of {fact.input} {verb}{count}"


_REFUSALS = {
    "unknown kata": "the worker on {where} has no kata called {name}",
    "other content": "the worker on {where} has version {here} of {name} instead of {expected}",
    "other version": "the worker on {where} has {name} {here} instead of {expected}",
    "no katas": "the worker on {where}: {detail}",
    "other device": "the worker on {where} judges on {here} instead of {expected}",
}


def _worker_refused(fact: r.WorkerRefused) -> str:
    return _sentence(_REFUSALS[fact.kind])(fact)


def _sentence(text: str) -> Callable[[Any], str]:
    """A sentence with the fields of the fact filled in."""
    names = [part.partition("}")[0].partition(".")[0] for part in text.split("{")[1:]]
    return lambda fact: text.format(**{name: getattr(fact, name) for name in names})


SENTENCES: dict[type, Callable[[Any], str]] = {
    r.FileMissing: _sentence("{file} is not there"),
    r.LinkDangling: _sentence("{file} is a link to a file that is not there"),
    r.NotAnOrdinaryFile: _sentence("{file} is not an ordinary file"),
    r.TooLarge: _sentence("{file} is larger than {kilobytes} KB; a kata needs a few lines"),
    r.Utf16: _sentence("{file} is saved as UTF-16; save it as UTF-8"),
    r.NulByte: _sentence("{file} holds a NUL byte in line {line}; it is not a text file"),
    r.NotUtf8: lambda fact: (
        f"{fact.file} is not UTF-8: byte 0x{fact.byte:02x} in line {fact.line}; save it as UTF-8"
    ),
    r.CannotBeRead: _cannot_be_read,
    r.LinkNotFollowed: _sentence("{file} is a link; only ordinary files are graded"),
    r.DamagedInArchive: _sentence("{file} cannot be read from its zip: {problem}"),
    r.StillStub: _sentence("{file} is still the stub"),
    r.FunctionMissing: _function_missing,
    r.NotAFunction: lambda fact: f"{fact.function} {_KINDS[fact.kind]}",
    r.NotPython: _sentence("{file} is not valid Python: {problem}"),
    r.ImportNotPython: _sentence("{file}, which {importer} imports, is not valid Python"),
    r.DoesNotLoad: _does_not_load,
    r.ImportMissing: lambda fact: f"it imports {fact.module}, but {reason(fact.reason)}",
    r.Cancelled: _sentence("the verdict was cancelled"),
    r.JudgeFault: _sentence("a fault of the judge: {type}: {text}"),
    r.CannotJudge: _sentence("{text}"),
    r.PackFileBroken: _sentence("{file} of the pack {pack} does not load: {problem}"),
    r.CheckBroke: _sentence("the check {check} broke: {problem}"),
    r.WorkersEnded: _sentence("the sandbox workers were ended from outside, twice"),
    r.WorkersLost: _sentence("set aside: {detail}, and again when judged alone"),
    r.WorkerRefused: _worker_refused,
    r.VerdictTooLarge: _sentence("what it did makes a verdict that is too large to send"),
    r.MissingRestrictions: lambda fact: (
        f"this system lacks restrictions for strangers' code: {', '.join(fact.names)}"
    ),
    r.BanOpen: _ban_open,
    r.MachineBusy: _machine_busy,
    r.NotJudgedYet: _sentence("not judged yet: the grading was stopped before"),
    r.GraderFault: _sentence("a fault of kata grade: {type}: {text}"),
    r.FolderNotListed: _sentence("{folder} cannot be listed: {problem}"),
    r.TimedOut: _timed_out,
    r.KataTimedOut: lambda fact: (
        f"the checks of this kata took longer than {fact.seconds:g} s together"
    ),
    r.MemoryExceeded: _memory,
    r.TooManyThreads: _sentence("it started more than {threads} threads"),
    r.TooMuchOutput: _sentence("it printed more than {mebibytes} MB"),
    r.ProcessKilled: _killed,
    r.ProcessExited: _sentence("the process exited by itself with status {status}"),
    r.ProcessGone: _sentence("the process is gone"),
    r.ProcessNeverStarted: _sentence("the process never started"),
    r.BadReply: lambda fact: _REPLIES[fact.to],
    r.RaisedException: _sentence("raised {type}"),
    r.CannotBeCalled: _sentence("cannot be called as {call}"),
    r.NeedsUnwritten: _sentence("needs {function} from {file}, which is not written yet"),
    r.ReturnedNone: _sentence("returned None; is a return missing?"),
    r.NotATensor: _sentence("returned a {kind}, not a tensor"),
    r.WrongStructure: _sentence("returned {yours}, expected {expected}"),
    r.CannotBeSent: lambda fact: _UNSENDABLE[fact.kind].format(fact.detail),
    r.Banned: _banned,
    r.WrongShape: lambda fact: (
        f"shape {shape(fact.yours)} came back, expected {shape(fact.expected)}"
    ),
    r.WrongDtype: _wrong_dtype,
    r.WrongDevice: _sentence("the answer is on {yours}, the inputs are on {expected}"),
    r.NotFinite: _not_finite,
    r.HiddenNotZero: _hidden,
    r.EntriesDiffer: _entries_differ,
    r.NoGradient: _sentence("no gradient reaches {input}: it is cut off on the way"),
    r.GradientShape: _sentence("the gradient of {input} has the wrong shape"),
    r.GradientDiffers: _gradient_differs,
    r.GradientsOff: _sentence(
        "this call leaves gradients switched off for all code that runs after it; "
        "use `with torch.no_grad():`, and only where you mean it"
    ),
    r.InputChanged: lambda fact: (
        f"the call changed {f'its input {fact.input}' if fact.input else 'one of its inputs'}; "
        "work on a new tensor"
    ),
    r.EntryChanged: _sentence(
        "the call changed the entry {key} in the dict of its caller; work on a copy"
    ),
    r.AnswerOverwritten: _sentence(
        "this call rewrote the answer of an earlier one; return a new tensor each time"
    ),
    r.BackwardFailed: lambda fact: f"backward(): {reason(fact.reason)}",
    r.LawBroken: _sentence("{text}"),
    r.TestRaised: _sentence("{text}"),
    r.WrongException: _sentence("raised {raised}, expected {expected}"),
    r.NoException: _sentence("an answer came back, expected {expected}"),
    r.NotTheSlopes: _sentence("the gradients are not the slopes of what the function computes"),
    r.MadeOnDefaultDevice: _sentence(
        "a tensor made here is on the default device, not on that of the inputs"
    ),
    r.AnswerOnCpu: _sentence("the answer is on the cpu, wherever the inputs are"),
    r.NotRight: lambda fact: _NOT_RIGHT.get(fact.rung, _NOT_RIGHT[""]),
    r.NotWritten: _sentence("{function} is not written yet"),
    r.HungBefore: _sentence("{function} ran into the time limit before"),
    r.ValuesFirst: _sentence("counts once the values are right"),
    r.NeedsFloat64: _sentence("finite differences need float64"),
    r.NoFakeDevice: _sentence("this code cannot run on a pretended device"),
    r.OtherOnFakeDevice: _sentence("this code computes something else on another device"),
}
