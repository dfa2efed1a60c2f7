"""keras.applications.imagenet_utils as older model files import it, above all `_obtain_input_shape`.

The applications themselves are evaluated from Keras' source where it is installed; this helper was taken out
of it, and code that is written for Keras 2 still asks for it (keras_applications/imagenet_utils.py).
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Native, Value


def obtain_input_shape(
    run: Runtime,
    input_shape: Any,
    default_size: Value,
    min_size: Value = None,
    data_format: Value = None,
    require_flatten: Value = True,
    weights: Value = None,
    **old: Value,
) -> Value:
    """The input shape of an application: the stated one if it will do, else the default. ValueError as Keras'."""
    data_format = old.get("dim_ordering", data_format)
    require_flatten = old.get("include_top", require_flatten)
    first = data_format in ("channels_first", "th")
    if data_format is None:
        first = session_of(run).data_format == "channels_first"
    if isinstance(input_shape, Unknown) or isinstance(require_flatten, Unknown):
        return input_shape if isinstance(input_shape, Unknown) else require_flatten
    channels: Value = 3
    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        channels = input_shape[0 if first else -1]
    default = (channels, default_size, default_size) if first else (default_size, default_size, channels)
    if weights == "imagenet" and require_flatten:
        return default
    if not input_shape:
        open_sizes = (3, None, None) if first else (None, None, 3)
        return default if require_flatten else open_sizes
    sides = input_shape[1:] if first else input_shape[:-1]
    for side in sides:
        if isinstance(side, int) and isinstance(min_size, int) and side < min_size:
            raise ValueError(f"Input size must be at least {min_size}x{min_size}")
        if side is None and require_flatten:
            raise ValueError("If `include_top` is True, you should specify a static `input_shape`.")
    return input_shape


def correct_pad(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """((top, bottom), (left, right)) in front of a strided convolution without padding.

    `correct_pad(inputs, kernel_size)`, or with the backend in front as keras_applications had it.
    """
    given = [value for value in args if isinstance(value, (Tensor, Unknown, int, tuple, list))]
    inputs, kernel = (*given, kwargs.get("inputs"), kwargs.get("kernel_size"))[:2]
    if not isinstance(inputs, Tensor) or not isinstance(inputs.shape, tuple):
        return run.unknown("the padding of an unknown input is not known")
    first = session_of(run).data_format == "channels_first"
    sides = inputs.shape[2:4] if first else inputs.shape[1:3]
    sizes: Any = (kernel, kernel) if isinstance(kernel, int) else kernel
    pads = []
    for side, size in zip(sides, sizes, strict=True):
        adjust = 1 - side % 2 if isinstance(side, int) else 1
        pads.append((size // 2 - adjust, size // 2))
    return tuple(pads)


def preprocess_input(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
    """Scaling and shifting: the shape stays."""
    return (
        unary(run, x, kind="scale", function="preprocess_input")
        if isinstance(x, Tensor) and x.framework == "keras"
        else x
    )


def decode_predictions(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """What a network predicts, which is not known."""
    return run.unknown("predictions are not known")


MEMBERS: dict[str, Value] = {
    "_obtain_input_shape": Native("_obtain_input_shape", obtain_input_shape, propagate_unknown=False),
    "obtain_input_shape": Native("obtain_input_shape", obtain_input_shape, propagate_unknown=False),
    "correct_pad": Native("correct_pad", correct_pad, propagate_unknown=False),
    "preprocess_input": Native("preprocess_input", preprocess_input, propagate_unknown=False),
    "decode_predictions": Native("decode_predictions", decode_predictions, propagate_unknown=False),
}


def find(name: str) -> Value:
    """A name of the modules around `keras.applications`, or MISSING."""
    return MEMBERS.get(name, MISSING)
