"""flax.nnx: modules that hold their own parameters."""
