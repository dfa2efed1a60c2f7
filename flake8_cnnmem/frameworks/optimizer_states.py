"""What one optimizer needs beside the parameters: the form of a framework's table, and what textbooks say by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class OptimizerState:
    """What one optimizer needs.

    `slots`: tensors of the parameter's own shape and dtype that stay for each trainable parameter; `optional`
    adds some where an option is set (`amsgrad`). `scalars` are one-value tensors on the device for each
    parameter, `steps` those where steps are counted on the device (`fused`, `capturable`), `globals_` those of the
    optimizer as a whole. `masked`: beside the step's lists there is, for one parameter after the other, a tensor more
    and a mask of it. `matrices`: slots of parameters of two axes, where those differ. `factored`: a parameter of
    two or more axes keeps one vector for its rows and one for its columns.

    `step` is the peak of a step over all parameters at once (PyTorch's foreach, its default on a GPU), in
    multiples of the parameters; `single` that of a step that takes one parameter after the other, in
    multiples of each; `normed`: it takes norms of each over its last axis and over the one before that, whose sums are
    split over the blocks of a GPU. `asked`: the first is taken only where `foreach` is set. `single_held` of these a
    variable of the optimizer's loop holds until the same of the next parameter is made. `decay` and
    `single_decay` are what a weight decay that is not decoupled adds to each.
    In a graph (TensorFlow) `single` (with `single_optional` where an option is set) is in multiples of each variable as
    its turn comes, beside its gradient, and `ahead` (with `ahead_optional`) what is computed of every variable before
    its gradient is there. `chain`: the update of a variable is a chain of ops that is still under way when the
    next variable's begins, unless something of it is computed ahead. `weight_decay`: whether there is one by default.
    `rows`: what a graph makes of the gradient of a table of which rows are read: it is made "dense", or so beside its
    "squared" rows, or "twice" so (itself, and its squares); "scattered", where only those rows are changed; "" where
    that is not known.
    `orthogonal`: the update of each matrix is made orthogonal by Newton and Schulz's iteration in bfloat16.
    `built`: the state is made with the optimizer, not by its first step. `turns`: a step with `maximize` makes one
    tensor more of each gradient, for as long as a decayed one is there; otherwise what it makes is not known.
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
    masked: bool = False
    single: int = 0
    single_held: int = 0
    decay: int = 0
    single_decay: int = 0
    foreach: bool = True
    asked: bool = False
    normed: bool = False
    ahead: int = 0
    ahead_optional: tuple[tuple[str, int], ...] = ()
    single_optional: tuple[tuple[str, int], ...] = ()
    weight_decay: bool = False
    chain: bool = False
    orthogonal: bool = False
    rows: str = ""
    built: bool = False
    turns: bool = True


AMSGRAD = (("amsgrad", 1),)
MOMENTUM = (("momentum", 1),)

TEXTBOOK: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": OptimizerState(0, MOMENTUM),
        **dict.fromkeys(("adam", "adamw"), OptimizerState(2, AMSGRAD)),
        **dict.fromkeys(("nadam", "adamax", "adadelta"), OptimizerState(2)),
        **dict.fromkeys(("adagrad", "adafactor", "muon"), OptimizerState(1)),
        "rmsprop": OptimizerState(1, (("centered", 1), *MOMENTUM)),
        "radam": OptimizerState(2, step=1, single=2, single_decay=1),
        "asgd": OptimizerState(1, scalars=3, step=1, single_decay=1, turns=False),
        "rprop": OptimizerState(2, step=1, masked=True, single=3, turns=False),
        "sparseadam": OptimizerState(2, single=2, foreach=False),
        "lbfgs": OptimizerState(history=100),
        "ftrl": OptimizerState(2, globals_=2, single=2, ahead=2),
        "lion": OptimizerState(1, globals_=2, single=1, ahead=2),
        "lamb": OptimizerState(2, globals_=2, single=1),
        "schedulefreeadamw": OptimizerState(2, globals_=2, single=2),
    }
)
"""What stays, by name alone: momentum, RMSprop and Adagrad 1 slot, the Adam family 2. The cs231n accounting counts by
it, and the frameworks' tables say what differs or comes beside it (`of`). What only one framework has is also what
another one is told that it uses, with that one's temporaries."""


def of(name: str, **differing: Any) -> OptimizerState:
    """A framework's row of an optimizer: the textbook's, and the fields of `OptimizerState` that differ from it."""
    return replace(TEXTBOOK[name], **differing)
