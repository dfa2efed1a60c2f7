"""Variables that code makes by itself: `K.variable`, `tf.Variable`, `keras.Variable`."""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.keras.adding_weights import weight_dtype, weight_shape
from flake8_cnnmem.frameworks.keras.ops.operands import shape_of
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.tracking import all_weights
from flake8_cnnmem.frameworks.keras.version import asks_for_2
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value


def variable(run: Runtime, value: Value, dtype: Value = None, name: Value = None, constraint: Value = None) -> Value:
    """`K.variable(init(shape))`: a weight of the shape of its value."""
    return made_variable(run, shape_of(value), dtype_of(value) if dtype is None else weight_dtype(dtype), name)


def made_variable(run: Runtime, shape: Shape | Unknown, dtype: str, name: Value, trainable: Value = True) -> Weight:
    """A variable of this shape and dtype."""
    word = name if isinstance(name, str) else "variable"
    fixed = trainable is False
    return Weight(shape, dtype, framework="keras", name=word, trainable=not fixed, fixed=fixed, site=run.here())


def dtype_of(value: Value) -> str:
    """What a variable's first value makes it: floats follow the model's dtype."""
    if isinstance(value, Tensor):
        return "float" if value.dtype.startswith("float") else value.dtype
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float"


def new_variable(
    run: Runtime, cls: Class, initializer: Value = None, shape: Value = None, dtype: Value = None,
    trainable: Value = True,
    autocast: Value = True, aggregation: Value = None, synchronization: Value = None, name: Value = None,
    **options: Value,
) -> Value:  # fmt: skip
    """`keras.Variable(initializer, shape=None, dtype=None, trainable=True)`: of a value, or of what makes one of a
    shape."""
    if shape is not None:
        return made_variable(run, weight_shape(shape), weight_dtype(dtype), name, trainable)
    given = isinstance(initializer, (Tensor, Unknown, int, float, list, tuple))
    value = initializer if given else run.call(initializer)
    kind = dtype_of(value) if dtype is None else weight_dtype(dtype)
    return made_variable(run, shape_of(value), kind, name, trainable)


def tf_variable(
    run: Runtime, initial_value: Value = None, trainable: Value = None, *args: Value, **options: Value
) -> Value:
    """`tf.Variable(initial_value, trainable=True)`; the value may be a function that makes it."""
    value = initial_value
    if isinstance(value, (str, bytes)):
        # It lies in the host's memory and trains nothing.
        return run.unknown("what a tf.Variable of text holds is not followed")
    if not isinstance(value, (Tensor, Unknown, int, float, list, tuple, bool)) and value is not None:
        value = run.call(value)
    dtype, shape = options.get("dtype"), options.get("shape")
    stated = tuple(shape) if isinstance(shape, (list, tuple)) and value is None else shape_of(value)
    kind = dtype_of(value) if dtype is None else weight_dtype(dtype)
    made = made_variable(run, stated, kind, options.get("name"), trainable)
    if isinstance(made, Weight) and not asks_for_2(run):
        doubt = run.unknown("whether a layer counts a tf.Variable among its weights depends on Keras' version")
        run.data(BY_TENSORFLOW)[id(made)] = (made, replace(doubt, upper=True))
    return made


BY_TENSORFLOW = "variables of TensorFlow"
"""Scratch of the run: by its id a variable that `tf.Variable` has made, with why nobody knows whether a layer that has
it as an attribute counts it: tf.keras did, Keras 3 tracks those of its own class alone."""


def untracked(run: Runtime, model: Instance) -> Unknown | None:
    """Why the weights of a model may be fewer than are counted; None where Keras made all of them."""
    made = run.data(BY_TENSORFLOW) if not session_of(run).older else {}
    found = (made[id(weight)][1] for weight in all_weights(model) if id(weight) in made) if made else ()
    return next(iter(found), None)
