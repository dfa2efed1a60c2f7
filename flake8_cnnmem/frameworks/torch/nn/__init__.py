"""torch.nn, by the names of its own folders: modules, functional, utils, init."""
