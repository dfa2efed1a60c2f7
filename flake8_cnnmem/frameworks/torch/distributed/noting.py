"""Over how many devices a program trains, as natives note it."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

WORLD = "world"
"""The scratch dict with the number of processes ("size") that a launcher of the program has told."""


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
