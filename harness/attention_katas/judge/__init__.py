"""The examiner: runs the hidden tests against a learner process and writes the verdict."""
