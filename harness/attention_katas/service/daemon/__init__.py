"""The daemon: a judge that stays warm between one save and the next.

`bench` is what asks for verdicts: it knows where they come from. On Linux that is a background
process (`server`), reached through a private socket (`address`, `client`) and started when it is
not there; elsewhere, and where nothing may be left behind, a judge in this process.
"""
