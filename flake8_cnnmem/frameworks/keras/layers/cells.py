"""One step of a recurrent layer (keras/src/layers/rnn)."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.keras.layers.recurrent import GRU_INIT, LSTM_INIT, RNN_INIT
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.ops import Recurrent, RecurrentCell
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.values import Instance, Runtime, Value


def cell_call(kind: str) -> Callable[..., Value]:
    def call(
        run: Runtime, self: Instance, inputs: Value = None, states: Value = None, *args: Value, **options: Value
    ) -> Value:
        op = RecurrentCell(kind, self.attributes["units"], bias=asked(self.attributes.get("use_bias")))
        result = apply(run, self, op, inputs)
        return (result[0], list(result)) if isinstance(result, tuple) else (result, [result])

    return call


CELLS = {"SimpleRNNCell": "rnn", "LSTMCell": "lstm", "GRUCell": "gru"}


@layer(own_activation=True, init=RNN_INIT, call=cell_call("rnn"))
def SimpleRNNCell(
    units: Value, activation: Value = "tanh", use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    recurrent_initializer: Value = "orthogonal", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, dropout: Value = 0.0,
    recurrent_dropout: Value = 0.0, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("rnn", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(own_activation=True, init=LSTM_INIT, call=cell_call("lstm"))
def LSTMCell(
    units: Value, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, dropout: Value = 0.0,
    recurrent_dropout: Value = 0.0, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("lstm", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(own_activation=True, init=GRU_INIT, call=cell_call("gru"))
def GRUCell(
    units: Value, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, recurrent_regularizer: Value = None,
    bias_regularizer: Value = None, kernel_constraint: Value = None, recurrent_constraint: Value = None,
    bias_constraint: Value = None, dropout: Value = 0.0, recurrent_dropout: Value = 0.0, reset_after: Value = True,
    seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("gru", units, bias=asked(use_bias), two_biases=asked(reset_after), stacked=False)


def call_stacked(
    run: Runtime, self: Instance, inputs: Value = None, states: Value = None, *args: Value, **options: Value
) -> Value:
    result: Value = inputs
    after: list[Value] = []
    for at, cell in enumerate(self.attributes.get("cells") or ()):
        state = states[at] if isinstance(states, (list, tuple)) and at < len(states) else None
        pair = run.call(cell, result, state)
        if not isinstance(pair, (list, tuple)):
            return pair
        result = pair[0]
        after.append(pair[1])
    return result, after


@layer(call=call_stacked, build=build_nothing)
def StackedRNNCells(cells: Value, **kwargs: Value) -> Ops:
    return ()
