"""What optimizers hold beside the parameters, and what their step needs for a moment.

Read off the optimizers' own sources (torch/optim/*.py of 2.13, keras/src/optimizers/*.py of 3.15) and measured by
tests/oracle/optimizers.py, whose figures are in fixtures/truth/optimizers.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown

DEFAULT = "adam"
"""What a wrapper is taken for that does not say what it wraps: the most common choice."""


@dataclass(frozen=True, slots=True)
class OptimizerState:
    """What one optimizer needs.

    `slots`: tensors of the parameter's own shape and dtype that stay for each trainable parameter; `optional`
    adds some where an option is set (`amsgrad`). `scalars` are one-value tensors on the device for each
    parameter, `steps` those where steps are counted on the device (`fused`, `capturable`), `globals_` those of the
    optimizer as a whole. `matrices`: slots of parameters of two axes, where those differ. `factored`: a parameter of
    two or more axes keeps one vector for its rows and one for its columns.

    `step` is the peak of a step over all parameters at once (PyTorch's foreach, its default on a GPU), in
    multiples of the parameters; `single` that of a step that takes one parameter after the other, in
    multiples of the largest. `decay` and `single_decay` are what a weight decay that is not decoupled adds to each.
    In a graph (TensorFlow) `single` (with `single_optional` where an option is set) is in multiples of each variable as
    its turn comes, beside its gradient, and `ahead` (with `ahead_optional`) what is computed of every variable before
    its gradient is there. `weight_decay`: whether there is one by default.
    """

    slots: int = 0
    optional: tuple[tuple[str, int], ...] = ()
    scalars: int = 0
    steps: int = 0
    globals_: int = 0
    matrices: int | None = None
    factored: bool = False
    history: int = 0
    step: int = 0
    single: int = 0
    decay: int = 0
    single_decay: int = 0
    foreach: bool = True
    ahead: int = 0
    ahead_optional: tuple[tuple[str, int], ...] = ()
    single_optional: tuple[tuple[str, int], ...] = ()
    weight_decay: bool = False


def is_set(value: object) -> bool:
    """Whether an option's value turns it on. What is not known does not."""
    return isinstance(value, (bool, int, float)) and bool(value)


_AMSGRAD = (("amsgrad", 1),)
_MOMENTUM = (("momentum", 1),)

TORCH: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": OptimizerState(0, _MOMENTUM, decay=1, single_decay=1),
        "adam": OptimizerState(2, _AMSGRAD, steps=1, step=1, single=2, single_decay=1),
        "adamw": OptimizerState(2, _AMSGRAD, steps=1, step=1, single=2),
        "nadam": OptimizerState(2, step=1, decay=1, single=2, single_decay=1),
        "radam": OptimizerState(2, step=1, single=2, single_decay=1),
        "adamax": OptimizerState(2, step=1, single=1, single_decay=1),
        "adagrad": OptimizerState(1, step=2, single=1, single_decay=1),
        "adadelta": OptimizerState(2, step=2, decay=1, single=2, single_decay=1),
        "rmsprop": OptimizerState(1, (("centered", 1), *_MOMENTUM), step=1, decay=1, single=1, single_decay=1),
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

_AHEAD = (("weight_decay", 1), ("use_ema", 1))
"""The variable times its decay, and its average times the average's momentum, wait for no gradient."""
_AHEAD_MOMENTUM = (("momentum", 1), *_AHEAD)

KERAS: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": OptimizerState(
            0,
            _MOMENTUM,
            globals_=2,
            single=1,
            ahead_optional=_AHEAD_MOMENTUM,
            single_optional=(("momentum", -1),),
        ),
        "adam": OptimizerState(2, _AMSGRAD, globals_=2, single=1, ahead_optional=_AHEAD),
        "adamw": OptimizerState(
            2,
            _AMSGRAD,
            globals_=2,
            single=1,
            ahead_optional=_AHEAD,
            weight_decay=True,
        ),
        "nadam": OptimizerState(2, globals_=3, single=2, ahead_optional=_AHEAD),
        "adamax": OptimizerState(2, globals_=2, single=1, ahead=1, ahead_optional=_AHEAD),
        "adagrad": OptimizerState(1, globals_=2, single=1, ahead_optional=_AHEAD),
        "adadelta": OptimizerState(2, globals_=2, ahead=3, ahead_optional=_AHEAD),
        "rmsprop": OptimizerState(
            1,
            (("centered", 1), *_MOMENTUM),
            globals_=2,
            single=1,
            ahead=1,
            ahead_optional=(("centered", 1), *_AHEAD_MOMENTUM),
        ),
        "ftrl": OptimizerState(2, globals_=2, single=2, ahead=2, ahead_optional=_AHEAD),
        "lion": OptimizerState(1, globals_=2, single=1, ahead=2, ahead_optional=_AHEAD),
        "lamb": OptimizerState(2, globals_=2, single=1, ahead_optional=_AHEAD),
        # One vector for the rows, one for the columns, and a full moment all the same.
        "adafactor": OptimizerState(
            1,
            factored=True,
            globals_=2,
            single=1,
            ahead_optional=_AHEAD,
        ),
        "muon": OptimizerState(2, matrices=1, globals_=2, single=5, ahead=1, ahead_optional=_AHEAD, weight_decay=True),
        "schedulefreeadamw": OptimizerState(2, globals_=2, single=2, ahead_optional=_AHEAD),
    }
)
"""Keras' own. Temporaries as TensorFlow's allocator shows them on dense layers of equal size
(fixtures/truth/keras_steps.json)."""

_AT_ONCE = {
    "sgd": 0,
    "adam": 3,
    "adamw": 3,
    "adagrad": 3,
    "adamax": 3,
    "adadelta": 3,
    "lion": 2,
    "nadam": 5,
    "rmsprop": 3,
}
_ONE_BY_ONE = {"ftrl": 6, "lamb": 5, "adafactor": 5, "muon": 7, "schedulefreeadamw": 7}
KERAS_ON_TORCH: Mapping[str, OptimizerState] = MappingProxyType(
    {
        name: replace(row, step=_AT_ONCE.get(name, 0), single=_ONE_BY_ONE.get(name, 0), foreach=name in _AT_ONCE)
        for name, row in KERAS.items()
    }
)
"""The same state; those that keras/src/backend/torch/optimizers writes for all variables at once need these multiples
of the parameters, the others one variable's temporaries."""

KERAS_EAGER: Mapping[str, OptimizerState] = MappingProxyType(
    {
        name: replace(row, single=row.single + row.ahead + (2 if row.slots > 1 else 0), foreach=False)
        for name, row in KERAS.items()
    }
)
"""One variable after the other, outside of a graph: nothing is computed ahead."""

TEXTBOOK: Mapping[str, OptimizerState] = MappingProxyType(
    {
        **KERAS,
        **TORCH,
        "adafactor": OptimizerState(1),
        "lbfgs": OptimizerState(history=100),
    }
)
"""By name alone, for the cs231n accounting: momentum, RMSprop and Adagrad 1 slot, the Adam family 2."""


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
    if optimizer.known and (name in table or name in TEXTBOOK):
        return ()
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


def slots(row: OptimizerState, options: Mapping[str, Any]) -> int:
    """Tensors of a parameter's shape that stay for each trainable parameter (factored ones aside)."""
    held = row.slots + sum(more for option, more in row.optional if is_set(options.get(option)))
    if row.history:
        # `history_size` pairs of flat vectors, the direction, the gradient and the previous one.
        wanted = options.get("history_size", row.history)
        held += 2 * (wanted if isinstance(wanted, int) else row.history) + 3
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
