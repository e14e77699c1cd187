# row: I23
# outcome: broken
# says: is not valid Python
# was copied from a notebook with its magic
%matplotlib inline
!pip install torch
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
