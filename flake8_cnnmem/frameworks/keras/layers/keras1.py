"""Keras 1's layer names whose arguments stood in another order: `Convolution2D(64, 3, 3, border_mode="same")`.

Each derives from the layer of today that it is, so that `isinstance(layer, Conv2D)` holds. Keras 2 and 3 keep
the old names for the new layers, so the old order is assumed only where the arguments can mean nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.keras.layers import convolutional, merging
from flake8_cnnmem.frameworks.keras.legacy import KERAS_1
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.frameworks.keras.tracking import MERGE
from flake8_cnnmem.values import Class, Instance, Native, Run, Value

OLD_WORDS = frozenset(KERAS_1) - {"mode", "alpha", "output_shape", "interpolation", "sparse", "arguments"}


def convolution_arguments(
    rank: int, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """(filters, rows, columns, ...) as (filters, (rows, columns), ...)."""
    words = ("kernel_dim1", "kernel_dim2", "kernel_dim3") if rank == 3 else ("nb_row", "nb_col")
    if any(word in kwargs for word in words[:rank]):
        kwargs = dict(kwargs)
        sides = list(args[1 : 1 + rank])
        sides += [kwargs.pop(word) for word in words[len(sides) : rank] if word in kwargs]
        return args[:1], {**kwargs, "kernel_size": tuple(sides)}
    if len(args) > rank and all(not isinstance(side, (list, tuple)) for side in args[1 : rank + 1]):
        sides = args[1 : rank + 1]  # type: ignore[assignment]
        rest = args[rank + 1 :]
        kwargs = dict(kwargs)
        # behind the sides Keras 1 had: init, activation, weights, border_mode, subsample
        for word, value in zip(("init", "activation", "weights", "border_mode", "subsample"), rest, strict=False):
            kwargs[word] = value
        return (args[0], tuple(sides)), kwargs
    return args, kwargs


def renamed(old: str, today: Class, rank: int, always: bool = False) -> Class:
    """A class under an old name. `always`: the name exists in Keras 1 only."""
    init: Callable[..., None] = today.namespace["__init__"].function

    def initialise(run: Run, self: Instance, *args: Value, **kwargs: Value) -> None:
        in_old_order = len(args) > rank > 1
        if always or in_old_order or any(word in OLD_WORDS for word in kwargs):
            args, kwargs = convolution_arguments(rank, args, kwargs)
        init(run, self, *args, **kwargs)

    cls = Class(today.name, (today,), {"__init__": Native("__init__", initialise, absorb=False)}, module="keras.layers")
    LAYERS[old] = cls
    return cls


Convolution1D = renamed("Convolution1D", convolutional.Conv1D, 1)
Convolution2D = renamed("Convolution2D", convolutional.Conv2D, 2)
Convolution3D = renamed("Convolution3D", convolutional.Conv3D, 3)
Deconvolution2D = renamed("Deconvolution2D", convolutional.Conv2DTranspose, 2, always=True)
Deconvolution3D = renamed("Deconvolution3D", convolutional.Conv3DTranspose, 3, always=True)
AtrousConvolution1D = renamed("AtrousConvolution1D", convolutional.Conv1D, 1, always=True)
AtrousConvolution2D = renamed("AtrousConvolution2D", convolutional.Conv2D, 2, always=True)
AtrousConv2D = renamed("AtrousConv2D", convolutional.Conv2D, 2, always=True)
SeparableConvolution2D = renamed("SeparableConvolution2D", convolutional.SeparableConv2D, 2)
"""Keras 1's default padding was "valid" and its default stride 1, as today."""


def merge_init(
    run: Run, self: Instance, layers: Value = None, mode: Value = "sum", concat_axis: Value = -1, **options: Value
) -> None:
    """Keras 1's `Merge([left, right], mode="concat")`: a merge whose inputs are the outputs of other models."""
    cls = merging.MODES.get(mode) if isinstance(mode, str) else None
    if cls is None:
        raise TypeError(f"Merge has no mode {mode!r}")
    arguments = {"axis": concat_axis} if cls is merging.Concatenate else {"axes": -1} if cls is merging.Dot else {}
    self.cls = cls
    cls.namespace["__init__"].function(
        run, self, **arguments, **{word: options[word] for word in ("name",) if word in options}
    )
    if isinstance(layers, (list, tuple)):
        self.attributes["layers"] = list(layers)


MERGE_LAYER = Class(
    "Merge", (MERGE,), {"__init__": Native("__init__", merge_init, absorb=False)}, module="keras.layers"
)
