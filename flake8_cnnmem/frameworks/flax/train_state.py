"""flax.training.train_state: a model's parameters and its optimizer in one object, which each step gives anew."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax import optimizers
from flake8_cnnmem.frameworks.flax.fields import FIELDS, fields_of, replaced
from flake8_cnnmem.frameworks.flax.trees import NODE
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Value


def create(
    run: Runtime, cls: Class, *, apply_fn: Value = None, params: Value = None, tx: Value = None, **more: Value
) -> Value:
    """`TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))`."""
    trained = params["params"] if isinstance(params, dict) and "params" in params else params
    optimizers.hold(run, tx, trained)
    state = Instance(optimizers.STATE)
    told = {"step": 0, "apply_fn": apply_fn, "params": params, "tx": tx, "opt_state": state}
    defaults = {name: value for name, value in fields_of(cls).items() if value is not MISSING}
    return Instance(cls, {**defaults, **told, **more}, site=run.here())


def initialise(run: Runtime, self: Instance, **told: Value) -> None:
    """`TrainState(...)`."""
    run.changed(self)
    self.attributes.update(told)
    optimizers.hold(run, told.get("tx"), told.get("params"))


def apply_gradients(run: Runtime, self: Instance, *, grads: Value = None, **more: Value) -> Value:
    """`state.apply_gradients(grads=...)`: a step; the new state."""
    run.note("step", self.attributes.get("tx"))
    return Instance(self.cls, {**self.attributes, **more}, site=self.site)


TRAIN_STATE = Class(
    "TrainState",
    namespace={
        "__init__": Native("__init__", initialise, propagate_unknown=False),
        "create": ClassMethod(Native("create", create, propagate_unknown=False)),
        "apply_gradients": Native("apply_gradients", apply_gradients, propagate_unknown=False),
        "replace": Native("replace", replaced, propagate_unknown=False),
    },
    module="flax.training.train_state",
    facts={NODE: True, FIELDS: {"step": 0, "apply_fn": None, "params": None, "tx": None, "opt_state": None}},
)
