"""`kata watch`: a verdict after every save.

`saves` sees the saves, `session` knows what to do about them and what to say, and `app` and `plain`
show it: on a screen of their own, or line by line.
"""
