"""The learner process: the one place where a submission runs, and how the judge talks to it.

`wire`, `locks`, `bans`, `runner` and `zygote` are loaded by the learner process, which knows
nothing else of this package; `host` is the judge's end of the line.
"""
