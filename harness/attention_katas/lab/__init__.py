"""The lab: a page whose pictures are computed by the learner's own functions.

`examples` has the words and vectors, `functions` the learner's functions in their processes,
`panels` what is computed for each picture, `engine` the threads that compute, `judging` the
verdicts beside them, `server` the WebSocket to the browser, `export` the page as one file. The page
itself is in `page/`.
"""
