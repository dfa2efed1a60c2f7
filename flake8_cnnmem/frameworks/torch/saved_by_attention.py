"""What PyTorch's autograd keeps of attention, by the kernel that computes it.

Known and measured as the rows of `saved_tensors.py`.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.rules import NOT_KNOWN, New, OpRule, Saved
from flake8_cnnmem.frameworks.torch.op_rules import HALF, X, Y


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


FLASH = ((New("flash sums", 4), New("flash queries", 4), New("flash keys", times=2)),)
"""The sums of products, the gradient of the queries in float32, and with shared heads the gradients of the keys and
values of each head (flash_attn/flash_api.cpp, mha_bwd)."""
EFFICIENT = (
    (New("efficient products", 4), New("efficient sums", 4), New("efficient sums", 4)),
    (New("efficient sums", 4), New("efficient workspace", 1)),
)
"""The gradient times the result in float32 and its sum, as it comes and turned; that and the kernel's workspace
(attention_backward.cu)."""
FUSED = (X, Saved("x1"), Saved("x2"), Y)
ATTENTION = [
    # Fused kernels: q, k, v, the result, and the logarithm of the probabilities' sums; a trained mask, too.
    ("attention", OpRule((X, Saved("x1"), Saved("x2"), Saved("x3"), Y, Saved(New("queries", 4))), layout="first",
                      autocast=HALF)),
    ("attention/masked", OpRule((X, Saved("x1"), Saved("x2"), Saved("x3"), Y, Saved(New("queries", 4))), layout="first",
                             autocast=HALF)),
    # The kernels of CUDA (flake8_cnnmem/memory/attention.py): logarithms of sums in float32, and the mask.
    ("attention/flash", OpRule((*FUSED, Saved(New("queries", 4))), layout="first", behind=FLASH,
                            heads_inside=True, autocast=HALF)),
    ("attention/cudnn", OpRule((*FUSED, Saved("x3"), Saved(New("queries", 4))), layout="first", autocast=HALF)),
    ("attention/efficient", OpRule((*FUSED, Saved("x3"), Saved(New("attended", 4))),
                                        layout="heads inside",
                                forward=(New("gathered", 1),), behind=EFFICIENT,
                                heads_inside=True, autocast=HALF)),
    ("attention/efficient, masked", OpRule((*FUSED, Saved(New("bias")), Saved(New("attended", 4))),
                                        layout="heads inside", mask_first=True,
                                        forward=(New("gathered", 1),), behind=EFFICIENT,
                                        heads_inside=True, autocast=HALF)),
    # Where no fused kernel will do. With a dropout: the probabilities before and after it, and its mask. Backward: the
    # gradient of the probabilities, that of the scores, and their product.
    ("attention/no kernel", NOT_KNOWN),
    ("attention/math", unfused(New("probabilities"), backward=3)),
    ("attention/math, dropped", unfused(New("probabilities", times=2), New("probabilities", 1), backward=2)),
    ("attention/math, in full", whole(New("probabilities", 4), backward=3)),
    ("attention/math, dropped, in full", whole(New("probabilities", 4, 2), New("probabilities", 1), backward=2)),
]  # fmt: skip
