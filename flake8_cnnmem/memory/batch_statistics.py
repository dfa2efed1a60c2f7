"""What a batch norm takes beside its result on an NVIDIA GPU while it works out means and variances.

cuDNN's kernel takes nothing of PyTorch's. Where PyTorch's own runs (_batch_norm_impl_index of
aten/src/ATen/native/Normalization.cpp), what lies neither with its channels first nor as a map whose channels run
fastest goes through `var_mean`, which reads bfloat16 from a copy in float32 (batch_norm_choose_impl of
cuda/Normalization.cu and std_var_mean_out of ReduceOps.cpp, PyTorch 2.12). The few bytes that the kernel of the other
maps leaves of each channel are not counted.
"""

from __future__ import annotations

from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.reductions import blocks_of, buffer_of
from flake8_cnnmem.memory.storages import Form, Memory
from flake8_cnnmem.ops import strides as layout

WELFORD = 16
"""Bytes of a partial mean and variance."""


def by_cudnn(call: Call, dtype: str) -> bool:
    """Whether cuDNN's kernel runs (_select_batch_norm_backend): on maps, with weights, not in bfloat16, and in float16
    with weights in float32."""
    shape = call.inputs[0].shape
    learned = [weight for weight in call.weights if not getattr(weight, "buffer", False)]
    if not learned or dtype == "bfloat16" or (isinstance(shape, tuple) and len(shape) < 3):
        return False
    return dtype != "float16" or all(weight.dtype != "float16" for weight in learned)


def statistics(memory: Memory, call: Call, form: Form) -> list[int]:
    """The lots that are there while a batch norm in training reads its input, which lies in this form."""
    sizes, strides = form.sizes, form.strides
    if memory.chip is None or sizes is None or strides is None or by_cudnn(call, form.dtype):
        return []
    if layout.is_contiguous(sizes, strides) or (len(sizes) == 4 and layout.is_channels_last(sizes, strides)):
        return []
    copy = form.dtype == "bfloat16"
    each = size_of("float32" if copy else form.dtype)
    line = buffer_of(form.shape, strides, [at for at in range(len(sizes)) if at != 1], each, memory.chip, WELFORD)
    lots = [memory.timeline.lot(block, "temporaries") for block in blocks_of(line)]
    return [memory.lot(form.values, each), *lots] if copy else lots
