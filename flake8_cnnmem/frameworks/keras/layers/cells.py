"""One step of a recurrent layer (keras/src/layers/rnn)."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.keras.layers.recurrent import GRU_INIT, LSTM_INIT, RNN_INIT
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.frameworks.keras.tracking import native
from flake8_cnnmem.ops import Recurrent, RecurrentCell
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Property, Value


def cell_call(kind: str) -> Callable[..., Value]:
    """The call of a cell: inputs (N, features) and states to (output, states)."""

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
    units: Size, activation: Value = "tanh", use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    recurrent_initializer: Value = "orthogonal", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, dropout: Value = 0.0,
    recurrent_dropout: Value = 0.0, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """One step of a SimpleRNN."""
    return Recurrent("rnn", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(own_activation=True, init=LSTM_INIT, call=cell_call("lstm"))
def LSTMCell(
    units: Size, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, dropout: Value = 0.0,
    recurrent_dropout: Value = 0.0, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """One step of an LSTM."""
    return Recurrent("lstm", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(own_activation=True, init=GRU_INIT, call=cell_call("gru"))
def GRUCell(
    units: Size, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, recurrent_regularizer: Value = None,
    bias_regularizer: Value = None, kernel_constraint: Value = None, recurrent_constraint: Value = None,
    bias_constraint: Value = None, dropout: Value = 0.0, recurrent_dropout: Value = 0.0, reset_after: Value = True,
    seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """One step of a GRU."""
    return Recurrent("gru", units, bias=asked(use_bias), two_biases=asked(reset_after), stacked=False)


def call_stacked(
    run: Runtime, self: Instance, inputs: Value = None, states: Value = None, *args: Value, **options: Value
) -> Value:
    """A call of StackedRNNCells: one cell after the other, each with its states."""
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


def sizes_of_states(run: Runtime, self: Instance) -> Value:
    """`state_size` of a stack of cells: those of each."""
    return [run.get(cell, "state_size") for cell in self.attributes.get("cells") or ()]


def size_of_output(run: Runtime, self: Instance) -> Value:
    """What the last cell gives, or its first state where it does not say."""
    last = (self.attributes.get("cells") or [None])[-1]
    found = run.get(last, "output_size")
    if not isinstance(found, Unknown):
        return found
    sizes = run.get(last, "state_size")
    return sizes[0] if isinstance(sizes, (list, tuple)) else sizes


STACKED = {"state_size": Property(native(sizes_of_states)), "output_size": Property(native(size_of_output))}


@layer(call=call_stacked, build=build_nothing, extra=STACKED)
def StackedRNNCells(cells: Value, **kwargs: Value) -> Ops:
    """Cells that run one after the other."""
    return ()
