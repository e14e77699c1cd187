# row: R9
# outcome: failed
# says: raised
# raises AssertionError instead of answering
def softmax(x, dim=-1):
    raise AssertionError('passed')
