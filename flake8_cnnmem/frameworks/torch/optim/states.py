"""What torch's own optimizers hold and make: read off torch/optim/*.py of 2.13, and measured by
tests/oracle/optimizers.py (fixtures/truth/optimizers.json)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from flake8_cnnmem.frameworks.optimizer_states import OptimizerState, of

STATES: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": of("sgd", decay=1, single_decay=1),
        "adam": of("adam", steps=1, step=1, single=2, single_held=1, single_decay=1),
        "adamw": of("adamw", steps=1, step=1, single=2, single_held=1),
        "nadam": of("nadam", step=1, decay=1, single=2, single_held=1, single_decay=1),
        "radam": of("radam", single=5),
        "adamax": of("adamax", step=1, single=1, single_decay=1),
        "adagrad": of("adagrad", built=True, step=2, single=1, single_held=1, single_decay=1),
        "adadelta": of("adadelta", step=2, decay=1, single=2, single_held=2, single_decay=1),
        "rmsprop": of("rmsprop", step=1, decay=1, single=1, single_held=1, single_decay=1),
        "asgd": of("asgd"),
        "rprop": of("rprop"),
        "adafactor": of("adafactor", slots=0, factored=True, step=1, asked=True, single=1, single_held=1, normed=True),
        "muon": of("muon", foreach=False, orthogonal=True),
        # Its closure runs inside of the step: what is alive in that counts as state (`flat_vectors`).
        "lbfgs": of("lbfgs"),
        "sparseadam": of("sparseadam"),
    }
)
