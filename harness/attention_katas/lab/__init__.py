"""The lab: a page on which the learner's own functions attend.

`scene` has the words and vectors, `live` the learner's functions in their processes, `panels` what
is computed for each picture, `engine` the threads that compute, `judging` the verdicts beside them,
`server` the line to the browser, `export` the page as one file. The page itself is in `page/`.
"""
