"""K.*: keras.backend of Keras 1 and 2 (and what Keras 3 keeps of it), with the global settings."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops import losses
from flake8_cnnmem.frameworks.keras.ops.operations import BACKEND
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.variables import variable
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

BACKENDS = ("tensorflow", "torch", "jax")


def image_data_format(run: Runtime) -> str:
    """`K.image_data_format()`: "channels_last" or "channels_first"."""
    return session_of(run).data_format


def set_image_data_format(run: Runtime, data_format: Value) -> None:
    """`K.set_image_data_format(data_format)`, also by the old words "tf" and "th"."""
    if isinstance(data_format, str):
        session_of(run).data_format = {"tf": "channels_last", "th": "channels_first"}.get(data_format, data_format)


def image_dim_ordering(run: Runtime) -> str:
    """`K.image_dim_ordering()` of Keras 1: "tf" or "th"."""
    return "th" if session_of(run).data_format == "channels_first" else "tf"


def standardize_data_format(run: Runtime, data_format: Value = None) -> Value:
    """A data format, or the session's where none is said."""
    return session_of(run).data_format if data_format is None else data_format


def floatx(run: Runtime) -> str:
    """`K.floatx()`: the dtype of floats."""
    return session_of(run).floatx


def set_floatx(run: Runtime, value: Value) -> None:
    """`K.set_floatx(value)`: the dtype of layers and inputs that are made from now on."""
    if isinstance(value, str):
        session_of(run).floatx = value


def backend(run: Runtime) -> str:
    """As `framework.backend_of`: what the code itself has set, else TensorFlow."""
    said = session_of(run).backend or run.data("environment").get("KERAS_BACKEND")
    return said if isinstance(said, str) and said in BACKENDS else BACKENDS[0]


def set_backend(run: Runtime, backend: Value = None, **kwargs: Value) -> None:
    """`K.set_backend(backend)`: what computes, from now on."""
    session_of(run).backend = backend


def learning_phase(run: Runtime) -> Value:
    """`K.learning_phase()`: 1 while training, else 0."""
    training = session_of(run).training[-1]
    return training if not isinstance(training, bool) else int(training)


def set_learning_phase(run: Runtime, value: Value) -> None:
    """`K.set_learning_phase(value)`: whether layers train that are not told."""
    session_of(run).training[0] = value not in (0, False)


def epsilon(run: Runtime) -> float:
    """`K.epsilon()`: 1e-7, Keras' own default."""
    return 1e-7


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> None:
    """Changes no shape."""


def clear_session(run: Runtime, *args: Value, **kwargs: Value) -> None:
    """`K.clear_session()`: names are counted anew."""
    session_of(run).counters.clear()


def get_uid(run: Runtime, prefix: Value = "") -> Value:
    """`K.get_uid(prefix)`: 1, 2, ..."""
    session = session_of(run)
    key = f"uid:{prefix}"
    session.counters[key] = session.counters.get(key, 0) + 1
    return session.counters[key]


def is_keras_tensor(run: Runtime, x: Value) -> Value:
    """Whether a layer or an Input made the tensor. Keras 2 raises for what is no tensor; False does as well."""
    return (
        isinstance(x, Tensor)
        and not isinstance(x, Weight)
        and x.framework == "keras"
        and session_of(run).node_of(x) is not None
    )


def placeholder(run: Runtime, shape: Value = None, ndim: Value = None, dtype: Value = None, **options: Value) -> Value:
    """`K.placeholder(shape)`: an input, with the batch as its first axis."""
    from flake8_cnnmem.frameworks.keras.inputs import keras_input

    return keras_input(run, batch_shape=shape) if shape is not None else run.unknown("a placeholder has no shape")


def call_function(run: Runtime, function: Value, *args: Value, **kwargs: Value) -> Value:
    """A call of what `K.function` gives, which is not followed."""
    return run.unknown("a backend function is not followed")


def map_fn(run: Runtime, fn: Value, elems: Value, *args: Value, **kwargs: Value) -> Value:
    """`K.map_fn`, which is not followed."""
    return run.unknown("a function mapped over a tensor's items is not followed")


def in_train_phase(run: Runtime, x: Value, alt: Value, training: Value = None) -> Value:
    """`K.in_train_phase(x, alt)`: x while training, else alt; functions among them are called."""
    phase = session_of(run).training[-1] if training is None else training
    chosen = alt if phase in (False, 0) else x
    return chosen if isinstance(chosen, (Tensor, int, float)) else run.call(chosen)


def not_followed(name: str) -> Native:
    """A function of the backend that gives an unknown."""

    def answer(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"K.{name} is not followed")

    return Native(name, answer, propagate_unknown=False)


def name_scope_enter(run: Runtime, self: Instance) -> Value:
    """`with K.name_scope(name)`: the scope's name."""
    return "scope"


NAME_SCOPE = Class(
    "name_scope",
    namespace={
        "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, propagate_unknown=False),
        "__enter__": Native("__enter__", name_scope_enter, propagate_unknown=False),
        "__exit__": Native("__exit__", lambda run, self, *args: None, propagate_unknown=False),
    },
)
"""A context manager that changes no shape: name scopes, devices, distribution strategies."""

SETTINGS = (
    image_data_format, set_image_data_format, image_dim_ordering, standardize_data_format, floatx, set_floatx, backend,
    set_backend,
    learning_phase, set_learning_phase, epsilon, clear_session, get_uid, is_keras_tensor, variable, placeholder, map_fn,
    in_train_phase,
)  # fmt: skip

MEMBERS: dict[str, Value] = {
    **{function.__name__: Native(function.__name__, function, propagate_unknown=False) for function in SETTINGS},
    "set_image_dim_ordering": Native("set_image_dim_ordering", set_image_data_format, propagate_unknown=False),
    "is_tensor": Native("is_tensor", lambda run, x: isinstance(x, Tensor), propagate_unknown=False),
    "is_sparse": Native("is_sparse", lambda run, x: False, propagate_unknown=False),
    "name_scope": NAME_SCOPE,
    "set_epsilon": Native("set_epsilon", nothing, propagate_unknown=False),
    "set_session": Native("set_session", nothing, propagate_unknown=False),
    "set_value": Native("set_value", nothing, propagate_unknown=False),
    "manual_variable_initialization": Native("manual_variable_initialization", nothing, propagate_unknown=False),
    "reset_uids": Native("reset_uids", clear_session, propagate_unknown=False),
    "_BACKEND": "tensorflow",
    "_IMAGE_DATA_FORMAT": "channels_last",
    "eval": Native("eval", lambda run, x: x, propagate_unknown=False),
    "get_value": Native("get_value", lambda run, x: x, propagate_unknown=False),
    "dtype": Native("dtype", lambda run, x: run.get(x, "dtype"), propagate_unknown=False),
    **{
        name: not_followed(name)
        for name in (
            "function", "rnn", "gradients", "get_session", "ctc_batch_cost", "ctc_decode", "foldl", "foldr",
            "update",
            "moving_average_update", "in_test_phase", "print_tensor", "update_add", "local_conv1d", "local_conv2d",
        )
    },
}  # fmt: skip


def find(name: str) -> Value:
    """A member of `keras.backend`."""
    found = MEMBERS.get(name, losses.BACKEND.get(name, MISSING))
    return BACKEND.find(name) if found is MISSING else found
