"""tensorboardX: what is written down changes nothing."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.tensorboard import WRITER

MODULES = {"tensorboardX": {"SummaryWriter": WRITER, "FileWriter": WRITER}}
