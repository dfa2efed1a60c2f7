"""How Keras programs write what decides sizes: names and places as the signatures of Keras and TensorFlow have them."""

from __future__ import annotations

from flake8_cnnmem.frameworks.spelling import MADE, Spelling

REDUCTIONS = ("reduce_mean", "reduce_sum", "reduce_max")

AXES = {
    "concat": 1, "concatenate": 1, "stack": 1, "sum": 0, "mean": 0, "max": 0, "min": 0, "amax": 0, "amin": 0,
    "squeeze": 0, "expand_dims": 1, "split": 1, "argmax": 0, "Concatenate": 0, "Flatten": 0, "norm": 1,
    "logsumexp": 0, **dict.fromkeys(REDUCTIONS, 1),
}  # fmt: skip

BY_STEP = ("return_sequences",)

SPELLING = Spelling(
    axis=AXES,
    axis_named=("axis",),
    function_axis=frozenset(("concat", "concatenate", "stack", "expand_dims", "Concatenate", "Flatten", *REDUCTIONS)),
    joins=frozenset(("concat", "concatenate")),
    orders=frozenset(("transpose", "swapaxes", "Permute")),
    whole_orders=frozenset(("Permute",)),
    transposing="",
    inserting=frozenset(("expand_dims",)),
    left_out=frozenset(("squeeze", "transpose", "repeat")),
    switches=dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "ConvLSTM2D"), BY_STEP),
    keeps=dict.fromkeys(("sum", "mean", "max", "min", "amax", "amin", *REDUCTIONS), "keepdims"),
    windows=frozenset(("strides", "padding", "kernel_size", "dilation_rate", "output_padding", "pool_size")),
    window_layers=("Conv", "Pool", "UpSampling"),
    convolution="Conv",
    transposed="Transpose",
    stride="strides",
    same='"same"',
    inputs=frozenset(("Input", "InputLayer")),
    reshapes=frozenset(("reshape",)),
    made=MADE,
)
