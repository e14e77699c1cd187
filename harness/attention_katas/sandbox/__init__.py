"""The learner process: the one place where a submission runs, and how the judge talks to it.

Loaded by the learner process, which knows nothing else of this package: `zygote`, `runner`,
`stdio`, `frames`, `wire`, `locks`, `bans`, `elsewhere`. The judge's end of the line: `start`,
`forked`, `spawned`, `host`, and `frames` and `wire` again.
"""
