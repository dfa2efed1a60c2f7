"""Arrays made from values and from nothing: `array`, `zeros`, `arange`; and the table of numpy's functions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

from flake8_cnnmem.dims import Shape, Size, as_size
from flake8_cnnmem.frameworks.distances import note_range
from flake8_cnnmem.frameworks.numpy import shapes
from flake8_cnnmem.frameworks.numpy.arithmetic import written
from flake8_cnnmem.frameworks.numpy.arrays import KEPT, as_array, count, flat_of, make, plain, sizes, with_values_of
from flake8_cnnmem.frameworks.numpy.dtypes import common, dtype_of_value, name_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

FUNCTIONS: dict[str, Value] = {}

F = TypeVar("F", bound=Callable[..., Any])


def function(*names: str, propagate_unknown: bool = True) -> Callable[[F], F]:
    """Enter a function under these names."""

    def enter(body: F) -> F:
        for name in names:
            FUNCTIONS[name] = Native(name, into_out(body), propagate_unknown)
        return body

    return enter


def into_out(body: F) -> F:
    """A function that may be told where to write its result: `numpy.add(a, b, out=c)`."""

    @functools.wraps(body)
    def told(run: Runtime, *args: Any, **kwargs: Any) -> Any:
        made = body(run, *args, **kwargs)
        out = kwargs.get("out") if kwargs else None
        return written(run, out, made) if isinstance(out, Tensor) and out.framework == "numpy" else made

    return told  # type: ignore[return-value]


# Making arrays


@function("array", "copy", "asfarray", "mat", propagate_unknown=False)
def array(run: Runtime, object: Value, dtype: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`numpy.array(object, dtype)`: with values of its own, unless `copy` says otherwise."""
    made = asarray(run, object, dtype, **kwargs)
    if not isinstance(object, Tensor) or not isinstance(made, Tensor) or made.data is None:
        return made
    if args[:1] == (False,) or kwargs.get("copy", True) in (False, None):
        return made
    return with_values_of(make(made.shape, flat_of(made), made.dtype), made)


@function("asarray", "asanyarray", "ascontiguousarray", "require", "asfortranarray", propagate_unknown=False)
def asarray(run: Runtime, object: Value, dtype: Value = None, *args: Value, copy: Value = None, order: Value = None,
          ndmin: Value = 0, **kwargs: Value) -> Value:  # fmt: skip
    """`numpy.array(object, dtype)`: with its values where they are known and few, with `ndmin` axes at least."""
    made = as_array(run, object, name_of(dtype))
    return shapes.at_least(run, made, ndmin) if isinstance(ndmin, int) and ndmin and isinstance(made, Tensor) else made


def filled(name: str, value: Value) -> None:
    """Enter `zeros`, `ones` or `empty`, and its `_like`, by the value that they fill in (None: not known)."""

    @function(name, propagate_unknown=False)
    def from_shape(run: Runtime, shape: Value, dtype: Value = None, order: Value = None, **kwargs: Value) -> Value:
        return constant(run, shape, value, name_of(dtype) or "float64")

    @function(f"{name}_like")
    def from_array(
        run: Runtime, a: Value, dtype: Value = None, order: Value = None, subok: Value = True, shape: Value = None
    ) -> Value:
        own = as_array(run, a)
        if isinstance(own, Unknown):
            return own
        return constant(run, own.shape if shape is None else shape, value, name_of(dtype) or own.dtype)


def plain_size(run: Runtime, value: Value) -> Size:
    """A length as a size; Unknown for what is no whole number."""
    return as_size(value, run.unknown("a length is no whole number"))


def constant(run: Runtime, shape: Value, value: Value, dtype: str) -> Value:
    """An array of one value, of a shape given as a number, tuple or list."""
    if isinstance(shape, Unknown) and shape.number != "int":
        return shape
    found: Shape | Unknown = (shape,) if isinstance(shape, Unknown) else sizes(run, shape)
    total = count(found)
    return make(found, [value] * total if total is not None and total <= KEPT and value is not None else None, dtype)


filled("zeros", 0)
filled("ones", 1)
filled("empty", None)


@function("full")
def full(run: Runtime, shape: Value, fill_value: Value, dtype: Value = None, **kwargs: Value) -> Value:
    """`numpy.full(shape, fill_value, dtype)`"""
    return constant(run, shape, plain(fill_value), name_of(dtype) or dtype_of_value(fill_value))


@function("full_like")
def full_like(run: Runtime, a: Value, fill_value: Value, dtype: Value = None, **kwargs: Value) -> Value:
    """`numpy.full_like(a, fill_value, dtype)`"""
    own = as_array(run, a)
    return own if isinstance(own, Unknown) else constant(run, own.shape, plain(fill_value), name_of(dtype) or own.dtype)


@function("eye", "identity")
def eye(run: Runtime, N: Value, M: Value = None, k: Value = 0, dtype: Value = None, **kwargs: Value) -> Value:
    """`numpy.eye(N, M, k)`: (N, M), float64 unless a dtype is said."""
    columns = N if M is None else M
    kind = name_of(dtype) or "float64"
    if isinstance(N, int) and isinstance(columns, int) and isinstance(k, int) and 0 <= N * columns <= KEPT:
        return make(
            (int(N), int(columns)), [int(column - row == k) for row in range(N) for column in range(columns)], kind
        )
    return make(tuple(plain_size(run, each) for each in (N, columns)), None, kind)


@function("arange", propagate_unknown=False)
def arange(run: Runtime, *bounds: Value, dtype: Value = None, **kwargs: Value) -> Value:
    """`numpy.arange(start, stop, step, dtype)`: one axis; with its values where they are few."""
    given = [0, *bounds] if len(bounds) == 1 else list(bounds)
    if len(given) == 4:
        dtype = given[3]
    start, stop, step = [*given, 1][:3]
    start, stop, step = plain(start), plain(stop), plain(step)
    unclear = next((each for each in (start, stop, step) if isinstance(each, Unknown) and each.number != "int"), None)
    if unclear is not None:
        return unclear
    kind = name_of(dtype) or common(
        "int64" if isinstance(each, Unknown) else dtype_of_value(each) for each in (start, stop, step)
    )
    if not all(isinstance(each, (int, float)) for each in (start, stop, step)):
        unknown = run.unknown("the length of arange is not known")
        made = make((as_size(stop, unknown) if start == 0 and step == 1 else unknown,), None, kind)
        note_range(run, made, unknown, step)
        return made
    length = max(math.ceil((stop - start) / step), 0)
    return make((length,), [start + at * step for at in range(length)] if length <= KEPT else None, kind)


@function("memmap", propagate_unknown=False)
def memmap(run: Runtime, filename: Value, dtype: Value = None, mode: Value = None, offset: Value = 0,
           shape: Value = None, order: Value = "C") -> Value:  # fmt: skip
    """A file as an array of bytes unless the code says otherwise, whichever file it is: one long row without a
    shape."""
    if isinstance(dtype, Unknown) or isinstance(shape, Unknown):
        return dtype if isinstance(dtype, Unknown) else shape
    if shape is not None:
        return constant(run, shape, None, name_of(dtype) or "uint8")
    return row_of_file(run, dtype, "uint8")


@function("fromfile", propagate_unknown=False)
def fromfile(run: Runtime, file: Value, dtype: Value = None, count: Value = -1, sep: Value = "", offset: Value = 0,
             *, like: Value = None) -> Value:  # fmt: skip
    """The values of a file in one row: float64 unless a dtype is said, `count` of them or all."""
    if isinstance(dtype, Unknown):
        return dtype
    if count == -1:
        return row_of_file(run, dtype, "float64")
    return make((plain_size(run, count),), None, name_of(dtype) or "float64")


def row_of_file(run: Runtime, dtype: Value, default: str) -> Tensor:
    """All that a file holds."""
    return make((run.unknown("how many values a file holds is not known"),), None, name_of(dtype) or default)


@function("linspace", "geomspace", "logspace")
def linspace(run: Runtime, start: Value, stop: Value, num: Value = 50, endpoint: Value = True, retstep: Value = False,
             dtype: Value = None, **kwargs: Value) -> Value:  # fmt: skip
    """`numpy.linspace(start, stop, num)`: (num,), float64."""
    kind = name_of(dtype) or "float64"
    start, stop = plain(start), plain(stop)
    if (
        not isinstance(num, int)
        or num > KEPT
        or not isinstance(start, (int, float))
        or not isinstance(stop, (int, float))
    ):
        return make((plain_size(run, num),), None, kind)
    step = (stop - start) / max(num - (endpoint is True), 1)
    values = [start + at * step for at in range(num)]
    if endpoint is True and num > 1:
        values[-1] = float(stop)
    return make((num,), values, kind)
