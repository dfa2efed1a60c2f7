"""Weights that have another dtype or shape when the program has ended than they had in a training of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence.phases import Phase
from flake8_cnnmem.frameworks.changed_weights import CHANGED_WEIGHTS, Before
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.unknown import Unknown


def changed_later(run: Interpreter, weights: Iterable[Weight], phase: Phase) -> Iterator[Unknown]:
    """Why the figure of a phase may be off: weights of its models are not what they were then. The cause says whether
    the training can only have needed less."""
    last = phase.passes[-1].last
    changed = run.data(CHANGED_WEIGHTS)
    differing: list[Before] = []
    for weight in weights:
        then: Before | None = next((each for each in changed.get(id(weight), ()) if each.number > last), None)
        if then is not None and (then.shape, then.dtype) != (weight.shape, weight.dtype):
            differing.append(then)
    if differing:
        shrunk = all(bytes_of(each.shape, each.dtype) <= bytes_of(each.weight.shape, each.weight.dtype)
                     for each in differing)  # fmt: skip
        yield replace(differing[0].cause, upper=shrunk)


def changed_between(run: Interpreter, earlier: Phase, later: Phase) -> bool:
    """Whether a weight that both phases update was given another dtype or shape between them."""
    first, last = earlier.passes[-1].last, later.passes[0].first
    changed = run.data(CHANGED_WEIGHTS)
    return any(
        first < each.number <= last and (each.shape, each.dtype) != (each.weight.shape, each.weight.dtype)
        for weight in earlier.updated & later.updated
        for each in changed.get(weight, ())
    )


def bytes_of(shape: Shape | Unknown, dtype: str) -> float:
    """How large a weight is; infinity where its sizes are not known."""
    known = isinstance(shape, tuple) and all(isinstance(size, int) for size in shape)
    return math.prod(shape) * size_of(dtype) if known else math.inf  # type: ignore[arg-type]
