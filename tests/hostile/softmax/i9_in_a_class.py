# row: I9
# outcome: broken
# says: defines no function called softmax
# defines it in a class
class Kata:
    @staticmethod
    def softmax(x, dim=-1):
        e = (x - x.amax(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)
