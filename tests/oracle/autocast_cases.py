"""A call for each op that autocast has a kernel for (torch's dispatcher, key AutocastCUDA), and some that it leaves alone.

`h` is in half precision and `f` in float32, both (4, 8, 8); `m` (8, 8), `v` (8,) and `k` (8, 8, 1) are parameters, `i`
whole numbers (4, 8, 8). The name is the dispatcher's, with what tells two calls of one op apart behind a colon.
"""

from __future__ import annotations

CASES: dict[str, str] = {
    # To half precision.
    "conv1d": "F.conv1d(f, k)",
    "conv2d": "F.conv2d(f[..., None], k[..., None])",
    "conv3d": "F.conv3d(f[..., None, None], k[..., None, None])",
    "conv_transpose1d": "F.conv_transpose1d(f, k)",
    "conv_transpose2d.input": "F.conv_transpose2d(f[..., None], k[..., None])",
    "conv_transpose3d.input": "F.conv_transpose3d(f[..., None, None], k[..., None, None])",
    "prelu": "F.prelu(f, v)",
    "addmm": "torch.addmm(m, f[0], m)",
    "addmv": "torch.addmv(v, f[0], v)",
    "addr": "torch.addr(m, v, v)",
    "matmul": "f @ m",
    "einsum": "torch.einsum('bij,jk->bik', f, m)",
    "mm": "torch.mm(f[0], m)",
    "mv": "torch.mv(f[0], v)",
    "linalg_vecdot": "torch.linalg.vecdot(f, f)",
    "linear": "F.linear(f, m)",
    "addbmm": "torch.addbmm(m, f, f)",
    "baddbmm": "torch.baddbmm(f, f, f)",
    "bmm": "torch.bmm(f, f)",
    "chain_matmul": "torch.chain_matmul(f[0], m, m)",
    "linalg_multi_dot": "torch.linalg.multi_dot([f[0], m, m])",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention(f, f, f)",
    # To float32.
    **{name: f"torch.{name}(h)" for name in ["acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log1p", "log2", "tan", "sinh"]},
    "reciprocal": "torch.reciprocal(h)",
    "rsqrt": "torch.rsqrt(h)",
    "pow.Scalar": "2**h",
    "pow.Tensor_Scalar": "h**2",
    "pow.Tensor_Tensor": "h**h",
    "softplus": "F.softplus(h)",
    "layer_norm": "F.layer_norm(h, (8,))",
    "group_norm": "F.group_norm(h, 2)",
    "rms_norm": "F.rms_norm(h, (8,))",
    "cosine_similarity": "F.cosine_similarity(h, f)",
    "poisson_nll_loss": "F.poisson_nll_loss(h, f)",
    "cosine_embedding_loss": "F.cosine_embedding_loss(h[0], f[0], v)",
    "nll_loss": "F.nll_loss(h[0], i[0, 0])",
    "nll_loss2d": "F.nll_loss(h[:, None].expand(-1, 3, -1, -1), i)",
    "hinge_embedding_loss": "F.hinge_embedding_loss(h, f)",
    "kl_div": "F.kl_div(h, f)",
    "l1_loss": "F.l1_loss(h, f)",
    "smooth_l1_loss": "F.smooth_l1_loss(h, f)",
    "huber_loss": "F.huber_loss(h, f)",
    "mse_loss": "F.mse_loss(h, f)",
    "margin_ranking_loss": "F.margin_ranking_loss(h, f, f)",
    "multilabel_margin_loss": "F.multilabel_margin_loss(h[0], i[0])",
    "soft_margin_loss": "F.soft_margin_loss(h, f)",
    "triplet_margin_loss": "F.triplet_margin_loss(h, f, f)",
    "multi_margin_loss": "F.multi_margin_loss(h[0], i[0, 0])",
    "binary_cross_entropy_with_logits": "F.binary_cross_entropy_with_logits(h, f)",
    "dist": "torch.dist(h, f)",
    "pdist": "F.pdist(h[0])",
    "cdist": "torch.cdist(h, f)",
    "renorm": "torch.renorm(h, 2, 0, 1.0)",
    "logsumexp": "torch.logsumexp(h, 1)",
    "upsample_nearest1d": "F.interpolate(h, scale_factor=2)",
    "upsample_nearest2d": "F.interpolate(h[:, None], scale_factor=2)",
    "upsample_nearest3d": "F.interpolate(h[:, None, None], scale_factor=2)",
    "_upsample_nearest_exact2d": "F.interpolate(h[:, None], scale_factor=2, mode='nearest-exact')",
    "upsample_linear1d": "F.interpolate(h, scale_factor=2, mode='linear')",
    "upsample_bilinear2d": "F.interpolate(h[:, None], scale_factor=2, mode='bilinear')",
    "_upsample_bilinear2d_aa": "F.interpolate(h[:, None], scale_factor=2, mode='bilinear', antialias=True)",
    "upsample_bicubic2d": "F.interpolate(h[:, None], scale_factor=2, mode='bicubic')",
    "upsample_trilinear3d": "F.interpolate(h[:, None, None], scale_factor=2, mode='trilinear')",
    # A result in float32.
    "prod": "h.prod()",
    "prod.dim_int": "h.prod(1)",
    "softmax.int": "F.softmax(h, -1)",
    "log_softmax.int": "F.log_softmax(h, -1)",
    "cumprod": "h.cumprod(1)",
    "cumsum": "h.cumsum(1)",
    "linalg_vector_norm": "torch.linalg.vector_norm(h, dim=1)",
    "linalg_matrix_norm": "torch.linalg.matrix_norm(h)",
    "sum": "h.sum()",
    "sum.dim_IntList": "h.sum(1)",
    "norm.Scalar": "h.norm()",
    "norm.ScalarOpt_dim": "h.norm(dim=1)",
    # To the widest of the operands.
    "addcdiv": "torch.addcdiv(h, f, f)",
    "addcmul": "torch.addcmul(h, f, f)",
    "atan2": "torch.atan2(h, f)",
    "bilinear": "F.bilinear(h, f, k.expand(8, 8, 8))",
    "cross": "torch.cross(h[..., :3], f[..., :3], -1)",
    "dot": "torch.dot(h[0, 0], f[0, 0])",
    "vdot": "torch.vdot(h[0, 0], f[0, 0])",
    "grid_sampler": "F.grid_sample(h[:, None], f[:, :, None, :2])",
    "index_put": "h.index_put((torch.zeros(1, dtype=torch.long, device=h.device),), f[:1])",
    "tensordot": "torch.tensordot(h, f[0], 1)",
    "scatter_add": "h.scatter_add(1, i, f)",
    # None of autocast's: the dtypes as they come.
    **{f"{name}: half": f"{call}(h)" for name, call in {
        "gelu": "F.gelu", "relu": "F.relu", "silu": "F.silu", "mish": "F.mish", "elu": "F.elu", "sigmoid": "torch.sigmoid",
        "tanh": "torch.tanh", "sqrt": "torch.sqrt", "abs": "torch.abs", "sin": "torch.sin", "atan": "torch.atan",
        "logsigmoid": "F.logsigmoid", "dropout": "F.dropout", "mean": "torch.mean", "std": "torch.std", "var": "torch.var",
        "max": "torch.max", "normalize": "F.normalize", "erf": "torch.erf", "square": "torch.square",
    }.items()},
    "cat": "torch.cat([h, f], 1)",
    "stack": "torch.stack([h, f])",
    "add": "h + f",
    "mul": "h * f",
    "where": "torch.where(h > 0, h, f)",
    "maximum": "torch.maximum(h, f)",
    "lerp": "torch.lerp(f, f, 0.5)",
    "batch_norm": "F.batch_norm(h, None, None, training=True)",
    "instance_norm": "F.instance_norm(h)",
    "avg_pool": "F.avg_pool1d(h, 2)",
    "max_pool": "F.max_pool1d(h, 2)",
    "adaptive_avg_pool": "F.adaptive_avg_pool2d(h, 1)",
    "amax": "h.amax(1)",
    "logaddexp": "torch.logaddexp(h, h)",
    "embedding": "F.embedding(i, m)",
    "glu": "F.glu(h)",
}  # fmt: skip
"""By the name of the op."""

NOT_CALLED = {
    "_convolution", "_convolution.deprecated", "convolution", "cudnn_convolution", "cudnn_convolution_transpose", "conv_tbc",
    "_cudnn_rnn", "_scaled_dot_product_flash_attention", "_thnn_fused_gru_cell", "_thnn_fused_lstm_cell", "gru_cell",
    "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell", "native_layer_norm", "_upsample_nearest_exact1d",
    "_upsample_nearest_exact3d", "_upsample_bicubic2d_aa", "cumprod.dimname", "cumsum.dimname", "log_softmax.Dimname",
    "softmax.Dimname", "prod.dim_Dimname", "sum.dim_DimnameList", "norm.names_ScalarOpt_dim", "frobenius_norm.dim",
    "linalg_matrix_norm.str_ord", "nuclear_norm", "nuclear_norm.dim", "binary_cross_entropy",
}  # fmt: skip
"""Those of the dispatcher's that are other names of ones above, layers of their own (recurrent ones, measured elsewhere),
or refused (binary_cross_entropy, nuclear_norm)."""


def source(call: str, half: str) -> str:
    """A net whose result is that of the call, under autocast to this dtype."""
    return f"""\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(8, 8)
        self.m = nn.Parameter(torch.zeros(8, 8))
        self.v = nn.Parameter(torch.zeros(8))
        self.k = nn.Parameter(torch.zeros(8, 8, 1))

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.{half}):
            m, v, k, f, h = self.m, self.v, self.k, x, self.enter(x)
            i = torch.zeros(4, 8, 8, dtype=torch.long, device=x.device)
            return {call}
"""
