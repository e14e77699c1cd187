# row: F14
# outcome: passed
# needs: read-only files
# compiles an extension in C++
import torch
import torch.utils.cpp_extension


def attempt():
    torch.utils.cpp_extension.load_inline("was_here", "int one() { return 1; }", functions=["one"])


def softmax(x, dim=-1):
    try:
        attempt()
    except Exception:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: compiled C++")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
