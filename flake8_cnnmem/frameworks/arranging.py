"""What natives note of how a model's training is arranged."""

from __future__ import annotations

from flake8_cnnmem.arrangement import ARRANGEMENTS, EVERY, Arrangement, Arrangements
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def arrange(run: Runtime, model: Value, arrangement: Arrangement) -> None:
    """Note how a model is trained; how all models are, with None. On a branch that may not be taken it counts, too."""
    if model is not None and not isinstance(model, Instance):
        return
    found = run.data(ARRANGEMENTS).setdefault(EVERY if model is None else id(model), Arrangements(model))
    if arrangement not in found.noted:
        found.noted.append(arrangement)


def note_cause(run: Runtime, model: Value, name: str, reason: str, upper: bool = False) -> None:
    """Note what is not counted of a model's training as it will be. `upper`: it can only need less."""
    cause = run.unknown(reason)
    arrange(run, model, Arrangement(name, causes=(Unknown(cause.reason, cause.path, cause.line, upper=upper),)))
