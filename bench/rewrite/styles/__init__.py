"""The ways of writing that `rewrite.respell` knows, one module each."""
