"""Products of matrices and arrays, attention, and convolutions as `jax.lax` has them."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.arrays import apply, as_array, axes, plain, promoted, shape_of
from flake8_cnnmem.frameworks.flax.jax.elementwise import ACTIVATIONS, NUMPY, binary, define
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Broadcast, Einsum, Matmul, Permute, Reduce, Reshape, ScaledDotProduct
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


@define(NUMPY, "matmul")
def matmul(run: Runtime, a: Value, b: Value, **options: Value) -> Value:
    """(..., n, k) by (..., k, m) to (..., n, m)."""
    return apply(run, Matmul(), a, b, function="matmul", dtypes=[promoted(a, b)])


@define(NUMPY, "dot")
def dot(run: Runtime, a: Value, b: Value, **options: Value) -> Value:
    """The last axis of one with the last but one of the other, whatever their ranks; with a number a product."""
    left, right = shape_of(run, a), shape_of(run, b)
    if left == () or right == ():
        return binary(run, a, b, kind="multiply", name="dot")
    if isinstance(right, tuple) and isinstance(left, tuple) and len(right) > 2:
        return tensordot(run, a, b, ((len(left) - 1,), (len(right) - 2,)))
    return apply(run, Matmul(), a, b, function="dot", dtypes=[promoted(a, b)])


@define(NUMPY, "einsum")
def einsum(run: Runtime, subscripts: Value, *operands: Value, **options: Value) -> Value:
    """Products of arrays by an equation."""
    if not isinstance(subscripts, (str, Unknown)):
        return run.unknown("an einsum without a text is not followed")
    return apply(run, Einsum(subscripts), *operands, function="einsum", dtypes=[promoted(*operands)])  # type: ignore[arg-type]


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@define(NUMPY, "tensordot")
def tensordot(run: Runtime, a: Value, b: Value, axes: Value = 2, **options: Value) -> Value:
    """Sums over the given axes of both; the others are joined."""
    left, right, given = shape_of(run, a), shape_of(run, b), plain(axes)
    if isinstance(left, Unknown) or isinstance(right, Unknown) or isinstance(given, (Unknown, Tensor)):
        return apply(run, Matmul(), a, b, function="tensordot")
    if isinstance(given, int):
        first, second = tuple(range(len(left) - given, len(left))), tuple(range(given))
    else:
        first, second = ((each,) if isinstance(each, int) else tuple(each) for each in given)
    names = list(LETTERS[: len(left)])
    sums = {axis % len(right): names[at % len(left)] for at, axis in zip(first, second, strict=True)}
    others = [sums.get(axis, LETTERS[len(left) + axis]) for axis in range(len(right))]
    output = [name for name in (*names, *others) if name not in set(sums.values())]
    equation = f"{''.join(names)},{''.join(others)}->{''.join(output)}"
    return apply(run, Einsum(equation), a, b, function="tensordot", dtypes=[promoted(a, b)])


@define(NUMPY, "inner")
def inner(run: Runtime, a: Value, b: Value, **options: Value) -> Value:
    """A product over the last axes of both."""
    return tensordot(run, a, b, ((-1,), (-1,)))


@define(NUMPY, "vdot")
def vdot(run: Runtime, a: Value, b: Value, **options: Value) -> Value:
    """The product of all values of both: ()."""
    return apply(run, Reduce("sum"), binary(run, a, b, kind="multiply", name="vdot"), function="vdot")


@define(NUMPY, "outer")
def outer(run: Runtime, a: Value, b: Value, out: Value = None) -> Value:
    """Each value of a with each of b: (values of a, values of b)."""
    column = apply(run, Reshape((-1, 1)), a, function="reshape")
    return apply(run, Broadcast("multiply"), column, apply(run, Reshape((1, -1)), b, function="reshape"))


def heads_first(run: Runtime, x: Value) -> Value:
    """(..., positions, heads, features) -> (..., heads, positions, features)."""
    shape = shape_of(run, x)
    if isinstance(shape, Unknown) or len(shape) < 3:
        return x
    rank = len(shape)
    return apply(run, Permute((*range(rank - 3), rank - 2, rank - 3, rank - 1)), x, function="transpose")


def attend(run: Runtime, query: Value, key: Value, value: Value, *, dropout: Value = 0.0, name: str) -> Value:
    """(..., positions, heads, features) of each -> the same of the values' features, for each position of the query."""
    moved = [heads_first(run, as_array(run, each)) for each in (query, key, value)]
    op = ScaledDotProduct(dropout if isinstance(dropout, (int, float, Unknown)) else 0.0, fused=False, grouped=True)
    found = apply(run, op, *moved, function=name, dtypes=[promoted(query, value)])
    return heads_first(run, found)


@define(ACTIVATIONS, "dot_product_attention")
def dot_product_attention(
    run: Runtime, query: Value, key: Value, value: Value, bias: Value = None, mask: Value = None,
    broadcast_dropout: Value = True, dropout_rng: Value = None, dropout_rate: Value = 0.0,
    deterministic: Value = False, *args: Value, **options: Value,
) -> Value:  # fmt: skip
    """Flax's and JAX's have the same operands, in the same order of axes."""
    rate = 0.0 if asked(deterministic) is True else dropout_rate
    return attend(run, query, key, value, dropout=rate, name="dot_product_attention")


@define(ACTIVATIONS, "dot_product_attention_weights")
def dot_product_attention_weights(run: Runtime, query: Value, key: Value, *args: Value, **options: Value) -> Value:
    """The probabilities: (..., heads, positions of the query, positions of the key)."""
    moved = [heads_first(run, as_array(run, each)) for each in (query, key)]
    shape = shape_of(run, moved[1])
    if isinstance(shape, Unknown):
        return shape
    order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    turned = apply(run, Permute(order), moved[1], function="transpose")
    return apply(run, Matmul(), moved[0], turned, function="dot_product_attention_weights")


def norm(run: Runtime, x: Value, ord: Value = None, axis: Value = None, keepdims: Value = False) -> Value:
    """`jax.numpy.linalg.norm`."""
    return apply(run, Reduce("norm", axes(axis), asked(keepdims)), x, function="norm")
