# row: I25
# outcome: broken or passed
# uses the same quotes within formatted text, as Python 3.12 does
name = {"a": 1}
print(f"{name["a"]}")


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
