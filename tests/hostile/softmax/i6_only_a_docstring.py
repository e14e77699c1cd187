# row: I6
# outcome: broken
# says: defines no function called softmax
# holds only a text
"""def softmax(x, dim=-1): return x"""
