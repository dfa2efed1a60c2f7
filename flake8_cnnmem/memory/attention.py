"""Which kernel `scaled_dot_product_attention` takes on a GPU, and what the kernels make for a moment.

After aten/src/ATen/native/transformers/cuda/sdp_utils.cpp (which kernel: flash attention for half precision without a
mask, the memory-efficient one for what else it can read, the plain product else), attention_backward.cu,
flash_attn/flash_api.cpp and mem_eff_attention/kernel_backward.h (their workspaces), held against PyTorch 2.12 in
fixtures/truth/cuda_attention.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.memory.chips import Chip
from flake8_cnnmem.memory.dtypes import HALVES
from flake8_cnnmem.memory.storages import Value
from flake8_cnnmem.ops import ScaledDotProduct
from flake8_cnnmem.unknown import Unknown

WIDEST_FLASH = 256
CUDNN = 9
"""The major compute capability from which on cuDNN's kernel comes first."""
NARROW = 64
"""Features of a head up to which the memory-efficient kernel goes through 64 queries at a time, not 128."""
TILE = 64
STATISTICS = 4
"""Bytes of one value of what kernels note of a query in float32."""


def kernel(op: ScaledDotProduct, inputs: Sequence[Value], autocast: str | None, chip: Chip) -> tuple[str, ...]:
    """The variants of the row of the kernel that runs, the more special first: of those that can read the operands, and
    that the code allows, the one that comes first. `autocast` is the dtype that autocast gives all operands."""
    dtype = autocast or (inputs[0].dtype if inputs else "")
    found = usable(op, inputs, dtype, chip)
    if found is None:
        return ()
    plain = ("math, dropped", "math") if op.drops else ("math",)
    # The plain product of tensors in half precision is computed in float32.
    found["math"] = (*(f"{name}, in full" for name in plain), *plain) if dtype in HALVES else plain
    if isinstance(op.kernels, Unknown):
        return NONE
    wanted = op.kernels if isinstance(op.kernels, tuple) else found
    return next((found[name] for name in wanted if name in found), NONE)


NONE = ("no kernel",)
"""It is not known which one, or PyTorch raises a RuntimeError: none that is allowed can read the operands."""


def usable(op: ScaledDotProduct, inputs: Sequence[Value], dtype: str, chip: Chip) -> dict[str, tuple[str, ...]] | None:
    """The fused kernels that can read the operands, in PyTorch's order; None where the sizes are not known."""
    if op.fused is False:
        return {}
    shapes = [value.shape for value in inputs[:3] if not isinstance(value.shape, Unknown)]
    if len(shapes) < len(inputs[:3]):
        return None
    if any(_features_apart(value) for value in inputs[:3]) or any(_keys_apart(value) for value in inputs[3:4]):
        return {}
    if any(len(shape) != 4 for shape in shapes):
        return {}
    q, k, v = shapes
    shared = q[1] != k[1] or k[1] != v[1]
    if q[0] != k[0] or k[0] != v[0] or (shared and op.grouped is not True):
        return {}
    half, masked = dtype in HALVES, len(inputs) > 3
    width, value_width = q[-1], v[-1]
    if not isinstance(width, int) or not isinstance(value_width, int):
        return None
    found: dict[str, tuple[str, ...]] = {}
    trained = masked and inputs[3].grad
    if half and chip.major >= CUDNN and not op.drops and not trained and width % 8 == value_width % 8 == 0:
        if max(width, value_width) <= WIDEST_FLASH:
            found["cudnn"] = ("cudnn",)
    # It knows which keys come before a query where there are as many of them (check_flash_causal_non_square_seqlens).
    square = op.causal is not True or q[-2] == k[-2]
    if half and chip.capability >= 80 and not masked and square and width == value_width <= WIDEST_FLASH:
        found["flash"] = ("flash, padded", "flash") if width % 8 else ("flash",)
    whole = 8 if half else 4 if chip.capability >= 80 else 1
    reads = dtype in ("float32", "float16") or (half and chip.capability >= 80)
    if reads and not shared and width % whole == value_width % whole == 0:
        found["efficient"] = ("efficient, masked", "efficient") if masked and _bias(inputs) else ("efficient",)
    return found


def _features_apart(value: Value) -> bool:
    """Whether the features of a head do not lie side by side, as every fused kernel asks (sdp_utils_cpp.h,
    check_last_dim_stride_equals_1_dense)."""
    return bool(value.strides) and value.shape[-1:] != (1,) and value.strides[-1] != 1  # type: ignore[index]


def _keys_apart(mask: Value) -> bool:
    """Whether what a mask says of a query's keys does not lie side by side, as the same check asks, of a single key as
    well: the rows of a table with a value for each head, turned, do not."""
    return bool(mask.strides) and mask.strides[-1] != 1  # type: ignore[index]


def _bias(inputs: Sequence[Value]) -> bool:
    """Whether the memory-efficient kernel reads a mask from a copy: where it holds truth values, or its rows are no
    multiple of eight values."""
    mask = inputs[3]
    last = mask.shape[-1] if not isinstance(mask.shape, Unknown) and mask.shape else 8
    return mask.dtype == "bool" or not isinstance(last, int) or last % 8 != 0


def bias(shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of a mask's copy, its rows filled up."""
    mask = inputs[3].shape if len(inputs) > 3 else ()
    if isinstance(mask, Unknown) or not mask:
        return 0
    last = mask[-1]
    return dims.product((*mask[:-1], up(last, 8) if isinstance(last, int) else last))


def mask_in_full(q: Value, k: Value, mask: Value) -> Shape | None:
    """The shape in which the gradient of a mask that is repeated is made before it is summed: one for each sample and
    head, its rows filled up to a multiple of 16 values. None for one that is not repeated, or not known."""
    if isinstance(q.shape, Unknown) or isinstance(k.shape, Unknown) or len(q.shape) != 4 or len(k.shape) != 4:
        return None
    last = k.shape[-2]
    if mask.shape == (*q.shape[:-1], last):
        return None
    return (*q.shape[:-1], up(last, 16) if isinstance(last, int) else last)


def rows_of(shape: Shape, inputs: Sequence[Value]) -> Size:
    """The logarithms of sums that the memory-efficient kernel notes, a multiple of 32 for each head."""
    length = shape[-2] if len(shape) > 2 else 0
    return dims.product((*shape[:-2], up(length, 32) if isinstance(length, int) else length))


def efficient(shape: Shape, inputs: Sequence[Value]) -> Size:
    """Bytes of the workspace of the memory-efficient kernel's backward pass, in which gradients are summed up."""
    found = _numbers(shape, inputs)
    if isinstance(found, Unknown):
        return found
    heads, length, width, value_width = found
    half = inputs[0].dtype in HALVES
    narrow = max(width, value_width) <= NARROW
    queries, columns = (TILE, TILE) if narrow else (2 * TILE, TILE)
    if half and NARROW < max(width, value_width) <= 2 * NARROW:
        columns = 2 * TILE
    tiles = -(-length // queries) * -(-width // columns)
    workspace = tiles * (queries * columns + 4) * STATISTICS
    if half and max(width, value_width) > 2 * NARROW:
        # Gradients of keys and values do not fit into registers.
        workspace += TILE * (up(width, 2 * TILE) + up(value_width, 2 * TILE)) * STATISTICS
    return dims.multiply(dims.product(shape[:1]), heads * workspace)


def multiplied(shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of the gradient times the result, which the kernel of half precision works out itself."""
    found = _numbers(shape, inputs)
    if isinstance(found, Unknown) or inputs[0].dtype in HALVES:
        return 0
    heads, length, _, value_width = found
    return dims.multiply(dims.product(shape[:1]), heads * length * value_width)


def summed(shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of their sums: one for each query of each head."""
    return dims.product(shape[:-1])


def gathered(shape: Shape, inputs: Sequence[Value]) -> Size:
    """Bytes of a result in float32, where the memory-efficient kernel cannot keep it in registers."""
    found = _numbers(shape, inputs)
    if isinstance(found, Unknown) or inputs[0].dtype not in HALVES or found[3] <= 2 * NARROW:
        return 0
    heads, length, _, value_width = found
    return dims.multiply(dims.product(shape[:1]), heads * length * value_width * STATISTICS)


def flash_sums(shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of flash attention's sums of products: queries are counted in blocks of 128."""
    return _flash(shape, inputs, 1)


def flash_queries(shape: Shape, inputs: Sequence[Value]) -> Size:
    """Those of its gradient of the queries."""
    found = _numbers(shape, inputs)
    width = 0 if isinstance(found, Unknown) else found[2]
    return _flash(shape, inputs, up(width, 32 if width <= 2 * NARROW else 64))


def _flash(shape: Shape, inputs: Sequence[Value], width: int) -> Size:
    found = _numbers(shape, inputs)
    if isinstance(found, Unknown):
        return found
    return dims.multiply(dims.product(shape[:1]), found[0] * up(found[1], 128) * width)


def flash_keys(shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of the keys' gradient of each head, where heads share them."""
    found, keys = _numbers(shape, inputs), inputs[1].shape
    if isinstance(found, Unknown) or isinstance(keys, Unknown) or keys[1] == shape[1] or not isinstance(keys[-2], int):
        return 0
    return dims.multiply(dims.product(shape[:1]), found[0] * keys[-2] * found[2])


def _numbers(shape: Shape, inputs: Sequence[Value]) -> tuple[int, int, int, int] | Unknown:
    """Heads, queries, features of a head and of its values; the batch is left out."""
    values = inputs[2].shape if len(inputs) > 2 else shape
    if isinstance(values, Unknown):
        return values
    wanted = (*shape[1:], *values[-1:])
    numbers = [size for size in wanted if isinstance(size, int)]
    if len(numbers) != 4 or len(wanted) != 4:
        return next((size for size in wanted if isinstance(size, Unknown)), Unknown("a size of attention is not known"))
    return numbers[0], numbers[1], numbers[2], numbers[3]


def up(number: int, multiple: int) -> int:
    """A number rounded up to a multiple."""
    return -(-number // multiple) * multiple


QUANTITIES: Mapping[str, Callable[[Shape, Sequence[Value]], Size]] = MappingProxyType(
    {
        "flash sums": flash_sums,
        "flash queries": flash_queries,
        "flash keys": flash_keys,
        "efficient products": multiplied,
        "efficient sums": summed,
        "efficient workspace": efficient,
        "gathered": gathered,
        "bias": bias,
        "attended": rows_of,
    }
)
"""What rows of rules may ask of attention, by the shape of q and the operands."""
