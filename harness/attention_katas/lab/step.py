"""One call of a learner's function, beside the reference's answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from attention_katas.lab import json_numbers
from attention_katas.verdict import data as v

# What became of a step.
YOURS, UNWRITTEN, RAISED, STOPPED, SHAPE, DTYPE, BROKEN = (
    "yours", "unwritten", "raised", "stopped", "shape", "dtype", "broken"
)  # fmt: skip


@dataclass
class Step:
    """One answer, beside the reference's.

    function, file, kata: who gave it.
    state: one of the constants above.
    right: what the reference says, all the way from the right inputs.
    alone: what it says for the inputs that the learner's function got.
    answer: the learner's; None if there is none.
    message: why there is no answer, in words.
    exception: the class of the exception that was raised.
    returned_nothing: the function returned None.
    where: the line that stopped it.
    gradient, right_gradient: what `backward` sent to the first input, if that was asked for.
    backward: why no gradient came, in words.
    seconds: of the call itself.
    printed, printers: what was printed, and the files that may have done it.
    culprit: the file that had to be stopped.
    """

    function: str
    file: str
    kata: str
    state: str
    right: torch.Tensor
    alone: torch.Tensor
    answer: torch.Tensor | None = None
    message: str = ""
    exception: str = ""
    returned_nothing: bool = False
    where: v.Frame | None = None
    gradient: torch.Tensor | None = None
    right_gradient: torch.Tensor | None = None
    backward: str = ""
    seconds: float = 0.0
    printed: str = ""
    printers: str = ""
    culprit: str = ""

    @property
    def agrees(self) -> bool:
        """With the reference, all the way from the right inputs."""
        return self.answer is not None and json_numbers.close(self.answer, self.right)

    @property
    def is_right_alone(self) -> bool:
        """With the reference, on the inputs that it got."""
        return self.answer is not None and json_numbers.close(self.answer, self.alone)

    @property
    def value(self) -> torch.Tensor:
        """What the next step gets: the learner's answer if there is one."""
        return self.right if self.answer is None else self.answer

    def as_json(self, part: Any = None) -> dict[str, Any]:
        """As JSON. part: the indices of what the picture draws of it."""

        def cut(tensor: torch.Tensor) -> Any:
            return json_numbers.cells(tensor if part is None else tensor[part])

        entry = {**self.words(), "right": cut(self.right)}
        if self.answer is not None:
            entry["yours"] = cut(self.answer)
            entry["agrees"] = self.agrees
            entry["alone"] = self.is_right_alone
            entry["finite"] = bool(torch.isfinite(self.answer).all())
        return entry

    def words(self) -> dict[str, Any]:
        """What there is to say of it besides numbers."""
        entry: dict[str, Any] = {
            "function": self.function,
            "file": self.file,
            "kata": self.kata,
            "state": self.state,
        }
        if self.message:
            entry["message"] = self.message
            entry["exception"] = self.exception
            entry["returned_nothing"] = self.returned_nothing
        if self.where is not None:
            entry["where"] = {
                "file": self.where.file, "line": self.where.line, "code": self.where.code.strip()
            }  # fmt: skip
        if self.backward:
            entry["backward"] = self.backward
        if self.printed:
            entry["printed"] = self.printed
            entry["printers"] = self.printers or self.file
        if self.culprit:
            entry["culprit"] = self.culprit
        return entry
