# outcome: crashed
# says: printed more than 1 MB
def softmax(x, dim=-1):
    while True:
        print("x" * 1000)
