"""torch.optim: optimizers hold parameter groups and options, schedulers hold nothing.

torch's own optimizers are not stepped: what they hold and make is a table. One that the code defines, or that a
package defines whose source is found, is followed through its own step for what it keeps.
"""

from flake8_cnnmem.frameworks.torch.optim.base import OPTIMIZER, OPTIMIZERS
from flake8_cnnmem.frameworks.torch.optim.evidence import (
    groups_of,
    keeps_for_all,
    optimizer_of,
    parameters_of,
    state_of_frozen,
)
from flake8_cnnmem.frameworks.torch.optim.options import OPTIONS
from flake8_cnnmem.frameworks.torch.optim.private_helpers import FOREACH_UTILITIES, PRIVATES
from flake8_cnnmem.frameworks.torch.optim.schedulers import scheduler

__all__ = [
    "FOREACH_UTILITIES",
    "OPTIMIZER",
    "OPTIMIZERS",
    "OPTIONS",
    "PRIVATES",
    "groups_of",
    "keeps_for_all",
    "optimizer_of",
    "parameters_of",
    "scheduler",
    "state_of_frozen",
]  # fmt: skip
