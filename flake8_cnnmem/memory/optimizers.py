"""What optimizers hold beside the parameters, and what their step needs for a moment.

Read off the optimizers' own sources (torch/optim/*.py of 2.13, keras/src/optimizers/*.py of 3.15) and measured by
tests/oracle/optimizers.py, whose figures are in fixtures/truth/optimizers.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from flake8_cnnmem.training import Optimizer

DEFAULT = "adam"
"""What an optimizer that no table knows is taken for: the most common choice, and no less than most others hold."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one optimizer needs.

    `slots`: tensors of the parameter's own shape and dtype that stay for each trainable parameter; `optional`
    adds some where an option is set (`amsgrad`). `scalars` are one-value tensors on the device for each
    parameter, `globals_` those of the optimizer as a whole. `matrices`: slots of parameters of two axes, where
    those differ. `factored`: a parameter of two or more axes keeps one vector for its rows and one for its columns.

    `step` is the peak of a step over all parameters at once (PyTorch's foreach, its default on a GPU), in
    multiples of the parameters; `single` that of a step that takes one parameter after the other, in
    multiples of the largest. `decay` and `single_decay` are what a weight decay that is not decoupled adds to each.
    `ahead`: in a graph, what is computed of every variable before its gradient is there.
    """

    slots: int = 0
    optional: tuple[tuple[str, int], ...] = ()
    scalars: int = 0
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


def is_set(value: object) -> bool:
    """Whether an option's value turns it on. What is not known does not."""
    return isinstance(value, (bool, int, float)) and bool(value)


_AMSGRAD = (("amsgrad", 1),)
_MOMENTUM = (("momentum", 1),)

TORCH: Mapping[str, Row] = MappingProxyType(
    {
        "sgd": Row(0, _MOMENTUM, decay=1, single_decay=1),
        "adam": Row(2, _AMSGRAD, step=1, single=2, single_decay=1),
        "adamw": Row(2, _AMSGRAD, step=1, single=2),
        "nadam": Row(2, step=1, decay=1, single=2, single_decay=1),
        "radam": Row(2, step=1, single=2, single_decay=1),
        "adamax": Row(2, step=1, single=1, single_decay=1),
        "adagrad": Row(1, step=2, single=1, single_decay=1),
        "adadelta": Row(2, step=2, decay=1, single=2, single_decay=1),
        "rmsprop": Row(1, (("centered", 1), *_MOMENTUM), step=1, decay=1, single=1, single_decay=1),
        "asgd": Row(1, scalars=3, step=1, single_decay=1),
        "rprop": Row(2, step=2, single=3),
        "adafactor": Row(0, factored=True, step=1, single=1),
        # Newton-Schulz iterations on a half-precision copy of one matrix at a time.
        "muon": Row(1, single=3, foreach=False),
        # Its closure runs inside of the step, with the flat gradient alive: that one counts as state.
        "lbfgs": Row(0, history=100, step=1),
        "sparseadam": Row(2, single=2, foreach=False),
    }
)

KERAS: Mapping[str, Row] = MappingProxyType(
    {
        "sgd": Row(0, _MOMENTUM, globals_=2, single=1),
        "adam": Row(2, _AMSGRAD, globals_=2, single=1),
        "adamw": Row(2, _AMSGRAD, globals_=2, single=1),
        "nadam": Row(2, globals_=3, single=1),
        "adamax": Row(2, globals_=2, single=1),
        "adagrad": Row(1, globals_=2, single=1),
        "adadelta": Row(2, globals_=2, single=2),
        "rmsprop": Row(1, (("centered", 1), *_MOMENTUM), globals_=2, single=1, ahead=2),
        "ftrl": Row(2, globals_=2, single=2),
        "lion": Row(1, globals_=2, single=1),
        "lamb": Row(2, globals_=2, single=2),
        "adafactor": Row(1, factored=True, globals_=2, single=1),
        "muon": Row(2, matrices=1, globals_=2, single=3),
        "schedulefreeadamw": Row(2, globals_=2, single=1),
    }
)
MOMENTUM_AHEAD = Row(0, _MOMENTUM, globals_=2, single=0, ahead=1)
"""Keras' SGD with a momentum: momentum x velocity is computed ahead."""

TEXTBOOK: Mapping[str, Row] = MappingProxyType(
    {
        **KERAS,
        **TORCH,
        "adafactor": Row(1),
        "lbfgs": Row(history=100),
    }
)
"""By name alone, for the cs231n accounting: momentum, RMSprop and Adagrad 1 slot, the Adam family 2."""


def lookup(optimizer: Optimizer, table: Mapping[str, Row]) -> tuple[Row, dict[str, Any]]:
    """The optimizer's row and its options. "momentum" and "nesterov" are SGD with a momentum."""
    options = dict(optimizer.options)
    name = optimizer.name.lower().replace("_", "").replace("-", "")
    if name in ("momentum", "nesterov", "sgdmomentum"):
        name = "sgd"
        options.setdefault("momentum", 0.9)
    return table.get(name) or TEXTBOOK.get(name) or table[DEFAULT], options


def slots(row: Row, options: Mapping[str, Any]) -> int:
    """Tensors of a parameter's shape that stay for each trainable parameter (factored ones aside)."""
    held = row.slots + sum(more for option, more in row.optional if is_set(options.get(option)))
    if row.history:
        # `history_size` pairs of flat vectors, the direction, the gradient and the previous one.
        wanted = options.get("history_size", row.history)
        held += 2 * (wanted if isinstance(wanted, int) else row.history) + 3
    # Keras' base optimizer: an average of each variable, an accumulator of each gradient.
    held += is_set(options.get("use_ema")) + is_set(options.get("gradient_accumulation_steps"))
    return held
