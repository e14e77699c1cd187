# row: Q22
# outcome: passed
# goes backward in four threads of its own
import threading

import torch


def work():
    y = torch.ones(64, 64, requires_grad=True)
    (y @ y).sum().backward()


def softmax(x, dim=-1):
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
