"""tf.nn: signatures of TensorFlow 2, and what older versions called some parameters behind them."""

from keras import KerasTensor as Tensor

from flake8_cnnmem.frameworks.keras.ops.elementwise import (
    binary,
    dropout,
    normalize,
    unary,
)
from flake8_cnnmem.frameworks.keras.ops.elementwise import (
    elementwise as elementwise,
)
from flake8_cnnmem.frameworks.keras.ops.images import depth_to_space, space_to_depth
from flake8_cnnmem.frameworks.keras.ops.numerics import in_top_k, l2_loss, left_axes, number, sampled_loss
from flake8_cnnmem.frameworks.keras.ops.picking import gather, max_pool_with_argmax
from flake8_cnnmem.frameworks.keras.ops.reductions import moments, reduce, top_k
from flake8_cnnmem.frameworks.keras.ops.shaping import crelu
from flake8_cnnmem.frameworks.keras.ops.windows import (
    batch_normalization,
    bias_add,
    conv,
    conv_transpose,
    depthwise_conv,
    fused_batch_norm,
    local_response,
    pool,
    pool_by_name,
    separable_conv,
)

# Without a decorator: one tensor in, one of its shape out, of the function's own kind.

def sigmoid(x: Tensor, name=None): ...
def tanh(x: Tensor, name=None): ...
def log_sigmoid(x: Tensor, name=None): ...

# What is more than that.

@l2_loss(x=t)
def l2_loss(t: Tensor, name=None): ...
@number(x=value, kind="zero_fraction")
def zero_fraction(value: Tensor, name=None): ...
@in_top_k
def in_top_k(targets, predictions, k, name=None): ...
@sampled_loss(x=inputs)
def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs: Tensor,
    num_sampled=None,
    num_classes=None,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    seed=None,
    name="sampled_softmax_loss",
): ...
@sampled_loss(x=inputs)
def nce_loss(
    weights,
    biases,
    labels,
    inputs: Tensor,
    num_sampled=None,
    num_classes=None,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    name="nce_loss",
): ...
@left_axes(x=inputs if logits is None else logits, kind="ctc_loss", left=1)
def ctc_loss(
    labels,
    logits: Tensor = None,
    label_length=None,
    logit_length=None,
    logits_time_major=True,
    unique=None,
    blank_index=None,
    name=None,
    inputs: Tensor = None,
    sequence_length=None,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
    time_major=True,
): ...
@reduce(x=per_example_loss, kind="sum")
def compute_average_loss(per_example_loss: Tensor, sample_weight=None, global_batch_size=None): ...
@binary(y=labels, x=logits, kind="bce_each")
def weighted_cross_entropy_with_logits(labels: Tensor, logits: Tensor, pos_weight=None, name=None): ...
@conv_transpose(x=input, kernel=filters, dilation_rate=dilations)
def conv1d_transpose(
    input: Tensor, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=1, name=None
): ...
@conv_transpose(x=input, kernel=filters, dilation_rate=dilations)
def conv3d_transpose(
    input: Tensor, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=1, name=None
): ...
@conv_transpose(x=input, kernel=filters, dilation_rate=dilations)
def conv_transpose(
    input: Tensor, filters, output_shape, strides, padding="SAME", data_format=None, dilations=1, name=None
): ...
@unary(x=features if x is None else x, kind="relu")
def relu(features: Tensor = None, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="relu6")
def relu6(features: Tensor = None, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="elu")
def elu(features: Tensor = None, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="selu")
def selu(features: Tensor = None, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="softplus")
def softplus(features: Tensor = None, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="softsign")
def softsign(features: Tensor = None, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="silu")
def silu(features: Tensor = None, beta=1.0, name=None, x: Tensor = None): ...
@unary(x=features if x is None else x, kind="silu")
def swish(features: Tensor = None, beta=1.0, name=None, x: Tensor = None): ...
@unary(x=features, kind="leaky_relu")
def leaky_relu(features: Tensor, alpha=0.2, name=None): ...
@unary(x=features, kind="gelu")
def gelu(features: Tensor, approximate=False, name=None): ...
@unary(x=logits, kind="softmax")
def softmax(logits: Tensor, axis=None, name=None, dim=None): ...
@unary(x=logits, kind="log_softmax")
def log_softmax(logits: Tensor, axis=None, name=None): ...
@normalize(axis=axis if dim is None else dim)
def l2_normalize(x: Tensor, axis=None, epsilon=1e-12, name=None, dim=None): ...
@dropout
def dropout(x: Tensor, rate=None, noise_shape=None, seed=None, name=None, keep_prob=None): ...
@moments(keepdims=keepdims if keep_dims is None else keep_dims)
def moments(x: Tensor, axes, shift=None, keepdims=False, name=None, keep_dims=None): ...
@bias_add(x=value)
def bias_add(value: Tensor, bias, data_format=None, name=None): ...
@conv(
    x=input if value is None else value,
    kernel=filters if filter is None else filter,
    strides=stride,
    dilation_rate=dilations,
)
def conv1d(
    input: Tensor = None,
    filters=None,
    stride=1,
    padding="valid",
    data_format="NWC",
    dilations=1,
    name=None,
    filter=None,
    value: Tensor = None,
): ...
@conv(x=input, kernel=filters if filter is None else filter, dilation_rate=dilations if rate is None else rate)
def conv2d(
    input: Tensor,
    filters=None,
    strides=1,
    padding="valid",
    data_format="NHWC",
    dilations=1,
    name=None,
    filter=None,
    use_cudnn_on_gpu=None,
    rate=None,
): ...
@conv(x=input, kernel=filters if filter is None else filter, dilation_rate=dilations if rate is None else rate)
def conv3d(
    input: Tensor,
    filters=None,
    strides=1,
    padding="valid",
    data_format="NDHWC",
    dilations=1,
    name=None,
    filter=None,
    use_cudnn_on_gpu=None,
    rate=None,
): ...
@conv(
    x=input,
    kernel=filters if filter is None else filter,
    dilation_rate=dilations if dilation_rate is None else dilation_rate,
)
def convolution(
    input: Tensor,
    filters=None,
    strides=1,
    padding="VALID",
    data_format=None,
    dilations=1,
    name=None,
    filter=None,
    dilation_rate=None,
): ...
@conv(x=value, kernel=filters, dilation_rate=rate)
def atrous_conv2d(value: Tensor, filters, rate, padding, name=None): ...
@conv_transpose(
    x=input if value is None else value, kernel=filters if filter is None else filter, dilation_rate=dilations
)
def conv2d_transpose(
    input: Tensor = None,
    filters=None,
    output_shape=None,
    strides=1,
    padding="SAME",
    data_format="NHWC",
    dilations=1,
    name=None,
    filter=None,
    value: Tensor = None,
): ...
@depthwise_conv(x=input, kernel=filter, dilation_rate=dilations if rate is None else rate)
def depthwise_conv2d(input: Tensor, filter, strides, padding, data_format=None, dilations=1, name=None, rate=None): ...
@separable_conv(x=input, depthwise_kernel=depthwise_filter, pointwise_kernel=pointwise_filter, dilation_rate=dilations)
def separable_conv2d(
    input: Tensor, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=1, name=None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="max")
def max_pool(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format=None, name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="max")
def max_pool1d(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format="NWC", name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="max")
def max_pool2d(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format="NHWC", name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="max")
def max_pool3d(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format="NDHWC", name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="average")
def avg_pool(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format=None, name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="average")
def avg_pool1d(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format="NWC", name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="average")
def avg_pool2d(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format="NHWC", name=None, value: Tensor = None
): ...
@pool(x=input if value is None else value, pool_size=ksize, mode="average")
def avg_pool3d(
    input: Tensor = None, ksize=2, strides=None, padding="valid", data_format="NDHWC", name=None, value: Tensor = None
): ...
@pool_by_name(x=input, pool_size=window_shape, pool_mode=pooling_type)
def pool(
    input: Tensor,
    window_shape,
    pooling_type,
    strides=(1, 1),
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
): ...
@batch_normalization
def batch_normalization(x: Tensor, mean, variance, offset, scale, variance_epsilon=None, name=None): ...
@fused_batch_norm
def fused_batch_norm(
    x: Tensor,
    scale=None,
    offset=None,
    mean=None,
    variance=None,
    epsilon=None,
    data_format=None,
    is_training=None,
    name=None,
    exponential_avg_factor=None,
): ...
@local_response(x=input)
def local_response_normalization(input: Tensor, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None): ...
@local_response(x=input)
def lrn(input: Tensor, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None): ...
@space_to_depth(x=input)
def space_to_depth(input: Tensor, block_size, data_format="NHWC", name=None): ...
@depth_to_space(x=input)
def depth_to_space(input: Tensor, block_size, data_format="NHWC", name=None): ...
@top_k(x=input)
def top_k(input: Tensor, k=1, sorted=True, index_type="int32", name=None): ...
@max_pool_with_argmax(x=input, pool_size=ksize)
def max_pool_with_argmax(
    input: Tensor,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype="int64",
    include_batch_in_index=False,
    name=None,
    Targmax=None,
): ...
@crelu(x=features)
def crelu(features: Tensor, axis=-1, name=None): ...
@gather(x=params, indices=ids)
def embedding_lookup(params: Tensor, ids, max_norm=None, name=None): ...
