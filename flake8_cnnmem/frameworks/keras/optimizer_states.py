"""What Keras' own optimizers hold and make, read off keras/src/optimizers/*.py of 3.15: in a graph, on PyTorch, and
outside of any graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from flake8_cnnmem.frameworks.optimizer_states import OptimizerState, of

_AHEAD = (("use_ema", 1),)
"""A variable's average times the average's momentum waits for no gradient."""
_AHEAD_MOMENTUM = (("momentum", 1), *_AHEAD)

STATES: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": of(
            "sgd",
            rows="scattered",
            globals_=2,
            single=1,
            ahead_optional=_AHEAD_MOMENTUM,
            single_optional=(("momentum", -1),),
        ),
        "adam": of("adam", rows="twice", globals_=2, single=1, ahead_optional=_AHEAD, chain=True),
        "adamw": of("adamw", rows="twice", globals_=2, single=1, ahead_optional=_AHEAD, weight_decay=True, chain=True),
        "nadam": of("nadam", globals_=3, single=2, ahead_optional=_AHEAD, chain=True),
        "adamax": of("adamax", rows="squared", globals_=2, single=1, ahead=1, ahead_optional=_AHEAD),
        "adagrad": of("adagrad", globals_=2, single=1, ahead_optional=_AHEAD),
        "adadelta": of("adadelta", globals_=2, ahead=3, ahead_optional=_AHEAD),
        "rmsprop": of(
            "rmsprop", rows="squared", globals_=2, single=1, ahead=1, ahead_optional=(("centered", 1), *_AHEAD_MOMENTUM)
        ),
        "ftrl": of("ftrl", rows="dense", ahead_optional=_AHEAD),
        "lion": of("lion", rows="squared", ahead_optional=_AHEAD),
        "lamb": of("lamb", ahead_optional=_AHEAD, chain=True),
        # One vector for the rows, one for the columns, and a full moment all the same.
        "adafactor": of("adafactor", factored=True, globals_=2, single=1, ahead_optional=_AHEAD, chain=True),
        "muon": of(
            "muon", slots=2, matrices=1, globals_=2, single=5, ahead=1, ahead_optional=_AHEAD, weight_decay=True
        ),
        "schedulefreeadamw": of("schedulefreeadamw", ahead_optional=_AHEAD, chain=True),
    }
)
"""Keras' own. Temporaries as TensorFlow's allocator shows them on dense layers of equal size
(fixtures/truth/keras_steps.json)."""

DECAYED_AHEAD: Mapping[str, OptimizerState] = MappingProxyType(
    {name: replace(row, ahead_optional=(*row.ahead_optional, ("weight_decay", 1))) for name, row in STATES.items()}
)
"""The same where the variable times its decay, which waits for no gradient either, is made ahead: in some runs it is
(11.8 to 13.2 MB of one step of AdamW), and in some steps never."""

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
ON_TORCH: Mapping[str, OptimizerState] = MappingProxyType(
    {
        name: replace(row, step=_AT_ONCE.get(name, 0), single=_ONE_BY_ONE.get(name, 0), foreach=name in _AT_ONCE)
        for name, row in STATES.items()
    }
)
"""The same state; those that keras/src/backend/torch/optimizers writes for all variables at once need these multiples
of the parameters, the others one variable's temporaries."""

EAGER: Mapping[str, OptimizerState] = MappingProxyType(
    {
        name: replace(row, single=row.single + row.ahead + (2 if row.slots > 1 else 0), foreach=False)
        for name, row in STATES.items()
    }
)
"""One variable after the other, outside of a graph: nothing is computed ahead."""
