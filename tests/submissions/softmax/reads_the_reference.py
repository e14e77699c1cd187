# outcome: broken
# says: does not load
import attention_katas.judge


def softmax(x, dim=-1):
    return x
