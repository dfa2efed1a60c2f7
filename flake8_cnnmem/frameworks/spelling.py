"""How programs of a framework write what decides sizes: the functions that are told an axis, the options of layers.

Rules that try small edits of a text read these tables; a name stands in them without its module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Spelling:
    """Names that a framework has for what decides sizes."""

    axis: Mapping[str, int]
    """What is told an axis, and at which place of a method's arguments (of a function's one behind its tensor)."""
    axis_named: tuple[str, ...]
    """The keywords that say an axis."""
    function_axis: frozenset[str]
    """Those of `axis` that are no methods: the place counts from the call's first argument, however they are called."""
    joins: frozenset[str]
    """What joins a list of tensors."""
    by_samples: frozenset[str] = field(default=frozenset(), kw_only=True)
    """What takes tensors apart or together along their first axis where it is told none."""
    orders: frozenset[str]
    """What puts axes in another order."""
    whole_orders: frozenset[str]
    """Those of `orders` that are told every axis."""
    transposing: str
    """The text behind a tensor of three axes that exchanges the last two; empty where it is no method."""
    inserting: frozenset[str]
    """What puts an axis of one value in."""
    left_out: frozenset[str]
    """Methods that change the axes alone, and that a program may have too many of."""
    switches: Mapping[str, tuple[str, ...]]
    """By layer: the switches that decide shapes. Whoever switches one on means it: it is forgotten rather."""
    keeps: Mapping[str, str]
    """What takes an axis away, and the keyword by which it is kept."""
    windows: frozenset[str]
    """The keywords of layers that say a window, a stride, a padding, a factor."""
    window_layers: tuple[str, ...]
    """Words in the names of layers that have windows."""
    convolution: str
    """The word in the names of convolutions."""
    transposed: str
    """The word in the names of transposed convolutions."""
    stride: str
    """The keyword for a stride."""
    same: str
    """The text for the padding that keeps the sides; empty where it is a number."""
    adaptive: str = ""
    """The word at the beginning of the names of poolings that are told the size which they give."""
    widths_of_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By layer: the keywords for the widths of an attention's keys and values."""
    axis_behind: str = ""
    """The text behind a tensor that puts an axis of one value in at a place; empty where it is no method."""
    reshapes: frozenset[str] = frozenset()
    """Methods and functions that give a tensor other axes, told one by one."""
    axis_away: str = ""
    """The text behind a tensor that takes an axis of one value away; empty where it is no method."""
    flattening: str = ""
    """The text behind a tensor that makes one of all axes but the first; empty where it is no method."""
    permuting: str = ""
    """The text behind a tensor that puts its axes in the order of those named; empty where it is no method."""
    stacks: Mapping[str, str] = field(default_factory=dict)
    """What joins tensors along an axis of their own and what joins them along one that they have, by one another."""
    inputs: frozenset[str] = frozenset()
    """The layers that state an input."""
    of_arrays: frozenset[str] = frozenset()
    """What makes a tensor of an array."""
    made: frozenset[str] = frozenset()
    """What data is made by in programs that show how a model is used."""


ARRAY_AXES = {
    "concatenate": 1, "stack": 1, "sum": 0, "mean": 0, "max": 0, "min": 0, "squeeze": 0, "expand_dims": 1, "split": 1,
    "argmax": 0,
}  # fmt: skip

MADE = frozenset(
    ("randn", "rand", "zeros", "ones", "empty", "full", "normal", "randint", "random", "uniform", "standard_normal",
     "integers", "random_normal")
)  # fmt: skip
"""What arrays are made by, here and in numpy."""

ARRAYS = Spelling(
    axis=ARRAY_AXES,
    axis_named=("axis",),
    function_axis=frozenset(("concatenate", "stack", "expand_dims")),
    joins=frozenset(("concatenate",)),
    orders=frozenset(("transpose", "swapaxes")),
    whole_orders=frozenset(("transpose",)),
    transposing=".swapaxes(1, 2)",
    inserting=frozenset(("expand_dims",)),
    left_out=frozenset(("squeeze", "transpose", "repeat")),
    switches={},
    keeps=dict.fromkeys(("sum", "mean", "max", "min"), "keepdims"),
    windows=frozenset(("strides", "padding", "kernel_size", "kernel_dilation")),
    window_layers=("Conv", "pool"),
    convolution="Conv",
    transposed="ConvTranspose",
    stride="strides",
    same='"SAME"',
    stacks={"stack": "concatenate", "concatenate": "stack"},
    made=MADE,
)
"""Names that numpy has, and those that follow it; with layers whose convolutions are told their filters alone."""
