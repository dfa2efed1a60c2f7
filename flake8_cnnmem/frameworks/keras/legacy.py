"""Keras 1's names of layer arguments, where their meaning is plain."""

from __future__ import annotations

from collections.abc import Sequence

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
