"""torch.nn.functional. Signatures of PyTorch 2.13.

Without a decorator: one tensor in, one of its shape out, of the function's own kind.
"""

from torch import Tensor

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.functions.elementwise import (
    along_axis,
    prelu,
    softmin,
    softsign,
    tanhshrink,
)
from flake8_cnnmem.frameworks.torch.functions.elementwise import elementwise as elementwise
from flake8_cnnmem.frameworks.torch.functions.products import grouped_mm
from flake8_cnnmem.frameworks.torch.nn.functional.attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import bilinear, embedding_bag, linear, look_up, one_hot
from flake8_cnnmem.frameworks.torch.nn.functional.gumbel import gumbel_softmax
from flake8_cnnmem.frameworks.torch.nn.functional.loss import cosine_similarity, pairwise_distance, pdist
from flake8_cnnmem.frameworks.torch.nn.functional.normalization import (
    drop,
    layer_norm,
    normalise_batch,
    normalise_groups,
    normalise_instance,
    normalize,
    rms_norm,
)
from flake8_cnnmem.frameworks.torch.nn.functional.resampling import affine_grid, fold, pad, resize, sample, unfold
from flake8_cnnmem.ops import GLU, ChannelShuffle, LocalResponseNorm, PixelShuffle

# Activations.

def relu(input: Tensor, inplace=False) -> Tensor: ...
def relu6(input: Tensor, inplace=False) -> Tensor: ...
def silu(input: Tensor, inplace=False) -> Tensor: ...
def mish(input: Tensor, inplace=False) -> Tensor: ...
def hardswish(input: Tensor, inplace=False) -> Tensor: ...
def hardsigmoid(input: Tensor, inplace=False) -> Tensor: ...
def hardtanh(input: Tensor, min_val=-1.0, max_val=1.0, inplace=False) -> Tensor: ...
def leaky_relu(input: Tensor, negative_slope=0.01, inplace=False) -> Tensor: ...
def elu(input: Tensor, alpha=1.0, inplace=False) -> Tensor: ...
def selu(input: Tensor, inplace=False) -> Tensor: ...
def celu(input: Tensor, alpha=1.0, inplace=False) -> Tensor: ...
def threshold(input: Tensor, threshold, value, inplace=False) -> Tensor: ...
def rrelu(input: Tensor, lower=0.125, upper=1 / 3, training=False, inplace=False) -> Tensor: ...
def gelu(input: Tensor, approximate="none") -> Tensor: ...
def softplus(input: Tensor, beta=1, threshold=20) -> Tensor: ...
def logsigmoid(input: Tensor) -> Tensor: ...
def sigmoid(input: Tensor) -> Tensor: ...
def tanh(input: Tensor) -> Tensor: ...
def hardshrink(input: Tensor, lambd=0.5) -> Tensor: ...
def softshrink(input: Tensor, lambd=0.5) -> Tensor: ...
@softsign
def softsign(input: Tensor) -> Tensor: ...
@tanhshrink
def tanhshrink(input: Tensor) -> Tensor: ...
@along_axis("softmax")
def softmax(input: Tensor, dim=None, _stacklevel=3, dtype=None) -> Tensor: ...
@along_axis("log_softmax")
def log_softmax(input: Tensor, dim=None, _stacklevel=3, dtype=None) -> Tensor: ...
@softmin
def softmin(input: Tensor, dim=None, _stacklevel=3, dtype=None) -> Tensor: ...
@gumbel_softmax
def gumbel_softmax(logits: Tensor, tau=1, hard=False, eps=1e-10, dim=-1) -> Tensor: ...
@GLU(dim)
def glu(input: Tensor, dim=-1) -> Tensor: ...
@prelu
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...

# Padding, resampling, and what moves values between space and channels.

@pad
def pad(input: Tensor, pad, mode="constant", value=None) -> Tensor: ...
@resize(target=size, scale=scale_factor)
def interpolate(
    input: Tensor,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
) -> Tensor: ...
@resize(target=size, scale=scale_factor, function="interpolate")
def upsample(input: Tensor, size=None, scale_factor=None, mode="nearest", align_corners=None) -> Tensor: ...
@resize(target=size, scale=scale_factor, mode="nearest", function="interpolate")
def upsample_nearest(input: Tensor, size=None, scale_factor=None) -> Tensor: ...
@resize(target=size, scale=scale_factor, mode="bilinear", function="interpolate")
def upsample_bilinear(input: Tensor, size=None, scale_factor=None) -> Tensor: ...
@PixelShuffle(size(upscale_factor))
def pixel_shuffle(input: Tensor, upscale_factor) -> Tensor: ...
@PixelShuffle(size(downscale_factor), inverse=True)
def pixel_unshuffle(input: Tensor, downscale_factor) -> Tensor: ...
@ChannelShuffle(size(groups))
def channel_shuffle(input: Tensor, groups) -> Tensor: ...

native_channel_shuffle = channel_shuffle

@unfold
def unfold(input: Tensor, kernel_size, dilation=1, padding=0, stride=1) -> Tensor: ...
@fold
def fold(input: Tensor, output_size, kernel_size, dilation=1, padding=0, stride=1) -> Tensor: ...
@sample
def grid_sample(input: Tensor, grid, mode="bilinear", padding_mode="zeros", align_corners=None) -> Tensor: ...
@affine_grid
def affine_grid(theta: Tensor, size, align_corners=None) -> Tensor: ...

# Weights times inputs, and rows of them.

@linear
def linear(input: Tensor, weight, bias=None) -> Tensor: ...
@bilinear
def bilinear(input1, input2, weight, bias=None) -> Tensor: ...
@look_up(padding=padding_idx)
def embedding(
    input: Tensor, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
) -> Tensor: ...
@embedding_bag
def embedding_bag(
    input: Tensor,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
) -> Tensor: ...
@one_hot
def one_hot(tensor, num_classes=-1) -> Tensor: ...

# Attention.

@scaled_dot_product_attention
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
) -> Tensor: ...
@grouped_mm
def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None) -> Tensor: ...
@multi_head_attention_forward
def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
) -> Tensor: ...

# Normalization and dropout.

@normalise_batch
def batch_norm(
    input: Tensor, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
) -> Tensor: ...
@normalise_instance
def instance_norm(
    input: Tensor,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
) -> Tensor: ...
@layer_norm
def layer_norm(input: Tensor, normalized_shape, weight=None, bias=None, eps=1e-05) -> Tensor: ...
@rms_norm
def rms_norm(input: Tensor, normalized_shape, weight=None, eps=None) -> Tensor: ...
@normalise_groups
def group_norm(input: Tensor, num_groups, weight=None, bias=None, eps=1e-05) -> Tensor: ...
@LocalResponseNorm(size)
def local_response_norm(input: Tensor, size, alpha=0.0001, beta=0.75, k=1.0) -> Tensor: ...
@normalize
def normalize(input: Tensor, p=2.0, dim=1, eps=1e-12, out=None) -> Tensor: ...
@drop(kind="dropout")
def dropout(input: Tensor, p=0.5, training=True, inplace=False) -> Tensor: ...
@drop(kind="feature_dropout")
def dropout1d(input: Tensor, p=0.5, training=True, inplace=False) -> Tensor: ...
@drop(kind="feature_dropout")
def dropout2d(input: Tensor, p=0.5, training=True, inplace=False) -> Tensor: ...
@drop(kind="feature_dropout")
def dropout3d(input: Tensor, p=0.5, training=True, inplace=False) -> Tensor: ...
@drop(kind="alpha_dropout")
def alpha_dropout(input: Tensor, p=0.5, training=False, inplace=False) -> Tensor: ...
@drop(kind="feature_alpha_dropout")
def feature_alpha_dropout(input: Tensor, p=0.5, training=False, inplace=False) -> Tensor: ...

# Distances.

@cosine_similarity
def cosine_similarity(x1, x2, dim=1, eps=1e-08) -> Tensor: ...
@pairwise_distance
def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False) -> Tensor: ...
@pdist
def pdist(input: Tensor, p=2.0) -> Tensor: ...
