"""torch.utils.data: data sets, loaders, and what a batch is made of."""
