"""Reductions over axes, and what orders values along one."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.arrays import apply, axes, dtype_named, floating, plain, promoted, shape_of
from flake8_cnnmem.frameworks.flax.jax.elementwise import ACTIVATIONS, NUMPY, define
from flake8_cnnmem.ops import Elementwise, Reduce, Sort, TopK
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

REDUCTIONS = {
    "sum": "sum", "mean": "mean", "average": "mean", "max": "max", "min": "min", "amax": "max", "amin": "min",
    "prod": "prod", "var": "var", "std": "std", "median": "median", "nansum": "sum", "nanmean": "mean",
    "nanmax": "max", "nanmin": "min",
    "nanvar": "var", "nanstd": "std", "nanmedian": "median", "nanprod": "prod",
    "any": "any", "all": "all", "argmax": "argmax", "argmin": "argmin",
    "count_nonzero": "count_nonzero", "ptp": "max", "percentile": "median", "quantile": "median",
}  # fmt: skip
"""Functions of jax.numpy, and the kind of op that each is."""

WHOLE = {"any": "bool", "all": "bool", "argmax": "int32", "argmin": "int32", "count_nonzero": "int32"}
"""The dtypes of those that give no values of their input."""

FRACTIONS = frozenset({"mean", "var", "std", "median"})


def reduce(
    run: Runtime, x: Value, axis: Value, keepdims: Value, *, kind: str, name: str, dtype: Value = None
) -> Value:  # fmt: skip
    """A reduction over axes (None: all), which stay as size 1 with `keepdims`."""
    own = WHOLE.get(kind) or (floating(x) if kind in FRACTIONS else promoted(x))
    if kind in ("sum", "prod") and own == "bool":
        own = "int32"
    return apply(run, Reduce(kind, axes(axis), asked(keepdims)), x, function=name, dtypes=[dtype_named(dtype, own)])


def declare(name: str, kind: str) -> None:
    """Enter a reduction by its name, and the kind of its op."""
    if name in ("percentile", "quantile"):

        @define(NUMPY, name, host=True)
        def quantile(
            run: Runtime, a: Value, q: Value, axis: Value = None, keepdims: Value = False, **_: Value
        ) -> Value:
            if shape_of(run, q) != ():
                return run.unknown(f"{name} at several places is not followed")
            return reduce(run, a, axis, keepdims, kind=kind, name=name)

        return

    @define(NUMPY, name, host=True)
    def function(
        run: Runtime, a: Value, axis: Value = None, dtype: Value = None, out: Value = None, keepdims: Value = False,
        **options: Value,
    ) -> Value:  # fmt: skip
        # Of those without a dtype the third argument is another one; none of them changes a shape.
        return reduce(run, a, axis, keepdims, kind=kind, name=name, dtype=dtype if kind in ("sum", "mean") else None)


for _name, _kind in REDUCTIONS.items():
    declare(_name, _kind)


@define(ACTIVATIONS, "logsumexp", "logmeanexp")
def logsumexp(
    run: Runtime, a: Value, axis: Value = None, b: Value = None, keepdims: Value = False, *args: Value, **options: Value
) -> Value:
    """The logarithm of the sum of exponentials over axes."""
    return apply(run, Reduce("logsumexp", axes(axis), asked(keepdims)), a, function="logsumexp", dtypes=[floating(a)])


@define(NUMPY, "cumsum", "cumprod", host=True)
def cumsum(run: Runtime, a: Value, axis: Value = None, *args: Value, **options: Value) -> Value:
    """A running sum along an axis, of the flat array without one."""
    if axis is None:
        a = run.call(NUMPY["ravel"], a)
    return apply(run, Elementwise("cumsum"), a, function="cumsum")


@define(NUMPY, "sort", host=True)
def sort(run: Runtime, a: Value, axis: Value = -1, **options: Value) -> Value:
    """The input's shape."""
    return apply(run, Sort(plain(axis), 1), a, function="sort")


@define(NUMPY, "argsort", host=True)
def argsort(run: Runtime, a: Value, axis: Value = -1, **options: Value) -> Value:
    """The input's shape, int32."""
    return apply(run, Sort(plain(axis), 1), a, function="argsort", dtypes=["int32"])


def top_k(run: Runtime, operand: Value, k: Value, **options: Value) -> Value:
    """`jax.lax.top_k`: the largest values along the last axis, and where they are."""
    count = plain(k)
    if not isinstance(count, (int, Unknown)):
        return run.unknown("how many values are taken is not known")
    result = apply(run, TopK(count), operand, function="top_k", dtypes=[promoted(operand), "int32"])
    return list(result) if isinstance(result, tuple) else result
