"""torch.linalg, and the functions of torch that are its own: norms, inverses, decompositions."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.functions.reductions import norm_kind, reduce
from flake8_cnnmem.frameworks.torch.registry import define, everywhere
from flake8_cnnmem.graph import Operand, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Elementwise, Matmul, Reduce
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value


def same_shape(name: str) -> Native:
    """A function of `torch.linalg` whose result has the shape of its argument."""

    def function(run: Runtime, A: Value, *args: Value, **kwargs: Value) -> Value:
        return apply(run, Elementwise(name), A, function=name)

    return Native(name, function, propagate_unknown=False)


def linalg_norm(run: Runtime, A: Value, ord: Value = None, dim: Value = None, keepdim: Value = False, *,
                dtype: Value = None, out: Value = None) -> Value:  # fmt: skip
    """The norm of a matrix or over axes: of matrices where an order is given for two of them."""
    tensor = tensor_of(A)
    flat = dim is None and isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 2
    if ord is not None and (flat or (isinstance(dim, (tuple, list)) and len(dim) == 2)):
        return matrix_norm(run, A, ord, (-2, -1) if dim is None else dim, keepdim)
    return reduce(run, norm_kind(2 if ord is None else ord), A, dim, keepdim)


def matrix_norm(run: Runtime, A: Value, ord: Value = "fro", dim: Value = (-2, -1), keepdim: Value = False, *,
                dtype: Value = None, out: Value = None) -> Value:  # fmt: skip
    """(..., n, m) to (...): of all values, or of another order, which is made of singular values or of sums."""
    return reduce(run, "norm" if ord == "fro" else "norm_of_power", A, dim, keepdim)


def vector_norm(run: Runtime, x: Value, ord: Value = 2, dim: Value = None, keepdim: Value = False, *,
                dtype: Value = None, out: Value = None) -> Value:  # fmt: skip
    """The norm of all values, or over axes."""
    return reduce(run, norm_kind(ord), x, dim, keepdim)


def determinant(run: Runtime, A: Value) -> Value:
    """(..., n, n) to (...)"""
    return apply(run, Reduce("det", (-2, -1)), A, function="det")


def linalg_matmul(run: Runtime, input: Value, other: Value, *, out: Value = None) -> Value:
    """`torch.linalg.matmul(input, other)`: (..., n, k) and (..., k, m) to (..., n, m)."""
    return apply(run, Matmul(), input, other, function="matmul")


class Swapped(Elementwise):
    """The last two axes exchanged: a pseudo-inverse."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., rows, columns) to (..., columns, rows)"""
        shape = inputs[0]
        return ((*shape[:-2], *reversed(shape[-2:])),)


def pinv(run: Runtime, A: Value, *args: Value, **kwargs: Value) -> Value:
    """(..., rows, columns) to (..., columns, rows)"""
    return apply(run, Swapped("pinv"), A, function="pinv")


def solve(run: Runtime, A: Value, B: Value, *, left: Value = True, out: Value = None) -> Value:
    """The shape of B, in A X = B."""
    return apply(run, Solve("solve"), B, A, function="solve")


class Solve(Elementwise):
    """X of A X = B, of B and A."""

    __slots__ = ()

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Whether A is "fixed": asks for no gradient."""
        return ("fixed",) if len(operands) > 1 and not operands[1].grad else ()


@dataclass(frozen=True, slots=True)
class OrthogonalFactors(Weightless):
    """(..., m, n) as Q (..., m, k) and R (..., k, n): k is the smaller of m and n, or m where Q is `complete`."""

    complete: bool = False

    kind = "qr"

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(..., rows, columns) to Q (..., rows, inner) and R (..., inner, columns): inner the smaller side, or with
        `complete` the rows."""
        *batch, rows, columns = inputs[0]
        inner = rows
        if isinstance(rows, int) and isinstance(columns, int):
            inner = rows if self.complete else min(rows, columns)
        elif not self.complete:
            inner = Unknown("the smaller side of a matrix is not known")
        return (*batch, rows, inner), (*batch, inner, columns)


def qr(run: Runtime, A: Value, mode: Value = "reduced", *, out: Value = None) -> Value:
    """Q and R; without Q it is not followed."""
    if mode not in ("reduced", "complete"):
        return run.unknown("torch.linalg.qr without Q is not followed")
    return apply(run, OrthogonalFactors(mode == "complete"), A, function="qr")


@dataclass(frozen=True, slots=True)
class Decomposition(Weightless):
    """A matrix (..., m, n) taken apart: "svd" as (..., m, k), (..., k) and (..., k, n), where k is the smaller of m and
    n, and m and n the inner sides where it is `full`; "eigen" as (..., n) and (..., n, n)."""

    kind: str
    full: bool = False
    transposed: bool = False
    """Whether the last one is given as (..., n, k)."""

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """Of "eigen" values (..., n) and vectors (..., n, n); of "svd" U, S and V, in full or of the smaller side."""
        *batch, rows, columns = inputs[0]
        if self.kind == "eigen":
            return (*batch, columns), inputs[0]
        inner: Size = Unknown("the smaller side of a matrix is not known")
        if isinstance(rows, int) and isinstance(columns, int):
            inner = min(rows, columns)
        left, right = (rows, columns) if self.full else (inner, inner)
        last = (columns, right) if self.transposed else (right, columns)
        return (*batch, rows, left), (*batch, inner), (*batch, *last)


def taken_apart(run: Runtime, op: Decomposition, matrix: Value) -> Value:
    """What optimizers do with matrices. What a gradient through it keeps is not known."""
    if run.grad_enabled:
        return run.unknown(f"the gradient of a decomposition ({op.kind}) is not followed")
    return apply(run, op, matrix, function=op.kind)


def svd(run: Runtime, A: Value, full_matrices: Value = True, *, driver: Value = None, out: Value = None) -> Value:
    """U, S and V of (..., rows, columns)"""
    return taken_apart(run, Decomposition("svd", full_matrices is not False), A)


def svd_lowrank(run: Runtime, A: Value, q: Value = 6) -> Value:
    """U (rows, q), S (q,) and V (columns, q)"""
    tensor = tensor_of(A)
    if not isinstance(tensor, Tensor) or not isinstance(tensor.shape, tuple) or not isinstance(q, int):
        return run.unknown("the sides of a matrix are not known")
    *batch, rows, columns = tensor.shape
    return tuple(Tensor(shape, tensor.dtype) for shape in ((*batch, rows, q), (*batch, q), (*batch, columns, q)))


def eigh(run: Runtime, A: Value, UPLO: Value = "L", *, out: Value = None) -> Value:
    """Eigenvalues (..., n) and eigenvectors (..., n, n) of (..., n, n)"""
    return taken_apart(run, Decomposition("eigen"), A)


def solve_triangular(
    run: Runtime,
    A: Value,
    B: Value,
    *,
    upper: Value,
    left: Value = True,
    unitriangular: Value = False,
    out: Value = None,
) -> Value:
    """The shape of B, in A X = B."""
    return apply(run, Elementwise("solve_triangular"), B, A, function="solve_triangular")


def several(name: str) -> Native:
    """A function of `torch.linalg` with several results, which is not followed."""

    def function(run: Runtime, A: Value, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"torch.linalg.{name} is not followed")

    return Native(name, function, propagate_unknown=False)


LINALG: dict[str, Value] = {
    "norm": Native("norm", linalg_norm, propagate_unknown=False),
    "matrix_norm": Native("matrix_norm", matrix_norm, propagate_unknown=False),
    "vector_norm": Native("vector_norm", vector_norm, propagate_unknown=False),
    "det": Native("det", determinant, propagate_unknown=False),
    "matmul": Native("matmul", linalg_matmul, propagate_unknown=False),
    "pinv": Native("pinv", pinv, propagate_unknown=False),
    "solve": Native("solve", solve, propagate_unknown=False),
    **{name: same_shape(name) for name in ("inv", "cholesky", "matrix_exp", "matrix_power")},
    "qr": Native("qr", qr, propagate_unknown=False),
    "svd": Native("svd", svd, propagate_unknown=False),
    "eigh": Native("eigh", eigh, propagate_unknown=False),
    "solve_triangular": Native("solve_triangular", solve_triangular, propagate_unknown=False),
    **{name: several(name) for name in ("eig", "slogdet", "lstsq", "lu")},
}


def _declare(name: str) -> None:
    def function(run: Runtime, input: Value, *args: Value) -> Value:
        return apply(run, (Swapped if name == "pinverse" else Elementwise)(name), input, function=name)

    define(*everywhere(name))(function)


for _name in ("inverse", "cholesky", "matrix_exp", "matrix_power", "pinverse"):
    _declare(_name)
