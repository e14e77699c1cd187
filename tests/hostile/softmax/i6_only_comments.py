# row: I6
# outcome: broken
# says: defines no function called softmax
# holds only comments
# softmax will stand here one day
# def softmax(x): ...
