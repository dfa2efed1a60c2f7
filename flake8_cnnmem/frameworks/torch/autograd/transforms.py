"""torch.func's transforms of functions, which nobody follows: what a program trains by them is told to be missing."""

from __future__ import annotations

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value

GRADIENTS = ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize")
"""Those that give derivatives: steps that are written with them make no backward pass that is seen."""


def transform(name: str) -> Native:
    """A transform of a function into its derivative."""
    reason = f"what torch.func.{name} computes is not followed"

    def transformed(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        note_cause(run, None, "torch.func", reason)
        return run.unknown(reason)

    return Native(name, transformed, propagate_unknown=False)


TRANSFORMS = {name: transform(name) for name in GRADIENTS}
