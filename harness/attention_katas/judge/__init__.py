"""The judge: runs the hidden tests against a sandbox worker and writes the verdict."""
