# row: Q12
# outcome: crashed
# says: printed more than 1 MB
# prints without end while it is loaded
while True:
    print("passed" * 1000)
