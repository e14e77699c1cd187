"""The device to judge on, and its tolerances."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attention_katas.errors import KataError

if TYPE_CHECKING:
    import torch

NAMES = ("auto", "cpu", "cuda", "mps")

# Absolute and relative tolerance by dtype, where they come from:
#   float64   right code divides by torch.sqrt(torch.tensor(d_k)), whose root is float32 and off
#             by 2e-7, or takes its softmax in float32; the smallest gap of a known mistake is 1e-3.
#   float32   unit spread only: the plain formula is off by 1e-6 up to T = 256, d_k = 128.
#   bfloat16, float16   unit spread only: worst right answer measured 7e-2 and 7e-3, for
#             sums that cancel and are kept in the input's own dtype.
TOLERANCES = {"float64": 5e-6, "float32": 1e-5, "bfloat16": 8e-2, "float16": 8e-3}
# Of gradients, relative to the largest entry. Half precision has none: a gradient there only has
# to arrive, since how it is rounded on the way says nothing about understanding.
GRADIENTS = {"float64": 1e-5, "float32": 1e-4}
# float32 on an accelerator sums in another order and may use reduced-precision units. Not
# measured here: no such device was at hand.
ACCELERATOR_FLOAT32 = 1e-4


@dataclass(frozen=True)
class Device:
    """A device to judge on.

    name: PyTorch's name for it.
    """

    name: str

    @property
    def precise(self) -> str:
        """The dtype of the first checks: float64, or float32 on mps, which has no float64."""
        return "float32" if self.name == "mps" else "float64"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The other dtypes that a kata is checked in."""
        return ("bfloat16", "float16") if self.name == "mps" else ("float32", "bfloat16", "float16")

    def gradient_tolerance(self, dtype: torch.dtype) -> float | None:
        """Allowed |actual - expected| / max |expected| of a gradient; None: not compared."""
        tolerance = GRADIENTS.get(_real_name(dtype))
        return None if tolerance is None else tolerance * (1 if self.name == "cpu" else 10)

    def tolerance(self, dtype: torch.dtype) -> float:
        """Allowed |actual - expected| / (1 + |expected|) for outputs of `dtype`."""
        name = _real_name(dtype)
        if name == "float32" and self.name != "cpu":
            return ACCELERATOR_FLOAT32
        return TOLERANCES.get(name, 0.0)


def _real_name(dtype: torch.dtype) -> str:
    """The name of a real dtype, or of the parts of a complex one."""
    return str(dtype.to_real() if dtype.is_complex else dtype).removeprefix("torch.")


def choose(name: str) -> Device:
    """The device for `--device`. Raises KataError when this machine does not have it.

    `auto` takes an accelerator when torch sees one. torch is imported only where there could be
    one: its import takes seconds, in which the sandbox worker can start.
    """
    if name == "cpu" or (name == "auto" and not _could_have_accelerator()):
        return Device("cpu")
    import torch

    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return Device(next((device for device, is_there in available.items() if is_there), "cpu"))
    if not available[name]:
        raise KataError(f"torch sees no {name} device on this machine", "kata run --device cpu")
    return Device(name)


def _could_have_accelerator() -> bool:
    """False only where that is certain: on Linux, when no driver has made a device node."""
    nodes = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd", "/proc/driver/nvidia")
    return sys.platform != "linux" or any(Path(node).exists() for node in nodes)
