# row: R9
# outcome: failed
# says: raised
# raises GeneratorExit instead of answering
def softmax(x, dim=-1):
    raise GeneratorExit
