"""GPU memory of one training step, read from the source code of a neural network."""

__version__ = "0.1.0"
