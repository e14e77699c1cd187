"""The ways of writing that `attention_katas.dev.respell` knows, one module each."""
