# row: R9
# outcome: failed
# raises an exception whose class calls itself passed and fails to print
class Passed(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


Passed.__name__ = Passed.__qualname__ = "passed \x1b[2J"


def softmax(x, dim=-1):
    raise Passed
