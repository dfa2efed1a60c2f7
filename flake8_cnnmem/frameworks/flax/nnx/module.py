"""flax.nnx.Module: an object of Python that holds its parameters, and what is done with models as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from flake8_cnnmem.frameworks.flax import optimizers
from flake8_cnnmem.frameworks.flax.arrays import as_array
from flake8_cnnmem.frameworks.flax.jax.random import KEY
from flake8_cnnmem.frameworks.flax.scopes import modules_in
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import WITHOUT_SIZES, Bound, Class, Instance, Native, Value

MODULE = Class("Module", module="flax.nnx")


def is_module(value: Value) -> TypeGuard[Instance]:
    """Whether a value is an instance of flax.nnx.Module."""
    return isinstance(value, Instance) and value.cls.derives_from(MODULE)


def subclassed(run: Runtime, cls: Class, **options: Value) -> Value:
    """A call of a module runs within it."""
    function = cls.namespace.get("__call__")
    if type(function).__name__ == "Function":
        run.changed(cls.namespace)
        cls.namespace["__call__"] = within(function)
    return None


def within(function: Value) -> Native:
    """A method of a module that runs within a region of the graph."""

    def method(run: Runtime, self: Instance | None, *args: Value, **kwargs: Value) -> Value:
        if not is_module(self):
            return run.call(function, self, *args, **kwargs)
        with run.enter(self):
            return run.call(Bound(function, self), *args, **kwargs)

    method.__wrapped__ = function  # type: ignore[attr-defined]
    return Native("__call__", method, propagate_unknown=False)


def children(module: Instance) -> list[tuple[str, Instance]]:
    """The modules directly inside, also those in lists and dicts, with the names that lead there."""
    return [
        (name + rest.replace("_", "."), found)
        for name, value in module.attributes.items()
        for rest, found in modules_in(value)
        if is_module(found)
    ]


def weights(module: Instance) -> list[Weight]:
    """The variables that a module itself holds."""
    found: list[Weight] = []
    for value in module.attributes.values():
        items = value if isinstance(value, (list, tuple)) else value.values() if isinstance(value, dict) else (value,)
        found += [each for each in items if isinstance(each, Weight)]
    return found


# --- variables --------------------------------------------------------------------------------------------------------


def variable(buffer: bool) -> Callable[..., Value]:
    """`nnx.Param(value)`, or one that is no parameter."""

    def make(run: Runtime, value: Value = None, *args: Value, **metadata: Value) -> Value:
        array = as_array(run, value)
        if isinstance(array, Unknown):
            return Weight(array, framework="flax", buffer=buffer, trainable=not buffer, site=run.here())
        dtype = "float" if array.dtype == "float32" else array.dtype
        return Weight(array.shape, dtype, framework="flax", buffer=buffer, trainable=not buffer, site=run.here())

    return make


PARAM = Native("Param", variable(False), propagate_unknown=False)
"""`nnx.Param(x)`: the parameter itself, which computes as the array that it holds."""

# --- random numbers ---------------------------------------------------------------------------------------------------

RNGS = Class("Rngs", module="flax.nnx", facts={WITHOUT_SIZES: True})


def keys(run: Runtime, self: Instance, *args: Value) -> Value:
    """`rngs.params()` and its like: a key."""
    return Instance(KEY)


def stream(run: Runtime, self: Instance, name: Value) -> Value:
    """`rngs.dropout()`: each stream of keys is a function."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", f"'Rngs' object has no attribute '{name}'")
    return Native(str(name), lambda run, *args: Instance(KEY), propagate_unknown=False)


RNGS.namespace.update(
    {
        "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, propagate_unknown=False),
        "__call__": Native("__call__", keys, propagate_unknown=False),
        "__getattr__": Native("__getattr__", stream, propagate_unknown=False),
        "fork": Native("fork", lambda run, self, *args, **kwargs: self, propagate_unknown=False),
    }
)

# --- optimizers -------------------------------------------------------------------------------------------------------

OPTIMIZER = Class("Optimizer", module="flax.nnx")


def everything(model: Value) -> list[Weight]:
    """All variables of a model."""
    found: dict[int, Weight] = {}
    waiting, seen = [model], set()
    while waiting:
        each = waiting.pop()
        if is_module(each) and id(each) not in seen:
            seen.add(id(each))
            found.update((id(weight), weight) for weight in weights(each))
            waiting += [child for _, child in children(each)]
    return list(found.values())


def parameters(model: Value) -> list[Weight]:
    """The parameters of a model."""
    return [weight for weight in everything(model) if not weight.buffer]


def optimizer_init(run: Runtime, self: Instance, model: Value, tx: Value, wrt: Value = None, **options: Value) -> None:
    """`nnx.Optimizer(model, tx)`."""
    run.changed(self)
    self.attributes.update(model=model, tx=tx, step=0)
    optimizers.hold(run, tx, parameters(model))


def optimizer_update(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`optimizer.update(grads)`: a step."""
    run.note("step", self.attributes.get("tx"))
    return None


for _word, _body in (("__init__", optimizer_init), ("update", optimizer_update)):
    OPTIMIZER.namespace[_word] = Native(_word, _body, propagate_unknown=False)

# --- models as a whole ------------------------------------------------------------------------------------------------


def split(run: Runtime, node: Value, *filters: Value) -> Value:
    """`graphdef, state = nnx.split(model)`: the model stands for both, and is what `merge` gives."""
    return (node, *(as_state(node) for _ in range(max(1, len(filters)))))


def as_state(node: Value) -> Value:
    """The variables of a module by number."""
    return {str(at): weight for at, weight in enumerate(everything(node))}


def state(run: Runtime, node: Value, *filters: Value) -> Value:
    """`nnx.state(node, *filters)`: one state, or one for each filter."""
    return as_state(node) if len(filters) < 2 else tuple(as_state(node) for _ in filters)


def merge(run: Runtime, graphdef: Value, *states: Value) -> Value:
    """`nnx.merge(graphdef, state)`: the module."""
    return graphdef


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


def itself(run: Runtime, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A function that gives its argument."""
    return value


def not_known(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """What metrics of a training give, which is not followed."""
    return run.unknown("what is measured in training is not followed")


METRIC = Class(
    "Metric",
    namespace={
        "__init__": Native("__init__", nothing, propagate_unknown=False),
        "update": Native("update", nothing, propagate_unknown=False),
        "reset": Native("reset", nothing, propagate_unknown=False),
        "compute": Native("compute", not_known, propagate_unknown=False),
    },
    module="flax.nnx",
)

MODULE.namespace.update(
    {
        "__init_subclass__": Native("__init_subclass__", subclassed, propagate_unknown=False),
        **{word: Native(word, nothing, propagate_unknown=False) for word in ("train", "eval", "set_attributes", "sow")},
        "iter_modules": Native("iter_modules", lambda run, self: [((), self), *(
            ((name,), child) for name, child in children(self))]),
        "iter_children": Native("iter_children", lambda run, self: children(self)),
    }
)  # fmt: skip

MEMBERS: dict[str, Value] = {
    "Module": MODULE,
    "Object": MODULE,
    "Pytree": MODULE,
    "Param": PARAM,
    **{name: Native(name, variable(True), propagate_unknown=False)
       for name in ("BatchStat", "Variable", "Cache", "Intermediate", "RngState")},
    "Rngs": RNGS,
    "Optimizer": OPTIMIZER,
    "ModelAndOptimizer": OPTIMIZER,
    "Metric": METRIC,
    "MultiMetric": METRIC,
    "split": Native("split", split, propagate_unknown=False),
    "state": Native("state", state, propagate_unknown=False),
    "merge": Native("merge", merge, propagate_unknown=False),
    **{name: Native(name, nothing, propagate_unknown=False) for name in ("update", "display", "reseed", "pop")},
    **{name: Native(name, itself, propagate_unknown=False)
       for name in ("data", "static", "clone", "freeze", "List", "Dict", "pure", "to_tree", "view")},
    "graphdef": Native("graphdef", itself, propagate_unknown=False),
    "with_partitioning": Native("with_partitioning", itself, propagate_unknown=False),
}  # fmt: skip
"""What `flax.nnx` has beside its layers."""
