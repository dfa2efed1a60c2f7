"""Complex numbers, Fourier transforms, and the rarer functions of two tensors."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, add, floor_divide
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import or_by_name, size
from flake8_cnnmem.frameworks.torch.dtypes import real_dtype
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape, unsqueeze
from flake8_cnnmem.frameworks.torch.registry import define, everywhere
from flake8_cnnmem.graph import Operand, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Broadcast, Elementwise, Reduce, Reshape
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Runtime, Value

COMPLEX = {"float16": "complex32", "float64": "complex128"}


def complex_dtype(value: Value) -> str:
    dtype = value.dtype if isinstance(value, Tensor) else "float"
    return dtype if dtype.startswith("complex") else COMPLEX.get(dtype, "complex64")


@define("torch.view_as_complex")
def view_as_complex(run: Runtime, input: Value) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return apply(run, Elementwise("view"), tensor, function="view_as_complex", dtype=complex_dtype(tensor))
    return apply(run, Recast(tensor.shape[:-1]), tensor, function="view_as_complex", dtype=complex_dtype(tensor))


@define("torch.view_as_real")
def view_as_real(run: Runtime, input: Value) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return apply(run, Elementwise("view"), tensor, function="view_as_real", dtype=real_dtype(tensor))
    return apply(run, Recast((*tensor.shape, 2)), tensor, function="view_as_real", dtype=real_dtype(tensor))


class Recast(Reshape):
    """The same storage as values of another dtype: two floats are one complex number."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        return (self.target,)


@define("torch.complex")
def complex_(run: Runtime, real: Value, imag: Value) -> Value:
    return apply(run, Broadcast("complex"), real, imag, function="complex", dtype=complex_dtype(real))


@define("torch.polar")
def polar(run: Runtime, abs: Value, angle: Value) -> Value:
    return apply(run, Broadcast("complex"), abs, angle, function="polar", dtype=complex_dtype(abs))


@define("torch.real")
def real(run: Runtime, input: Value) -> Value:
    return apply(run, Elementwise("view"), input, function="real", dtype=real_dtype(input))


@define("torch.imag")
def imag(run: Runtime, input: Value) -> Value:
    return apply(run, Elementwise("view"), input, function="imag", dtype=real_dtype(input))


@dataclass(frozen=True, slots=True)
class Fourier(Weightless):
    """A transform along the last of `axes` from n to n, n // 2 + 1 (real input) or 2 * (n - 1) values."""

    name: str
    axes: tuple[int, ...]
    lengths: tuple[Size | None, ...]

    kind = "fourier"

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        return ("real",) if operands and not operands[0].dtype.startswith("complex") else ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
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
        op = Fourier(name, axes, tuple(None if each is None or each == -1 else size(each) for each in given))
        dtype = real_dtype(tensor) if to_real else complex_dtype(tensor)
        return apply(run, op, tensor, function=name, dtype=dtype)

    return Native(name, function, propagate_unknown=False)


def shifted(name: str) -> Native:
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
    ("xlogy", "multiply", True), ("logaddexp", "logaddexp", False), ("logaddexp2", "logaddexp", False),
    ("ldexp", "multiply", True), ("copysign", "multiply", True), ("gcd", "compare", True), ("lcm", "compare", True),
    ("nextafter", "compare", True),
):  # fmt: skip
    _declare_pair(_name, _kind, _in_place)


@define(*everywhere("heaviside"))
def heaviside(run: Runtime, input: Value, values: Value) -> Value:
    return apply(run, Broadcast("compare"), input, values, function="heaviside")


@define(*everywhere("cross"))
def cross(run: Runtime, input: Value, other: Value, dim: Value = None) -> Value:
    return apply(run, Broadcast("multiply"), input, other, function="cross", dtype=common_dtype((input, other)))


@define("torch.isin")
def isin(run: Runtime, elements: Value, test_elements: Value, *, assume_unique: Value = False, invert: Value = False
         ) -> Value:  # fmt: skip
    return apply(run, Elementwise("compare"), elements, function="isin", dtype="bool")


@define("tensor.lerp_")
def lerp_in_place(run: Runtime, input: Value, end: Value, weight: Value) -> Value:
    if isinstance(input, Weight):
        return input
    operands = [value for value in (end, weight) if isinstance(value, Tensor)]
    return apply(run, Broadcast("lerp", True), input, *operands, function="lerp_")


@define("tensor.addmm_")
def addmm_(run: Runtime, input: Value, mat1: Value, mat2: Value, *, beta: Value = 1, alpha: Value = 1) -> Value:
    return binary(run, "+", input, matmul(run, mat1, mat2), True)


@define("tensor.addmv_")
def addmv_(run: Runtime, input: Value, mat: Value, vec: Value, *, beta: Value = 1, alpha: Value = 1) -> Value:
    return binary(run, "+", input, matmul(run, mat, vec), True)


@define("tensor.baddbmm_")
def baddbmm_(run: Runtime, input: Value, batch1: Value, batch2: Value, *, beta: Value = 1, alpha: Value = 1) -> Value:
    return binary(run, "+", input, matmul(run, batch1, batch2), True)


@define("tensor.addbmm_")
def addbmm_(run: Runtime, input: Value, batch1: Value, batch2: Value, *, beta: Value = 1, alpha: Value = 1) -> Value:
    product = apply(run, Reduce("sum", 0), matmul(run, batch1, batch2), function="addbmm_")
    return binary(run, "+", input, product, True)


@define(*everywhere("addr"))
def addr(run: Runtime, input: Value, vec1: Value, vec2: Value, *, beta: Value = 1, alpha: Value = 1) -> Value:
    return binary(run, "+", input, binary(run, "*", unsqueeze(run, vec1, 1), vec2))


@define(*everywhere("argwhere"))
def argwhere(run: Runtime, input: Value) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Unknown) or isinstance(tensor.shape, Unknown):
        return tensor
    return Tensor((run.unknown("how many values are not zero is not known"), len(tensor.shape)), "int64")


@define(*everywhere("cov", "corrcoef"))
def cov(run: Runtime, input: Value, *, correction: Value = 1, fweights: Value = None, aweights: Value = None) -> Value:
    tensor = tensor_of(input)
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 2:
        return matmul(run, tensor, run.call(run.get(tensor, "t")))
    return lost_shape(run, input, run.unknown("the size of a covariance is not known"), "cov", "copy")


@define(*everywhere("as_strided"))
def as_strided(run: Runtime, input: Value, size: Value, stride: Value, storage_offset: Value = None) -> Value:
    return lost_shape(run, input, run.unknown("as_strided is not followed"), "as_strided")


@define("torch.stft", "torch.istft")
def stft(run: Runtime, input: Value, n_fft: Value, *args: Value, **options: Value) -> Value:
    return lost_shape(run, input, run.unknown("a short-time Fourier transform is not followed"), "stft", "copy")


@define("tensor.sum_to_size")
@or_by_name("size")
def sum_to_size(run: Runtime, input: Value, *size: Value) -> Value:
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
        return False


@define("torch.nan_to_num_", "tensor.nan_to_num_")
def nan_to_num_in_place(
    run: Runtime, input: Value, nan: Value = None, posinf: Value = None, neginf: Value = None
) -> Value:
    return input if isinstance(input, Weight) else apply(run, Elementwise("clamp", True), input, function="nan_to_num_")


@define("torch.is_nonzero", "tensor.is_nonzero")
def is_nonzero(run: Runtime, input: Value) -> Value:
    return run.truth(input)
