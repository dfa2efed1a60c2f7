"""torch.nn.utils: what computes a weight from others, and sequences that are packed."""
