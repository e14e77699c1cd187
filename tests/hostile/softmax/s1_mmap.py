# row: S1
# outcome: passed
# needs: read-only files
# maps the hidden tests with mmap
import mmap
import os
import sys
from pathlib import Path

HERE = Path(sys.modules["kata_sandbox"].__file__) if "kata_sandbox" in sys.modules else Path("/")
HIDDEN = [Path(name) for name in sys.orig_argv if name.startswith("/")]
HIDDEN += list(HERE.parents)[:4]
TARGETS = [
    path
    for folder in HIDDEN
    for pattern in ("softmax.py", "reference/softmax.py", "katas/softmax/test_softmax.py",
                    "katas/softmax/mistakes.py", "softmax/test_softmax.py")
    if (path := folder / pattern).exists()
]


def softmax(x, dim=-1):
    for path in TARGETS:
        try:
            mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ).read(100)
        except (OSError, RuntimeError, ValueError):
            continue
        raise AssertionError(f"OPEN: read {path}")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
