"""`numpy.linalg` and `numpy.fft`: which shapes and dtypes they give. No values are worked out, but a norm of a few.

By numpy's documentation: a stack of matrices has them in its last two axes, whole numbers are computed as float64, and
float32 stays float32 (of Fourier transforms since NumPy 2.0). A matrix that must be square and is not is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from flake8_cnnmem.dims import Shape, Size, is_size
from flake8_cnnmem.frameworks.numpy.arithmetic import matmul
from flake8_cnnmem.frameworks.numpy.arrays import as_array, axis_of, flat_of, make, plain, refused
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Property, Value

LINALG: dict[str, Value] = {}
FFT: dict[str, Value] = {}

F = TypeVar("F", bound=Callable[..., Any])


def enter(table: dict[str, Value], *names: str) -> Callable[[F], F]:
    """Enter a function into a namespace under these names."""

    def entered(body: F) -> F:
        table.update((name, Native(name, body)) for name in names)
        return body

    return entered


def computed(array: Tensor) -> str:
    """The dtype in which a matrix is computed."""
    return array.dtype if array.dtype in ("float32", "complex64", "complex128") else "float64"


def real(dtype: str) -> str:
    """The dtype of the parts of such numbers."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def complex_of(dtype: str) -> str:
    """The dtype of complex numbers with parts of this one."""
    return "complex64" if dtype in ("float32", "complex64") else "complex128"


def named(*fields: str) -> type[tuple[Value, ...]]:
    """A named tuple of results, whose fields are read by name as well."""
    read = {name: Property(Native(name, lambda run, self, at=at: self[at])) for at, name in enumerate(fields)}
    return type("Results", (tuple,), {"__slots__": (), "more": read})


UNNAMED: type[tuple[Value, ...]] = tuple
SVD, QR = named("U", "S", "Vh"), named("Q", "R")
EIGENVECTORS, SIGNED = named("eigenvalues", "eigenvectors"), named("sign", "logabsdet")


def matrices(
    run: Runtime, a: Value, shapes: Callable[[Shape, Size, Size], Sequence[tuple[Shape, str]]], square: bool = False,
    results: type[tuple[Value, ...]] = UNNAMED,
) -> Value:  # fmt: skip
    """What is computed of a stack of matrices: `shapes` are given the axes before them, rows and columns, and say for
    each result its shape and its dtype ("": that of the computation, "real": that of its parts). Several are one of
    `results`."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    if isinstance(array.shape, Unknown):
        return array.shape.loose()
    if len(array.shape) < 2:
        what = f"{len(array.shape)}-dimensional array given. Array must be at least two-dimensional"
        raise refused(run, what, array)
    *before, rows, columns = array.shape
    if square and isinstance(rows, int) and isinstance(columns, int) and rows != columns:
        raise refused(run, "Last 2 dimensions of the array must be square", array)
    kind = computed(array)
    dtypes = {"": kind, "real": real(kind)}
    made = [make(shape, None, dtypes.get(dtype, dtype)) for shape, dtype in shapes(tuple(before), rows, columns)]
    return made[0] if len(made) == 1 else results(made)


def smaller(run: Runtime, rows: Size, columns: Size) -> Size:
    """The smaller of the sides of a matrix."""
    if isinstance(rows, int) and isinstance(columns, int):
        return min(rows, columns)
    return rows if rows == columns else run.unknown("the smaller side of a matrix is not known")


@enter(LINALG, "inv", "cholesky")
def inverse(run: Runtime, a: Value) -> Value:
    """(..., M, M) to the same."""
    return matrices(run, a, lambda before, rows, columns: [((*before, rows, columns), "")], square=True)


@enter(LINALG, "matrix_power")
def power(run: Runtime, a: Value, n: Value) -> Value:
    """(..., M, M) to the same."""
    return inverse(run, a)


@enter(LINALG, "pinv")
def pseudo_inverse(run: Runtime, a: Value, rcond: Value = None, hermitian: Value = False) -> Value:
    """(..., M, N) to (..., N, M)."""
    return matrices(run, a, lambda before, rows, columns: [((*before, columns, rows), "")])


@enter(LINALG, "det")
def determinant(run: Runtime, a: Value) -> Value:
    """(..., M, M) to (...)."""
    return matrices(run, a, lambda before, rows, columns: [(before, "")], square=True)


@enter(LINALG, "slogdet")
def signed_logarithm(run: Runtime, a: Value) -> Value:
    """(..., M, M) to twice (...)."""
    return matrices(run, a, lambda before, rows, columns: [(before, ""), (before, "real")], True, SIGNED)


@enter(LINALG, "matrix_rank")
def rank(run: Runtime, A: Value, tol: Value = None, hermitian: Value = False) -> Value:
    """(..., M, N) to (...), whole numbers."""
    return matrices(run, A, lambda before, rows, columns: [(before, "int64")])


@enter(LINALG, "svd")
def singular_values(
    run: Runtime, a: Value, full_matrices: Value = True, compute_uv: Value = True, hermitian: Value = False
) -> Value:
    """(..., M, N) to (..., M, M), (..., K) and (..., N, N), with K for the inner sides unless `full_matrices`."""

    def shapes(before: Shape, rows: Size, columns: Size) -> list[tuple[Shape, str]]:
        inner = smaller(run, rows, columns)
        left, right = (rows, columns) if full_matrices is True else (inner, inner)
        values = ((*before, inner), "real")
        return [((*before, rows, left), ""), values, ((*before, right, columns), "")] if compute_uv else [values]

    return matrices(run, a, shapes, results=SVD)


@enter(LINALG, "svdvals")
def only_singular_values(run: Runtime, x: Value, /) -> Value:
    """(..., M, N) to (..., K), the smaller side."""
    return singular_values(run, x, compute_uv=False)


@enter(LINALG, "qr")
def orthogonal(run: Runtime, a: Value, mode: Value = "reduced") -> Value:
    """(..., M, N) to (..., M, K) and (..., K, N); `complete` has M for K, `r` only the latter."""

    def shapes(before: Shape, rows: Size, columns: Size) -> list[tuple[Shape, str]]:
        inner = rows if mode == "complete" else smaller(run, rows, columns)
        upper = ((*before, inner, columns), "")
        return [upper] if mode == "r" else [((*before, rows, inner), ""), upper]

    return matrices(run, a, shapes, results=QR)


@enter(LINALG, "eigh")
def symmetric_eigenvectors(run: Runtime, a: Value, UPLO: Value = "L") -> Value:
    """(..., M, M) to (..., M) and (..., M, M)."""

    def shapes(before: Shape, rows: Size, columns: Size) -> list[tuple[Shape, str]]:
        return [((*before, rows), "real"), ((*before, rows, rows), "")]

    return matrices(run, a, shapes, True, EIGENVECTORS)


@enter(LINALG, "eigvalsh")
def symmetric_eigenvalues(run: Runtime, a: Value, UPLO: Value = "L") -> Value:
    """(..., M, M) to (..., M)."""
    return matrices(run, a, lambda before, rows, columns: [((*before, rows), "real")], True)


@enter(LINALG, "solve")
def solution(run: Runtime, a: Value, b: Value) -> Value:
    """(M, M) and (M,) or (M, K) to the shape of the second."""
    given = as_array(run, b)
    square = inverse(run, a)
    if isinstance(given, Unknown) or isinstance(square, Unknown):
        return given if isinstance(given, Unknown) else square
    if isinstance(given.shape, Unknown):
        return given.shape.loose()
    return make(given.shape, None, square.dtype if isinstance(square, Tensor) else "float64")


@enter(LINALG, "multi_dot")
def chain(run: Runtime, arrays: Value) -> Value:
    """The product of several matrices."""
    items = run.items(arrays)
    if isinstance(items, Unknown) or not items:
        return items if isinstance(items, Unknown) else run.unknown("a product of no matrices")
    result = items[0]
    for item in items[1:]:
        result = matmul(run, result, item)
    return result


@enter(LINALG, "norm")
def norm(run: Runtime, x: Value, ord: Value = None, axis: Value = None, keepdims: Value = False) -> Value:
    """Over all axes one number, else the shape without those that it goes over."""
    array = as_array(run, x)
    if isinstance(array, Unknown):
        return array
    if isinstance(array.shape, Unknown):
        return array.shape.loose()
    count = len(array.shape)
    over = range(count) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = {axis_of(each, count) for each in over}
    kept = [1 if at in axes else size for at, size in enumerate(array.shape) if keepdims is True or at not in axes]
    flat = flat_of(array)
    if flat is not None and axis is None and ord in (None, 2) and (ord is None or count == 1):
        numbers = [value for value in flat if isinstance(value, (int, float))]
        if len(numbers) == len(flat):
            return plain(make(tuple(kept), [sum(value * value for value in numbers) ** 0.5], real(computed(array))))
    return make(tuple(kept), None, real(computed(array)))


@enter(FFT, "fft", "ifft", "hfft")
def transform(
    run: Runtime, a: Value, n: Value = None, axis: Value = -1, norm: Value = None, out: Value = None
) -> Value:
    """Along one axis, which gets `n` values where that is said."""
    return along(run, a, {axis: n}, complex_of)


@enter(FFT, "rfft", "ihfft")
def of_real(run: Runtime, a: Value, n: Value = None, axis: Value = -1, norm: Value = None, out: Value = None) -> Value:
    """Along one axis, which gets half as many values and one more."""
    return along(run, a, {axis: n}, complex_of, halved=axis)


@enter(FFT, "irfft", "hfft")
def to_real(run: Runtime, a: Value, n: Value = None, axis: Value = -1, norm: Value = None, out: Value = None) -> Value:
    """Along one axis, which gets `n` values, or twice as many as it has behind the first one."""
    return along(run, a, {axis: n}, real, doubled=axis)


@enter(FFT, "fft2", "ifft2")
def of_planes(
    run: Runtime, a: Value, s: Value = None, axes: Value = (-2, -1), norm: Value = None, out: Value = None
) -> Value:
    """Along the last two axes."""
    return of_axes(run, a, s, axes, False)


@enter(FFT, "rfft2")
def of_real_planes(
    run: Runtime, a: Value, s: Value = None, axes: Value = (-2, -1), norm: Value = None, out: Value = None
) -> Value:
    """Along the last two axes, of which the last one gets half as many values and one more."""
    return of_axes(run, a, s, axes, True)


@enter(FFT, "fftn", "ifftn")
def of_all(run: Runtime, a: Value, s: Value = None, axes: Value = None, norm: Value = None, out: Value = None) -> Value:
    """Along all axes, or those named."""
    return of_axes(run, a, s, axes, False)


def of_axes(run: Runtime, a: Value, s: Value, axes: Value, halved: bool) -> Value:
    """Along several axes, which get the values that `s` says."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    if isinstance(array.shape, Unknown):
        return array.shape.loose()
    over = list(range(len(array.shape))) if axes is None else run.items(axes)
    sizes = [None] * len(over) if s is None and not isinstance(over, Unknown) else run.items(s)
    if isinstance(over, Unknown) or isinstance(sizes, Unknown):
        return over if isinstance(over, Unknown) else sizes
    return along(run, array, dict(zip(over, sizes, strict=False)), complex_of, over[-1] if halved else None)


def along(
    run: Runtime, a: Value, sizes: dict[Value, Value], dtype: Callable[[str], str], halved: Value = None,
    doubled: Value = None,
) -> Value:  # fmt: skip
    """A transform along some axes, each with its new size or None."""
    array = as_array(run, a)
    if isinstance(array, Unknown):
        return array
    if isinstance(array.shape, Unknown):
        return array.shape.loose()
    shape: list[Any] = list(array.shape)
    for axis, size in sizes.items():
        at = axis_of(axis, len(shape))
        shape[at] = shape[at] if size is None else as_size(run, size)
        if axis == halved:
            shape[at] = shape[at] // 2 + 1 if isinstance(shape[at], int) else half_of(run)
        if axis == doubled and size is None:
            shape[at] = 2 * (shape[at] - 1) if isinstance(shape[at], int) else half_of(run)
    return make(tuple(shape), None, dtype(computed(array)))


def as_size(run: Runtime, n: Value) -> Size:
    """How many values an axis is to have, where that is a size."""
    return n if is_size(n) and not (isinstance(n, int) and n < 1) else half_of(run)


def half_of(run: Runtime) -> Unknown:
    """The size of an axis that nobody knows."""
    return run.unknown("how many frequencies an axis has is not known")


@enter(FFT, "fftshift", "ifftshift")
def shifted(run: Runtime, x: Value, axes: Value = None) -> Value:
    """The same shape."""
    array = as_array(run, x)
    return array if isinstance(array, Unknown) else make(array.shape, None, array.dtype)


@enter(FFT, "fftfreq")
def frequencies(run: Runtime, n: Value, d: Value = 1.0) -> Value:
    """(n,)"""
    return make((as_size(run, n),), None, "float64")


@enter(FFT, "rfftfreq")
def half_frequencies(run: Runtime, n: Value, d: Value = 1.0) -> Value:
    """(n // 2 + 1,)"""
    return make((as_size(run, n // 2 + 1) if isinstance(n, int) else half_of(run),), None, "float64")
