"""torch.nn.modules: the layers, by the names of its own files."""
