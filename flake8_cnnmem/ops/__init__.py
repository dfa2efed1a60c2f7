"""What layers and functions compute: output shapes, weights, and the kind that says what is kept for backward.

Neutral between frameworks. Sizes and fields may be Unknown or multiples of the batch anywhere;
sizes that cannot be right raise `graph.Mismatch`, and nothing else is ever raised.
"""

from __future__ import annotations

from flake8_cnnmem.ops.attention import AttentionInputs, Heads, PaddingMask, ScaledDotProduct
from flake8_cnnmem.ops.axes import Flip, Permute, Roll, Squeeze, Transpose, Unsqueeze
from flake8_cnnmem.ops.convolution import Convolution, DepthwiseConvolution
from flake8_cnnmem.ops.elementwise import GLU, Dropout, Elementwise, OneHot, PRelu, ScaledGradient
from flake8_cnnmem.ops.indexing import Chunk, Index, Masked, Split, Unbind
from flake8_cnnmem.ops.linear import Bilinear, Embedding, EmbeddingBag, Linear
from flake8_cnnmem.ops.loss import Loss
from flake8_cnnmem.ops.merge import Average, Broadcast, Concatenate, Stack
from flake8_cnnmem.ops.normalization import (
    BatchNorm,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LocalResponseNorm,
    Normalise,
    RMSNorm,
)
from flake8_cnnmem.ops.pooling import AdaptivePool, FractionalMaxPool, GlobalPool, MaxUnpool, Pool
from flake8_cnnmem.ops.products import Distances, Dot, Einsum, GroupedMatmul, Matmul, MatmulInto
from flake8_cnnmem.ops.recurrent import ConvRecurrent, Recurrent, RecurrentCell
from flake8_cnnmem.ops.reduce import Reduce, Sort, TopK
from flake8_cnnmem.ops.resample import (
    ChannelShuffle,
    Crop,
    Fold,
    Pad,
    PixelShuffle,
    Resize,
    Restrided,
    Unfold,
    Windows,
)
from flake8_cnnmem.ops.shape import (
    AcrossOrder,
    Common,
    Expand,
    Flatten,
    Repeat,
    RepeatInterleave,
    Reshape,
    Steps,
    StepsAgain,
    StepsTogether,
    Unflatten,
)

__all__ = [
    "GLU",
    "AcrossOrder",
    "AdaptivePool",
    "AttentionInputs",
    "Average",
    "BatchNorm",
    "Bilinear",
    "Broadcast",
    "ChannelShuffle",
    "Chunk",
    "Common",
    "Concatenate",
    "ConvRecurrent",
    "Convolution",
    "Crop",
    "DepthwiseConvolution",
    "Distances",
    "Dot",
    "Dropout",
    "Einsum",
    "Elementwise",
    "Embedding",
    "EmbeddingBag",
    "Expand",
    "Flatten",
    "Flip",
    "Fold",
    "FractionalMaxPool",
    "GlobalPool",
    "GroupNorm",
    "GroupedMatmul",
    "Heads",
    "Index",
    "InstanceNorm",
    "LayerNorm",
    "Linear",
    "LocalResponseNorm",
    "Loss",
    "Masked",
    "Matmul",
    "MatmulInto",
    "MaxUnpool",
    "Normalise",
    "OneHot",
    "PRelu",
    "Pad",
    "PaddingMask",
    "Permute",
    "PixelShuffle",
    "Pool",
    "RMSNorm",
    "Recurrent",
    "RecurrentCell",
    "Reduce",
    "Repeat",
    "RepeatInterleave",
    "Reshape",
    "Resize",
    "Restrided",
    "Roll",
    "ScaledDotProduct",
    "ScaledGradient",
    "Sort",
    "Split",
    "Squeeze",
    "Stack",
    "Steps",
    "StepsAgain",
    "StepsTogether",
    "TopK",
    "Transpose",
    "Unbind",
    "Unflatten",
    "Unfold",
    "Unsqueeze",
    "Windows",
]
