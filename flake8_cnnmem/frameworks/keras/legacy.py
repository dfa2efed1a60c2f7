"""Keras 1's names of layer arguments, where their meaning is plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_cnnmem.values import Value

KERAS_1: dict[str, tuple[str, ...]] = {
    "border_mode": ("padding",),
    "subsample": ("strides",),
    "subsample_length": ("strides",),
    "stride": ("strides",),
    "nb_filter": ("filters",),
    "nb_kernel": ("filters",),
    "filter_length": ("kernel_size",),
    "pool_length": ("pool_size",),
    "init": ("kernel_initializer", "embeddings_initializer", "alpha_initializer", "depthwise_initializer"),
    "bias": ("use_bias",),
    "W_regularizer": ("kernel_regularizer", "embeddings_regularizer", "depthwise_regularizer"),
    "b_regularizer": ("bias_regularizer",),
    "U_regularizer": ("recurrent_regularizer",),
    "W_constraint": ("kernel_constraint", "embeddings_constraint", "depthwise_constraint"),
    "b_constraint": ("bias_constraint",),
    "dim_ordering": ("data_format",),
    "output_dim": ("units",),
    "p": ("rate",),
    "sigma": ("stddev",),
    "inner_activation": ("recurrent_activation",),
    "inner_init": ("recurrent_initializer",),
    "forget_bias_init": (),
    "dropout_W": ("dropout",),
    "dropout_U": ("recurrent_dropout",),
    "consume_less": (),
    "atrous_rate": ("dilation_rate",),
    "beta_init": ("beta_initializer",),
    "gamma_init": ("gamma_initializer",),
    "gamma_regularizer": ("gamma_regularizer",),
    "length": ("size",),
    "mode": (),
    "alpha": ("negative_slope",),
    "output_shape": (),
    "input_length": (),
    "ragged": (),
    "interpolation": (),
    "kernel_initializer": ("depthwise_initializer",),
    "kernel_regularizer": ("depthwise_regularizer",),
    "kernel_constraint": ("depthwise_constraint",),
    "renorm": (),
    "renorm_clipping": (),
    "renorm_momentum": (),
    "adjustment": (),
    "embeddings_regularizer": (),
    "arguments": (),
    "time_major": (),
    "unit_forget_bias": (),
    "sparse": (),
    "batchnorm_axis": (),
    "dropout": (),
}
"""Old word -> the words of today that mean the same, of which a layer has one. Empty: it changed no shape."""

LAYOUTS = {"tf": "channels_last", "th": "channels_first", "default": None}


def translate(names: Sequence[str], kwargs: dict[str, Value]) -> dict[str, Value]:
    """Arguments with Keras 1's words replaced by those that the layer's signature has."""
    found: dict[str, Value] = {}
    for word, value in kwargs.items():
        if word in names or word not in KERAS_1:
            found[word] = value
            continue
        if word == "input_length":
            found[word] = value
        new = next((name for name in KERAS_1[word] if name in names), None)
        if new is not None and new not in kwargs:
            found[new] = LAYOUTS.get(value, value) if word == "dim_ordering" and isinstance(value, str) else value
    return found


OLD_WORDS = frozenset(KERAS_1) - {
    "mode", "alpha", "output_shape", "interpolation", "sparse", "arguments", "kernel_initializer", "kernel_regularizer",
    "kernel_constraint", "embeddings_regularizer", "stride", "length", "input_length", "p", "ragged", "time_major",
}  # fmt: skip
"""Words that are said in Keras 1's way of writing alone."""

SIDES = {1: (), 2: ("nb_row", "nb_col"), 3: ("kernel_dim1", "kernel_dim2", "kernel_dim3")}
BEHIND = ("init", "activation", "weights", "border_mode", "subsample")
"""Keras 1's arguments of a convolution behind the sides of its kernel."""


def is_old_order(rank: int, args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a convolution's arguments are those of Keras 1: with a size for each side of the kernel, and words of its
    own or more sides than a newer version takes (keras 2.3, legacy/interfaces.py)."""
    if any(word in kwargs for word in SIDES[rank]):
        return True
    sides = args[1 : rank + 1]
    if len(sides) < rank or not all(type(side) is int for side in sides):
        return False
    # Today a number in the third place behind the filters would be the padding.
    return rank == 3 or (rank == 2 and any(word in OLD_WORDS for word in kwargs))


def in_todays_order(
    rank: int, args: tuple[Value, ...], kwargs: dict[str, Value], names: Sequence[str]
) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """(filters, rows, columns, ...) as (filters, (rows, columns), ...)."""
    words = SIDES[rank]
    kwargs = dict(kwargs)
    if any(word in kwargs for word in words):
        sides = list(args[1 : 1 + rank])
        sides += [kwargs.pop(word) for word in words[len(sides) :] if word in kwargs]
        return args[:1], {**kwargs, "kernel_size": tuple(sides)}
    if len(args) <= rank or any(isinstance(side, (list, tuple)) for side in args[1 : rank + 1]):
        return args, kwargs
    rest = args[rank + 1 :]
    # What a transposed convolution gives follows from the rest.
    behind = ("output_shape", *BEHIND) if "output_padding" in names else BEHIND
    kwargs.update(zip(behind, rest, strict=False))
    return (args[0], tuple(args[1 : rank + 1]) if rank > 1 else args[1]), kwargs
