"""The sandbox worker: the one process in which a submission runs, and the judge's side of it.

The worker loads `forkserver`, `runner`, `stdio`, `frames`, `wire`, `restrictions`, `bans`, `audit`
and `fake_device`, and nothing else of this package. The judge uses `start`, `forked_workers`,
`spawned_workers`, `worker`, `channel`, `usage`, `limits`, `selftest`, and `frames` and `wire` too.
"""
