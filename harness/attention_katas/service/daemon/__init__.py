"""The daemon: a judge that stays warm between one save and the next (Linux).

`address` says where it is, `control` starts, asks and stops it, `client` is the judge service that
uses it, `process` is how it begins, `server` what it does, and `fork` makes one verdict.
"""
