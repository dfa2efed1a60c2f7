"""The signatures of flax.nnx's layers: those of flax 0.12.8. Written by tests/oracle/measure_flax.py."""

from __future__ import annotations

SIGNATURES = {
    "Linear": (
        "in_features, out_features, *, use_bias=True, dtype=None, param_dtype=None, precision=None, "
        "kernel_init=None, bias_init=None, dot_general=None, promote_dtype=None, preferred_element_type=None, "
        "rngs, kernel_metadata=None, bias_metadata=None"
    ),
    "LinearGeneral": (
        "in_features, out_features, *, axis=-1, batch_axis=None, use_bias=True, dtype=None, param_dtype=None, "
        "kernel_init=None, bias_init=None, precision=None, promote_dtype=None, dot_general=None, "
        "dot_general_cls=None, preferred_element_type=None, rngs, kernel_metadata=None, bias_metadata=None"
    ),
    "Conv": (
        "in_features, out_features, kernel_size, strides=1, *, padding='SAME', input_dilation=1, "
        "kernel_dilation=1, feature_group_count=1, use_bias=True, mask=None, dtype=None, param_dtype=None, "
        "precision=None, kernel_init=None, bias_init=None, conv_general_dilated=None, promote_dtype=None, "
        "preferred_element_type=None, rngs, kernel_metadata=None, bias_metadata=None"
    ),
    "ConvTranspose": (
        "in_features, out_features, kernel_size, strides=None, *, padding='SAME', kernel_dilation=None, "
        "use_bias=True, mask=None, dtype=None, param_dtype=None, precision=None, kernel_init=None, "
        "bias_init=None, transpose_kernel=False, promote_dtype=None, preferred_element_type=None, rngs, "
        "kernel_metadata=None, bias_metadata=None"
    ),
    "Embed": (
        "num_embeddings, features, *, dtype=None, param_dtype=None, embedding_init=None, promote_dtype=None, "
        "rngs, embedding_metadata=None"
    ),
    "BatchNorm": (
        "num_features, *, use_running_average=False, axis=-1, momentum=0.99, epsilon=1e-05, dtype=None, "
        "param_dtype=None, use_bias=True, use_scale=True, bias_init=None, scale_init=None, axis_name=None, "
        "axis_index_groups=None, use_fast_variance=True, promote_dtype=None, rngs, bias_metadata=None, "
        "scale_metadata=None"
    ),
    "LayerNorm": (
        "num_features, *, epsilon=1e-06, dtype=None, param_dtype=None, use_bias=True, use_scale=True, "
        "bias_init=None, scale_init=None, reduction_axes=-1, feature_axes=-1, axis_name=None, "
        "axis_index_groups=None, use_fast_variance=True, promote_dtype=None, rngs, bias_metadata=None, "
        "scale_metadata=None"
    ),
    "RMSNorm": (
        "num_features, *, epsilon=1e-06, dtype=None, param_dtype=None, use_scale=True, scale_init=None, "
        "reduction_axes=-1, feature_axes=-1, axis_name=None, axis_index_groups=None, use_fast_variance=True, "
        "promote_dtype=None, rngs, scale_metadata=None"
    ),
    "GroupNorm": (
        "num_features, num_groups=32, group_size=None, *, epsilon=1e-06, dtype=None, param_dtype=None, "
        "use_bias=True, use_scale=True, bias_init=None, scale_init=None, reduction_axes=None, axis_name=None, "
        "axis_index_groups=None, use_fast_variance=True, promote_dtype=None, rngs, bias_metadata=None, "
        "scale_metadata=None"
    ),
    "Dropout": "rate, *, broadcast_dims=(), deterministic=False, rng_collection='dropout', rngs=None",
    "MultiHeadAttention": (
        "num_heads, in_features, qkv_features=None, out_features=None, num_kv_heads=None, in_kv_features=None, *, "
        "dtype=None, param_dtype=None, broadcast_dropout=True, dropout_rate=0.0, deterministic=None, "
        "precision=None, kernel_init=None, out_kernel_init=None, bias_init=None, out_bias_init=None, "
        "use_bias=True, attention_fn=None, decode=None, normalize_qk=False, qkv_promote_dtype=None, "
        "out_promote_dtype=None, ln_promote_dtype=None, qkv_dot_general=None, out_dot_general=None, "
        "qkv_dot_general_cls=None, out_dot_general_cls=None, rngs, keep_rngs=True, kernel_metadata=None, "
        "out_kernel_metadata=None, bias_metadata=None, out_bias_metadata=None, query_ln_scale_metadata=None, "
        "key_ln_scale_metadata=None"
    ),
    "PReLU": (
        "negative_slope_init=0.01, *, dtype=None, param_dtype=None, promote_dtype=None, negative_slope_metadata=None"
    ),
}
