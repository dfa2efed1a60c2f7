"""torch.nn.utils: what computes a weight from others."""
