"""The page as one file that needs no server: real vectors, the reference's numbers.

What the page cannot compute by the formulas alone is measured now, on the reference, and frozen.
"""
