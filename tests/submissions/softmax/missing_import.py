# outcome: broken
# says: ModuleNotFoundError
import no_such_package_anywhere


def softmax(x, dim=-1):
    return x
