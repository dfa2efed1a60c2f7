"""K.*: keras.backend of Keras 1 and 2 (and what Keras 3 keeps of it), as a table, with the global settings."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops import losses
from flake8_cnnmem.frameworks.keras.ops.creation import arange, eye, filled, like, one_hot, random, to_tensor
from flake8_cnnmem.frameworks.keras.ops.elementwise import (
    binary,
    cast,
    clip,
    dropout,
    identity,
    normalize,
    same,
    stop_gradient,
    unary,
    where,
)
from flake8_cnnmem.frameworks.keras.ops.images import resize_images
from flake8_cnnmem.frameworks.keras.ops.matrices import batch_dot, dot
from flake8_cnnmem.frameworks.keras.ops.picking import gather
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
from flake8_cnnmem.frameworks.keras.ops.shaping import (
    batch_flatten,
    concatenate,
    expand_dims,
    flatten,
    flip,
    int_shape,
    ndim,
    repeat,
    repeat_vector,
    reshape,
    shape,
    size,
    spatial_pad,
    squeeze,
    stack,
    strided_slice,
    tile,
    transpose,
)
from flake8_cnnmem.frameworks.keras.ops.tables import Entry, Table
from flake8_cnnmem.frameworks.keras.ops.windows import (
    batch_normalization,
    bias_add,
    conv,
    conv_transpose,
    depthwise_conv,
    pool_by_name,
    separable_conv,
)
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.variables import variable
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Runtime, Value

BACKENDS = ("tensorflow", "torch", "jax")

UNARY = {
    "abs": "abs", "exp": "exp", "log": "log", "sqrt": "sqrt", "square": "square", "round": "round", "sign": "sign",
    "sin": "sin", "cos": "cos", "sigmoid": "sigmoid", "tanh": "tanh", "softplus": "softplus", "softsign": "softsign",
    "hard_sigmoid": "hardsigmoid",
}  # fmt: skip

BINARY = {
    "maximum": "maximum", "minimum": "minimum", "equal": "equal", "not_equal": "not_equal", "greater": "greater",
    "greater_equal": "greater_equal", "less": "less", "less_equal": "less_equal",
}  # fmt: skip

REDUCTIONS = {
    "mean": "mean", "sum": "sum", "max": "max", "min": "min", "prod": "prod", "var": "var", "std": "std",
    "any": "any", "all": "all", "logsumexp": "logsumexp",
}  # fmt: skip

CONV = "x kernel strides padding data_format dilation_rate"

ENTRIES: dict[str, Entry] = {
    **{name: ("x", unary, {"kind": kind, "function": name}) for name, kind in UNARY.items()},
    **{name: ("x y", binary, {"kind": kind, "function": name}) for name, kind in BINARY.items()},
    **{name: ("x axis keepdims", reduce, {"kind": kind, "function": name}) for name, kind in REDUCTIONS.items()},
    "pow": ("x a>y", binary, {"kind": "power"}),
    "argmax": ("x axis", reduce, {"kind": "argmax", "axis": -1}),
    "argmin": ("x axis", reduce, {"kind": "argmin", "axis": -1}),
    "cumsum": ("x axis", reduce, {"kind": "cumsum"}),
    "cumprod": ("x axis", reduce, {"kind": "cumprod"}),
    "relu": ("x alpha> max_value> threshold>", unary, {"kind": "relu"}),
    "elu": ("x alpha>", unary, {"kind": "elu"}),
    "softmax": ("x axis>", unary, {"kind": "softmax"}),
    "clip": ("x min_value>low max_value>high", clip),
    "cast": ("x dtype", cast),
    "cast_to_floatx": ("x", same),
    "identity": ("x name>", identity),
    "stop_gradient": ("variables>x", stop_gradient),
    "dropout": ("x level>rate noise_shape seed>", dropout),
    "l2_normalize": ("x axis", normalize),
    "switch": ("condition then_expression>x else_expression>y", where),
    "shape": ("x", shape),
    "int_shape": ("x", int_shape),
    "ndim": ("x", ndim),
    "count_params": ("x", size),
    "reshape": ("x shape", reshape),
    "flatten": ("x", flatten),
    "batch_flatten": ("x", batch_flatten),
    "permute_dimensions": ("x pattern>axes", transpose),
    "transpose": ("x", transpose),
    "expand_dims": ("x axis", expand_dims),
    "squeeze": ("x axis", squeeze),
    "concatenate": ("tensors axis", concatenate),
    "stack": ("x>tensors axis", stack),
    "tile": ("x n>multiples", tile),
    "repeat": ("x n", repeat_vector),
    "repeat_elements": ("x rep>repeats axis", repeat),
    "reverse": ("x axes>axis", flip),
    "gather": ("reference>x indices", gather),
    "slice": ("x start>begin size", strided_slice),
    "temporal_padding": ("x padding", spatial_pad, {"rank": 1}),
    "spatial_2d_padding": ("x padding data_format", spatial_pad, {"rank": 2}),
    "spatial_3d_padding": ("x padding data_format", spatial_pad, {"rank": 3}),
    "resize_images": ("x height_factor width_factor data_format interpolation", resize_images),
    "dot": ("x y", dot),
    "batch_dot": ("x y axes", batch_dot),
    "zeros": ("shape dtype name>", filled),
    "ones": ("shape dtype name>", filled, {"value": 1}),
    "zeros_like": ("x dtype name>", like),
    "ones_like": ("x dtype name>", like),
    "constant": ("value dtype shape> name>", to_tensor),
    "eye": ("size>n dtype> name>", eye),
    "arange": ("start stop step dtype", arange),
    "one_hot": ("indices>x num_classes>depth", one_hot),
    "random_normal": ("shape mean> stddev> dtype seed>", random),
    "random_uniform": ("shape minval> maxval> dtype seed>", random),
    "truncated_normal": ("shape mean> stddev> dtype seed>", random),
    "random_binomial": ("shape p> dtype seed>", random),
    "random_bernoulli": ("shape p> dtype seed>", random),
    "random_normal_variable": ("shape mean> scale> dtype name> seed>", random),
    "conv1d": (CONV, conv),
    "conv2d": (CONV, conv),
    "conv3d": (CONV, conv),
    "conv2d_transpose": (
        "x kernel output_shape strides padding data_format dilation_rate", conv_transpose
    ),
    "depthwise_conv2d": ("x depthwise_kernel>kernel strides padding data_format dilation_rate", depthwise_conv),
    "separable_conv2d": (
        "x depthwise_kernel pointwise_kernel strides padding data_format dilation_rate", separable_conv
    ),
    "pool2d": ("x pool_size strides padding data_format pool_mode", pool_by_name),
    "pool3d": ("x pool_size strides padding data_format pool_mode", pool_by_name),
    "bias_add": ("x bias data_format", bias_add),
    "batch_normalization": ("x mean> var> beta>offset gamma>scale axis epsilon>", batch_normalization),
    "convert_to_tensor": ("x>value dtype", to_tensor),
}  # fmt: skip

TABLE = Table(ENTRIES)


# --- settings ---------------------------------------------------------------------------------------------------------


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
    return TABLE.find(name) if found is MISSING else found
