# outcome: failed
# rung: answered
# says: raised PermissionError
# needs: read-only files
def softmax(x, dim=-1):
    with open("/tmp/attention-katas-was-here", "w") as file:
        file.write("no")
