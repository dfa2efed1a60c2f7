"""Arguments that constructors of torch.nn refuse, by the checks in the classes of torch/nn/modules (2.12).

A layer that is made with one is there all the same: a wrong size that its call shows is a finding. That the program
raises before is a cause of the model, unless a handler of the program takes the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance

Arguments: TypeAlias = "Mapping[str, Any]"
Refusal: TypeAlias = "tuple[str, str] | None"
"""The class of the error, and its text."""

COUNTS = (
    "in_features", "out_features", "in1_features", "in2_features", "in_channels", "out_channels", "num_features",
    "num_channels", "num_embeddings", "embedding_dim", "input_size", "hidden_size", "num_parameters",
)  # fmt: skip
"""Arguments that become sizes of weights."""


def of_counts(given: Arguments) -> Refusal:
    """Sizes of weights: no fractions, none below zero."""
    for word in COUNTS:
        value = given.get(word)
        if isinstance(value, float):
            return "TypeError", f"{word} is {value}, no int"
        if type(value) is int and value < 0:
            return "RuntimeError", f"{word} is {value}, a negative dimension"
    return None


def of_convolution(given: Arguments) -> Refusal:
    """`_ConvNd.__init__`."""
    groups, stride, mode = given.get("groups"), given.get("stride"), given.get("padding_mode")
    if type(groups) is int:
        if groups <= 0:
            return "ValueError", "groups must be a positive integer"
        for word in ("in_channels", "out_channels"):
            channels = given.get(word)
            if type(channels) is int and channels % groups:
                return "ValueError", f"{word} must be divisible by groups"
    strides = stride if isinstance(stride, (tuple, list)) else (stride,)
    if given.get("padding") == "same" and any(type(step) is int and step != 1 for step in strides):
        return "ValueError", "padding='same' is not supported for strided convolutions"
    if given.get("transposed") is True and isinstance(mode, str) and mode != "zeros":
        return "ValueError", 'Only "zeros" padding mode is supported for a transposed convolution'
    return None


def of_groups(given: Arguments) -> Refusal:
    """`GroupNorm.__init__`."""
    groups, channels = given.get("num_groups"), given.get("num_channels")
    if type(groups) is int and type(channels) is int and (groups == 0 or channels % groups):
        return ("ValueError" if groups else "ZeroDivisionError"), "num_channels must be divisible by num_groups"
    return None


def of_dropout(given: Arguments) -> Refusal:
    """`_DropoutNd.__init__`."""
    share = given.get("p")
    if isinstance(share, (int, float)) and not 0 <= share <= 1:
        return "ValueError", f"dropout probability has to be between 0 and 1, but got {share}"
    return None


def of_embedding(given: Arguments) -> Refusal:
    """`Embedding.__init__`, `EmbeddingBag.__init__`."""
    row, rows = given.get("padding_idx"), given.get("num_embeddings")
    if type(row) is int and type(rows) is int and not -rows <= row < rows and row != 0:
        return "AssertionError", "Padding_idx must be within num_embeddings"
    return None


def of_recurrence(given: Arguments) -> Refusal:
    """`RNNBase.__init__`, `RNN.__init__`."""
    share, width, depth = given.get("dropout"), given.get("hidden_size"), given.get("num_layers")
    projected, mode = given.get("proj_size"), given.get("nonlinearity", "tanh")
    if isinstance(mode, str) and mode not in ("tanh", "relu"):
        return "ValueError", f"Unknown nonlinearity '{mode}'. Select from 'tanh' or 'relu'."
    if isinstance(share, (int, float)) and not 0 <= share <= 1:
        return "ValueError", "dropout should be a number in range [0, 1]"
    for word, value in (("hidden_size", width), ("num_layers", depth)):
        if type(value) is int and value <= 0:
            return "ValueError", f"{word} must be greater than zero"
    if type(projected) is int and projected:
        if projected < 0 or given.get("mode") not in ("LSTM", None):
            return "ValueError", "proj_size argument is only supported for LSTM, and not below zero"
        if type(width) is int and projected >= width:
            return "ValueError", "proj_size has to be smaller than hidden_size"
    return None


def of_attention(given: Arguments) -> Refusal:
    """`MultiheadAttention.__init__`."""
    width, heads = given.get("embed_dim"), given.get("num_heads")
    if type(width) is int and type(heads) is int and heads > 0 and width % heads:
        return "AssertionError", "embed_dim must be divisible by num_heads"
    return None


def of_range(given: Arguments) -> Refusal:
    """`Hardtanh.__init__`."""
    least, most = given.get("min_val"), given.get("max_val")
    if isinstance(least, (int, float)) and isinstance(most, (int, float)) and least >= most:
        return "AssertionError", "max_val must be larger than min_val"
    return None


def of_fractions(given: Arguments) -> Refusal:
    """`FractionalMaxPool2d.__init__`."""
    size, ratio = given.get("output_size"), given.get("output_ratio")
    if (size is None) == (ratio is None):
        return "ValueError", "FractionalMaxPool2d requires specifying either an output size, or a pooling ratio"
    return None


def of_pairs(given: Arguments) -> Refusal:
    """`Bilinear.__init__`."""
    first = given.get("in1_features")
    return ("ValueError", "in1_features must be > 0, but got 0") if type(first) is int and first == 0 else None


CHECKS: Mapping[str, Callable[[Arguments], Refusal]] = {
    **{f"{name}{rank}d": of_convolution for name in ("Conv", "ConvTranspose") for rank in (1, 2, 3)},
    **{f"Dropout{rank}": of_dropout for rank in ("", "1d", "2d", "3d")},
    **dict.fromkeys(("AlphaDropout", "FeatureAlphaDropout"), of_dropout),
    **dict.fromkeys(("Embedding", "EmbeddingBag"), of_embedding),
    **dict.fromkeys(("RNN", "LSTM", "GRU"), of_recurrence),
    **{f"FractionalMaxPool{rank}d": of_fractions for rank in (2, 3)},
    "GroupNorm": of_groups,
    "MultiheadAttention": of_attention,
    "Hardtanh": of_range,
    "Bilinear": of_pairs,
}


def refuse_arguments(run: Runtime, self: Instance, name: str) -> None:
    """A layer of torch's class `name` was made: whether its constructor refuses what it is given."""
    check = CHECKS.get(name)
    found = of_counts(self.attributes) or (check(self.attributes) if check is not None else None)
    if found is not None:
        run.refuse_made(self, *found)
