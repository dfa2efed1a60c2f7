"""Recurrent layers over time (keras/src/layers/rnn)."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.keras.layers.cells import CELLS, StackedRNNCells
from flake8_cnnmem.frameworks.keras.layers.recurrent import (
    CELL,
    GRU_CALL,
    GRU_INIT,
    LSTM_CALL,
    LSTM_INIT,
    RNN_CALL,
    RNN_INIT,
    flag,
)
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_inner, build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.frameworks.keras.tracking import is_layer
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Index, Recurrent, Stack
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Runtime, Value

MOST_STEPS = 512
"""Steps of a user's own cell that are followed one by one."""


def call_rnn(
    run: Runtime, self: Instance, sequence: Value = None, initial_state: Value = None, *args: Value, **options: Value
) -> Value:
    """Cells of Keras are run as their layers are; any other cell is called once for every step."""
    cell: Value = self.attributes.get("cell")
    cells = (
        cell.attributes.get("cells")
        if isinstance(cell, Instance) and cell.cls.derives_from(StackedRNNCells)
        else [cell]
    )
    if isinstance(sequence, (list, tuple)):
        sequence = sequence[0]
    sequences, states = flag(self.attributes.get("return_sequences")), flag(self.attributes.get("return_state"))
    if not isinstance(cells, (list, tuple)) or not all(is_layer(each) for each in cells):
        return run.unknown("the cell of an RNN is not known")
    if all(each.cls.facts.get("stub") is not None and each.cls.name in CELLS for each in cells):
        return run_native_cells(run, list(cells), sequence, sequences, states)
    return run_user_cell(run, cell, sequence, initial_state, sequences, states)


def run_native_cells(run: Runtime, cells: list[Instance], sequence: Value, sequences: bool, states: bool) -> Value:
    result = sequence
    after: list[Value] = []
    for at, cell in enumerate(cells):
        if isinstance(result, Tensor):
            build_inner(run, cell, result.shape)
        attributes = cell.attributes
        op = Recurrent(
            CELLS[cell.cls.name],
            attributes["units"],
            bias=asked(attributes.get("use_bias")),
            two_biases=attributes.get("reset_after") is True,
            return_sequences=sequences or at + 1 < len(cells),
            return_state=states,
            stacked=False,
        )
        with run.enter(cell):
            made = apply(run, cell, op, result)
        result = made[0] if isinstance(made, tuple) else made
        after.extend(made[1:] if isinstance(made, tuple) else ())
    return [result, *after] if states else result


def run_user_cell(run: Runtime, cell: Instance, sequence: Value, state: Value, sequences: bool, states: bool) -> Value:
    if not isinstance(sequence, Tensor) or isinstance(sequence.shape, Unknown) or len(sequence.shape) < 3:
        return run.unknown("the input of an RNN is not known")
    steps = sequence.shape[1]
    if state is None:
        state = initial_states(run, cell, sequence.shape)
    if not isinstance(steps, int) or steps > MOST_STEPS:
        return run.unknown("an RNN has too many steps to be followed one by one")
    outputs: list[Value] = []
    for at in range(steps):
        step = run.apply(Index((slice(None), at)), sequence, function="getitem", framework="keras")
        pair = run.call(cell, step, state)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            return pair if isinstance(pair, Unknown) else run.unknown("an RNN's cell gives no output and states")
        outputs.append(pair[0])
        state = pair[1]
    if not outputs:
        return run.unknown("an RNN has no steps")
    result = run.apply(Stack(1), *outputs, function="stack", framework="keras") if sequences else outputs[-1]
    after = state if isinstance(state, (list, tuple)) else [state]
    return [result, *after] if states else result


def initial_states(run: Runtime, cell: Instance, shape: Shape) -> Value:
    sizes = run.get(cell, "state_size")
    if isinstance(sizes, Unknown):
        return sizes
    many = sizes if isinstance(sizes, (list, tuple)) and not isinstance(sizes[0], type(None)) else [sizes]
    return [
        Tensor((shape[0], *(size if isinstance(size, (list, tuple)) else (size,))), framework="keras") for size in many
    ]


def rnn_init(run: Runtime, self: Instance) -> None:
    cell = self.attributes.get("cell")
    if isinstance(cell, (list, tuple)):
        self.attributes["cell"] = run.construct(StackedRNNCells, list(cell))


@layer(call=call_rnn, build=build_nothing, init=rnn_init)
def RNN(
    cell: Value, return_sequences: Value = False, return_state: Value = False, go_backwards: Value = False,
    stateful: Value = False, unroll: Value = False, zero_output_for_mask: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()


@layer(bases=(RNN,), own_activation=True, ndim=3, init=RNN_INIT, call=RNN_CALL, extra=CELL)
def SimpleRNN(
    units: Value, activation: Value = "tanh", use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    recurrent_initializer: Value = "orthogonal", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, return_sequences: Value = False, return_state: Value = False,
    go_backwards: Value = False, stateful: Value = False, unroll: Value = False, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("rnn", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=LSTM_INIT, call=LSTM_CALL, extra=CELL)
def LSTM(
    units: Value, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, unroll: Value = False,
    use_cudnn: Value = "auto", **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("lstm", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=GRU_INIT, call=GRU_CALL, extra=CELL)
def GRU(
    units: Value, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, recurrent_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, dropout: Value = 0.0,
    recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False, return_state: Value = False,
    go_backwards: Value = False, stateful: Value = False, unroll: Value = False, reset_after: Value = True,
    use_cudnn: Value = "auto", **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("gru", units, bias=asked(use_bias), two_biases=asked(reset_after), stacked=False)


def cudnn(cell: str) -> Callable[..., None]:
    def init(run: Runtime, self: Instance) -> None:
        self.attributes["cudnn"] = True
        (LSTM_INIT if cell == "lstm" else GRU_INIT)(run, self)

    return init


@layer(bases=(RNN,), own_activation=True, ndim=3, init=cudnn("lstm"), call=LSTM_CALL, extra=CELL)
def CuDNNLSTM(
    units: Value, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    return_sequences: Value = False, return_state: Value = False, go_backwards: Value = False, stateful: Value = False,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("lstm", units, two_biases=True, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=cudnn("gru"), call=GRU_CALL, extra=CELL)
def CuDNNGRU(
    units: Value, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, recurrent_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    return Recurrent("gru", units, two_biases=True, stacked=False)
