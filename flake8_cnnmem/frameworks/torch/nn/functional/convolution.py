"""torch.nn.functional's convolutions and matrix layers: sizes come from the weights that are handed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_cnnmem.dims import Batch, Shape, Size, multiply, per_sample
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import per_axis, size
from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.frameworks.torch.functions.number_ranges import refuse_numbers
from flake8_cnnmem.frameworks.torch.nn.functional.resampling import pad_pairs
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Op, Tensor
from flake8_cnnmem.ops import Bilinear, Convolution, Embedding, EmbeddingBag, Linear, OneHot, Reduce
from flake8_cnnmem.ops.linear import OffsetBag
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

WEIGHT = Unknown("the shape of a weight is not known")


def stated(found: Size, declared: Any) -> Any:
    """A weight's size; where that is not known, what the layer was declared with. So is a declared fraction, which
    torch refuses, though the weight was made as if it was whole."""
    return declared if isinstance(declared, float) or (isinstance(found, Unknown) and declared is not None) else found


def weight_shape(weight: Value, rank: int) -> tuple[Size, ...]:
    """The shape of a weight of this rank, all Unknown when it is not known."""
    tensor = tensor_of(weight)
    shape = tensor if isinstance(tensor, Unknown) else tensor.shape
    if isinstance(shape, Unknown):
        return (shape,) * rank
    return shape if len(shape) == rank else (WEIGHT,) * rank


def convolution_padding(padding: Value, rank: int) -> Value:
    """Padding as a word ("same") or as one number for each axis."""
    return padding.lower() if isinstance(padding, str) else per_axis(padding, rank)


def convolve(
    run: Runtime,
    function: str,
    rank: int,
    input: Value,
    weight: Value,
    bias: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    groups: Value,
    transposed: bool = False,
    output_padding: Value = 0,
    declared: tuple[Value, Value, Value] = (None, None, None),
) -> Value:
    """A convolution with a given weight. `declared` is (filters, channels, kernel) of the layer, where there is one."""
    first, second, *kernel = weight_shape(weight, rank + 2)
    groups = size(groups)
    sides = declared[2] if isinstance(declared[2], tuple) and len(declared[2]) == rank else (None,) * rank
    kernel = [stated(side, given) for side, given in zip(kernel, sides, strict=True)]
    if transposed:
        channels, filters = first, scaled(second, groups)
    else:
        channels, filters = scaled(second, groups), first
    if padding == "same" and any(isinstance(step, int) and step != 1 for step in per_axis(stride, rank)):
        raise run.error("ValueError", "padding='same' is not supported for strided convolutions")
    if isinstance(declared[1], int) and isinstance(groups, int) and groups and declared[1] % groups:
        channels = declared[1]
    if padding == "same" and not transposed:
        input, padding = evenly_padded(run, input, kernel, per_axis(dilation, rank))
    form = Convolution
    if isinstance(groups, Batch) and isinstance(filters, Batch):
        form, groups, filters = PerSample, groups.multiple, filters.multiple
        channels = channels.multiple if isinstance(channels, Batch) else channels
    op = form(
        filters=stated(filters, declared[0]),
        kernel=tuple(kernel),
        channels=stated(channels, declared[1]),
        stride=per_axis(stride, rank),
        padding=convolution_padding(padding, rank),
        dilation=per_axis(dilation, rank),
        groups=groups,
        bias=bias is not None,
        transposed=transposed,
        output_padding=per_axis(output_padding, rank),
    )
    return apply(run, op, input, weights=(weight, bias), function=function)


def evenly_padded(run: Runtime, input: Value, kernel: Sequence[Any], dilation: Sequence[Any]) -> tuple[Value, Value]:
    """`padding="same"`: as much on both sides of an axis. Where that leaves one over, a padded copy of the input is
    made first, which is what is kept (at::convolution_same)."""
    if not all(isinstance(each, int) for each in (*kernel, *dilation)):
        return input, "same"
    totals = [step * (side - 1) for side, step in zip(kernel, dilation, strict=True)]
    if any(total % 2 for total in totals):
        input = apply(run, pad_pairs(input, [(0, total % 2) for total in totals]), input, function="pad")
    return input, tuple(total // 2 for total in totals)


class PerSample(Convolution):
    """A grouped convolution with weights of its own for each sample: (1, N * C, *sides) -> (1, N * filters, *sides)."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The shape of a convolution whose weight is that of one sample: the batch stands among the channels."""
        (result,) = super().outputs(tuple(per_sample(size) for size in inputs[0]))
        batched = isinstance(inputs[0][1], Batch) if len(inputs[0]) > 1 else False
        if not batched or not isinstance(result[1], int):
            return (result,)
        return ((result[0], Batch(result[1]), *result[2:]),)


def scaled(part: Size, groups: Size) -> Size:
    """A size times the groups, or unknown where those are."""
    return multiply(part, groups) if isinstance(groups, (int, Unknown, Batch)) else WEIGHT


def _declare(rank: int) -> None:
    name = f"conv{rank}d"

    def conv(
        run: Runtime,
        input: Value,
        weight: Value,
        bias: Value = None,
        stride: Value = 1,
        padding: Value = 0,
        dilation: Value = 1,
        groups: Value = 1,
    ) -> Value:
        return convolve(run, name, rank, input, weight, bias, stride, padding, dilation, groups)

    define(f"functional.{name}", f"torch.{name}")(conv)
    transposed = f"conv_transpose{rank}d"

    def conv_transpose(
        run: Runtime,
        input: Value,
        weight: Value,
        bias: Value = None,
        stride: Value = 1,
        padding: Value = 0,
        output_padding: Value = 0,
        groups: Value = 1,
        dilation: Value = 1,
    ) -> Value:
        return convolve(
            run, transposed, rank, input, weight, bias, stride, padding, dilation, groups, True, output_padding
        )

    define(f"functional.{transposed}", f"torch.{transposed}")(conv_transpose)


for _rank in (1, 2, 3):
    _declare(_rank)


def linear_op(weight: Value, bias: Value, declared: tuple[Value, Value] = (None, None)) -> Op:
    """`declared` is (out_features, in_features) of the layer, where there is one."""
    tensor = tensor_of(weight)
    if isinstance(tensor, Tensor) and not isinstance(tensor.shape, Unknown) and len(tensor.shape) == 1:
        # A weight of one axis is one row whose axis the result does not keep.
        return Reduce("linear", -1)
    features, inputs = weight_shape(weight, 2)
    return Linear(stated(features, declared[0]), stated(inputs, declared[1]), bias is not None)


def linear(run: Runtime, input: Value, weight: Value, bias: Value = None) -> Value:
    """(..., in) to (..., out), by a weight (out, in) and a bias (out,)."""
    return apply(run, linear_op(weight, bias), input, weights=(weight, bias), function="linear")


def bilinear(run: Runtime, input1: Value, input2: Value, weight: Value, bias: Value = None) -> Value:
    """(..., left) and (..., right) to (..., out), by a weight (out, left, right)."""
    features, left, right = weight_shape(weight, 3)
    op = Bilinear(left, right, features, bias is not None)
    return apply(run, op, input1, input2, weights=(weight, bias), function="bilinear")


def is_computed_float(tensor: Tensor) -> bool:
    """Whether a tensor holds floats for certain: the program has made them from whole numbers, or with weights. Data of
    which nobody says what it holds may be whole numbers."""
    for _ in range(LONGEST_WAY):
        call = tensor.call
        if call is None or not is_floating(tensor.dtype):
            return False
        if any(is_floating(weight.dtype) for weight in call.weights):
            return True
        known = [each for each in call.inputs if each.shape != ()]
        if not known or not is_floating(known[0].dtype):
            return bool(known) and all(not is_floating(each.dtype) for each in known)
        tensor = known[0]
    return False


LONGEST_WAY = 50
"""Ops that are followed back from an index."""


def look_up(
    run: Runtime, input: Value, weight: Value, padding: Size | None, function: str, sparse: Value = False
) -> Value:
    """Indices (...) to rows (..., width) of a weight (count, width). RuntimeError for indices that are floats."""
    if isinstance(input, Tensor) and is_computed_float(input):
        raise run.error("RuntimeError", f"indices of {function} are whole numbers, not {input.dtype}")
    count, width = weight_shape(weight, 2)
    dtype = weight.dtype if isinstance(weight, Tensor) else "float"
    input = refuse_numbers(run, input, count, "indices", function)
    op = Embedding(count, width, padding, sparse is True)
    return apply(run, op, input, weights=(weight,), function=function, dtype=dtype)


def embedding_bag(
    run: Runtime,
    input: Value,
    weight: Value,
    offsets: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2,
    scale_grad_by_freq: Value = False,
    mode: Value = "mean",
    sparse: Value = False,
    per_sample_weights: Value = None,
    include_last_offset: Value = False,
    padding_idx: Size | None = None,
) -> Value:
    """Indices (bags, length), or (indices,) with offsets (bags,), to (bags, width)."""
    if offsets is None:
        count, width = weight_shape(weight, 2)
        bag = EmbeddingBag(count, width, padding_idx)
        dtype = weight.dtype if isinstance(weight, Tensor) else "float"
        return apply(run, bag, input, weights=(weight,), function="embedding_bag", dtype=dtype)
    if isinstance(input, Tensor) and is_computed_float(input):
        raise run.error("RuntimeError", f"indices of embedding_bag are whole numbers, not {input.dtype}")
    bags = tensor_of(offsets)
    if isinstance(bags, Unknown) or isinstance(bags.shape, Unknown):
        return run.unknown("the number of bags is not known")
    # One row for each offset: a bag's rows are reduced to one, however many they are.
    count, width = weight_shape(weight, 2)
    op = OffsetBag(count, width, padding_idx)
    dtype = weight.dtype if isinstance(weight, Tensor) else "float"
    return apply(run, op, bags, weights=(weight,), function="embedding_bag", dtype=dtype)


def one_hot(run: Runtime, tensor: Value, num_classes: Value = -1) -> Value:
    """Indices (...) to (..., num_classes), int64."""
    tensor = tensor_of(tensor)
    if isinstance(tensor, Unknown):
        return tensor
    count = size(num_classes)
    if count == -1:
        count = run.unknown("the number of classes is in a tensor's values")
    return apply(run, OneHot(count), tensor, function="one_hot", dtype="int64")


def attribute(run: Runtime, self: Instance, name: str) -> Value:
    """A layer's attribute as it is now: its own, a parameter, a buffer, or whatever its class makes of it."""
    attributes = self.attributes
    if name in attributes:
        return attributes[name]
    parameters = attributes.get("_parameters")
    if parameters is not None and name in parameters:
        return parameters[name]
    return run.find(self, name)
