"""Complex numbers, Fourier transforms, and the rarer functions of two tensors."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, add, floor_divide
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, is_trained, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import or_by_name, shape_of, whole
from flake8_cnnmem.frameworks.torch.dtypes import real_dtype
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape
from flake8_cnnmem.frameworks.torch.registry import define, everywhere
from flake8_cnnmem.graph import Operand, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Broadcast, Elementwise, Index, Reduce, Reshape, Restrided
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.ops.strides import Strides, is_contiguous
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

COMPLEX = {"float16": "complex32", "float64": "complex128"}


def complex_dtype(value: Value) -> str:
    """The complex dtype whose parts have a tensor's dtype."""
    dtype = value.dtype if isinstance(value, Tensor) else "float"
    return dtype if dtype.startswith("complex") else COMPLEX.get(dtype, "complex64")


def view_as_complex(run: Runtime, input: Value) -> Value:
    """(..., 2) floats as (...) complex numbers, in the same storage."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return apply(run, Elementwise("view"), tensor, function="view_as_complex", dtype=complex_dtype(tensor))
    return apply(run, AsComplex(tensor.shape[:-1]), tensor, function="view_as_complex", dtype=complex_dtype(tensor))


def view_as_real(run: Runtime, input: Value) -> Value:
    """(...) complex numbers as (..., 2) floats, in the same storage."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return apply(run, Elementwise("view"), tensor, function="view_as_real", dtype=real_dtype(tensor))
    dtype = real_dtype(tensor)
    if dtype == "float" and run.autocast is not None:
        # Of half precision, in which autocast may have made what it is of, there are no such numbers.
        dtype = "float32"
    return apply(run, AsReal((*tensor.shape, 2)), tensor, function="view_as_real", dtype=dtype)


class Recast(Reshape):
    """The same storage as values of another dtype: two floats are one complex number."""

    __slots__ = ()

    view_gradient = "permute"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape that it was made with."""
        return (self.target,)


class AsComplex(Recast):
    """Two floats as one number. A gradient that does not lie contiguous is copied to be read as floats."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., 2) to (...), whatever the batch."""
        return (inputs[0][:-1],)

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """Half of the floats' strides."""
        return tuple([stride // 2 for stride in strides[:-1]])

    def view_gradient_strides(self, sizes: Strides, strides: Strides) -> Strides | None:
        """Double the numbers' strides."""
        return parted(strides) if is_contiguous(sizes, strides) else None


class AsReal(Recast):
    """One number as two floats. A gradient that does not lie contiguous is copied to be read as numbers."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(...) to (..., 2), whatever the batch."""
        return ((*inputs[0], 2),)

    def view_strides(self, sizes: Strides, strides: Strides, result: Strides) -> Strides | None:
        """Double the numbers' strides."""
        return parted(strides)

    def view_gradient_strides(self, sizes: Strides, strides: Strides) -> Strides | None:
        """Half of the floats' strides."""
        return tuple([stride // 2 for stride in strides[:-1]]) if is_contiguous(sizes, strides) else None


def parted(strides: Strides) -> Strides:
    """The strides of numbers' parts, which lie beside each other."""
    return (*[2 * stride for stride in strides], 1)


PARTS = ("real", "imag")


def part(run: Runtime, input: Value, at: int) -> Value:
    """The real (0) or the imaginary (1) parts of complex numbers, a view; real numbers are their own real parts."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or not tensor.dtype.startswith("complex"):
        return apply(run, Elementwise("view"), input, function=PARTS[at], dtype=real_dtype(input))
    return apply(run, Index((..., at)), view_as_real(run, tensor), function=PARTS[at])


def real(run: Runtime, input: Value) -> Value:
    """The real parts, a view."""
    return part(run, input, 0)


def imag(run: Runtime, input: Value) -> Value:
    """The imaginary parts, a view."""
    return part(run, input, 1)


@dataclass(frozen=True, slots=True)
class Fourier(Weightless):
    """A transform along the last of `axes` from n to n, n // 2 + 1 (real input) or 2 * (n - 1) values."""

    name: str
    axes: tuple[int, ...]
    lengths: tuple[Size | None, ...]

    kind = "fourier"
    complex_within = True

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """ "real" for an input that is not complex."""
        return ("real",) if operands and not operands[0].dtype.startswith("complex") else ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape with the transformed axes as they come out: halved for real inputs, doubled back, or padded
        to a stated size. Mismatch for an axis that it does not have."""
        shape = list(inputs[0])
        for at, axis in enumerate(self.axes):
            if not -len(shape) <= axis < len(shape):
                return (inputs[0],)
            given = self.lengths[at] if at < len(self.lengths) else None
            length = shape[axis] if given is None else given
            if at == len(self.axes) - 1:
                if self.name.startswith(("rfft", "ihfft")):
                    length = add(floor_divide(length, 2), 1)
                elif self.name.startswith(("irfft", "hfft")) and given is None:
                    length = 2 * (length - 1) if isinstance(length, int) else Unknown("the length of a transform")
            shape[axis] = length
        return (tuple(shape),)


def transform(name: str) -> Native:
    """A native of `torch.fft` by its name: over one axis, two ("2") or all ("n")."""
    rank = 2 if name.endswith("2") else None if name.endswith("n") else 1
    to_real = name.startswith(("irfft", "hfft"))

    def function(
        run: Runtime, input: Value, s: Value = None, dim: Value = None, norm: Value = None, *, out: Value = None,
        n: Value = None,
    ) -> Value:  # fmt: skip
        lengths = n if n is not None else s
        tensor = tensor_of(input)
        count = len(tensor.shape) if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) else 1
        if dim is None:
            axes = tuple(range(-(rank or count), 0))
        else:
            axes = (dim,) if isinstance(dim, int) else tuple(dim) if isinstance(dim, (list, tuple)) else (-1,)
        given = lengths if isinstance(lengths, (list, tuple)) else (lengths,) * (1 if lengths is not None else 0)
        op = Fourier(name, axes, tuple(None if each is None or each == -1 else whole(each) for each in given))
        dtype = real_dtype(tensor) if to_real else complex_dtype(tensor)
        return apply(run, op, tensor, function=name, dtype=dtype)

    return Native(name, function, propagate_unknown=False)


def shifted(name: str) -> Native:
    """`fftshift` or `ifftshift`: a copy."""
    return Native(
        name,
        lambda run, input, dim=None: apply(run, Elementwise("copy"), input, function=name),
        propagate_unknown=False,
    )


FFT: dict[str, Value] = {
    **{
        name: transform(name)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn",
                     "ifftn", "rfftn", "irfftn")
    },
    "fftshift": shifted("fftshift"),
    "ifftshift": shifted("ifftshift"),
}  # fmt: skip


def _declare_pair(name: str, kind: str, in_place: bool = False) -> None:
    """A function of two tensors that broadcast."""

    def function(run: Runtime, input: Value, other: Value) -> Value:
        operands = [value if isinstance(value, Tensor) else tensor_of(value) for value in (input, other)]
        return apply(run, Broadcast(kind), *operands, function=name, dtype=common_dtype(operands))

    define(*everywhere(name))(function)
    if in_place:

        def written(run: Runtime, input: Value, other: Value) -> Value:
            if isinstance(input, Weight):
                return input
            return apply(run, Broadcast(kind, True), input, tensor_of(other), function=f"{name}_")

        define(f"tensor.{name}_")(written)


for _name, _kind, _in_place in (
    ("xlogy", "xlogy", True), ("logaddexp", "logaddexp", False), ("logaddexp2", "logaddexp", False),
    ("fmax", "fmax", False), ("fmin", "fmin", False),
    ("ldexp", "ldexp", True), ("copysign", "copysign", True), ("gcd", "compare", True), ("lcm", "compare", True),
    ("nextafter", "compare", True),
):  # fmt: skip
    _declare_pair(_name, _kind, _in_place)


def lerp_in_place(run: Runtime, input: Value, end: Value, weight: Value) -> Value:
    """`x.lerp_(end, weight)`: written into x; a parameter stays itself."""
    if isinstance(input, Weight):
        return input
    operands = [value for value in (end, weight) if isinstance(value, Tensor)]
    return apply(run, Broadcast("lerp", True), input, *operands, function="lerp_")


def addmm_(run: Runtime, input: Value, mat1: Value, mat2: Value) -> Value:
    """`x.addmm_(mat1, mat2)`: `x += mat1 @ mat2`; factors change no size."""
    return binary(run, "+", input, matmul(run, mat1, mat2), True)


def addmv_(run: Runtime, input: Value, mat: Value, vec: Value) -> Value:
    """`x.addmv_(mat, vec)`: `x += mat @ vec`; factors change no size."""
    return binary(run, "+", input, matmul(run, mat, vec), True)


def baddbmm_(run: Runtime, input: Value, batch1: Value, batch2: Value) -> Value:
    """`x += batch1 @ batch2`, for each sample"""
    return binary(run, "+", input, matmul(run, batch1, batch2), True)


def addbmm_(run: Runtime, input: Value, batch1: Value, batch2: Value) -> Value:
    """`x.addbmm_(batch1, batch2)`: `x += (batch1 @ batch2).sum(0)`."""
    product = apply(run, Reduce("sum", 0), matmul(run, batch1, batch2), function="addbmm_")
    return binary(run, "+", input, product, True)


def argwhere(run: Runtime, input: Value) -> Value:
    """(found, axes), int64: how many there are is not known."""
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return tensor
    return Tensor((run.unknown("how many values are not zero is not known"), len(tensor.shape)), "int64")


def cov(run: Runtime, input: Value) -> Value:
    """(variables, variables) for an input (variables, observations)."""
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 2:
        if is_trained(run, tensor):
            note_cause(run, None, "covariances", "what a covariance keeps beside the product")
        return matmul(run, tensor, run.call(run.get(tensor, "t")))
    return lost_shape(run, input, run.unknown("the size of a covariance is not known"), "cov", "copy")


def as_strided(run: Runtime, input: Value, size: Value, stride: Value) -> Value:
    """A view of a stated shape. The way back through places that overlap adds them up with an index of each, which is
    not counted."""
    tensor, shape, steps = tensor_of(input), shape_of(size), shape_of(stride)
    if isinstance(tensor, Unknown):
        return tensor
    if isinstance(shape, Unknown):
        return lost_shape(run, input, shape, "as_strided")
    if isinstance(steps, Unknown):
        return lost_shape(run, input, steps, "as_strided")
    if len(shape) != len(steps):
        raise run.error("RuntimeError", "mismatch in length of strides and shape")
    op = Restrided(shape, steps)
    if op.overlaps and is_trained(run, tensor):
        note_cause(run, None, "gradients of windows", "what the gradient of an as_strided that overlaps needs")
    return apply(run, op, tensor, function="as_strided")


@define("tensor.sum_to_size")
@or_by_name("size")
def sum_to_size(run: Runtime, input: Value, *size: Value) -> Value:
    """A sum over the axes that were broadcast, of the stated shape."""
    from flake8_cnnmem.frameworks.torch.arguments import sizes

    shape = sizes(size)
    if isinstance(shape, Unknown):
        return lost_shape(run, input, shape, "sum_to_size", "copy")
    return apply(run, Recopied(shape), input, function="sum_to_size")


class Recopied(Recast):
    """A result of its own, of a stated shape."""

    __slots__ = ()
    kind = "copy"

    @property
    def view(self) -> bool:
        """Never: it is a result of its own."""
        return False


def is_nonzero(run: Runtime, input: Value) -> Value:
    """Whether a tensor of one value is true."""
    return run.truth(input)
