"""What natives note of how a model's training is arranged, and over how many devices."""

from __future__ import annotations

from flake8_cnnmem.arrangement import ARRANGEMENTS, EVERY, Arrangement, Arrangements
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Runtime, Value

WORLD = "world"
"""The scratch dict with the number of processes ("size") that a launcher of the program has told."""


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


def world_size(run: Runtime) -> int | None:
    """How many processes train, as far as the program says; None where it does not."""
    size = run.data(WORLD).get("size")
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 1 else None


def tell_world_size(run: Runtime, size: Value) -> None:
    """A launcher or a process group is told how many there are. One is what our single device comes to, and says
    nothing."""
    if isinstance(size, int) and not isinstance(size, bool) and size > 1:
        world = run.data(WORLD)
        run.changed(world)
        world["size"] = size


def count_of(value: Value) -> int | None:
    """`devices=4`, `devices="0,1"`, `device_ids=[0, 1]`: how many these are; None where it is not said ("auto", -1)."""
    if isinstance(value, (list, tuple)):
        return len(value) or None
    if isinstance(value, str):
        words = [word for word in value.split(",") if word.strip()]
        if len(words) > 1:
            return len(words)
        value = int(words[0]) if words and words[0].strip().lstrip("-").isdigit() else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
