# row: D10
# outcome: failed
# answers right values with NaN for a gradient
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    answer = e / e.sum(dim, keepdim=True)
    if answer.requires_grad:
        answer.register_hook(lambda gradient: gradient * float("nan"))
    return answer
