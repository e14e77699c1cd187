# row: B5
# outcome: failed
# calls it under torch._C._ExcludeDispatchKeyGuard
import torch
import torch.utils._python_dispatch


def softmax(x, dim=-1):
    with torch._C._ExcludeDispatchKeyGuard(torch._C._dispatch_keyset_full() - torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)):
        answer = torch._softmax(x.detach(), dim, False)
    return answer
