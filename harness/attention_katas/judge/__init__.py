"""The judge: runs the hidden tests against sandbox workers and writes the verdict."""
