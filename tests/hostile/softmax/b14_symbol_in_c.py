# row: B14
# outcome: passed or failed or crashed
# calls the C++ symbol itself: a known limit of bans, harmless behind the locks
import ctypes
import pathlib

import torch


def softmax(x, dim=-1):
    library = ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
    kernel = getattr(library, "_ZN2at3cpu12_softmax_outERNS_6TensorERKS1_lb", None)
    if kernel is None or x.is_meta:
        return torch.softmax(x, dim)
    inner, out = x.detach().contiguous(), torch.empty(x.shape, dtype=x.dtype)
    kernel.restype = ctypes.c_void_p
    kernel(ctypes.c_void_p(id(out) + 24), ctypes.c_void_p(id(inner) + 24), ctypes.c_long(dim), ctypes.c_bool(False))
    return out + 0 * x
