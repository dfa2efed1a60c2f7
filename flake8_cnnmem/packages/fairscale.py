"""fairscale: checkpoints around modules."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.distributed.checkpointing import CONTENTS

MODULES = {"fairscale.nn.checkpoint": CONTENTS}
