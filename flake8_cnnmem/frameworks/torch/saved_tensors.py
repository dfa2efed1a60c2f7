"""What PyTorch's autograd keeps for the backward pass, and what backward and forward make for a moment.

Kept tensors are those of tools/autograd/derivatives.yaml (2.13), checked with saved_tensors_hooks; temporaries are
those that the formulas of torch/csrc/autograd/FunctionsManual.cpp make, seen with a TorchDispatchMode
(tests/oracle/torch_ops.py measures every row again). In-place ops that keep their input keep a clone of it
(the "original_self" of the generated code); those that are differentiated by their result keep nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flake8_cnnmem.frameworks.rules import NOT_KNOWN, New, OpRule, Rules, Saved, table
from flake8_cnnmem.frameworks.torch.op_rules import (
    CONSTANT,
    FULL,
    FUSED_HALF,
    HALF,
    NOTHING,
    OPERANDS,
    PASSES,
    RESULT,
    X,
    Y,
    by_input,
    by_result,
    rows,
    temporaries,
)
from flake8_cnnmem.frameworks.torch.optim.states import STATES as OPTIMIZERS
from flake8_cnnmem.frameworks.torch.saved_by_losses import DERIVATIVES, LOSSES


def by_instance(statistics: int) -> OpRule:
    """An instance norm: its input lies contiguous for it, or is copied (at::instance_norm)."""
    kept = Saved(New("instances", 4, statistics))
    return OpRule((X, kept), layout="contiguous", reads="contiguous", viewed=True)


ACTIVATIONS = [
    *rows("relu sigmoid tanh", by_result()),
    # Their results are contiguous, whatever the input.
    # Softmax multiplies the gradient by the result first.
    ("softmax", by_result(1, autocast=FUSED_HALF, layout="contiguous")),
    # Rows that are masked throughout are looked for.
    ("safe_softmax", OpRule((Y,), forward=(New("y", 1),), backward=temporaries(1), layout="contiguous")),
    ("log_softmax", by_result(autocast=FUSED_HALF, layout="contiguous")),
    *rows("relu6 hardtanh silu hardswish hardsigmoid mish gelu hardshrink softshrink threshold", by_input()),
    *rows("softplus", by_input(autocast=FULL)),
    # Their in-place forms are differentiated by the result.
    *rows("leaky_relu elu selu celu", OpRule((X,), in_place=(Y,))),
    # CUDA computes log_sigmoid without the buffer that the CPU keeps (log_sigmoid_forward_cuda).
    ("logsigmoid", by_input()),
    ("rrelu", OpRule((X, Saved(New("x"))))),
    ("prelu", OpRule((X,), backward=(New("y"),), weights="first", autocast=HALF)),
    ("glu", by_input()),
    *rows("softsign tanhshrink", OpRule((X, Saved(New("x"))), forward=temporaries(1), backward=temporaries(3))),
]

MATHEMATICS = [
    *rows("exp", by_result(autocast=FULL)),
    ("exp2", by_result(1)),
    # A number to the power of a tensor.
    ("exponential", OpRule((X, Y), backward=temporaries(1), autocast=FULL)),
    ("tan", by_result(2, autocast=FULL)),
    ("sqrt", by_result(1)),
    ("expm1", by_result(1, autocast=FULL)),
    *rows("rsqrt reciprocal", by_result(2, autocast=FULL)),
    ("angle", by_input()),
    ("log", by_input(autocast=FULL)),
    ("logit", by_input()),
    *rows("log2 log10", by_input(1, autocast=FULL)),
    *rows("log1p", by_input(1, autocast=FULL)),
    *rows("abs sin lgamma", by_input(1)),
    *rows("sinh cosh erfinv", by_input(1, autocast=FULL)),
    *rows("cos atan acosh asinh atanh digamma i0", by_input(2)),
    *rows("acos asin", by_input(4, autocast=FULL)),
    *rows("sinc", by_input(7)),
    # Three comparisons, one byte a value each.
    ("nan_to_num", OpRule((X,), backward=(New("x", 1, 3),))),
    *rows("pow", by_input(2, autocast=FULL)),
    *rows("erf erfc", by_input(4)),
    # A comparison with each bound, one byte a value.
    ("clamp", OpRule((X,), backward=(New("x", 1, 2),))),
    ("clamp_one", OpRule((X,), backward=(New("x", 1),))),
    *rows("neg scale div rdiv trunc frac floor ceil round sign", NOTHING),
    *rows("shift add_number identity alias real", PASSES),
    *rows("isnan isinf isfinite logical_not signbit bitwise_not isreal detach one_hot", CONSTANT),
    # A cast to the dtype that a tensor has is no cast; else forward and backward make a new tensor each.
    ("cast", replace(NOTHING, to_training=True)),
    # The mask.
    # It is a contiguous copy that is written into (masked_fill of TensorAdvancedIndexing.cpp).
    ("masked_fill", OpRule((Saved("x1"),), layout="contiguous")),
    # A triangle of a matrix.
    ("mask", NOTHING),
    ("searchsorted", CONSTANT),
]

DROPOUTS = [
    # native_dropout on CUDA: a bool mask.
    ("dropout", OpRule((Saved(New("x", 1)),), in_place=(Saved(New("x")),))),
    ("feature_dropout", OpRule((Saved(New("instances")),))),
    ("alpha_dropout", OpRule((Saved(New("x")),), forward=temporaries(1))),
    ("feature_alpha_dropout", OpRule((Saved(New("instances")),))),
    ("dropout/off", PASSES),
]

LAYERS = [
    ("convolution", OpRule((X,), layout="suggested", weights="first", autocast=HALF)),
    (
        "linear",
        OpRule(
            (Saved("x", "weight"),), layout="contiguous", reads="matrix", weights="needed", autocast=HALF, turned=True
        ),
    ),
    ("bilinear", OpRule((X, Saved("x1")), layout="contiguous", weights="first", autocast="widest")),
    ("embedding", OpRule((X,), layout="contiguous")),
    # Beside the indices, which bag each belongs to, and how many there are: counted otherwise on the CPU than on a GPU.
    ("embedding_bag", OpRule((X,), layout="contiguous", known=False)),
]

NORMALISATIONS = [
    (
        "batch_norm",
        OpRule(
            (X, Saved(New("channels", 4, 2))), layout="suggested", reads="suggested", weights="first", as_result=True
        ),
    ),
    ("batch_norm/eval", OpRule((X,), layout="suggested", reads="suggested", weights="first")),
    # The result of a layer norm is contiguous whatever the input (empty_like(X, contiguous)).
    (
        "layer_norm",
        OpRule((X, Saved(New("rows", 4, 2))), layout="contiguous", reads="contiguous", passing="both", autocast=FULL),
    ),
    (
        "group_norm",
        OpRule((X, Saved(New("groups", 4, 2))), layout="contiguous", reads="contiguous", autocast=FULL, as_result=True),
    ),
    # A batch norm of N x C channels, with the weights repeated for each sample.
    ("instance_norm", by_instance(2)),
    (
        "instance_norm/scaled",
        OpRule((X, Saved(New("instances", 4, 3))), layout="contiguous", reads="contiguous", viewed=True),
    ),
    # Running statistics are repeated as well.
    (
        "instance_norm/tracked",
        OpRule((X, Saved(New("instances", 4, 4))), layout="contiguous", reads="contiguous", viewed=True),
    ),
    (
        "instance_norm/scaled, tracked",
        OpRule((X, Saved(New("instances", 4, 5))), layout="contiguous", reads="contiguous", viewed=True),
    ),
    # _fused_rms_norm on CUDA.
    ("rms_norm", OpRule((X, Saved(New("rows", 4))), layout="contiguous", autocast=FULL)),
    # x * x is padded and averaged; the average, its power and the padded square stay for the backward pass.
    (
        "local_response_norm",
        OpRule((X, Saved(New("padded")), Saved(New("x", times=2))), forward=temporaries(1), backward=temporaries(3)),
    ),
    # x / clamp(norm(x)): the quotient's operands; its backward makes the products and the norm's gradient.
    ("normalize", OpRule((X, Saved(New("rows", times=2))), backward=temporaries(3), autocast=RESULT)),
    # The gradient is made in float32, and cast.
    (
        "normalize/half",
        OpRule((X, Saved(New("rows", times=2))), backward=(*temporaries(3), New("x", 2)), autocast=RESULT),
    ),
]

POOLS = [
    # int64 positions in the map.
    ("max_pool", OpRule((X, Saved("positions")), layout="maps", as_result=True)),
    ("adaptive_max_pool", OpRule((X, Saved("positions")), layout="contiguous", reads="contiguous", passing="both")),
    # Its kernel reads and writes contiguous ones, of which maps whose channels run fastest have copies.
    (
        "adaptive_max_pool/channels last",
        OpRule(
            (X, Saved("positions")),
            layout="suggested",
            forward=(New("x"), New("y"), New("y", 8)),
            backward=(New("x"), New("y", 8)),
        ),
    ),
    *rows("global_max_pool fractional_max_pool", OpRule((X, Saved("positions")), layout="suggested")),
    ("average_pool", OpRule((X,), layout="maps", as_result=True)),
    # Of volumes the kernel reads a copy of what does not lie contiguous (avg_pool3d_out_cuda).
    (
        "average_pool/volumes",
        OpRule((X,), layout="contiguous", reads="contiguous", passing="forward", as_result=True),
    ),
    ("adaptive_average_pool", OpRule((X,), layout="maps")),
    # Computed as a mean.
    *rows("adaptive_average_pool/1 global_average_pool",
          OpRule(layout="suggested", gradient="averaged", partial=4)),
    # pow, average pool, sign, abs, relu, products and a root.
    (
        "lp_pool",
        OpRule(
            (X, Saved(New("x")), Saved(New("y", times=4))),
            forward=(New("y"),),
            backward=temporaries(1),
        ),
    ),
    ("max_unpool", OpRule((Saved("x1"),))),
]  # fmt: skip

MERGES = [
    *rows("add average", PASSES),
    ("subtract", OpRule(gradient="signed")),
    *rows("multiply", OpRule((OPERANDS,))),
    ("divide", OpRule((Saved("x1"), Saved("x", "others")), backward=temporaries(2, "y"))),
    # Two comparisons and a half of the gradient.
    *rows("maximum minimum", OpRule((Saved("inputs"),), backward=(New("y", 1, 2), New("y")))),
    *rows("power", OpRule((Saved("inputs"), Saved("y", "others")), backward=temporaries(4, "y"), autocast=FULL)),
    *rows("atan2", OpRule((Saved("inputs"),), backward=temporaries(5, "y"), autocast="widest")),
    *rows("hypot", OpRule((Saved("inputs"), Y), backward=temporaries(1, "y"), autocast="widest")),
    *rows("logaddexp logaddexp2", OpRule((Saved("inputs"),), backward=temporaries(3, "y"))),
    # Two numbers are one complex one: their dtypes are what the gradient asks (`handle_r_to_c`).
    ("complex", OpRule((Saved("inputs", "own"),))),
    ("polar", by_result(2)),
    # The condition.
    ("where", OpRule((X,), autocast="widest")),
    *rows("compare logical floor_divide equal bitwise", CONSTANT),
    # The rest changes as the first operand does, and by the whole quotient with the second.
    ("remainder", OpRule((OPERANDS,), gradient="signed")),
    *rows("bitwise_and bitwise_or bitwise_xor shift_left shift_right logical_and logical_or logical_xor", CONSTANT),
    # On CUDA autocast leaves them alone: parts of several dtypes are copied into the widest as they are.
    ("concatenate", OpRule(gradient="parts", layout="agreed")),
    ("stack", OpRule(gradient="parts", layout="contiguous")),
    # cuFFT: linear, and its gradient another transform.
    ("fourier", OpRule(layout="contiguous")),
    ("fourier/real", OpRule((X,), layout="contiguous")),
    # LU factors and the result.
    *rows("inv inverse", by_result(2)),
    ("cholesky", by_result(3)),
    # Both factors.
    ("qr", OpRule((Y, Saved("positions")), backward=temporaries(3))),
    # A few products of matrices, each of which keeps its factors.
    *rows("matrix_exp matrix_power", OpRule((X, Y, Saved(New("x", times=2))), backward=temporaries(3))),
    *rows("pinv pinverse", OpRule((X, Y, Saved(New("x", times=2))), backward=temporaries(4))),
    # linalg_solve_backward: A, the result, LU and its int32 pivots; the triangular one A and the result.
    ("solve", OpRule((Saved("x1"), Y, Saved(New("x1")), Saved(New("pivots", 4))), backward=temporaries(1, "y"))),
    ("solve_triangular", OpRule((Saved("x1"), Y), backward=temporaries(1, "y"))),
    ("det", OpRule((X, Saved(New("x"))), backward=temporaries(2))),
    # _weight_norm_interface: the direction, the magnitude and the norms that it divides by.
    ("weight_norm", OpRule((Saved("inputs"), Saved(New("x1"))))),
    # _cdist_backward reads both and the result.
    ("cdist", OpRule((Saved("inputs"), Y), layout="contiguous", autocast=FULL)),
    *rows("matmul einsum", OpRule((OPERANDS,), layout="contiguous", reads="matrix", autocast=HALF)),
    *rows("lerp matmul_into", NOTHING),
    # With a tensor for its weight: that; where it is trained, both ends as well.
    ("lerp/weighted", OpRule((Saved("x2"),))),
    ("lerp/weight trained", OpRule((Saved("inputs"),))),
]

SHAPES = [
    ("view", PASSES),
    ("copy", PASSES),
    # CopySlices: a copy of the gradient, in which the part that was written is set to zero.
    ("set_slice", OpRule(gradient="slices")),
    ("contiguous", OpRule(gradient="same", layout="contiguous")),
    ("channels_last", OpRule(gradient="same", layout="channels last")),
    *rows("copy/Roll copy/Flip copy/Repeat copy/RepeatInterleave copy/ChannelShuffle", OpRule(layout="contiguous")),
    # One axis after the other.
    ("copy/several", OpRule(forward=temporaries(1), backward=temporaries(1), layout="contiguous")),
    # Advanced indexing adds into zeros, out of place.
    ("copy/Index", OpRule((Saved("x1"), Saved("x2")), layout="contiguous")),
    # The places; values are added into zeros.
    *rows("gather take", OpRule((X, Saved("x1")), layout="contiguous")),
    *rows("index_add index_copy", OpRule((Saved("x1"), Saved("x2")), layout="contiguous")),
    *rows("scatter scatter_add scatter_reduce index_fill masked_scatter index_reduce",
          OpRule((Saved("x1"),), layout="contiguous")),
    *rows("index_put put crop", NOTHING),
    ("pad", OpRule(layout="suggested")),
    *rows("reflection_pad replication_pad", OpRule((X,), layout="suggested")),
    ("circular_pad", OpRule(backward=temporaries(1), layout="contiguous")),
    ("pixel_shuffle", OpRule(layout="suggested")),
    *rows("unfold fold", OpRule(layout="contiguous")),
    # Their backward pass reads the gradient as the result lies.
    *rows("upsample_nearest upsample_nearest_exact upsample_linear upsample_bilinear upsample_bicubic "
          "upsample_trilinear", OpRule(layout="suggested", autocast=FULL, as_result=True)),
    # The grid that the matrices are applied to is made anew for the backward pass.
    ("affine_grid", OpRule(forward=(New("y"),), backward=(New("y"),), layout="contiguous")),
    ("upsample_area", OpRule((X,), layout="suggested")),
    ("grid_sample", OpRule((Saved("inputs"),), layout="suggested", autocast="widest")),
]  # fmt: skip

REDUCTIONS = [
    ("mean", OpRule(gradient="averaged", partial=4)),
    ("sum", OpRule(gradient="spread", autocast=RESULT, partial=4)),
    # With positions, or the value compared with all.
    *rows("max min", OpRule((Saved("positions"),), gradient="placed", partial=16)),
    *rows("median mode kthvalue", OpRule((Saved("positions"),), gradient="placed")),
    # The places of the extremes, which are counted.
    *rows("amax amin max/all min/all", OpRule((X, Y), backward=(New("x", 1), New("y", 8)), partial=1, counts=True)),
    *rows("max/whole min/whole", OpRule((X, Y), backward=(New("x", 1, 2), New("x", 4)))),
    # Mean, sum of squares and both numbers.
    ("var", OpRule((X,), backward=temporaries(1), partial=16)),
    ("var_mean", OpRule((X,), backward=temporaries(2), partial=16)),
    ("std", OpRule((X, Y), backward=temporaries(1), partial=16)),
    ("norm", OpRule((X, Y), backward=temporaries(1), autocast=RESULT, partial=4)),
    ("logsumexp", OpRule((X, Y), backward=temporaries(2), autocast=FULL)),
    # The quotient of result and input, a mask of what is zero, and the zeros' number in each row.
    ("prod", OpRule((X, Y), backward=(New("x"), New("x", 1), New("y", 8)), autocast=RESULT, partial=4)),
    # The gradient is turned round, summed up and turned back; of half precision it is cast before.
    ("cumsum", OpRule(backward=temporaries(2), layout="contiguous", autocast=RESULT)),
    ("cumsum/half", OpRule(backward=(New("x", 2, 3),), layout="contiguous", autocast=RESULT)),
    # Sorted values, and those between which the result lies.
    (
        "quantile",
        OpRule((Saved(New("x", times=2)), Saved(New("x", 8))), forward=temporaries(1), backward=temporaries(2)),
    ),
    ("logcumsumexp", OpRule((X, Y), backward=temporaries(7))),
    # The gradient times the result, turned round, summed up and turned back; a mask of what is zero.
    ("cumprod", OpRule((X, Y), backward=(New("x", times=3), New("x", 1)), autocast=RESULT)),
    *rows("topk sort", OpRule((Saved("positions"),), gradient="placed")),
    *rows("argmax argmin argsort any all count_nonzero", CONSTANT),
]


def unfused(*probabilities: New, backward: int = 1) -> OpRule:
    """Attention in steps (_scaled_dot_product_attention_math): scaled q and k, v, and what is as large as scores."""
    kept = (Saved(New("x")), Saved(New("x1")), Saved("x2"), *(Saved(one) for one in probabilities))
    made = (New("probabilities"),)
    return OpRule(kept, forward=made, backward=made * backward, layout="contiguous", reads="matrix", autocast=HALF)


def whole(*probabilities: New, backward: int = 1) -> OpRule:
    """Attention in steps where q, k and v are in half precision: in float32."""
    kept = (New("x", 4), New("x1", 4), New("x2", 4), *probabilities)
    made = (New("probabilities", 4),)
    return OpRule(tuple(map(Saved, kept)), forward=made, backward=made * backward, layout="contiguous", autocast=HALF)


FUSED = (X, Saved("x1"), Saved("x2"), Y)
ATTENTION = [
    # Fused kernels: q, k, v, the result, and the logarithm of the probabilities' sums; a trained mask, too.
    ("attention", OpRule((X, Saved("x1"), Saved("x2"), Saved("x3"), Y, Saved(New("queries", 4))), layout="first",
                      autocast=HALF)),
    ("attention/masked", OpRule((X, Saved("x1"), Saved("x2"), Saved("x3"), Y, Saved(New("queries", 4))), layout="first",
                             autocast=HALF)),
    # The kernels of CUDA (flake8_cnnmem/memory/attention.py): logarithms of sums in float32, and the mask.
    ("attention/flash", OpRule((*FUSED, Saved(New("queries", 4))), layout="first", backward=(New("flash", 1),),
                            heads_inside=True, autocast=HALF)),
    ("attention/cudnn", OpRule((*FUSED, Saved("x3"), Saved(New("queries", 4))), layout="first", autocast=HALF)),
    ("attention/efficient", OpRule((*FUSED, Saved("x3"), Saved(New("attended", 4))),
                                        layout="heads inside",
                                forward=(New("gathered", 1),), backward=(New("efficient", 1),),
                                heads_inside=True, autocast=HALF)),
    ("attention/efficient, masked", OpRule((*FUSED, Saved(New("bias")), Saved(New("attended", 4))),
                                        layout="heads inside",
                                        forward=(New("gathered", 1),), backward=(New("efficient", 1),),
                                        heads_inside=True, autocast=HALF)),
    # Where no fused kernel will do. With a dropout: the probabilities before and after it, and its mask. Backward: the
    # gradient of the probabilities, that of the scores, and their product.
    ("attention/no kernel", NOT_KNOWN),
    ("attention/math", unfused(New("probabilities"), backward=3)),
    ("attention/math, dropped", unfused(New("probabilities", times=2), New("probabilities", 1), backward=2)),
    ("attention/math, in full", whole(New("probabilities", 4), backward=3)),
    ("attention/math, dropped, in full", whole(New("probabilities", 4, 2), New("probabilities", 1), backward=2)),
]  # fmt: skip

STATES = (Saved("x1"), Saved("x2"))
"""Initial states that are given."""


def recurrent(*kept: New, backward: tuple[New, ...] = (), reads: str = "") -> OpRule:
    """A recurrent layer: its input, the initial states, and what is kept of the steps."""
    own = tuple(Saved(one) for one in kept)
    return OpRule((X, *STATES, *own), backward=backward, layout="time first", reads=reads, weights="all", autocast=HALF)


def fused(states: int, reserve: int) -> OpRule:
    """cuDNN: x, y, the initial states, and a reserve with the gates of each step (cudnnGetRNNTempSpaceSizes; its size
    is cuDNN's own)."""
    row = recurrent(New("zeros", times=states), New("steps", times=reserve))
    return replace(row, keeps=(*row.keeps, Y))


def cell(*kept: Saved, made: int = 0, after: int = 0) -> OpRule:
    """One step of a recurrent layer. `made` and `after` are the gradients of its gates, in states: those that its
    backward makes, and those that are left when the first of its two products has been gone back through."""
    backward, rest = ((New("states", times=times),) if times else () for times in (made, after))
    keeps = (X, *STATES, *kept)
    return OpRule(keeps, backward=backward, layout="contiguous", weights="all", autocast=HALF, turned=True, after=rest)


RECURRENT = [
    ("rnn", fused(1, 1)),
    ("gru", fused(1, 5)),
    ("lstm", fused(2, 6)),
    # _thnn_fused_lstm_cell, _thnn_fused_gru_cell: the gates of the input and of the hidden state, a workspace.
    ("lstm_cell", cell(Saved(New("zeros", times=1)), Saved("y1"), Saved(New("states", times=12)), made=4, after=4)),
    ("gru_cell", cell(Saved(New("zeros")), Saved(New("states", times=11)), made=6, after=3)),
    ("rnn_cell", cell(Saved(New("zeros")), Y, made=1, after=1)),
    ("conv_lstm", OpRule((X, Y, Saved(New("steps", times=6))), layout="contiguous", weights="all", autocast=HALF)),
]

DESCRIBED = [("declared", OpRule())]
"""What a project's stub describes: what it keeps is said with the call, as of a function whose backward pass is written
by hand."""

TABLE: Mapping[str, OpRule] = table(
    ACTIVATIONS, MATHEMATICS, DROPOUTS, LAYERS, NORMALISATIONS, POOLS, MERGES, SHAPES, REDUCTIONS, ATTENTION, RECURRENT,
    LOSSES, DERIVATIVES, DESCRIBED,
)  # fmt: skip

REWRITES = {
    "sub": "subtract",
    "mul": "multiply",
    "cat": "concatenate",
    "swish": "silu",
    "hard_swish": "hardswish",
    "hard_sigmoid": "hardsigmoid",
    "amax_pool": "max_pool",
}

RULES = Rules("torch", 512, TABLE, eager=True, by_chip=True, rewrites=REWRITES, optimizers=OPTIMIZERS)
"""PyTorch on CUDA."""
