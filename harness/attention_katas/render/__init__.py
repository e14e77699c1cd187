"""One module per format, one function each: verdicts in, text out."""
