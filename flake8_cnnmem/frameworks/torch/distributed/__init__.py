"""Training on several devices: wrappers of models, groups of processes, FSDP and DeepSpeed, and what starts them."""
