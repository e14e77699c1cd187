# row: W5
# outcome: broken or failed
# is the setup.py of a package
from setuptools import setup

setup(name="attention-katas-was-here", version="1", py_modules=["softmax"])


def softmax(x, dim=-1):
    return x
