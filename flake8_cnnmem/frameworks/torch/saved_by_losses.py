"""What PyTorch's autograd keeps of losses, and of the steps of a backward pass whose graph is kept.

Known and measured as the rows of `saved_tensors.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flake8_cnnmem.frameworks.rules import New, OpRule, Saved, rows
from flake8_cnnmem.frameworks.torch.op_rules import (
    FULL,
    NOTHING,
    RESULT,
    X,
    temporaries,
)


def reducing(kinds: str, rule: OpRule) -> Iterable[tuple[str, OpRule]]:
    """The rules of losses that make values, as many as their input has, and then reduce these: one of the first
    temporaries of `rule.forward`. Without a reduction it is the result itself."""
    first, *others = rule.forward
    made = (replace(first, times=first.times - 1), *others)
    for kind, row in rows(kinds, rule):
        yield kind, row
        yield f"{kind}{', ' if '/' in kind else '/'}unreduced", replace(row, forward=made)


LABELS, TOTAL = Saved("x1"), Saved(New("one", 4))
HALF_LIKELIHOOD = (Saved(New("x", 2)), Saved(New("x", 4)))
CTC = OpRule((X, LABELS, Saved(New("alphas"))), backward=(New("alphas"),),
             behind=((New("blanks"), New("steps", times=2), New("blanks")),), autocast=FULL,
             gradient_layout="contiguous")  # fmt: skip
CROSS_ENTROPIES = [
    # log_softmax, kept once for itself and for the likelihood; the backward makes the gradient of each.
    # The log_softmax comes first; then the loss, and what the weights of its classes add up to.
    ("cross_entropy", OpRule((Saved(New("x")), TOTAL), backward=temporaries(1), autocast=RESULT, mask_first=True)),
    # Of logits in half precision the log_softmax is as well, and cast for the likelihood, whose gradient is the peak:
    # the labels are there. Else it is that of the log_softmax, and they are not.
    ("cross_entropy/half", OpRule((*HALF_LIKELIHOOD, LABELS), backward=(New("x", 2),), autocast=RESULT)),
    # Smoothed labels read it once more: by themselves in half precision, and weighted by class in a product.
    ("cross_entropy/half, smoothed", OpRule((*HALF_LIKELIHOOD, LABELS), backward=(New("x", 2, 2),), autocast=RESULT)),
    ("cross_entropy/smoothed, weighted", OpRule((Saved(New("x")),), forward=temporaries(1), backward=temporaries(1),
                                                autocast=RESULT)),
    ("cross_entropy/half, smoothed, weighted", OpRule((*HALF_LIKELIHOOD, LABELS), forward=(New("x", 4),),
                                                      backward=(New("x", 2, 2),), autocast=RESULT)),
    # Probabilities are multiplied by the log_softmax, and summed.
    ("cross_entropy/soft", OpRule((Saved(New("x")), Saved("x1")), forward=temporaries(1), backward=temporaries(1),
                                  autocast=RESULT)),
    ("cross_entropy/soft, smoothed", OpRule((Saved(New("x", times=2)),), forward=temporaries(1), autocast=RESULT)),
    ("cross_entropy/half, soft", OpRule((Saved(New("x", 2)), Saved("x1")), forward=(New("x", 4),),
                                        backward=(New("x", 4),), autocast=RESULT)),
    ("cross_entropy/half, soft, smoothed", OpRule(HALF_LIKELIHOOD, forward=(New("x", 4),), backward=(New("x", 4),),
                                                  autocast=RESULT)),
]  # fmt: skip
LOSSES = [
    # log_softmax reads logits that do not lie contiguous from a copy (host_softmax of SoftMax.cu).
    *((kind, replace(row, reads="contiguous", passing="forward")) for kind, row in CROSS_ENTROPIES),
    # The kernel that also reduces reads a contiguous copy.
    ("nll", OpRule((X, LABELS, TOTAL), reads="contiguous", passing="forward", autocast=FULL,
                   gradient_layout="contiguous")),
    ("nll/unreduced", OpRule((X, LABELS, TOTAL), autocast=FULL, gradient_layout="contiguous")),
    # The kernels of the first reduce in place: the loss holds all that it was taken of (seen in the allocator's trace).
    *reducing("mse smooth_l1", OpRule((X, Saved("x1")), forward=temporaries(1), layout="contiguous", autocast=FULL,
                                   roomy=True)),
    # torch/nn/functional.py multiplies the losses of the values, and adds them up.
    *rows("mse/weighted l1/weighted huber/weighted", OpRule((X, Saved("x1")), known=False)),
    ("bce", OpRule((Saved("inputs"),), autocast=FULL, roomy=True)),
    ("soft_margin", OpRule((X, Saved("x1")), backward=temporaries(2), autocast=FULL, roomy=True)),
    *reducing("huber", OpRule((X, Saved("x1")), forward=temporaries(1), layout="contiguous", autocast=FULL)),
    ("multi_margin", OpRule((X, LABELS), autocast=FULL)),
    # Which classes are among the labels, by the class.
    ("multilabel_margin", OpRule((X, LABELS, Saved(New("x"))), autocast=FULL)),
    *reducing("bce_with_logits", OpRule((Saved("inputs"),), forward=temporaries(2), autocast=FULL)),
    # The gradient times the logits' negative.
    *reducing("bce_with_logits/trained", OpRule((Saved("inputs"),), forward=temporaries(2),
                                                       backward=temporaries(1), autocast=FULL)),
    *reducing("bce_with_logits/positive", OpRule((Saved("inputs"),), forward=temporaries(2), backward=temporaries(2),
                                                 autocast=FULL)),
    ("l1", OpRule((Saved(New("x")),), forward=temporaries(1), backward=temporaries(2), autocast=FULL)),
    ("l1/unreduced", OpRule((Saved(New("x")),), backward=temporaries(1), autocast=FULL)),
    *reducing("kl_div", OpRule((Saved("x1"),), forward=temporaries(3), backward=temporaries(2), autocast=FULL)),
    # Their terms are in the dtypes of either.
    *rows("bce_with_logits/mixed kl_div/mixed poisson_nll/mixed soft_margin/mixed",
          OpRule((X, Saved("x1")), known=False)),
    ("hinge_embedding", OpRule((Saved(New("x")), Saved(New("x", 1, 2))), forward=temporaries(5),
                            backward=temporaries(1), autocast=FULL)),
    ("poisson_nll/unreduced", OpRule((Saved(New("x")), Saved("x1")), forward=temporaries(1), backward=temporaries(1),
                                     autocast=FULL)),
    ("poisson_nll", OpRule((Saved(New("x")), Saved("x1")), forward=temporaries(2), backward=temporaries(2),
                           autocast=FULL)),
    ("gaussian_nll", OpRule((X, Saved(New("x", times=2))), forward=temporaries(2), backward=temporaries(2),
                            autocast=FULL)),
    ("multilabel_soft_margin", OpRule((X, Saved(New("x", times=3))), backward=temporaries(1),
                                   autocast=FULL)),
    ("margin_ranking", OpRule((Saved("x2"), Saved(New("x"))), forward=temporaries(3), backward=temporaries(1),
                           autocast=FULL)),
    ("cosine_embedding", OpRule((Saved("inputs"),), forward=temporaries(1), backward=temporaries(1), autocast=FULL)),
    ("triplet_margin", OpRule((Saved(New("x", times=2)),), forward=temporaries(1), backward=temporaries(1),
                              autocast=FULL)),
    ("cosine_similarity", OpRule((Saved("inputs"), Saved(New("x", times=2))), forward=temporaries(1),
                              backward=temporaries(3), autocast=FULL)),
    # ctc_loss_gpu_template: logarithms for every step of each sample and each place in its target, and on the way back
    # as many again; then the logarithm of what the blanks add up to. Where what is infinite counts as zero, the
    # gradient is chosen anew.
    ("ctc", CTC), ("ctc/finite", replace(CTC, behind=(*CTC.behind, (New("x"),)))),
]  # fmt: skip

DERIVATIVES = [
    # An activation's slope reads what it was applied to, or gave; that gets zeros for a gradient.
    *rows("relu_backward leaky_relu_backward relu6_backward hardtanh_backward hardshrink_backward "
          "softshrink_backward threshold_backward", OpRule((Saved("x1"),))),
    # Of what a pool was applied to only the size is kept: it gets zeros.
    ("average_pool_backward", NOTHING),
    ("max_pool_backward", OpRule((Saved("positions of x1"),))),
    ("sigmoid_backward", OpRule((X, Saved("x1")), backward=temporaries(3))),
    ("tanh_backward", OpRule((X, Saved("x1")), backward=temporaries(2))),
    # A comparison, one byte a value.
    *rows("elu_backward selu_backward celu_backward",
          OpRule((X, Saved("x1")), backward=(*temporaries(4), New("x", 1)))),
    ("logsigmoid_backward", OpRule((X, Saved("x1")), backward=temporaries(4))),
    ("hardswish_backward", OpRule((X, Saved("x1")), backward=(*temporaries(2), New("x", 1, 3)))),
    ("softplus_backward", OpRule((X, Saved("x1")), backward=(*temporaries(6), New("x", 1)))),
    ("gelu_backward", OpRule((X, Saved("x1")), backward=temporaries(4))),
    ("softmax_backward", OpRule((X, Saved("x1")), backward=temporaries(6))),
    ("log_softmax_backward", OpRule((X, Saved("x1")), backward=temporaries(2))),
    # How its gradients come about is in flake8_cnnmem/memory/backward_plan.py.
    ("convolution_backward", OpRule((X, Saved("x1"), Saved("x2")))),
    # batchnorm_double_backward: the input without its mean, twice, and what the formulas make of both gradients; where
    # the statistics are of the past, the input gets nothing.
    *rows("batch_norm_backward layer_norm_backward", OpRule((X, Saved("x1")), backward=temporaries(5))),
    # The gradient of the input is multiplied by the weights once more.
    *rows("scaled_batch_norm_backward scaled_layer_norm_backward",
          OpRule((X, Saved("x1")), backward=temporaries(6))),
    ("fixed_norm_backward", OpRule((X, Saved("x1")), without=(1,), backward=(*temporaries(3), New("sample")))),
    ("norm_weight_backward", OpRule((X, Saved("x1")), without=(2,), backward=temporaries(2))),
    # A mask of one byte a value.
    ("larger_backward", OpRule((Saved(New("x", 1, 2)),), forward=(New("x"),), without=(1, 2))),
    ("chosen_backward", OpRule((Saved(New("x", 1)),), forward=(New("x", 1),), without=(1,))),
    ("mse_backward", OpRule((X, Saved("x1"), Saved("x2")), backward=(New("x1", times=2),))),
    ("index_backward", OpRule(gradient="parts", layout="contiguous")),
    *rows("part_backward repeat_backward resample_backward embedding_backward nll_backward",
          OpRule(layout="contiguous")),
    ("dropout_scale", OpRule(gradient="none", forward=temporaries(1))),
    ("not_derived", OpRule(without=(1,))),
]  # fmt: skip
"""The steps of a backward pass whose graph is kept (`create_graph`), by what `Derivative` and `Restored` name."""
