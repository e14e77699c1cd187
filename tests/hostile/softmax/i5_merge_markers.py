# row: I5
# outcome: broken
# says: is not valid Python
# still has the marks of a merge in it
<<<<<<< HEAD
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
=======
def softmax(x):
    return x
>>>>>>> other
