"""The sums of a model's report: its weights, the models that one step trains together, what lies beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem.results import AlsoInMemory, Part

if TYPE_CHECKING:
    from flake8_cnnmem.graph import Model, Weight
    from flake8_cnnmem.models import Root
    from flake8_cnnmem.training import Training


def parameters_of(model: Model) -> tuple[int, int]:
    """How many values its weights hold, and how many of them are trained."""
    weights = [weight for weight in model.weights if not weight.buffer]
    trained = updated_of(model)
    return sum(dims_total(weight.shape) for weight in weights), sum(dims_total(weight.shape) for weight in trained)


def updated_of(model: Model) -> list[Weight]:
    """The weights that ask for a gradient and that an optimizer updates."""
    held = model.updated
    return [weight for weight in model.asking(model.weights) if held is None or id(weight) in held]


def part_of(root: Root, model: Model, training: Training) -> Part:
    """One of several models that a step trains."""
    shape = training.input_shape
    return Part(
        root.name,
        root.site.path,
        root.site.line,
        root.site.column,
        *parameters_of(model),
        shape.value if shape is not None else None,
    )


def beside_of(model: Model, training: Training) -> tuple[AlsoInMemory, ...]:
    """What is in memory beside the training, the largest first."""
    from flake8_cnnmem.memory import bytes_beside

    rows = [
        AlsoInMemory(each.what, size, *((each.site.path, each.site.line) if each.site is not None else ("", 0)))
        for each, size in zip(model.beside, bytes_beside(model, training.dtype.value), strict=True)
    ]
    return tuple(sorted(gathered(rows), key=lambda row: -row.bytes))


MANY = 4
"""So many tensors in one container are one row."""


def gathered(rows: Sequence[AlsoInMemory]) -> Iterator[AlsoInMemory]:
    """The rows, those of many tensors that lie in one container (a replay memory) as one, at the first one's line."""
    inside: dict[str, list[AlsoInMemory]] = {}
    for row in rows:
        path, _, kind = row.what.partition("[")
        if kind.endswith("]: tensor"):
            inside.setdefault(path, []).append(row)
    for row in rows:
        path = row.what.partition("[")[0]
        alike = inside.get(path, [])
        if len(alike) < MANY or row not in alike:
            yield row
        elif row is alike[0]:
            total = sum(each.bytes for each in alike)
            yield replace(row, what=f"{path}: {len(alike)} tensors", bytes=total)


def dims_total(shape: object) -> int:
    """The values of a weight; 0 where its shape is not known."""
    from flake8_cnnmem import dims

    total = dims.product(shape) if isinstance(shape, tuple) else 0
    return total if isinstance(total, int) else 0
