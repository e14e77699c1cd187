"""Attention Katas: build attention in six small functions, judged as you save."""

__version__ = "0.2.0.dev0"
