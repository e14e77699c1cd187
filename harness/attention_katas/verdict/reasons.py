"""Why a check did not pass, and why a submission was not judged: one struct for each reason.

`Reason` is the union of all. `verdict.words.reasons` has the sentence for each.
"""

from __future__ import annotations

from typing import Literal, Union

from attention_katas.verdict.facts import Cell, Fact

# Why a file cannot be read as source text


class FileMissing(Fact, frozen=True):
    """There is no such file."""

    file: str


class LinkDangling(Fact, frozen=True):
    """The file is a link to a file that does not exist."""

    file: str


class NotAnOrdinaryFile(Fact, frozen=True):
    """A folder, a device or a pipe."""

    file: str


class TooLarge(Fact, frozen=True):
    """The file is larger than a kata can need.

    kilobytes: the limit, in units of 1024 bytes.
    """

    file: str
    kilobytes: int


class Utf16(Fact, frozen=True):
    """The file is saved as UTF-16."""

    file: str


class NulByte(Fact, frozen=True):
    """The file holds a NUL byte."""

    file: str
    line: int


class NotUtf8(Fact, frozen=True):
    """The file is not UTF-8.

    byte: the first byte that is wrong.
    """

    file: str
    byte: int
    line: int


class CannotBeRead(Fact, frozen=True):
    """The operating system refuses to read the file.

    problem: what it says, such as "Permission denied".
    """

    file: str
    problem: str = ""


class LinkNotFollowed(Fact, frozen=True):
    """The file is a link, and `kata grade` reads ordinary files only."""

    file: str


class DamagedInArchive(Fact, frozen=True):
    """The file cannot be unpacked from its archive.

    problem: what the archive's reader says.
    """

    file: str
    problem: str


Unreadability = Union[  # noqa: UP007
    FileMissing,
    LinkDangling,
    NotAnOrdinaryFile,
    TooLarge,
    Utf16,
    NulByte,
    NotUtf8,
    CannotBeRead,
    LinkNotFollowed,
    DamagedInArchive,
]


# Why a submission has no checks


class StillStub(Fact, frozen=True):
    """Every function of the kata is still the stub."""

    file: str


class FunctionMissing(Fact, frozen=True):
    """The file does not define a function that the kata asks for.

    near: a name that it does define and that is close, or "".
    empty: the file holds no code at all.
    """

    file: str
    function: str
    near: str = ""
    empty: bool = False


Definition = Literal["class", "async", "generator", "not callable"]


class NotAFunction(Fact, frozen=True):
    """The name stands for something else.

    kind: what it stands for.
    """

    function: str
    kind: Definition


class NotPython(Fact, frozen=True):
    """The file is not valid Python.

    problem: what Python's parser says.
    """

    file: str
    problem: str


class ImportNotPython(Fact, frozen=True):
    """A file of an earlier kata, which this one imports, is not valid Python."""

    file: str
    importer: str


class DoesNotLoad(Fact, frozen=True):
    """The file raises an exception while it is imported.

    type, text: of the exception.
    """

    file: str
    type: str
    text: str


class ImportMissing(Fact, frozen=True):
    """The file imports an earlier kata that cannot be read.

    reason: why it cannot be read.
    """

    module: str
    reason: Unreadability


# Faults of ours: the outcome is `could not grade`


class Cancelled(Fact, frozen=True):
    """The verdict was cancelled before it was done."""


class JudgeFault(Fact, frozen=True):
    """An exception in the judge itself.

    type, text: of the exception.
    """

    type: str
    text: str


class CannotJudge(Fact, frozen=True):
    """Something that the judge needs is not there.

    text: the message of the error that says so.
    """

    text: str


class PackFileBroken(Fact, frozen=True):
    """The hidden tests, the reference or the mistakes of a kata do not load.

    pack: the name of its pack.
    file: the path of the file.
    problem: the exception, or what else is wrong with the file.
    """

    pack: str
    file: str
    problem: str


class CheckBroke(Fact, frozen=True):
    """A hidden test raised an exception of its own, with the reference too.

    problem: the exception, or what pytest reports instead of an outcome.
    """

    check: str
    problem: str


class WorkersEnded(Fact, frozen=True):
    """The sandbox workers were ended from outside, twice."""


class WorkersLost(Fact, frozen=True):
    """Judging processes were lost over the submission, also when it was judged alone.

    detail: what was lost, and how.
    """

    detail: str


Refusal = Literal["unknown kata", "other content", "other version", "no katas", "other device"]


class WorkerRefused(Fact, frozen=True):
    """A judging process has other katas, or is of other versions.

    kind: what is not as it should be.
    where: its machine.
    name: the kata, the pack or the package that differs.
    here: what it has.
    expected: what it should have.
    detail: what the system says.
    """

    kind: Refusal
    where: str
    name: str = ""
    here: str = ""
    expected: str = ""
    detail: str = ""


class VerdictTooLarge(Fact, frozen=True):
    """The code made the verdict too large to send."""


class MissingRestrictions(Fact, frozen=True):
    """This system lacks restrictions that strangers' code needs.

    names: of those that are missing.
    """

    names: tuple[str, ...]


class BanOpen(Fact, frozen=True):
    """A banned built-in can be reached with this version of torch.

    route: the code that reaches it; "" when every route does.
    """

    family: str
    route: str = ""


class MachineBusy(Fact, frozen=True):
    """The machine gave the worker too little processor time for a verdict.

    processor_seconds, seconds: what it got, in how long.
    """

    processor_seconds: float
    seconds: float


# What `kata grade` says of a kata that no judge has judged: `could not grade` as well


class NotJudgedYet(Fact, frozen=True):
    """The grading was stopped before the kata was judged."""


class GraderFault(Fact, frozen=True):
    """An exception in `kata grade` itself.

    type, text: of the exception.
    """

    type: str
    text: str


class FolderNotListed(Fact, frozen=True):
    """The operating system refuses to list a folder of the submission.

    problem: what it says.
    """

    folder: str
    problem: str


# How a call to the learner's code ends without an answer


class TimedOut(Fact, frozen=True):
    """No answer came in time.

    seconds: the limit.
    loading: the file was being imported; else a function was called.
    """

    seconds: float
    loading: bool = False


class KataTimedOut(Fact, frozen=True):
    """All checks of the kata together took too long.

    seconds: the limit.
    """

    seconds: float


class MemoryExceeded(Fact, frozen=True):
    """The code took, or asked for, more memory than it may.

    megabytes: the limit, in units of 1024 * 1024 bytes.
    refused: the system refused the request; else the process was ended.
    """

    megabytes: int
    refused: bool = False


class TooManyThreads(Fact, frozen=True):
    """The code started more threads than it may.

    threads: the limit.
    """

    threads: int


class TooMuchOutput(Fact, frozen=True):
    """The code printed more than it may.

    mebibytes: the limit.
    """

    mebibytes: int


class ProcessKilled(Fact, frozen=True):
    """A signal ended the sandbox worker.

    signal: its name, such as "SIGSEGV".
    """

    signal: str


class ProcessExited(Fact, frozen=True):
    """The code ended the sandbox worker.

    status: the exit status.
    """

    status: int


class ProcessGone(Fact, frozen=True):
    """The sandbox worker is gone, and nobody can say how it ended."""


class ProcessNeverStarted(Fact, frozen=True):
    """The sandbox worker did not start."""


class BadReply(Fact, frozen=True):
    """The sandbox worker sent something that is not a reply.

    to: the request that it should have answered; "" if even that is unknown.
    """

    to: Literal["", "load", "call", "backward"] = ""


# What the ladder finds


class RaisedException(Fact, frozen=True):
    """The function raised an exception.

    type: the class of the exception.
    """

    type: str


class CannotBeCalled(Fact, frozen=True):
    """The function does not take these arguments.

    call: the call, such as "softmax(x, dim=0)".
    """

    call: str


class NeedsUnwritten(Fact, frozen=True):
    """The function calls one of an earlier kata that is not written yet."""

    function: str
    file: str


class ReturnedNone(Fact, frozen=True):
    """The function returned None."""


class NotATensor(Fact, frozen=True):
    """The function returned something that is not a tensor.

    kind: the class of what it returned.
    """

    kind: str


class WrongStructure(Fact, frozen=True):
    """The function returned tensors that are nested in another way.

    yours, expected: the structures, such as "(tensor, None)".
    """

    yours: str
    expected: str


Unsendable = Literal["subclass", "dtype", "layout", "levels", "other"]


class CannotBeSent(Fact, frozen=True):
    """The function returned a tensor that cannot be compared, such as a sparse one.

    kind: what it is: an instance of a subclass of Tensor, of a dtype or a layout that cannot be
        compared, nested too deep, or something else that cannot be encoded.
    detail: the class, the dtype, the layout, the number of levels, or what the encoder says.
    """

    kind: Unsendable
    detail: str


class Banned(Fact, frozen=True):
    """The function uses a built-in that the kata bans.

    name: of the built-in.
    stopped: the call raised an exception; else it was seen and went through.
    """

    name: str
    stopped: bool


class WrongShape(Fact, frozen=True):
    """The answer has another shape than expected."""

    yours: tuple[int, ...]
    expected: tuple[int, ...]


class WrongDtype(Fact, frozen=True):
    """The answer has another dtype than expected.

    yours, expected: without "torch.".
    of_input: the expected one is the dtype of the input.
    """

    yours: str
    expected: str
    of_input: bool = False


class WrongDevice(Fact, frozen=True):
    """The answer is on another device than the inputs."""

    yours: str
    expected: str


class NotFinite(Fact, frozen=True):
    """NaN or infinity stands where it should not, or does not stand where it should.

    kind: what stands there.
    count: of how many entries that holds, among `total`.
    at: index of the first.
    """

    kind: Literal["nan", "inf", "-inf", "finite"]
    count: int
    total: int
    at: tuple[int, ...]


class HiddenNotZero(Fact, frozen=True):
    """Masked entries are not exactly zero.

    count: how many.
    value, at: one of them, and its index.
    """

    count: int
    value: Cell
    at: tuple[int, ...]


class EntriesDiffer(Fact, frozen=True):
    """Entries differ from what was expected.

    count: how many, among `total`.
    at: index of the entry that is furthest off; yours, expected: the numbers there.
    factor: the one number by which every entry is off, where there is one.
    """

    count: int
    total: int
    at: tuple[int, ...]
    yours: Cell
    expected: Cell
    factor: float | None = None


class NoGradient(Fact, frozen=True):
    """No gradient reaches an input.

    input: its name.
    """

    input: str


class GradientShape(Fact, frozen=True):
    """The gradient of an input has another shape than the input."""

    input: str


class GradientDiffers(Fact, frozen=True):
    """The gradient of an input is wrong in some entries.

    count: in how many, among `total`.
    finite: the entries are numbers; else NaN or infinity is among them.
    """

    input: str
    count: int
    total: int
    finite: bool = True


class GradientsOff(Fact, frozen=True):
    """The call leaves gradients switched off for all code that runs after it."""


class InputChanged(Fact, frozen=True):
    """The call wrote into one of its inputs.

    input: the name of the tensor; "" if unknown.
    """

    input: str = ""


class EntryChanged(Fact, frozen=True):
    """The call replaced or removed an entry of a dict of its caller."""

    key: str


class AnswerOverwritten(Fact, frozen=True):
    """The call rewrote the answer of an earlier call."""


class BackwardFailed(Fact, frozen=True):
    """The backward pass of the learner's code failed.

    reason: how.
    """

    reason: Reason


# What the laws find


class LawBroken(Fact, frozen=True):
    """A property does not hold.

    text: what the test of the kata says about it.
    """

    text: str


class TestRaised(Fact, frozen=True):
    """The answer made the hidden test raise an exception; a right answer does not.

    text: the first line of the exception.
    """

    __test__ = False  # pytest: this is no test
    text: str


class WrongException(Fact, frozen=True):
    """The call raised another exception than it should."""

    raised: str
    expected: str


class NoException(Fact, frozen=True):
    """The call returned where it should raise an exception."""

    expected: str


class NotTheSlopes(Fact, frozen=True):
    """The gradients are not the slopes of what the function computes (finite differences)."""


class MadeOnDefaultDevice(Fact, frozen=True):
    """A tensor that the function makes is not on the device of its inputs."""


class AnswerOnCpu(Fact, frozen=True):
    """The answer is on the cpu, wherever the inputs are."""


# What a student is told instead of a reason that holds inputs or answers


class NotRight(Fact, frozen=True):
    """The check failed; the details are withheld from the student.

    rung: where on the ladder it stopped.
    """

    rung: str


# Why a check was not made, or not decided


class NotWritten(Fact, frozen=True):
    """The function is still the stub."""

    function: str


class HungBefore(Fact, frozen=True):
    """The function ran into its time limit in an earlier check."""

    function: str


class ValuesFirst(Fact, frozen=True):
    """A law counts once the values of its function are right."""


class NeedsFloat64(Fact, frozen=True):
    """Finite differences need float64, which this device lacks."""


class NoFakeDevice(Fact, frozen=True):
    """The code cannot run on the pretended device."""


class OtherOnFakeDevice(Fact, frozen=True):
    """The code computes something else on the pretended device."""


Reason = Union[  # noqa: UP007
    FileMissing,
    LinkDangling,
    NotAnOrdinaryFile,
    TooLarge,
    Utf16,
    NulByte,
    NotUtf8,
    CannotBeRead,
    LinkNotFollowed,
    DamagedInArchive,
    StillStub,
    FunctionMissing,
    NotAFunction,
    NotPython,
    ImportNotPython,
    DoesNotLoad,
    ImportMissing,
    Cancelled,
    JudgeFault,
    CannotJudge,
    PackFileBroken,
    CheckBroke,
    WorkersEnded,
    WorkersLost,
    WorkerRefused,
    VerdictTooLarge,
    MissingRestrictions,
    BanOpen,
    MachineBusy,
    NotJudgedYet,
    GraderFault,
    FolderNotListed,
    TimedOut,
    KataTimedOut,
    MemoryExceeded,
    TooManyThreads,
    TooMuchOutput,
    ProcessKilled,
    ProcessExited,
    ProcessGone,
    ProcessNeverStarted,
    BadReply,
    RaisedException,
    CannotBeCalled,
    NeedsUnwritten,
    ReturnedNone,
    NotATensor,
    WrongStructure,
    CannotBeSent,
    Banned,
    WrongShape,
    WrongDtype,
    WrongDevice,
    NotFinite,
    HiddenNotZero,
    EntriesDiffer,
    NoGradient,
    GradientShape,
    GradientDiffers,
    GradientsOff,
    InputChanged,
    EntryChanged,
    AnswerOverwritten,
    BackwardFailed,
    LawBroken,
    TestRaised,
    WrongException,
    NoException,
    NotTheSlopes,
    MadeOnDefaultDevice,
    AnswerOnCpu,
    NotRight,
    NotWritten,
    HungBefore,
    ValuesFirst,
    NeedsFloat64,
    NoFakeDevice,
    OtherOnFakeDevice,
]
