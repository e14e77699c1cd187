# outcome: broken
# says: softmax is not a function
softmax = 3
