"""What PyTorch's autograd keeps of normalisations, and of ops that reduce, sort or run along an axis.

Known and measured as the rows of `saved_tensors.py`.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.rules import New, OpRule, Saved, rows
from flake8_cnnmem.frameworks.torch.op_rules import (
    CONSTANT,
    FULL,
    RESULT,
    X,
    Y,
    temporaries,
)


def statistics(of: str, tensors: int = 1) -> New:
    """So many tensors of means, deviations, or sums of them: float32 for half precision, too."""
    return New(of, 4, tensors, widens=True)


def by_instance(tensors: int) -> OpRule:
    """An instance norm: its input lies contiguous for it, or is copied (at::instance_norm)."""
    kept = Saved(statistics("instances", tensors))
    return OpRule((X, kept), layout="contiguous", reads="contiguous", viewed=True)


NORMALISATIONS = [
    (
        "batch_norm",
        OpRule(
            (X, Saved(statistics("channels", 2))),
            layout="suggested",
            reads="by cuDNN",
            weights="first",
            as_result=True,
            batch_statistics=True,
        ),
    ),
    ("batch_norm/eval", OpRule((X,), layout="suggested", reads="by cuDNN", weights="first")),
    # The result of a layer norm is contiguous whatever the input (empty_like(X, contiguous)).
    (
        "layer_norm",
        OpRule(
            (X, Saved(statistics("rows", 2))), layout="contiguous", reads="contiguous", passing="both", autocast=FULL
        ),
    ),
    (
        "group_norm",
        # A factor and a summand for each channel of each sample; on the way back two sums and a factor for each.
        OpRule(
            (X, Saved(statistics("groups", 2))),
            forward=(statistics("instances", 2),),
            backward=(statistics("instances", 3), statistics("groups", 2)),
            layout="contiguous",
            reads="contiguous",
            autocast=FULL,
            as_result=True,
        ),
    ),
    # A batch norm of N x C channels, with the weights repeated for each sample.
    ("instance_norm", by_instance(2)),
    (
        "instance_norm/scaled",
        OpRule((X, Saved(statistics("instances", 3))), layout="contiguous", reads="contiguous", viewed=True),
    ),
    # Running statistics are repeated as well.
    (
        "instance_norm/tracked",
        OpRule((X, Saved(statistics("instances", 4))), layout="contiguous", reads="contiguous", viewed=True),
    ),
    (
        "instance_norm/scaled, tracked",
        OpRule((X, Saved(statistics("instances", 5))), layout="contiguous", reads="contiguous", viewed=True),
    ),
    # _fused_rms_norm on CUDA.
    (
        "rms_norm",
        OpRule((X, Saved(statistics("rows"))), layout="contiguous", reads="contiguous", passing="both", autocast=FULL),
    ),
    # x * x is padded and averaged; the average, its power and the padded square stay for the backward pass.
    (
        "local_response_norm",
        OpRule(
            (X, Saved(New("padded")), Saved(New("x", times=2))),
            forward=temporaries(1),
            backward=temporaries(3),
            gradient_layout="gradient",
        ),
    ),
    (
        "local_response_norm/half",
        OpRule(
            (X, Saved(New("padded", 2)), Saved(New("x", 4, 2))),
            forward=(New("x", 4),),
            backward=(New("x", 4, 4),),
            gradient_layout="gradient",
        ),
    ),
    # x / clamp(norm(x)): the quotient's operands; its backward makes the products and the norm's gradient.
    (
        "normalize",
        OpRule((X, Saved(New("rows", times=2))), backward=temporaries(3), autocast=RESULT, gradient_layout="gradient"),
    ),
    # The gradient is made in float32, and cast.
    (
        "normalize/half",
        OpRule(
            (X, Saved(New("rows", times=2))),
            backward=(*temporaries(3), New("x", 2)),
            autocast=RESULT,
            gradient_layout="gradient",
        ),
    ),
]

OF_VARIANCE = (*temporaries(1), New("y", times=2))
OF_DEVIATION = (*temporaries(1), New("y", times=3))
"""`var_backward` and `std_backward`: the input without its mean, that mean, and the gradient divided."""

REDUCTIONS = [
    ("mean", OpRule(gradient="averaged", partial=4)),
    ("sum", OpRule(gradient="spread", autocast=RESULT, partial=4)),
    # Whole numbers are added up in a copy of eight bytes each (make_reduction of ReduceOpsUtils.h).
    ("sum/narrow", OpRule(gradient="none", forward=(New("x", 8),))),
    ("cumsum/narrow", OpRule(gradient="none", forward=(New("x", 8),), layout="contiguous")),
    # The gradient times a mask of what is a number, made of one of what is none: one byte a value each.
    ("nansum", OpRule((X,), backward=(New("x", 1, 2),), partial=4)),
    # A step of an op that autocast has cast the operands of.
    ("sum_within", OpRule(gradient="spread", partial=4)),
    # With positions, or the value compared with all.
    *rows("max min", OpRule((Saved("positions"),), gradient="placed", partial=16)),
    *rows("median kthvalue", OpRule((Saved("positions"),), gradient="placed")),
    # It sorts all values; its gradient goes to each that is like the result, by a mask.
    (
        "median/whole",
        OpRule((X, Y), forward=(New("x"), New("x", 8)), backward=(New("x", 1, 2), New("x", 4)), sorts=True),
    ),
    (
        "median/not contiguous, whole",
        OpRule((X, Y), forward=(New("x", times=2), New("x", 8)), backward=(New("x", 1, 2), New("x", 4)), sorts=True),
    ),
    # It sorts every row.
    ("mode", OpRule((Saved("positions"),), gradient="placed", known=False)),
    # The places of the extremes, which are counted.
    *rows("amax amin max/all min/all", OpRule((X, Y), backward=(New("x", 1), New("y", 8)), partial=1, counts=True)),
    *rows("max/whole min/whole", OpRule((X, Y), backward=(New("x", 1, 2), New("x", 4)))),
    # Whole numbers of eight bytes each are gone when the gradient comes.
    *(
        (f"{kind}/{half}, whole", OpRule((X, Y), backward=(New("x", 1, 2), New("x", 6))))
        for kind in ("max", "min")
        for half in ("half", "halves")
    ),
    # Mean, sum of squares and both numbers.
    ("var", OpRule((X,), backward=OF_VARIANCE, partial=16, deviates=True)),
    # The gradient of the mean is made and added when the other is there; where one is read alone it is that one's.
    ("var_mean", OpRule((X,), backward=temporaries(2), alone=(OF_VARIANCE, ()), partial=16, deviates=True)),
    ("std", OpRule((X, Y), backward=OF_DEVIATION, partial=16, deviates=True)),
    ("std_mean", OpRule((X, Y), backward=temporaries(2), alone=(OF_DEVIATION, ()), partial=16, deviates=True)),
    # A mask of what is zero.
    ("norm", OpRule((X, Y), backward=(*temporaries(1), New("y", 1)), autocast=RESULT, partial=4)),
    # The gradient is made in float32, and cast.
    ("norm/half", OpRule((X, Y), backward=(*temporaries(1), New("x", 2), New("y", 1)), autocast=RESULT, partial=4)),
    # By a single value it is made in half precision at once.
    ("norm/half, whole", OpRule((X, Y), backward=(New("x", 2),), autocast=RESULT, partial=4)),
    # at::norm, as other functions call it: its formula is in ops of its own, all of them in float32.
    ("distance", OpRule((X, Y), backward=(*temporaries(1), New("y", 1)), autocast=RESULT, partial=4)),
    ("distance/half", OpRule((X, Y), backward=(New("x", 2, 5), New("y", 1)), autocast=RESULT, partial=4)),
    # The difference is made again, and divided.
    ("dist", OpRule((X, Saved("x1"), Y), backward=temporaries(2), autocast=FULL)),
    # The gradient of what was repeated is made in full, and summed.
    ("dist/repeated", OpRule((X, Saved("x1"), Y), backward=temporaries(2), autocast=FULL, known=False)),
    ("dist_of_power", OpRule((X, Saved("x1"), Y), autocast=FULL, known=False)),
    # Signs, and the product with these.
    ("norm_one", OpRule((X, Y), backward=temporaries(1), autocast=RESULT, partial=4)),
    # The signs in half precision, the product in float32, which is cast.
    ("norm_one/half", OpRule((X, Y), backward=(New("x", 2, 2),), autocast=RESULT, partial=4)),
    ("norm_one/half, whole", OpRule((X, Y), autocast=RESULT, partial=4, known=False)),
    ("norm_of_power", OpRule((X, Y), autocast=RESULT, partial=4, known=False)),
    ("logsumexp", OpRule((X, Y), forward=temporaries(1), backward=temporaries(2), autocast=FULL)),
    # The quotient of result and input, a mask of what is zero, and the zeros' number in each row.
    ("prod", OpRule((X, Y), backward=(New("x"), New("x", 1), New("y", 8)), autocast=RESULT, partial=4)),
    # The input is cast for it, and the gradient from it.
    (
        "prod/half",
        OpRule((X, Y), backward=(New("x", 4, 2), New("x", 1), New("x", 2), New("y", 8)), autocast=RESULT, partial=4),
    ),
    # What is zero is counted as whole numbers of eight bytes, which are gone when the gradient comes.
    (
        "prod/halves",
        OpRule((X, Y), backward=(New("x", 6), New("x", 1), New("y", 8)), autocast=RESULT, partial=4),
    ),
    # The gradient is turned round, summed up and turned back; of half precision it is cast before.
    ("cumsum", OpRule(backward=temporaries(2), layout="contiguous", autocast=RESULT)),
    # Autocast asks for a result in float32, for which the input is cast when the result is there.
    (
        "cumsum/half",
        OpRule(forward=(New("x", 4),), backward=(New("x", 2, 3),), layout="contiguous", autocast=RESULT),
    ),
    # The kernel, the cast and the sums each ask for their own order of axes.
    ("cumsum/half, channels last", OpRule(layout="contiguous", autocast=RESULT, known=False)),
    # Sorted values, where they were, and between which of them the result lies: a gradient for each of the two.
    (
        "quantile",
        OpRule((Saved(New("x")), Saved(New("x", 8)), Saved(New("y", 8))), backward=temporaries(1), sorts=True),
    ),
    ("logcumsumexp", OpRule((X, Y), backward=temporaries(7), layout="contiguous")),
    # The gradient times the result, turned round, summed up and turned back; a mask of what is zero.
    (
        "cumprod/half",
        OpRule(
            (X, Y),
            forward=(New("x", 4),),
            backward=(New("x", 4, 4), New("x", 1)),
            layout="contiguous",
            autocast=RESULT,
        ),
    ),
    ("cumprod", OpRule((X, Y), backward=(New("x", times=3), New("x", 1)), layout="contiguous", autocast=RESULT)),
    *rows("topk sort", OpRule((Saved("positions"),), gradient="placed", sorts=True)),
    # What does not lie contiguous is copied to be chosen from.
    ("topk/not contiguous", OpRule((Saved("positions"),), forward=temporaries(1), gradient="placed", sorts=True)),
    *(
        (f"{kind}/not contiguous", OpRule((Saved("positions"),), forward=temporaries(1), gradient="placed"))
        for kind in ("median", "kthvalue")
    ),
    # Their gradients are added into zeros, at the places of the extremes.
    ("running_extreme", OpRule((X, Saved("positions")), gradient="placed")),
    *rows("argmax argmin any all count_nonzero", CONSTANT),
    # It sorts the values, too.
    ("argsort", OpRule(gradient="none", forward=temporaries(1), sorts=True)),
]
