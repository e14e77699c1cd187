# outcome: broken
# says: defines no function called softmax
