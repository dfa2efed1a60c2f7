"""What cuDNN's workspaces of convolutions add to a step on PyTorch: how much they usually do, and how much at most.

Which algorithm runs is decided by cuDNN when the program runs; nothing tells it beforehand. What is known is how far
whole cards lay above what the step needs otherwise: 1,188 convolutional nets of random depth, width, side and batch in
float32 on an A100 (cnn_data_step1.csv of itu-rad/GPUMemNet, what nvidia-smi showed), for which PyTorch's own allocator
was asked what it reserves without any workspace (fixtures/truth/workspaces.json). What is left, less 1660 MiB that a
process took there without any convolution, follows two sizes: the tensors that the largest convolution reads and
writes, which kernels for tensor cores rearrange (NCHW into NHWC and back) and Winograd's and Fourier's cut into tiles;
and the peak of the step, as a block that is larger than any tensor finds no place between them.

Fitted on one half of the nets and held against the other: without this the whole card is 13.4 % off at the median and
31 % at the 95th percentile, with what is usual 4.4 % and 19 %; 94 % of the other half are within the most (22 % within
17 % of the peak, which was told before). Nothing to speak of is added by what needs no such kernels: convolutions of
images (of 58 nets without any other 53 lie within 180 MiB), of single channels or groups of them, of single places and
of windows that do not overlap (MobileNetV2, EfficientNet and ConvNeXt within 220 MiB at batch 128). In half precision
only ResNet-50 on a T4 is known: 2 and 29 MiB. Other cards, cuDNN's benchmarks and channels last were not measured.
"""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.graph import Call, Model
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.dtypes import HALVES, size_of
from flake8_cnnmem.unknown import Unknown

USUAL, MOST = (1640, 97), (3570, 350)
"""Thousandths of the bytes that the largest convolution reads and writes, and of the tensors' peak: what half of the
measured nets stay below, and 95 % of them"""

IMAGE = 4
"""The channels of an image, at most."""

HALF = 17
"""Thousandths of the tensors' peak, at most, in half precision."""


@dataclass(frozen=True, slots=True)
class Workspaces:
    """Bytes that workspaces add to a step: usually, and at most as far as published figures show."""

    usual: int = 0
    most: int = 0


def workspaces(model: Model, dtype: str, batch: int, peak: int) -> Workspaces:
    """Those of a model whose step's tensors take `peak` bytes at their highest."""
    calls = [call for call in model.calls if call.op.convolves]
    if not calls:
        return Workspaces()
    if dtype.removeprefix("mixed_") in HALVES:
        return Workspaces(0, peak * HALF // 1000)
    largest = max(moved(call, batch) for call in calls) * size_of(dtype)
    usual, most = ((largest * of + bool(largest) * peak * beside) // 1000 for of, beside in (USUAL, MOST))
    return Workspaces(usual, max(most, peak * HALF // 1000))


def moved(call: Call, batch: int) -> int:
    """The values that a convolution reads and writes at this batch size, where its windows overlap on more channels
    than an image's; 0 where a size is not known."""
    shapes = [tensor.shape for tensor in (*call.inputs[:2], *call.weights[:1], *call.outputs[:1])]
    given = [shape for shape in shapes if not isinstance(shape, Unknown)]
    channels = call.op.quantity("overlapping", given[0]) if given and len(given) == len(shapes) else 0
    if not isinstance(channels, int) or channels <= IMAGE:
        return 0
    sizes = [dims.at_batch(dims.product(shape), batch) for shape in given]
    return sum(size for size in sizes if not isinstance(size, Unknown))
