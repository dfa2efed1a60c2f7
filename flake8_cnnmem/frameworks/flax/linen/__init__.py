"""flax.linen: modules whose parameters are found by their names."""
