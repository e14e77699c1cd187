# row: I8
# outcome: broken
# says: KeyError
# raises while it is loaded
raise KeyError('softmax')
