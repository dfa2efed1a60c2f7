"""torch's functions of tensors, and the methods of the same names."""
