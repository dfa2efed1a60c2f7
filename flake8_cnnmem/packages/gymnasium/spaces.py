"""gymnasium.spaces: what is observed and what may be done, by their sizes. No value of either is known."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import product
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.frameworks.numpy.dtypes import dtype_object, name_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.gymnasium.environments import Sizes
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

MODULE = "gymnasium.spaces"
NOT_KNOWN = "what an environment gives is not known"


def seeing(name: str, function: object) -> Native:
    """A native that sees unknowns."""
    assert callable(function)
    return Native(name, function, propagate_unknown=False)


def nothing(run: Runtime, self: Instance, *args: Value, **options: Value) -> None:
    """What changes no size."""


def sample(run: Runtime, self: Instance, *args: Value, **options: Value) -> Value:
    """`space.sample()`: a random value of it."""
    return value_of(run, self)


def value_of(run: Runtime, space: Value) -> Value:
    """A value of a space: an array of its shape, a number, or a tuple or dict of such."""
    if not isinstance(space, Instance):
        return space if isinstance(space, Unknown) else run.unknown(NOT_KNOWN)
    held = space.attributes
    if space.cls.derives_from(DISCRETE):
        number, start = held.get("n"), held.get("start", 0)
        most = number - 1 + start if isinstance(number, int) and isinstance(start, int) else None
        return run.unknown(NOT_KNOWN).drawn("int", start, most, True)
    if space.cls.derives_from(TUPLE):
        parts = run.items(held.get("spaces"))
        return parts if isinstance(parts, Unknown) else tuple(value_of(run, part) for part in parts)
    if space.cls.derives_from(DICT) and isinstance(held.get("spaces"), dict):
        return {name: value_of(run, part) for name, part in held["spaces"].items()}
    shape: Value = held.get("shape")
    dtype = held.get("dtype")
    if not isinstance(shape, tuple):
        return run.unknown(NOT_KNOWN)
    return Tensor(shape, name_of(dtype) or "float32", framework="numpy")


SPACE = native_class("Space", {"sample": seeing("sample", sample), "seed": seeing("seed", nothing)}, module=MODULE)


def shape_of_bounds(run: Runtime, *bounds: Value) -> Value:
    """The shape of the arrays among a box's bounds; of numbers that of one."""
    arrays = [bound for bound in bounds if isinstance(bound, (Tensor, Unknown))]
    return run.get(arrays[0], "shape") if arrays else (1,)


def make_box(
    run: Runtime, self: Instance, low: Value = None, high: Value = None, shape: Value = None, dtype: Value = "float32",
    seed: Value = None,
) -> None:  # fmt: skip
    """`Box(low, high, shape=None, dtype=float32)`: the bounds' shape where none is given."""
    found: Any = shape_of_bounds(run, low, high) if shape is None else shape
    found = tuple(found) if isinstance(found, list) else found
    kind = name_of(dtype) or "float32"
    bounds = {name: Tensor(found, kind, framework="numpy") for name in ("low", "high")}
    self.attributes.update(shape=found, dtype=dtype_object(kind), **bounds)


def make_discrete(run: Runtime, self: Instance, n: Value, seed: Value = None, start: Value = 0) -> None:
    """`Discrete(n, start=0)`: `n` numbers from `start` on."""
    self.attributes.update(n=n, start=start, shape=(), dtype=dtype_object("int64"))


def make_counted(kind: str) -> Native:
    """The constructor of a space of several numbers: `MultiDiscrete(nvec)`, `MultiBinary(n)`."""

    def make(run: Runtime, self: Instance, counts: Value, *args: Value, **options: Value) -> None:
        items = run.items(counts) if isinstance(counts, (list, tuple)) else None
        shape: Value
        if kind == "nvec":
            shape = (len(items),) if isinstance(items, list) else run.unknown(NOT_KNOWN)
        else:
            shape = tuple(items) if isinstance(items, list) else (counts,)
        dtype = dtype_object("int64" if kind == "nvec" else "int8")
        self.attributes.update({kind: counts, "shape": shape, "dtype": dtype})

    return seeing("__init__", make)


def make_parts(run: Runtime, self: Instance, spaces: Value = None, *args: Value, **named: Value) -> None:
    """`Tuple(spaces)`, `Dict(spaces)`, `Dict(name=space, ...)`"""
    self.attributes["spaces"] = named if spaces is None else spaces


def part(run: Runtime, self: Instance, key: Value) -> Value:
    """`space[key]`"""
    return run.index(self.attributes.get("spaces"), key)


BOX = native_class("Box", {"__init__": seeing("__init__", make_box)}, SPACE, module=MODULE)
DISCRETE = native_class("Discrete", {"__init__": seeing("__init__", make_discrete)}, SPACE, module=MODULE)
MULTI_DISCRETE = native_class("MultiDiscrete", {"__init__": make_counted("nvec")}, SPACE, module=MODULE)
MULTI_BINARY = native_class("MultiBinary", {"__init__": make_counted("n")}, SPACE, module=MODULE)
PARTS = {"__init__": seeing("__init__", make_parts), "__getitem__": seeing("__getitem__", part)}
TUPLE = native_class("Tuple", dict(PARTS), SPACE, module=MODULE)
DICT = native_class("Dict", dict(PARTS), SPACE, module=MODULE)


def space(run: Runtime, sizes: Sizes) -> Value:
    """A space of these sizes."""
    if sizes.choices is not None:
        return run.construct(DISCRETE, sizes.choices)
    return box(run, sizes.shape, sizes.dtype)


def box(run: Runtime, shape: Value, dtype: Value) -> Value:
    """A box of this shape."""
    return run.construct(BOX, None, None, shape, dtype)


def like(run: Runtime, space: Value, shape: Value) -> Value:
    """A box of another shape, of the same dtype."""
    return box(run, shape, run.get(space, "dtype"))


def flat(run: Runtime, space: Value) -> Value:
    """`gymnasium.spaces.utils.flatdim(space)`: how many numbers a value has as a row; a choice is as wide as there are
    choices."""
    if not isinstance(space, Instance):
        return space if isinstance(space, Unknown) else run.unknown(NOT_KNOWN)
    if space.cls.derives_from(DISCRETE):
        return space.attributes.get("n")
    shape = space.attributes.get("shape")
    if not isinstance(shape, tuple):
        return run.unknown(NOT_KNOWN)
    return product(shape)


NAMES: dict[str, Value] = {
    "Space": SPACE, "Box": BOX, "Discrete": DISCRETE, "MultiDiscrete": MULTI_DISCRETE, "MultiBinary": MULTI_BINARY,
    "Tuple": TUPLE, "Dict": DICT, "flatdim": seeing("flatdim", flat),
}  # fmt: skip
