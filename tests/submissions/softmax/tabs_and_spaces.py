# outcome: broken
# says: softmax.py is not valid Python
def softmax(x, dim=-1):
	y = x
        return y
