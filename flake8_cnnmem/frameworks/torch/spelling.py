"""How PyTorch programs write what decides sizes: names and places as torch's own signatures have them."""

from __future__ import annotations

from flake8_cnnmem.frameworks.spelling import MADE, Spelling

AXES = {
    "cat": 1, "concat": 1, "concatenate": 1, "stack": 1, "sum": 0, "mean": 0, "max": 0, "min": 0, "amax": 0, "amin": 0,
    "squeeze": 0, "unsqueeze": 0, "expand_dims": 1, "flatten": 0, "chunk": 1, "split": 1, "select": 0, "argmax": 0,
    "Flatten": 0, "Unflatten": 0, "unbind": 0, "size": 0, "logsumexp": 0, "norm": 1, "repeat_interleave": 1,
    "var": 0, "std": 0, "prod": 0,
}  # fmt: skip

BY_TIME = ("batch_first", "bidirectional")

SPELLING = Spelling(
    axis=AXES,
    axis_named=("dim", "axis", "start_dim"),
    function_axis=frozenset(("cat", "concat", "concatenate", "stack", "expand_dims", "Flatten", "Unflatten")),
    joins=frozenset(("cat", "concat", "concatenate")),
    by_samples=frozenset(("cat", "concat", "chunk", "split", "tensor_split")),
    orders=frozenset(("transpose", "permute", "swapaxes", "swapdims")),
    whole_orders=frozenset(("permute",)),
    transposing=".transpose(1, 2)",
    inserting=frozenset(("unsqueeze", "expand_dims")),
    left_out=frozenset(("squeeze", "unsqueeze", "transpose", "permute", "t", "repeat")),
    switches={
        **dict.fromkeys(("LSTM", "GRU", "RNN"), BY_TIME),
        **dict.fromkeys(
            ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"),
            ("batch_first",),
        ),
    },
    keeps=dict.fromkeys(
        ("sum", "mean", "max", "min", "amax", "amin", "var", "std", "norm", "logsumexp", "prod", "median", "argmax"),
        "keepdim",
    ),
    windows=frozenset(("stride", "padding", "kernel_size", "dilation", "output_padding")),
    window_layers=("Conv", "Pool", "conv", "pool", "Upsample", "interpolate"),
    convolution="Conv",
    transposed="ConvTranspose",
    stride="stride",
    same="",
    adaptive="Adaptive",
    axis_behind=".unsqueeze({})",
    axis_away=".squeeze({})",
    flattening=".flatten(1)",
    permuting=".permute({})",
    stacks={"stack": "cat", "cat": "stack"},
    widths_of_keys={"MultiheadAttention": ("kdim", "vdim")},
    reshapes=frozenset(("view", "reshape", "unflatten")),
    of_arrays=frozenset(("from_numpy", "as_tensor", "tensor", "FloatTensor", "Tensor")),
    made=MADE,
)
