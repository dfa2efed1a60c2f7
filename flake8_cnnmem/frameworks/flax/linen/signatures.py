"""The signatures of flax.linen's layers: those of flax 0.12.8. Written by tests/oracle/measure_flax.py."""

from __future__ import annotations

SIGNATURES = {
    "Dense": (
        "features, use_bias=True, dtype=None, param_dtype=None, precision=None, kernel_init=None, bias_init=None, "
        "promote_dtype=None, dot_general=None, dot_general_cls=None"
    ),
    "Conv": (
        "features, kernel_size, strides=1, padding='SAME', input_dilation=1, kernel_dilation=1, "
        "feature_group_count=1, use_bias=True, mask=None, dtype=None, param_dtype=None, precision=None, "
        "kernel_init=None, bias_init=None, promote_dtype=None, conv_general_dilated=None, "
        "conv_general_dilated_cls=None"
    ),
    "ConvTranspose": (
        "features, kernel_size, strides=None, padding='SAME', kernel_dilation=None, use_bias=True, mask=None, "
        "dtype=None, param_dtype=None, precision=None, kernel_init=None, bias_init=None, transpose_kernel=False, "
        "promote_dtype=None, preferred_element_type=None"
    ),
    "DenseGeneral": (
        "features, axis=-1, batch_dims=(), use_bias=True, dtype=None, param_dtype=None, kernel_init=None, "
        "bias_init=None, precision=None, promote_dtype=None, dot_general=None, dot_general_cls=None"
    ),
    "Embed": "num_embeddings, features, dtype=None, param_dtype=None, embedding_init=None, promote_dtype=None",
    "BatchNorm": (
        "use_running_average=None, axis=-1, momentum=0.99, epsilon=1e-05, dtype=None, param_dtype=None, "
        "use_bias=True, use_scale=True, bias_init=None, scale_init=None, axis_name=None, axis_index_groups=None, "
        "use_fast_variance=True, force_float32_reductions=True"
    ),
    "LayerNorm": (
        "epsilon=1e-06, dtype=None, param_dtype=None, use_bias=True, use_scale=True, bias_init=None, "
        "scale_init=None, reduction_axes=-1, feature_axes=-1, axis_name=None, axis_index_groups=None, "
        "use_fast_variance=True, force_float32_reductions=True"
    ),
    "RMSNorm": (
        "epsilon=1e-06, dtype=None, param_dtype=None, use_scale=True, scale_init=None, reduction_axes=-1, "
        "feature_axes=-1, axis_name=None, axis_index_groups=None, use_fast_variance=True, "
        "force_float32_reductions=True"
    ),
    "InstanceNorm": (
        "epsilon=1e-06, dtype=None, param_dtype=None, use_bias=True, use_scale=True, bias_init=None, "
        "scale_init=None, feature_axes=-1, axis_name=None, axis_index_groups=None, use_fast_variance=True, "
        "force_float32_reductions=True"
    ),
    "GroupNorm": (
        "num_groups=32, group_size=None, epsilon=1e-06, dtype=None, param_dtype=None, use_bias=True, "
        "use_scale=True, bias_init=None, scale_init=None, reduction_axes=None, axis_name=None, "
        "axis_index_groups=None, use_fast_variance=True, force_float32_reductions=True"
    ),
    "Dropout": "rate, broadcast_dims=(), deterministic=None, rng_collection='dropout'",
    "PReLU": "param_dtype=None, negative_slope_init=0.01",
    "Sequential": "layers",
    "MultiHeadDotProductAttention": (
        "num_heads, dtype=None, param_dtype=None, qkv_features=None, out_features=None, broadcast_dropout=True, "
        "dropout_rate=0.0, deterministic=None, precision=None, kernel_init=None, out_kernel_init=None, "
        "bias_init=None, out_bias_init=None, use_bias=True, attention_fn=None, decode=False, normalize_qk=False, "
        "force_fp32_for_softmax=False, qkv_dot_general=None, out_dot_general=None, qkv_dot_general_cls=None, "
        "out_dot_general_cls=None, qk_attn_weights_einsum_cls=None, attn_weights_value_einsum_cls=None"
    ),
    "MultiHeadAttention": (
        "num_heads, dtype=None, param_dtype=None, qkv_features=None, out_features=None, broadcast_dropout=True, "
        "dropout_rate=0.0, deterministic=None, precision=None, kernel_init=None, out_kernel_init=None, "
        "bias_init=None, out_bias_init=None, use_bias=True, attention_fn=None, decode=False, normalize_qk=False, "
        "force_fp32_for_softmax=False, qkv_dot_general=None, out_dot_general=None, qkv_dot_general_cls=None, "
        "out_dot_general_cls=None, qk_attn_weights_einsum_cls=None, attn_weights_value_einsum_cls=None"
    ),
    "SelfAttention": (
        "num_heads, dtype=None, param_dtype=None, qkv_features=None, out_features=None, broadcast_dropout=True, "
        "dropout_rate=0.0, deterministic=None, precision=None, kernel_init=None, out_kernel_init=None, "
        "bias_init=None, out_bias_init=None, use_bias=True, attention_fn=None, decode=False, normalize_qk=False, "
        "force_fp32_for_softmax=False, qkv_dot_general=None, out_dot_general=None, qkv_dot_general_cls=None, "
        "out_dot_general_cls=None, qk_attn_weights_einsum_cls=None, attn_weights_value_einsum_cls=None"
    ),
    "LSTMCell": (
        "features, gate_fn=None, activation_fn=None, kernel_init=None, recurrent_kernel_init=None, "
        "bias_init=None, dtype=None, param_dtype=None, carry_init=None"
    ),
    "OptimizedLSTMCell": (
        "features, gate_fn=None, activation_fn=None, kernel_init=None, recurrent_kernel_init=None, "
        "bias_init=None, dtype=None, param_dtype=None, carry_init=None"
    ),
    "GRUCell": (
        "features, gate_fn=None, activation_fn=None, kernel_init=None, recurrent_kernel_init=None, "
        "bias_init=None, dtype=None, param_dtype=None, carry_init=None"
    ),
    "SimpleCell": (
        "features, activation_fn=None, kernel_init=None, recurrent_kernel_init=None, bias_init=None, dtype=None, "
        "param_dtype=None, carry_init=None, residual=False"
    ),
    "RNN": (
        "cell, time_major=False, return_carry=False, reverse=False, keep_order=False, unroll=1, "
        "variable_axes=None, variable_broadcast='params', variable_carry=False, split_rngs=None"
    ),
    "Bidirectional": "forward_rnn, backward_rnn, merge_fn=None, time_major=False, return_carry=False",
}
