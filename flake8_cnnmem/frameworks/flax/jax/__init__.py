"""JAX, as far as Flax models use it."""
