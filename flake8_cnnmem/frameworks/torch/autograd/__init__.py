"""torch.autograd: backward passes, gradients, and the regions of code that switch them."""
