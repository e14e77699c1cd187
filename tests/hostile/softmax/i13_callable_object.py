# row: I13
# outcome: passed
# is an object that can be called
class Weigh:
    def __call__(self, x, dim=-1):
        e = (x - x.amax(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)


softmax = Weigh()
