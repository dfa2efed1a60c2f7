"""Where an op's results lie: in the input's storage, in one that nothing else needs, or in a new one, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem.frameworks.rules import OpRule
from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.dtypes import resolve, widest
from flake8_cnnmem.memory.storages import Form, Value
from flake8_cnnmem.ops import strides as layout


def is_in_place(call: Call) -> bool:
    """Whether the op writes its result into its first input."""
    return getattr(call.op, "in_place", False) is True


def is_view(call: Call, row: OpRule) -> bool:
    """Whether the op only rearranges."""
    return getattr(call.op, "view", False) is True and row.gradient in ("same", "none")


def computed_dtype(row: OpRule, inputs: Sequence[Value], half: str | None, training: str) -> str:
    """The dtype that an op computes in. `half` is that of autocast, if it is on."""
    if half is not None and row.autocast in ("half", "within"):
        return half
    # What has no axes widens no tensor of its kind (torch.result_type).
    ranked = [value.dtype for value in inputs if value.shape != ()]
    found = widest(ranked) or widest([value.dtype for value in inputs])
    if half is not None and row.autocast in ("float32", "result", "fused") and found != "float64":
        return "float32"
    return found or resolve("float", training)


def shares_input(call: Call, row: OpRule, first: Value, dtype: str) -> bool:
    """Whether the result is the input's own memory, if its layout allows."""
    if is_view(call, row) or call.op.idle:
        return True
    if call.op.casts:
        return dtype == first.dtype
    if not call.op.layout_asked:
        return False
    lies_so = layout.is_contiguous if call.op.layout_asked == "contiguous" else layout.is_channels_last
    return first.sizes is None or first.strides is None or lies_so(first.sizes, first.strides)


def shared_strides(call: Call, first: Value, sizes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The strides of a result in its input's memory; None where it needs a copy, or where a size is not known."""
    if first.sizes is None or first.strides is None or sizes is None:
        return None
    if call.problem is not None:
        return layout.contiguous(sizes)
    return call.op.view_strides(first.sizes, first.strides, sizes)


def own_strides(row: OpRule, inputs: Sequence[Value], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a result in memory of its own."""
    first = inputs[0] if inputs else None
    if row.layout == "first" and first is not None and first.sizes == sizes and first.strides is not None:
        return layout.elementwise(sizes, [(sizes, first.strides)])
    full = [(one.sizes, one.strides) for one in inputs if one.sizes is not None and one.strides is not None]
    if not full or row.layout == "contiguous" or len(full) < len(inputs):
        return layout.contiguous(sizes)
    if row.layout == "channels last":
        return layout.channels_last(sizes)
    if row.layout == "agreed":
        turned = all(layout.is_channels_last(own, strides) for own, strides in full)
        return layout.channels_last(sizes) if turned else layout.contiguous(sizes)
    if row.layout == "suggested":
        return layout.suggested(sizes, *full[0])
    if row.layout == "maps":
        return layout.suggested_of_maps(sizes, *full[0])
    if row.layout == "halves" and len(full[0][0]) == len(sizes):
        return layout.elementwise(sizes, [(sizes, full[0][1])])
    if all(layout.fits(own, sizes) for own, _ in full):
        return layout.elementwise(sizes, full)
    return layout.contiguous(sizes)


def is_turned(value: Value, as_map: bool) -> bool:
    """Whether it is a map whose channels run fastest; `as_map`: or one of a single side, which is read as such."""
    sizes, strides = value.sizes, value.strides
    if sizes is None or strides is None or len(sizes) < (3 if as_map else 4):
        return False
    if len(sizes) == 3:
        return layout.suggested_of_maps(sizes, sizes, strides) != layout.contiguous(sizes)
    return layout.is_channels_last(sizes, strides)


def turned_by(x: Form, form: Form) -> list[Form]:
    """What cuDNN copies to read it beside an input: a tensor that lies neither channels first nor, as the input does,
    channels last."""
    if x.sizes is None or x.strides is None or form.sizes is None or len(form.sizes) != len(x.sizes):
        return []
    wanted = layout.suggested(form.sizes, x.sizes, x.strides)
    return [] if form.strides is None or lie_alike(form.sizes, form.strides, wanted) else [form]


def leading(x: Form, weight: Form) -> Form:
    """Of a convolution's input and weight the one that decides in which order all is read: where the channels of either
    run fastest they do, but for doubles (cudnn_conv_suggest_memory_format of aten/src/ATen/native/ConvUtils.h)."""
    sizes, strides = weight.sizes, weight.strides
    if "float64" in (x.dtype, weight.dtype):
        return x if x.sizes is None else replace(x, strides=layout.contiguous(x.sizes))
    known = x.sizes is not None and sizes is not None and strides is not None and len(sizes) == len(x.sizes)
    return weight if known and layout.is_channels_last(sizes, strides) else x  # type: ignore[arg-type]


def lie_alike(sizes: Sequence[int], one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether strides place the same values alike: those of axes of one value do not count."""
    return all(size == 1 or mine == theirs for size, mine, theirs in zip(sizes, one, other, strict=True))


def is_viewed(call: Call, row: OpRule, inputs: Sequence[Value]) -> bool:
    """Whether the result is a view to autograd."""
    if not inputs:
        return False
    first = inputs[0]
    if is_in_place(call) or call.op.hands_on:
        return first.viewed
    if call.op.product == "rows":
        # With a bias, a contiguous input of more than two axes is read as a matrix, and the result as a view.
        if first.sizes is None or first.strides is None or len(first.sizes) < 3 or len(call.weights) < 2:
            return False
        return layout.is_contiguous(first.sizes, first.strides)
    return row.viewed or is_view(call, row)
