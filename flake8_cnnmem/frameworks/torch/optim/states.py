"""What torch's own optimizers hold and make: read off torch/optim/*.py of 2.13, and measured by
tests/oracle/optimizers.py (fixtures/truth/optimizers.json)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from flake8_cnnmem.frameworks.optimizer_states import AMSGRAD, MOMENTUM, OptimizerState

STATES: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": OptimizerState(0, MOMENTUM, decay=1, single_decay=1),
        "adam": OptimizerState(2, AMSGRAD, steps=1, step=1, single=2, single_held=1, single_decay=1),
        "adamw": OptimizerState(2, AMSGRAD, steps=1, step=1, single=2, single_held=1),
        "nadam": OptimizerState(2, step=1, decay=1, single=2, single_held=1, single_decay=1),
        "radam": OptimizerState(2, step=1, single=5, single_decay=1),
        "adamax": OptimizerState(2, step=1, single=1, single_decay=1),
        "adagrad": OptimizerState(1, step=2, single=1, single_held=1, single_decay=1),
        "adadelta": OptimizerState(2, step=2, decay=1, single=2, single_held=2, single_decay=1),
        "rmsprop": OptimizerState(
            1, (("centered", 1), *MOMENTUM), step=1, decay=1, single=1, single_held=1, single_decay=1
        ),
        "asgd": OptimizerState(1, scalars=3, step=1, single_decay=1),
        "rprop": OptimizerState(2, step=2, single=3),
        "adafactor": OptimizerState(0, factored=True, step=1, single=1),
        # Newton-Schulz iterations on a half-precision copy of one matrix at a time.
        "muon": OptimizerState(1, single=3, foreach=False),
        # Its closure runs inside of the step, with the flat gradient alive: that one counts as state.
        "lbfgs": OptimizerState(0, history=100, step=1),
        "sparseadam": OptimizerState(2, single=2, foreach=False),
    }
)
