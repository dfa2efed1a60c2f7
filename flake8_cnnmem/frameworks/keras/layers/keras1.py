"""Keras 1's layer names whose arguments stood in another order: `Convolution2D(64, 3, 3, border_mode="same")`.

Each derives from the layer of today that it is, so that `isinstance(layer, Conv2D)` holds. Keras 2 and 3 keep
the old names for the new layers, so the old order is assumed only where the arguments can mean nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.keras.layers import convolutional, core, merging
from flake8_cnnmem.frameworks.keras.legacy import in_todays_order
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.frameworks.keras.tracking import MERGE
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value


def renamed(old: str, today: Class, rank: int, always: bool = False) -> Class:
    """A class under an old name. `always`: the name exists in Keras 1 only."""
    init: Callable[..., None] = today.namespace["__init__"].function

    def initialise(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
        if always or len(args) > rank > 1:
            args, kwargs = in_todays_order(rank, args, kwargs, today.facts["stub"].names)
        init(run, self, *args, **kwargs)

    cls = Class(
        today.name,
        (today,),
        {"__init__": Native("__init__", initialise, propagate_unknown=False)},
        module="keras.layers",
    )
    LAYERS[old] = cls
    return cls


Convolution1D = renamed("Convolution1D", convolutional.Conv1D, 1)
Convolution2D = renamed("Convolution2D", convolutional.Conv2D, 2)
Convolution3D = renamed("Convolution3D", convolutional.Conv3D, 3)
Deconvolution2D = renamed("Deconvolution2D", convolutional.Conv2DTranspose, 2, always=True)
Deconvolution3D = renamed("Deconvolution3D", convolutional.Conv3DTranspose, 3, always=True)
AtrousConvolution1D = renamed("AtrousConvolution1D", convolutional.Conv1D, 1, always=True)
AtrousConvolution2D = renamed("AtrousConvolution2D", convolutional.Conv2D, 2, always=True)
SeparableConvolution2D = renamed("SeparableConvolution2D", convolutional.SeparableConv2D, 2)
for _short, _long in (("Deconv2D", Deconvolution2D), ("Deconv3D", Deconvolution3D),
                      ("AtrousConv1D", AtrousConvolution1D), ("AtrousConv2D", AtrousConvolution2D)):  # fmt: skip
    LAYERS[_short] = _long
LAYERS["TimeDistributedDense"] = core.Dense
"""Keras 1's default padding was "valid" and its default stride 1, as today."""


def merge_init(
    run: Runtime, self: Instance, layers: Value = None, mode: Value = "sum", concat_axis: Value = -1, **options: Value
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
    "Merge", (MERGE,), {"__init__": Native("__init__", merge_init, propagate_unknown=False)}, module="keras.layers"
)


def merge_function(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    """The result of a `Merge` layer's own `_merge_function`."""
    return run.call(run.get(self, "_merge_function"), inputs)


OWN_MERGE = Class(
    "_Merge", (MERGE,), {"call": Native("call", merge_function, propagate_unknown=False)}, module="keras.layers"
)
"""The base of a merge layer of one's own, whose `_merge_function` says what it does."""
