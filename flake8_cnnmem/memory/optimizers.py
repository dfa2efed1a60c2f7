"""What optimizers hold beside the parameters, and what their step needs, by the tables of the frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flake8_cnnmem.frameworks.optimizer_states import TEXTBOOK, OptimizerState
from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown

__all__ = [
    "TEXTBOOK", "OptimizerState", "ahead", "beside", "clips", "is_set", "lookup", "named", "not_known", "slots",
    "waits_for_all",
]  # fmt: skip

DEFAULT = "adam"
"""What a wrapper is taken for that does not say what it wraps: the most common choice."""


def is_set(value: object) -> bool:
    """Whether an option's value turns it on. What is not known does not."""
    return isinstance(value, (bool, int, float)) and bool(value)


def lookup(optimizer: Optimizer, table: Mapping[str, OptimizerState]) -> tuple[OptimizerState, dict[str, Any]]:
    """The optimizer's row and its options. "momentum" and "nesterov" are SGD with a momentum; a LossScaleOptimizer is
    the one that it wraps ("inner").

    One that no table has, and one whose own code was followed, needs nothing by the table: an empty row, with a cause
    (`not_known`) for the first.
    """
    options = dict(optimizer.options)
    name = named(optimizer, options)
    if optimizer.own is not None or not optimizer.known:
        return OptimizerState(), options
    return table.get(name) or TEXTBOOK.get(name) or OptimizerState(), options


def not_known(optimizer: Optimizer, table: Mapping[str, OptimizerState]) -> tuple[Unknown, ...]:
    """Why an optimizer may need more than its row says."""
    if isinstance(optimizer.own, Update):
        return optimizer.own.causes
    name = named(optimizer, dict(optimizer.options))
    if "line_search_fn" in dict(optimizer.options):
        return (Unknown(f"what the line search of {optimizer.name} keeps is not counted"),)
    row = (table.get(name) or TEXTBOOK.get(name)) if optimizer.known else None
    if row is not None:
        unknown = "maximize" in dict(optimizer.options) and not row.turns
        return (Unknown(f"what {optimizer.name} makes with `maximize` is not known"),) if unknown else ()
    return (Unknown(f"the optimizer {optimizer.name} is not known: what it keeps is not counted"),)


def named(optimizer: Optimizer, options: dict[str, Any]) -> str:
    """The name that tables have. `options` get those that a name stands for."""
    name = optimizer.name.lower().replace("_", "").replace("-", "")
    if name in ("momentum", "nesterov", "sgdmomentum"):
        name = "sgd"
        options.setdefault("momentum", 0.9)
    if name == "lossscaleoptimizer":
        name = str(options.pop("inner", DEFAULT)).lower()
        options["loss_scale"] = True
    return name


ITERATIONS = 20
"""Iterations of one step of L-BFGS, unless it is told otherwise (`torch.optim.LBFGS`)."""


def flat_vectors(row: OptimizerState, options: Mapping[str, Any]) -> tuple[int, int]:
    """How many vectors of all parameters L-BFGS holds while its last closure runs, and how many more after it, as
    `torch.optim.LBFGS.step` has them in its variables: `turns` steps, where that is known, of `max_iter` iterations, of
    which each but the first adds a pair to a history of `history_size`. None of them stops early."""
    size = options.get("history_size", row.history)
    size = size if isinstance(size, int) else row.history
    each, turns = options.get("max_iter", ITERATIONS), options.get("turns")
    closures = options.get("max_eval", each * 5 // 4)
    stopped = 1 < closures <= each
    iterations = (closures - 1 if stopped else each) * turns if turns is not None else size + 2
    if stopped:
        # Its last iteration is followed by a closure, which is one too many.
        pairs = min(size, iterations - 1)
        return 2 * pairs + 3 + (iterations > 1) + (turns != 1), 1 + (iterations - 2 >= size)
    pairs = min(size, max(0, iterations - 2))
    # The new direction and the product before it come beside a pair that the history has room for.
    more = 2 if pairs == size else 3
    if each == 1:
        # The closure runs once, between steps: a direction and a gradient of the one before.
        return (2 * pairs + 2, more + 1 + (more == 3)) if iterations > 1 else (0, 3)
    first_is_last = iterations == 2
    # The gradient, the one before, the direction; the product that it was made of; the last step's direction.
    held = 3 + (not first_is_last) + (turns != 1)
    return 2 * pairs + held, more + first_is_last


def slots(row: OptimizerState, options: Mapping[str, Any]) -> int:
    """Tensors of a parameter's shape that stay for each trainable parameter (factored ones aside)."""
    held = row.slots + sum(more for option, more in row.optional if is_set(options.get(option)))
    if row.history:
        held += flat_vectors(row, options)[0]
    # Keras' base optimizer: an average of each variable, an accumulator of each gradient.
    held += is_set(options.get("use_ema")) + is_set(options.get("gradient_accumulation_steps"))
    return held


def ahead(row: OptimizerState, options: Mapping[str, Any]) -> int:
    """Tensors of a variable's shape that TensorFlow computes of each variable before its gradient is there."""
    return row.ahead + _more(row, row.ahead_optional, options)


def beside(row: OptimizerState, options: Mapping[str, Any]) -> int:
    """Tensors of a variable's shape that TensorFlow needs beside its gradient to update it."""
    return max(0, row.single + _more(row, row.single_optional, options))


def _more(row: OptimizerState, optional: tuple[tuple[str, int], ...], options: Mapping[str, Any]) -> int:
    known = {"weight_decay": row.weight_decay, **options}
    return sum(more for option, more in optional if is_set(known.get(option)))


def clips(options: Mapping[str, Any]) -> bool:
    """Whether Keras clips gradients, which makes new ones."""
    return any(is_set(options.get(name)) for name in ("clipnorm", "clipvalue", "global_clipnorm"))


def waits_for_all(options: Mapping[str, Any]) -> bool:
    """Whether no variable is updated before all gradients are there: to clip them by their common norm, to see that
    none has overflowed, to accumulate them."""
    return any(is_set(options.get(name)) for name in ("global_clipnorm", "gradient_accumulation_steps", "loss_scale"))
