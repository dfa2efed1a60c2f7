"""What an optimizer keeps and does, read off its own code: the record that the replay of a step asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown

SHARES = "shares the state of"
"""Of what an optimizer knows: another one whose state it has loaded, with the tensors themselves."""

STATES_TOLD = "states of optimizers"
"""Scratch of the run: by id the dicts that tell the state of an optimizer which has stepped. A copy of one takes as
much memory as the state itself."""


@dataclass(frozen=True, slots=True)
class InnerOptimizer:
    """An optimizer of the framework's own that another one steps, and the weights, by id, that it steps on (None for
    all)."""

    optimizer: Optimizer
    weights: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """One optimizer whose code was followed through its step.

    `state` are the tensors that it keeps for a weight from its first step on, by the weight's id; `shared` those that
    it keeps for none in particular, or from the beginning. `parts` are the optimizers of the framework's own that it
    steps, whose state is the framework's to say.

    `calls` are the ops of a step for which all of that was there before, in order; they read the weights, `gradients`
    (by the weight's id) and the state. `replaced` are tensors, by id, which the step lets go of for new ones.

    `causes` say what of it could not be followed: it needs no less than is here.
    """

    state: Mapping[int, tuple[Tensor, ...]] = field(default_factory=dict)
    shared: tuple[Tensor, ...] = ()
    parts: tuple[InnerOptimizer, ...] = ()
    calls: tuple[Call, ...] = ()
    gradients: Mapping[int, Tensor] = field(default_factory=dict)
    replaced: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    """Ids of tensors that `calls` make and that are state after the step."""
    causes: tuple[Unknown, ...] = ()
