"""What PyTorch's autograd keeps for the backward pass, and what backward and forward make for a moment.

Kept tensors are those of tools/autograd/derivatives.yaml (2.13), checked with saved_tensors_hooks; temporaries are
those that the formulas of torch/csrc/autograd/FunctionsManual.cpp make, seen with a TorchDispatchMode
(tests/oracle/torch_ops.py measures every row again). In-place ops that keep their input keep a clone of it
(the "original_self" of the generated code); those that are differentiated by their result keep nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flake8_cnnmem.frameworks.rules import New, OpRule, Rules, Saved, rows, table
from flake8_cnnmem.frameworks.torch.autograd.nodes import nodes_of
from flake8_cnnmem.frameworks.torch.op_rules import (
    CONSTANT,
    FULL,
    FUSED_HALF,
    HALF,
    NOTHING,
    OPERANDS,
    PASSES,
    X,
    Y,
    by_input,
    by_result,
    temporaries,
)
from flake8_cnnmem.frameworks.torch.optim.states import STATES as OPTIMIZERS
from flake8_cnnmem.frameworks.torch.saved_by_attention import ATTENTION
from flake8_cnnmem.frameworks.torch.saved_by_losses import DERIVATIVES, LOSSES
from flake8_cnnmem.frameworks.torch.saved_by_recurrence import RECURRENT
from flake8_cnnmem.frameworks.torch.saved_by_reductions import NORMALISATIONS, REDUCTIONS
from flake8_cnnmem.frameworks.torch.saved_by_samples import SAMPLES

ACTIVATIONS = [
    # Where the gradient lies as the "slope", TensorIterator is given the kept tensor, or a mask made of it, first.
    ("relu", OpRule((Y,), gradient_layout="slope")),
    *rows("sigmoid tanh", by_result()),
    # Their results are contiguous, whatever the input.
    # Softmax multiplies the gradient by the result first.
    # What does not lie contiguous their kernels read from a copy (host_softmax of SoftMax.cu), softmax's that product.
    (
        "softmax",
        by_result(1, autocast=FUSED_HALF, layout="contiguous", reads="contiguous", passing="forward", dense=True),
    ),
    # Rows that are masked throughout are looked for.
    ("safe_softmax", OpRule((Y,), forward=(New("y", 1),), backward=temporaries(1), layout="contiguous")),
    (
        "log_softmax",
        by_result(autocast=FUSED_HALF, layout="contiguous", reads="contiguous", passing="forward", dense=True),
    ),
    *rows("relu6 hardtanh silu hardswish hardsigmoid mish gelu hardshrink softshrink", by_input()),
    ("threshold", OpRule((X,), gradient_layout="slope")),
    *rows("softplus", by_input(autocast=FULL)),
    # Their in-place forms are differentiated by the result.
    ("leaky_relu", OpRule((X,), in_place=(Y,), gradient_layout="slope")),
    *rows("elu selu celu", OpRule((X,), in_place=(Y,))),
    # CUDA computes log_sigmoid without the buffer that the CPU keeps (log_sigmoid_forward_cuda).
    ("logsigmoid", by_input()),
    (
        "rrelu",
        OpRule(
            (X, Saved(New("x"))),
            in_place=(Y, Saved(New("x"))),
            layout="contiguous",
            reads="contiguous",
            passing="forward",
            mask_first=True,
        ),
    ),
    (
        "prelu",
        OpRule(
            (X,), backward=(New("y"),), weights="first", autocast=HALF, gradient_layout="slope", channels_summed=True
        ),
    ),
    ("glu", by_input(layout="halves", gradient_layout="contiguous")),
    *rows("softsign tanhshrink", OpRule((X, Saved(New("x"))), forward=temporaries(1), backward=temporaries(3))),
]

MATHEMATICS = [
    *rows("exp", by_result(autocast=FULL)),
    ("exp2", by_result(1)),
    # A number to the power of a tensor.
    (
        "exponential",
        OpRule((X, Y), backward=temporaries(1), autocast=FULL, layout="contiguous", gradient_layout="gradient"),
    ),
    ("tan", by_result(2, autocast=FULL)),
    ("sqrt", by_result(1)),
    ("expm1", by_result(1, autocast=FULL)),
    *rows("rsqrt reciprocal", by_result(2, autocast=FULL)),
    ("angle", by_input()),
    # Several quotients, real and complex.
    ("angle/complex", OpRule((X,), known=False)),
    ("log", by_input(autocast=FULL)),
    ("logit", by_input()),
    *rows("log2 log10", by_input(1, autocast=FULL)),
    *rows("log1p", by_input(1, autocast=FULL)),
    *rows("abs sin lgamma", by_input(1)),
    # Made as complex numbers, of which the result is the real part (unary_op_impl_with_complex_to_float_out).
    ("abs/complex", replace(by_input(1), forward=temporaries(1))),
    *rows("sinh cosh", by_input(1, autocast=FULL)),
    ("erfinv", OpRule((X,), backward=temporaries(4), autocast=FULL, gradient_layout="slope")),
    *rows("digamma i0", by_input(1)),
    *rows("cos atan", by_input(2)),
    # A square, one beside it and the root (or the product with one) of that.
    *rows("acosh asinh atanh", by_input(3)),
    ("acos", by_input(5, autocast=FULL)),
    ("asin", by_input(4, autocast=FULL)),
    ("sinc", OpRule((X,), backward=temporaries(7), gradient_layout="slope")),
    # Three comparisons, one byte a value each.
    ("nan_to_num", OpRule((X,), backward=(New("x", 1, 3),))),
    *rows("pow", by_input(2, autocast=FULL)),
    *rows("erf erfc", OpRule((X,), backward=temporaries(4), gradient_layout="slope")),
    # A comparison with each bound, one byte a value.
    ("clamp", OpRule((X,), backward=(New("x", 1, 2),), gradient_layout="slope")),
    # Between tensors, which get gradients as well.
    *rows("clamp/Broadcast clamp_one/Broadcast", OpRule((Saved("inputs"),), gradient_layout="slope", known=False)),
    ("clamp_one", OpRule((X,), backward=(New("x", 1),), gradient_layout="slope")),
    *rows("neg scale div rdiv trunc frac floor ceil round sign", NOTHING),
    *rows("shift add_number identity alias real conj", PASSES),
    # Nothing is computed: who reads it makes a copy, or finds its own conjugate in it.
    *rows("conj/complex scaled_into", replace(PASSES, known=False)),
    ("conj/complex, constant", replace(CONSTANT, known=False)),
    *rows("isnan isinf isfinite logical_not signbit bitwise_not isreal detach one_hot made", CONSTANT),
    # A cast to the dtype that a tensor has is no cast; else forward and backward make a new tensor each.
    ("cast", replace(NOTHING, to_training=True)),
    # The mask.
    # It is a contiguous copy that is written into (masked_fill of TensorAdvancedIndexing.cpp).
    ("masked_fill", OpRule((Saved("x1"),), layout="contiguous")),
    # A triangle of a matrix.
    ("mask", OpRule(layout="contiguous")),
    *rows("searchsorted noise", CONSTANT),
    # What is drawn by them gets zeros for a gradient. The kernel reads probabilities in float32.
    ("bernoulli", OpRule(layout="contiguous", gradient_layout="gradient")),
    ("bernoulli/half", OpRule(forward=(New("x", 4),), layout="contiguous", gradient_layout="gradient")),
    ("poisson", OpRule(layout="contiguous", gradient_layout="contiguous")),
    # One at the largest value of each row: its gradient is that of the values, its steps are not looked into.
    ("straight_through", replace(PASSES, known=False)),
]

DROPOUTS = [
    # native_dropout on CUDA: a bool mask.
    ("dropout", OpRule((Saved(New("x", 1)),), in_place=(Saved(New("x")),), mask_first=True)),
    ("feature_dropout", OpRule((Saved(New("instances")),), mask_first=True)),
    ("alpha_dropout", OpRule((Saved(New("x")),), forward=temporaries(1), mask_first=True)),
    ("feature_alpha_dropout", OpRule((Saved(New("instances")),), mask_first=True)),
    # With p = 1 there is no mask: a product with one zero (aten/src/ATen/native/Dropout.cpp).
    *(
        (f"{kind}/all", OpRule((Saved(New("zero")),)))
        for kind in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
    ),
    ("dropout/off", PASSES),
]

LAYERS = [
    (
        "convolution",
        OpRule((X,), layout="suggested", weights="first", autocast=HALF, one_order=True, bias_last=True),
    ),
    (
        "linear",
        OpRule(
            (Saved("x", "weight"),),
            layout="contiguous",
            reads="matrix",
            weights="needed",
            autocast=HALF,
            turned=True,
            by_name=True,
        ),
    ),
    # Three products in one kernel, whose parts are nobody's to see.
    ("bilinear", OpRule((X, Saved("x1")), layout="contiguous", weights="first", autocast="widest", known=False)),
    ("embedding", OpRule((X,), layout="contiguous", dense=True)),
    # Beside the indices, which bag each belongs to, and how many there are: counted otherwise on the CPU than on a GPU.
    ("embedding_bag", OpRule((X,), layout="contiguous", known=False)),
]

POOLS = [
    # int64 positions in the map.
    ("max_pool", OpRule((X, Saved("positions")), layout="maps", reads="suggested", passing="forward", as_result=True)),
    *(
        (kind, OpRule((X, Saved("positions")), layout="contiguous", reads="contiguous", passing="both"))
        for kind in ("adaptive_max_pool", "adaptive_max_pool/channels last, volumes")
    ),
    # Its kernel reads and writes contiguous ones, of which maps whose channels run fastest have copies.
    (
        "adaptive_max_pool/channels last",
        OpRule(
            (X, Saved("positions")),
            layout="maps",
            forward=(New("x"), New("y"), New("y", 8)),
            backward=(New("x"), New("y", 8)),
            dense=True,
        ),
    ),
    *rows("global_max_pool fractional_max_pool", OpRule((X, Saved("positions")), layout="suggested")),
    ("average_pool", OpRule((X,), layout="maps", reads="suggested", passing="forward", as_result=True)),
    # Of volumes the kernel reads a copy of what does not lie contiguous (avg_pool3d_out_cuda).
    (
        "average_pool/volumes",
        OpRule((X,), layout="contiguous", reads="contiguous", passing="forward", as_result=True),
    ),
    ("adaptive_average_pool", OpRule((X,), layout="maps")),
    # Computed as a mean.
    ("adaptive_average_pool/1", OpRule(layout="suggested", gradient="averaged", partial=4, restrided=True)),
    ("global_average_pool", OpRule(layout="suggested", gradient="averaged", partial=4)),
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


def euclidean(first: int, second: int) -> OpRule:
    """`_euclidean_dist`: what its way back makes for a moment of the size of either operand."""
    return OpRule(
        (Saved("inputs"), Y),
        forward=(New("x"), New("x1"), New("first rows", times=2), New("second rows", times=2)),
        backward=(New("y"), New("x", times=first), New("x1", times=second), New("first rows"), New("second rows")),
        layout="contiguous",
        reads="contiguous",
        autocast=FULL,
        column_sums=True,
    )


MERGES = [
    *rows("add average", PASSES),
    ("subtract", OpRule(gradient="signed")),
    ("multiply", OpRule((OPERANDS,), by_name=True)),
    # Of each gradient's other factor the conjugate, a copy: one after the other.
    ("multiply/complex", OpRule((OPERANDS,), backward=(New("x"),))),
    ("multiply/complex, fixed", OpRule((OPERANDS,), backward=(New("x1"),))),
    ("divide", OpRule((Saved("x1"), Saved("x", "others")), backward=temporaries(2, "y"))),
    # The gradient is divided by what is kept, and that is all.
    ("divide/fixed divisor", OpRule((Saved("x1"),))),
    ("divide/fixed dividend", OpRule((Saved("inputs"),), backward=temporaries(3, "y"), by_name=True)),
    # Two comparisons and a half of the gradient.
    *rows(
        "maximum minimum",
        OpRule((Saved("inputs"),), backward=(New("y", 1, 2), New("y")), gradient_layout="slope", by_name=True),
    ),
    *rows(
        "power",
        OpRule((Saved("inputs"), Saved("y", "others")), backward=(*temporaries(4, "y"), New("y", 1)), autocast=FULL),
    ),
    # By an exponent that is smaller the comparisons with it are small, too.
    (
        "power/repeated exponent",
        OpRule((Saved("inputs"), Saved("y", "others")), backward=temporaries(3, "y"), autocast=FULL),
    ),
    ("atan2", OpRule((Saved("inputs"),), backward=temporaries(5, "y"), autocast="widest")),
    ("atan2/one", OpRule((Saved("inputs"),), backward=temporaries(3, "y"), autocast="widest")),
    ("hypot", OpRule((Saved("inputs"), Y), backward=temporaries(1, "y"), by_name=True)),
    *rows("logaddexp logaddexp2", OpRule((Saved("inputs"),), backward=temporaries(3, "y"), by_name=True)),
    # Two numbers are one complex one: their dtypes are what the gradient asks (`handle_r_to_c`).
    ("complex", OpRule((Saved("inputs", "own"),))),
    # Products of complex numbers with a sine and a cosine, of which nobody has said how many are there at once.
    ("polar", replace(by_result(2), known=False)),
    # The condition. Autocast has no row for it: the operands are cast within.
    ("where", OpRule((X,), gradient_layout="slope", by_name=True)),
    # What is narrower is cast first.
    ("where/mixed", OpRule((X,), gradient_layout="slope", known=False)),
    *rows("compare logical floor_divide equal bitwise", CONSTANT),
    # copysign_tensor_self_backward: the quotient of result and operand, and the gradient times that.
    ("copysign", OpRule((X, Y), backward=temporaries(1, "y"))),
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
    # Products of matrices, each of which keeps its factors; of an exponential how many, the values decide.
    ("matrix_power", OpRule((X, Y, Saved(New("x", times=2))), backward=temporaries(3), known=False)),
    ("matrix_exp", OpRule((X, Y), known=False)),
    *rows("pinv pinverse", OpRule((X, Y, Saved(New("x", times=2))), backward=temporaries(4))),
    # linalg_solve_backward: A, the result, LU and its int32 pivots; the triangular one A and the result.
    # The gradient of A is a product, and its negative.
    ("solve", OpRule((Saved("x1"), Y, Saved(New("x1")), Saved(New("pivots", 4))), backward=(New("x1"),))),
    ("solve/fixed", OpRule((Saved("x1"), Y, Saved(New("x1")), Saved(New("pivots", 4))), backward=temporaries(1, "y"))),
    ("solve_triangular", OpRule((Saved("x1"), Y), backward=temporaries(1, "y"))),
    ("det", OpRule((X, Saved(New("x"))), backward=temporaries(2))),
    # _weight_norm_interface: the direction, the magnitude and the norms that it divides by, all of them contiguous.
    ("weight_norm", OpRule((Saved("inputs"), Saved(New("x1"))), layout="contiguous", reads="contiguous", dense=True)),
    # Of many rows a product of matrices, each with its norms and ones beside it; both gradients are one expression.
    ("cdist", euclidean(2, 2)),
    ("cdist/first", euclidean(2, 3)),
    ("cdist/second", euclidean(3, 2)),
    # Of few, or by another norm, each difference is a value of a buffer (cdist_backward_kernel_impl), for the second
    # operand of the gradient and the result turned. What is kept are the operands as they are given.
    (
        "cdist/by pairs",
        OpRule(
            (Saved("inputs"), Y),
            backward=(New("y", times=2), New("differences")),
            layout="contiguous",
            reads="contiguous",
            passing="both",
            autocast=FULL,
        ),
    ),
    (
        "cdist/by pairs, first",
        OpRule(
            (Saved("inputs"), Y),
            backward=(New("differences"),),
            layout="contiguous",
            reads="contiguous",
            passing="both",
            autocast=FULL,
        ),
    ),
    # Batches that are repeated, or rows that nobody knows the number of.
    ("cdist/repeated", OpRule((Saved("inputs"), Y), layout="contiguous", autocast=FULL, known=False)),
    *rows("matmul einsum", OpRule((OPERANDS,), layout="contiguous", reads="matrix", autocast=HALF, by_name=True)),
    # _grouped_mm_mat1_backward and its twin; autocast leaves it as it is.
    ("grouped_matmul", OpRule((Saved("inputs"),), layout="contiguous")),
    # The gradient is repeated for the batch, without a copy.
    ("addbmm", OpRule((OPERANDS,), layout="contiguous", autocast=HALF)),
    *rows(
        "matmul/VectorDot einsum/Tensordot", OpRule((OPERANDS,), layout="contiguous", reads="matrix", autocast="widest")
    ),
    # Pair by pair: what is between them is not counted.
    ("einsum/several", OpRule((OPERANDS,), layout="contiguous", reads="matrix", autocast=HALF, known=False)),
    # Each factor, if the other one is trained: it is multiplied by the number, and then by the gradient.
    ("addcmul", OpRule((Saved("x1"), Saved("x2")), backward=temporaries(1, "y"), gradient="signed", autocast="widest")),
    ("addcmul/first", OpRule((Saved("x2"),), backward=temporaries(1, "y"), gradient="signed", autocast="widest")),
    ("addcmul/second", OpRule((Saved("x1"),), backward=temporaries(1, "y"), gradient="signed", autocast="widest")),
    ("addcmul/neither", replace(PASSES, autocast="widest")),
    # Products as large as the result, which are summed when all of them are there; whether the gradient that has come
    # is still there then, depends on who else reads it.
    (
        "addcmul/repeated",
        OpRule(
            (Saved("x1"), Saved("x2")), backward=temporaries(1, "y"), gradient="signed", autocast="widest", known=False
        ),
    ),
    ("addcmul/repeated, fixed", OpRule((), gradient="signed", autocast="widest", known=False)),
    ("addcdiv", OpRule((Saved("x2"),), gradient="signed", autocast="widest", known=False)),
    # What is made of the gradient is another tensor for each operand, and larger where that is repeated.
    ("xlogy", OpRule((Saved("inputs"),), known=False)),
    *rows("fmax fmin", OpRule((Saved("inputs"),), known=False)),
    # A product with a power of two, which a step of its own makes.
    ("ldexp", OpRule(known=False)),
    *rows("lerp matmul_into", NOTHING),
    # With a tensor for its weight: that; where it is trained, both ends as well.
    ("lerp/weighted", OpRule((Saved("x2"),))),
    ("lerp/weight trained", OpRule((Saved("inputs"),), backward=temporaries(1, "y"))),
]

JOINED = OpRule(
    (X, Saved("x1"), Saved("x2"), Y),
    in_place=(Saved(New("x")), Saved("x1"), Saved("x2"), Y),
    # The places of the extremes and how many there are, of the result and of what was joined with it.
    backward=(New("x", times=4), New("x2", times=3), New("x2", 1)),
    layout="contiguous",
)

SHAPES = [
    ("view", PASSES),
    ("view/Common", replace(PASSES, autocast=FULL)),
    *rows("copy rebased", PASSES),
    # What was there before gets zeros (CopyBackwards, ZeroBackward).
    ("overwrite", OpRule(gradient="overwritten", layout="contiguous")),
    # What advanced indexing writes: a copy of the gradient, in which the part that was written is set to zero.
    ("set_slice", OpRule(gradient="slices")),
    ("contiguous", OpRule(gradient="same", layout="contiguous")),
    ("channels_last", OpRule(gradient="same", layout="channels last")),
    ("copy/Flip", OpRule(gradient_layout="gradient")),
    # Its kernel reads a contiguous input, or a copy of it.
    ("copy/Roll", OpRule(reads="contiguous", passing="forward", layout="contiguous")),
    *rows("copy/Repeat copy/RepeatInterleave copy/ChannelShuffle", OpRule(layout="contiguous")),
    # One axis after the other.
    ("copy/several", OpRule(forward=temporaries(1), backward=temporaries(1), layout="contiguous")),
    # Advanced indexing adds into zeros, out of place.
    ("copy/Index", OpRule((Saved("x1"), Saved("x2")), layout="contiguous")),
    # It makes the places of what is true, for a moment: how many bytes on the way is not measured.
    ("copy/Masked", OpRule((Saved("x1"), Saved("x2")), layout="contiguous", known=False)),
    # The places; values are added into zeros.
    *rows("gather take", OpRule((X, Saved("x1")), layout="contiguous")),
    ("index_add", OpRule((Saved("x1"), Saved("x2")), layout="contiguous", gradient="signed")),
    ("index_copy", OpRule((Saved("x1"), Saved("x2")), layout="contiguous")),
    ("scatter_add", OpRule((Saved("x1"),), layout="contiguous", gradient="signed", autocast="widest")),
    *rows("scatter index_fill", OpRule((Saved("x1"),), layout="contiguous")),
    # It counts the places before each one; how many values it gives a gradient to, the mask alone says.
    ("masked_scatter", OpRule((Saved("x1"),), forward=(New("y", 8),), layout="contiguous", known=False)),
    # All that goes in and comes out, whatever the way (scatter_reduce_backward); what is written over as a copy.
    *rows("scatter_reduce index_reduce", replace(JOINED, backward=(), known=False)),
    ("scatter_reduce/sum", replace(JOINED, backward=())),
    # What does not count of the first one gets no gradient: zeros in a copy of it.
    ("scatter_reduce/sum, alone", replace(JOINED, backward=temporaries(1))),
    *rows("scatter_reduce/amax scatter_reduce/amin", JOINED),
    # One of these is then the first one's gradient itself.
    *((f"scatter_reduce/{kind}, both", replace(JOINED, backward=(New("x", times=3), *JOINED.backward[1:])))
      for kind in ("amax", "amin")),
    *rows("index_put put crop", NOTHING),
    ("pad", OpRule(layout="suggested", gradient_layout="suggested")),
    # Their kernels read a contiguous input, or a copy of it, and those of a reflection of up to two sides a contiguous
    # gradient.
    *rows("replication_pad reflection_pad/volumes",
          OpRule((X,), layout="contiguous", reads="contiguous", passing="forward")),
    ("reflection_pad", OpRule((X,), layout="contiguous", reads="contiguous", passing="forward", dense=True)),
    # It is written part by part into one that is empty; the way back goes through all of these copies.
    ("circular_pad", OpRule(backward=temporaries(1), layout="contiguous", known=False)),
    ("pixel_shuffle", OpRule(layout="contiguous")),
    # im2col and col2im, each the other's way back: they read what is contiguous, or a copy of it.
    *rows("unfold fold", OpRule(layout="contiguous", reads="contiguous", passing="forward", dense=True, resized=True)),
]  # fmt: skip


DESCRIBED = [("declared", OpRule())]
"""What a project's stub describes: what it keeps is said with the call, as of a function whose backward pass is written
by hand."""

TABLE: Mapping[str, OpRule] = table(
    ACTIVATIONS, MATHEMATICS, DROPOUTS, LAYERS, NORMALISATIONS, POOLS, MERGES, SHAPES, SAMPLES, REDUCTIONS, ATTENTION,
    RECURRENT, LOSSES, DERIVATIVES, DESCRIBED,
)  # fmt: skip

REWRITES = {
    "sub": "subtract", "mul": "multiply", "cat": "concatenate", "swish": "silu", "hard_swish": "hardswish",
    "hard_sigmoid": "hardsigmoid", "amax_pool": "max_pool",
}  # fmt: skip

OF_COMPLEX = frozenset(
    {
        "view", "multiply", "add", "shift", "add_number", "div", "subtract", "scale", "neg", "cast", "copy",
        "contiguous", "concatenate", "stack", "identity", "alias", "detach", "made", "rebased", "overwrite", "fourier",
        "abs", "sum", "mean", "pad",
    }
)  # fmt: skip
"""The gradient of other kinds is multiplied by conjugates, of which a kernel reads copies."""

RULES = Rules(
    "torch", 512, TABLE, eager=True, by_chip=True, rewrites=REWRITES, nodes=nodes_of, optimizers=OPTIMIZERS,
    of_complex=OF_COMPLEX,
)  # fmt: skip
"""PyTorch on CUDA."""
