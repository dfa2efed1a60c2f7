"""Convolutional LSTMs (keras/src/layers/rnn/conv_lstm.py)."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.keras.layers.recurrent import flag
from flake8_cnnmem.frameworks.keras.parameters import per_axis
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.ops import ConvRecurrent
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.values import Value


def conv_lstm(
    rank: int, filters: Size, kernel_size: Value, strides: Value, padding: Value, data_format: Value,
    dilation_rate: Value, use_bias: Value, return_sequences: Value, return_state: Value,
) -> ConvRecurrent:  # fmt: skip
    """The op of a ConvLSTM over so many spatial axes."""
    return ConvRecurrent(
        filters,
        per_axis(kernel_size, rank),
        stride=per_axis(strides, rank),
        padding=padding,
        dilation=per_axis(dilation_rate, rank),
        bias=asked(use_bias),
        channels_last=data_format != "channels_first",
        return_sequences=flag(return_sequences),
        return_state=flag(return_state),
    )


@layer(rank=1, own_activation=True, ndim=4)
def ConvLSTM1D(
    filters: Size, kernel_size: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1, activation: Value = "tanh", recurrent_activation: Value = "sigmoid",
    use_bias: Value = True, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, L, C) to (N, L', filters), or to a sequence of them."""
    return conv_lstm(
        1, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, return_sequences, return_state
    )


@layer(rank=2, own_activation=True, ndim=5)
def ConvLSTM2D(
    filters: Size, kernel_size: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1, activation: Value = "tanh", recurrent_activation: Value = "sigmoid",
    use_bias: Value = True, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, H, W, C) to (N, H', W', filters), or to a sequence of them."""
    return conv_lstm(
        2, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, return_sequences, return_state
    )


@layer(rank=3, own_activation=True, ndim=6)
def ConvLSTM3D(
    filters: Size, kernel_size: Value, strides: Value = 1, padding: Value = "valid", data_format: Value = None,
    dilation_rate: Value = 1, activation: Value = "tanh", recurrent_activation: Value = "sigmoid",
    use_bias: Value = True, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, D, H, W, C) to (N, D', H', W', filters), or to a sequence of them."""
    return conv_lstm(
        3, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, return_sequences, return_state
    )
