"""What TensorFlow keeps for the backward pass under `fit`, for Keras 2 and 3 alike, and how its step goes.

Seen in TensorFlow 2.21's own allocation trace (graph mode, the allocator that GPUs use; the profiler's
MemoryAllocation events name op, shape and kind), and read off the gradients in tensorflow/python/ops/*_grad.py.
Kernels that work value by value write into an operand's storage that nothing else needs
(forward_input_or_allocate_output in the kernels): `reuses`. A sum of gradients (AddN) does so, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from flake8_cnnmem.frameworks.keras.optimizer_states import DECAYED_AHEAD, STATES
from flake8_cnnmem.frameworks.keras.optimizer_states import EAGER as EAGER_STATES
from flake8_cnnmem.frameworks.rules import NOT_KNOWN, New, OpRule, OtherOrder, Rules, Saved, rows, table
from flake8_cnnmem.unknown import Unknown

X = Saved("x")
Y = Saved("y")
OPERANDS = Saved("inputs", "others")


def own(of: str = "x", bytes: int | None = None, times: int = 1) -> Saved:
    """A tensor of its own that is kept, of the size of an operand or of a quantity."""
    return Saved(New(of, bytes, times))


BY_RESULT = OpRule((Y,), gradient="reuse", layout="contiguous", reuses=True)
BY_INPUT = OpRule((X,), gradient="reuse", layout="contiguous", reuses_dead=True)
NOTHING = OpRule(layout="contiguous")
IN_PLACE = OpRule(gradient="reuse", layout="contiguous", reuses=True)
PASSES = OpRule(gradient="same", layout="contiguous")
CONSTANT = OpRule(gradient="none", layout="contiguous")

LOOP = "TensorFlow's while loop"
HALF = "half"
WITHIN = "within"
"""Keras computes it in float32 under a mixed policy, on a copy of its input, and gives half precision back."""

MASK = own(bytes=1)
"""A comparison that the gradient needs can be made ahead: its mask is kept instead of what was compared."""

EXTREME = OpRule((own(),), forward=(New("x", 1),), gradient="kept", layout="contiguous")
"""Which values are the largest is found out ahead, and each of their shares in the gradient, a number a value
(`_MinOrMaxGrad` in tensorflow/python/ops/math_grad.py): what was compared is not asked for again."""

VALUES = [
    *rows("relu relu6 elu selu sigmoid tanh exp sqrt rsqrt reciprocal crelu acosh asinh erfinv", BY_RESULT),
    # Under a mixed policy the softmax at the end is kept in float32 by hand; elsewhere it is in half.
    ("softmax", BY_RESULT),
    ("log_softmax", OpRule((Y, own()), gradient="reuse", layout="contiguous", reuses=True)),
    *rows(
        "leaky_relu hardsigmoid log log1p pow square sin cos tan asin acos atan sinh cosh atanh erf"
        " softsign angle",
        BY_INPUT,
    ),
    # Its sigmoid is computed anew, and one less it (`swish_impl` in tensorflow/python/ops/nn_impl.py).
    ("silu", replace(BY_INPUT, backward=(New("x", times=2),))),
    # The gradient times a sigmoid or a sign, which asks for no gradient and is computed ahead, as soon as x is there
    # (`_SoftplusGrad` in tensorflow/python/ops/nn_grad.py, `_AbsGrad` in math_grad.py).
    *rows("softplus abs log_sigmoid", OpRule((own(),), gradient="reuse", layout="contiguous", reuses_dead=True)),
    *rows("hardshrink threshold nan_to_num", OpRule((MASK,), gradient="reuse", layout="contiguous", reuses=True)),
    *rows("hardtanh clamp softshrink sparse_sigmoid",
          OpRule((MASK, MASK), gradient="reuse", layout="contiguous", reuses=True)),
    ("celu", OpRule((X, MASK, MASK), gradient="reuse", layout="contiguous")),
    ("gelu", OpRule((X, own(times=2)), gradient="reuse", layout="contiguous")),
    # x, its clipped line, and the line before the clipping.
    ("hardswish", OpRule((X, own(times=2)), backward=(New("x"),), layout="contiguous")),
    ("squareplus", OpRule((X, own()), layout="contiguous")),
    ("mish", OpRule((X, own(times=2)), layout="contiguous")),
    ("tanhshrink", OpRule((own(),), gradient="reuse", layout="contiguous", reuses=True)),
    ("sparse_plus", OpRule((X, MASK, MASK), layout="contiguous")),
    # It sorts.
    ("sparsemax", OpRule((X, MASK, MASK), layout="contiguous", known=False)),
    ("prelu", OpRule((X, own()), backward=(New("x"),), layout="contiguous")),
    ("glu", OpRule((X, own("y")), layout="contiguous")),
    *rows("scale shift neg gaussian_noise div add_number", IN_PLACE),
    *rows("round floor ceil sign isnan isinf isfinite logical_not detach one_hot like", CONSTANT),
    *rows("identity alias view", PASSES),
    # Only a reshape shares its input's memory here.
    *rows("view/Permute view/Transpose view/Index view/Split view/Chunk view/Unbind view/Expand", NOTHING),
    # Time comes first in a copy, of which each step is cut out; the gradient of each is as large as the whole, and they
    # are added when all are there.
    ("view/Steps", OpRule(forward=(New("x"),), backward=(New("slices"),), layout="contiguous")),
    # What was just stacked is not copied to be cut out again (RemoveStackSliceSameAxis of TensorFlow's optimizer).
    ("view/StepsAgain", OpRule(backward=(New("slices"),), gradient="same", layout="contiguous")),
    ("view/StepsTogether", OpRule(forward=(New("y"),), layout="contiguous")),
    # What changes images at random is linear in them.
    *rows("cast augment real imag conj", NOTHING),
    # A convolution with waves, and the length of what it gives.
    ("spectrogram", OpRule((X, own("y", times=2)), layout="contiguous")),
]  # fmt: skip

NOISES = [
    ("dropout", OpRule((own("mask", 1),), forward=(New("mask"),), gradient="reuse", layout="contiguous", reuses=True)),
    ("feature_dropout", OpRule((own("instances", 1),), gradient="reuse", layout="contiguous", reuses=True)),
    *rows("alpha_dropout gaussian_dropout", OpRule((own(),), gradient="reuse", layout="contiguous")),
    ("dropout/off", PASSES),
]

LAYERS = [
    ("convolution", OpRule((X,), layout="contiguous", weights="first", autocast=HALF, bias_last=True)),
    # The shapes that the two gradients ask for are made constants, the kernel's first (constant_folding.cc).
    (
        "convolution/Convolution",
        OpRule((X,), layout="contiguous", weights="first", autocast=HALF, kernel_first=True, bias_last=True),
    ),
    # Keras has XLA compile these, which computes the gradient of a kernel without groups, and takes the groups out of
    # it (ConvolutionGroupConverter).
    (
        "convolution/grouped",
        OpRule(
            (X,), backward=(New("dense", times=2),), layout="contiguous", weights="first", autocast=HALF, bias_last=True
        ),
    ),
    # Holes are made by dealing the map out to smaller ones, whose batch is larger, and back (with_space_to_batch in
    # tensorflow/python/ops/nn_ops.py): what was dealt out is kept.
    (
        "convolution/dilated",
        OpRule(
            (own("dealt"),),
            forward=(New("y"),),
            backward=(New("dealt"),),
            layout="contiguous",
            weights="first",
            autocast=HALF,
            bias_last=True,
        ),
    ),
    # Of more than two axes, too: read as a matrix (tensordot).
    ("linear", OpRule((X,), layout="contiguous", weights="first", autocast=HALF)),
    ("bilinear", OpRule((X, Saved("x1")), layout="contiguous")),
    # Its gradient is the rows that were read (IndexedSlices); what the optimizer makes of them is its own
    # (`OptimizerState.rows`). A variable of which single rows are changed is copied to be read from then on
    # (copy_on_read_mode of tensorflow/core/framework/resource_var.h).
    ("embedding", OpRule((X,), layout="contiguous")),
    ("embedding/squared", OpRule((X,), backward=(New("y"),), layout="contiguous")),
    ("embedding/twice", OpRule((X,), backward=(New("y"),), layout="contiguous", beside_update=True)),
    ("embedding/scattered", OpRule((X,), forward=(New("table"),), gradient="rows", layout="contiguous")),
    # The gradient times x and times the scale.
    ("batch_norm", OpRule((X, own("channels", 4, 2)), backward=(New("x"),), layout="contiguous", autocast=WITHIN)),
    # A multiplication and an addition; what goes in is needed for the scale's gradient alone.
    (
        "batch_norm/eval",
        OpRule((Saved("x", "weight"),), gradient="reuse", layout="contiguous", autocast=WITHIN, reuses=True),
    ),
    (
        "layer_norm",
        OpRule((X, own(), own("rows", 4, 3)), backward=(New("x", times=2),), layout="contiguous", autocast=WITHIN),
    ),
    *rows("group_norm instance_norm", OpRule((X,), backward=(New("x"),), layout="contiguous", autocast=WITHIN)),
    ("rms_norm", OpRule((X, own(), own("rows", 4)), backward=(New("x"),), layout="contiguous", autocast=WITHIN)),
    ("normalize", OpRule((X, own("rows", 4, 2)), backward=(New("x"),), layout="contiguous", autocast=WITHIN)),
    ("local_response_norm", OpRule((X, Y), layout="contiguous")),
    ("max_pool", OpRule((X, Y), layout="contiguous")),
    ("global_max_pool", EXTREME),
    *rows("average_pool global_average_pool", NOTHING),
    # Made of many slices, each with a gradient of its own (tensorflow's backend in keras/src/backend/tensorflow/nn.py).
    ("adaptive_max_pool", OpRule((X,), layout="contiguous", known=False)),
    ("adaptive_average_pool", OpRule(layout="contiguous", known=False)),
]

MERGES = [
    *rows("add subtract average", OpRule(gradient="same", layout="contiguous", reuses=True)),
    ("multiply", OpRule((OPERANDS,), layout="contiguous", crossed=True)),
    *rows("divide power atan2 hypot logaddexp", OpRule((Saved("inputs"),), backward=(New("y"),), layout="contiguous")),
    # Which of the two it was is found out ahead.
    *rows("maximum minimum", OpRule((own("y", 1),), layout="contiguous", reuses=True)),
    ("where", OpRule((X,), layout="contiguous")),
    *rows("compare logical floor_divide remainder", CONSTANT),
    *rows("concatenate stack", NOTHING),
    *rows("matmul einsum", OpRule((OPERANDS,), layout="contiguous", autocast=HALF)),
]

SHAPES = [
    *rows("copy pad crop pixel_shuffle circular_pad upsample_nearest unfold fold", NOTHING),
    *rows("reflection_pad replication_pad", NOTHING),
    *rows("upsample_bilinear upsample_bicubic upsample_trilinear upsample_area upsample_lanczos3 upsample_lanczos5",
          BY_INPUT),
]  # fmt: skip

REDUCTIONS = [
    *rows("mean sum cumsum", NOTHING),
    # The places alone: the values that were picked come back to where they were, those that were put are picked.
    *rows("pick put", OpRule((Saved("x1"),), layout="contiguous")),
    *rows("frame rfft fft diagonal", NOTHING),
    # By the gradients' formulas (linalg_grad.py), not measured.
    *rows(
        "matrix_inv matrix_pinv matrix_cholesky matrix_cholesky_inverse matrix_det matrix_logdet matrix_trace"
        " matrix_solve",
        OpRule((X, Y), layout="contiguous", known=False),
    ),
    *rows("max min amax amin", EXTREME),
    ("cumprod", OpRule((X, Y), backward=(New("x", 1),), layout="contiguous")),
    *rows("var std norm logsumexp prod median", OpRule((X,), backward=(New("x"),), layout="contiguous")),
    *rows("topk sort", OpRule((own("y", 4),), layout="contiguous")),
    *rows("argmax argmin any all count_nonzero argsort", CONSTANT),
]

HEADS = (X, Saved("x1"), Saved("x2"), own("probabilities", 4, 2), Saved(New("probabilities"), "half"), Y)
"""The softmax runs in float32 under a mixed policy."""
ATTENTION = [
    # The scores' softmax, what its gradient is made of or what the dropout leaves of it, and the product with v.
    (
        "attention",
        OpRule(HEADS, backward=(New("probabilities", times=2),), layout="contiguous", autocast=HALF),
    ),
    (
        "attention/math, dropped",
        OpRule(
            (*HEADS, own("probabilities", 1)),
            forward=(New("probabilities"),),
            backward=(New("probabilities", times=2),),
            layout="contiguous",
            autocast=HALF,
        ),
    ),
]

RECURRENT = [
    # cuDNN's fused kernels: x, y and a reserve with the gates of each step.
    ("lstm", OpRule((X, Y, own("steps", times=6)), layout="contiguous", weights="all", autocast=HALF, library="cuDNN")),
    ("gru", OpRule((X, Y, own("steps", times=5)), layout="contiguous", weights="all", autocast=HALF, library="cuDNN")),
    # While loops, which keep the carried state and what each step computes in lists, and run several steps at once:
    # the least that was measured.
    ("rnn", OpRule((X, own("steps")), layout="contiguous", weights="all", autocast=HALF, library=LOOP)),
    ("conv_lstm", OpRule((X, own("steps", times=7)), layout="contiguous", weights="all", autocast=HALF, library=LOOP)),
]

LOSSES = [
    # Keras computes them from the logits before a softmax; the gradient is made in the forward pass.
    *rows("categorical_crossentropy sparse_categorical_crossentropy cross_entropy", OpRule((own(),), gradient="reuse")),
    *rows("bce mse l1 huber kl_div hinge_embedding poisson_nll bce_with_logits smooth_l1", OpRule((X,))),
]

TABLE: Mapping[str, OpRule] = table(VALUES, NOISES, LAYERS, MERGES, SHAPES, REDUCTIONS, ATTENTION, RECURRENT, LOSSES)

RULES = Rules(
    "keras",
    256,
    TABLE,
    otherwise=replace(NOT_KNOWN, layout="contiguous"),
    step="graph",
    sums_at_once=True,
    merges_equal=True,
    rewrites={"swish": "silu", "sub": "subtract", "mul": "multiply"},
    optimizers=STATES,
    other_order=OtherOrder(
        rows={name: replace(row, kernel_first=False) for name, row in TABLE.items() if row.kernel_first},
        optimizers=DECAYED_AHEAD,
        turns=1,
        cause=(
            "the peak depends on the order in which TensorFlow's executor runs what is independent (the gradients of a"
            " kernel and of its input, the decay of weights): counted is one that needs less"
        ),
        margin=0.02,
        blocks=256,
    ),
)
"""Keras on TensorFlow, in graph mode.

Both gradients of a convolution become ready at once. Which of them comes first depends on where TensorFlow's optimizer
has put the constants of their shapes, and is another one in nets that differ by a layer: of ten small nets the kernel's
was first in five (the step's own graph, gone through by tests/oracle/tensorflow_executor.py). Until the kernel's is
made, what the convolution has read stays. How many updates are under way at once depends on how many ops the way back
has between two variables.
"""

ON_TAPE = [
    # Their gradients ask for the shape of what went in, which only a graph can have without it.
    *rows("average_pool adaptive_average_pool pad crop", BY_INPUT),
    *rows("mean sum global_average_pool", OpRule((X,), backward=(New("x"),), layout="contiguous")),
    *rows("global_max_pool max min amax amin", OpRule((X, Y), backward=(New("x", 1), New("x")), layout="contiguous")),
    *rows("add subtract average concatenate stack", OpRule((Saved("inputs"),), layout="contiguous")),
    # The squared differences and the product before the offset.
    ("batch_norm", OpRule((X, own(times=2)), backward=(New("x"),), layout="contiguous", autocast=WITHIN)),
    ("dropout", OpRule((X, own("mask", 1), own()), forward=(New("mask"),), layout="contiguous")),
]
EAGER = replace(
    RULES,
    framework="keras-eager",
    optimizers=EAGER_STATES,
    rows=MappingProxyType(
        {
            **{kind: replace(row, reuses=False, crossed=False) for kind, row in TABLE.items()},
            **dict(ON_TAPE),
        }
    ),
    step="phases",
    merges_equal=False,
    other_order=None,
    eager=True,
)
"""Loops with a GradientTape outside of any graph: the tape holds what it recorded, and every gradient is there at the
end. No kernel takes an operand's storage over, since Python holds the operand."""

READ_AGAIN = ("convolution", "linear", "bilinear", "matmul", "einsum", "attention", "lstm", "gru", "rnn")
JAX = replace(
    RULES,
    rows=MappingProxyType({kind: replace(TABLE[kind], backward=()) for kind in READ_AGAIN}),
    otherwise=IN_PLACE,
    other_order=None,
)
"""Keras on JAX, where XLA compiles the step as a whole and decides what is kept and what is computed again: no more
than what the gradients of products and convolutions read, which makes a lower bound."""
JAX_CAUSE = Unknown("XLA decides what a step of Keras on JAX keeps; what products and convolutions read is counted")
