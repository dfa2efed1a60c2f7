"""Products of matrices beyond matmul, and einsum."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, multiply
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, tensor_of
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of, is_floating
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul, matrix_product
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape, permute_axes, shaped, unsqueeze
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Einsum, Elementwise, GroupedMatmul, Matmul, Reshape, ScaledGradient
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def einsum(run: Runtime, equation: str, *operands: Value) -> Value:
    """Products of tensors by an equation; of more than two, pair by pair as torch does it."""
    return multiplied(run, equation, operands)


def multiplied(run: Runtime, equation: str, operands: Sequence[Value], within: bool = False) -> Value:
    """A sum of products; `within` one of three or more operands."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    if len(given) == 1:
        alone = summed_alone(run, equation, given[0])
        if alone is not None:
            return alone
    pairs = pairwise(equation) if len(given) > 2 else None
    if pairs is None or len(pairs) != len(given) - 1:
        factors: Sequence[Value] = given
        if len(given) == 2:
            equation, factors = summed_first(run, equation, given)
            values = None if within else value_by_value(run, equation, factors)
            if values is not None:
                return values
        return apply(run, Einsum(equation, within), *factors, function="einsum", dtype=common_dtype(factors))
    result = given[0]
    for pair, other in zip(pairs, given[1:], strict=True):
        result = multiplied(run, pair, (result, other), True)
    return result


def summed_alone(run: Runtime, equation: str, operand: Value) -> Value | None:
    """A single operand without the axes that the result has not: they are summed, behind the others. None where none
    is, or where it is not known which."""
    term, arrow, result = equation.replace(" ", "").partition("->") if isinstance(equation, str) else ("", "", "")
    tensor = tensor_of(operand)
    shape = tensor.shape if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) else ()
    known = arrow and "." not in equation and len(set(term)) == len(term) == len(shape)
    if not known or not set(result) < set(term) or len(set(result)) != len(result):
        return None
    order = result + "".join(letter for letter in term if letter not in result)
    turned = permute_axes(run, operand, tuple(term.index(letter) for letter in order), "einsum")
    return reduce(run, "sum_within", in_half(run, turned), tuple(range(len(result), len(term))), function="einsum")


def summed_first(run: Runtime, equation: str, pair: Sequence[Value]) -> tuple[str, Sequence[Value]]:
    """Axes that only one of two operands has, and the result has not, are summed before the product
    (`sumproduct_pair` in aten/src/ATen/native/Linear.cpp): the equation that is left, and its operands."""
    terms, arrow, result = equation.replace(" ", "").partition("->") if isinstance(equation, str) else ("", "", "")
    parts = terms.split(",")
    if not arrow or "." in equation or len(parts) != 2:
        return equation, pair
    left: list[str] = []
    operands: list[Value] = []
    for part, other, operand in zip(parts, parts[::-1], pair, strict=True):
        tensor = tensor_of(operand)
        alone = [at for at, letter in enumerate(part) if letter not in other + result and part.count(letter) == 1]
        shape = tensor.shape if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) else ()
        alone = [at for at in alone if len(shape) == len(part) and shape[at] != 1]
        operands.append(reduce(run, "sum_within", in_half(run, operand), tuple(alone)) if alone else operand)
        left.append("".join(letter for at, letter in enumerate(part) if at not in alone))
    return f"{','.join(left)}->{result}", operands


def value_by_value(run: Runtime, equation: str, pair: Sequence[Value]) -> Value | None:
    """The product of two operands of which nothing is summed: that of their values, each with its axes where the result
    has them (`sumproduct_pair`). None where something is, or where it is not known."""
    terms, arrow, result = equation.replace(" ", "").partition("->") if isinstance(equation, str) else ("", "", "")
    parts = terms.split(",")
    if not arrow or "." in equation or len(parts) != 2 or set(terms) - {","} != set(result):
        return None
    if any(len(set(letters)) != len(letters) for letters in (*parts, result)):
        return None
    factors: list[Value] = []
    for part, operand in zip(parts, pair, strict=True):
        tensor = tensor_of(operand)
        if not isinstance(tensor, Tensor) or not isinstance(tensor.shape, tuple) or len(tensor.shape) != len(part):
            return None
        lying: Value = operand
        order = [letter for letter in result if letter in part]
        if order != list(part):
            lying = permute_axes(run, lying, tuple(part.index(letter) for letter in order), "einsum")
        if len(order) < len(result):
            sizes = tuple(tensor.shape[part.index(letter)] if letter in part else 1 for letter in result)
            lying = shaped(run, Reshape(sizes), lying, "einsum")
        factors.append(lying)
    return binary(run, "*", factors[0], factors[1])


def pairwise(equation: Value) -> list[str] | None:
    """An equation of several operands as products of two, from left to right, as PyTorch runs it; None for equations
    without an arrow."""
    if not isinstance(equation, str) or "->" not in equation:
        return None
    given, _, result = equation.replace(" ", "").partition("->")
    left, *others = given.split(",")
    pairs = []
    for at, right in enumerate(others):
        later = [*others[at + 1 :], result]
        kept = result
        if at + 1 < len(others):
            letters = dict.fromkeys((left + right).replace(".", ""))
            dots = "..." if "..." in left + right else ""
            kept = dots + "".join(letter for letter in letters if any(letter in term for term in later))
        pairs.append(f"{left},{right}->{kept}")
        left = kept
    return pairs


def kron(run: Runtime, input: Value, other: Value) -> Value:
    """The Kronecker product: sizes multiplied, axis by axis."""
    left, right = tensor_of(input), tensor_of(other)
    shapes = [side.shape for side in (left, right) if isinstance(side, Tensor) and isinstance(side.shape, tuple)]
    if len(shapes) < 2:
        cause = run.unknown("the size of a Kronecker product is not known")
        return lost_shape(run, input, cause, "kron", "multiply")
    rank = max(len(shape) for shape in shapes)
    own, by = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    first, second = (
        shaped(run, Reshape(tuple(size for pair in zip(*sides, strict=True) for size in pair)), side, "kron")
        for side, sides in ((left, (own, (1,) * rank)), (right, ((1,) * rank, by)))
    )
    result = tuple(multiply(a, b) for a, b in zip(own, by, strict=True))
    return shaped(run, Reshape(result), binary(run, "*", first, second), "kron")


def outer(run: Runtime, input: Value, vec2: Value) -> Value:
    """`torch.outer(x, vec2)`: (n, m) of vectors of n and m values."""
    return binary(run, "*", unsqueeze(run, input, 1), vec2)


def addr(run: Runtime, input: Value, vec1: Value, vec2: Value) -> Value:
    """`torch.addr(x, vec1, vec2)`: (n, m) of vectors of n and m values, by one kernel: of its product nothing is kept,
    and its gradients are products with a matrix."""
    note_cause(run, None, "outer products", "what an outer product that is added to a matrix keeps")
    product = binary(run, "*", unsqueeze(run, in_half(run, vec1), 1), in_half(run, vec2))
    return binary(run, "+", in_half(run, input), product)


def in_half(run: Runtime, value: Value) -> Value:
    """An operand of a product that no cast of a rule reaches, as autocast casts it where it is on."""
    if run.autocast is None or not isinstance(value, Tensor) or not is_floating(value.dtype):
        return value
    return apply(run, Elementwise("cast"), value, function="to", dtype=run.autocast)


def dot(run: Runtime, input: Value, other: Value) -> Value:
    """The sum of the products of two vectors."""
    return matrix_product(run, VectorDot(), input, other, "dot")


def added(run: Runtime, input: Value, left: Value, right: Value, beta: Value = 1, alpha: Value = 1) -> Value:
    """`torch.addmm`, `addmv`, `baddbmm`: `left @ right` and the input, which is broadcast to it."""
    own = in_half(run, input)
    product = matmul(run, scaled(run, left, alpha), scaled(run, right, alpha))
    if beta != 1 and is_smaller(own, product):
        # The sum over what it is repeated for is made when the product's gradients are there.
        own = apply(run, ScaledGradient("scaled_into"), own, function="mul")
    return added_into(run, product, own, beta)


def is_smaller(one: Value, other: Value) -> bool:
    """Whether a tensor is repeated to be added to another one."""
    return isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape != other.shape


def addbmm(run: Runtime, input: Value, batch1: Value, batch2: Value, beta: Value = 1, alpha: Value = 1) -> Value:
    """`torch.addbmm(input, batch1, batch2)`: (b, n, k) and (b, k, m) to (n, m)."""
    own = in_half(run, input)
    factors = scaled(run, batch1, alpha), scaled(run, batch2, alpha)
    product = apply(run, SummedProducts(3), *factors, function="addbmm", dtype=common_dtype(factors))
    return added_into(run, product, own, beta)


def added_into(run: Runtime, product: Value, input: Value, beta: Value) -> Value:
    """The result of a kernel that adds an input to a product in one: it is written where the product lies. Times
    `beta`, which may be 0, the gradient of the input is a tensor of its own, made ahead of the product's."""
    return binary(run, "+", product, input if beta == 1 else scaled(run, input, beta), True)


def scaled(run: Runtime, operand: Value, by: Value) -> Value:
    """An operand that a kernel multiplies by a number on its way: its gradient is multiplied when it has come."""
    if by == 1 or not run.grad_enabled:
        return operand
    return apply(run, ScaledGradient("alias"), operand, function="mul")


class SummedProducts(Matmul):
    """Products of matrices, summed over the batch: (b, n, k) and (b, k, m) to (n, m)."""

    __slots__ = ()
    kind = "addbmm"
    product = ""  # type: ignore[assignment]

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(n, m)"""
        return (Matmul.outputs(self, *inputs)[0][1:],)


def tensordot(run: Runtime, a: Value, b: Value, dims: Value = 2) -> Value:
    """A product over several axes of both tensors: the axes that are left, of the first, then of the second."""
    left, right = tensor_of(a), tensor_of(b)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return left if isinstance(left, Unknown) else right
    if not isinstance(left.shape, tuple) or not isinstance(right.shape, tuple):
        return lost_shape(run, left, run.unknown("the axes of a tensordot are not known"), "tensordot", "matmul")
    if isinstance(dims, int):
        pairs = (range(len(left.shape) - dims, len(left.shape)), range(dims))
    elif isinstance(dims, (list, tuple)) and len(dims) == 2:
        pairs = tuple([axis] if isinstance(axis, int) else axis for axis in dims)  # type: ignore[assignment]
    else:
        return lost_shape(run, left, run.unknown("the axes of a tensordot are not known"), "tensordot", "matmul")
    letters = "abcdefghijklmnopqrstuvwxyz"
    first = list(letters[: len(left.shape)])
    second = list(letters[len(first) : len(first) + len(right.shape)])
    for own, other in zip(*pairs, strict=False):
        second[other] = first[own]
    kept = [x for x in first if x not in second] + [x for x in second if x not in first]
    equation = f"{''.join(first)},{''.join(second)}->{''.join(kept)}"
    return apply(run, Tensordot(equation), left, right, function="tensordot", dtype=common_dtype((left, right)))


class Tensordot(Einsum):
    """A product that autocast computes in the widest dtype of its operands (its list "promote")."""

    __slots__ = ()


class VectorDot(Matmul):
    """The same of two vectors: each one's gradient is the other, times a number."""

    __slots__ = ()

    multiplies_back = False


def chain_matmul(run: Runtime, *matrices: Value) -> Value:
    """A product of matrices, one after the other."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = matmul(run, result, matrix)
    return result


def grouped_mm(run: Runtime, mat_a: Value, mat_b: Value, offs: Value, out_dtype: Value) -> Value:
    """Products of matrices, of groups of rows that end where `offs` says."""
    operands = (mat_a, mat_b) if offs is None else (mat_a, mat_b, offs)
    dtype = dtype_of(out_dtype, common_dtype((mat_a, mat_b)))
    return apply(run, GroupedMatmul(), *operands, function="grouped_mm", dtype=dtype)
