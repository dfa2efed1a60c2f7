"""Recurrent layers, their cells, and the wrappers around them (keras/src/layers/rnn)."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.keras.layer import LAYER, call_layer, is_layer, native, state_of
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_inner, build_nothing
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.stubs import apply, layer, per_axis
from flake8_cnnmem.graph import Op, Tensor
from flake8_cnnmem.ops import (
    Average,
    Broadcast,
    Concatenate,
    ConvRecurrent,
    Dropout,
    Flip,
    Index,
    Recurrent,
    RecurrentCell,
    Stack,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Property, Run, Value


def flag(value: Value) -> bool:
    return value is True or value == 1


# --- any cell over time -------------------------------------------------------------------------------------------------

MOST_STEPS = 512
"""Steps of a user's own cell that are followed one by one."""


def call_rnn(run: Run, self: Instance, sequence: Value = None, initial_state: Value = None, *args: Value, **options: Value) -> Value:
    """Cells of Keras are run as their layers are; any other cell is called once for every step."""
    cell = self.attributes.get("cell")
    cells = cell.attributes.get("cells") if isinstance(cell, Instance) and cell.cls.derives_from(StackedRNNCells) else [cell]
    if isinstance(sequence, (list, tuple)):
        sequence = sequence[0]
    sequences, states = flag(self.attributes.get("return_sequences")), flag(self.attributes.get("return_state"))
    if not isinstance(cells, (list, tuple)) or not all(is_layer(each) for each in cells):
        return run.unknown("the cell of an RNN is not known")
    if all(each.cls.facts.get("stub") is not None and each.cls.name in CELLS for each in cells):
        return run_native_cells(run, list(cells), sequence, sequences, states)
    return run_user_cell(run, cell, sequence, initial_state, sequences, states)


def run_native_cells(run: Run, cells: list[Instance], sequence: Value, sequences: bool, states: bool) -> Value:
    result = sequence
    after: list[Value] = []
    for at, cell in enumerate(cells):
        if isinstance(result, Tensor):
            build_inner(run, cell, result.shape)
        attributes = cell.attributes
        op = Recurrent(
            CELLS[cell.cls.name],
            attributes.get("units"),
            bias=attributes.get("use_bias") is not False,
            torch_bias=attributes.get("reset_after") is True,
            return_sequences=sequences or at + 1 < len(cells),
            return_state=states,
            stacked=False,
        )
        with run.enter(cell):
            made = apply(run, cell, op, result)
        result = made[0] if isinstance(made, tuple) else made
        after.extend(made[1:] if isinstance(made, tuple) else ())
    return [result, *after] if states else result


def run_user_cell(
    run: Run, cell: Instance, sequence: Value, state: Value, sequences: bool, states: bool
) -> Value:
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


def initial_states(run: Run, cell: Instance, shape: Shape) -> Value:
    sizes = run.get(cell, "state_size")
    if isinstance(sizes, Unknown):
        return sizes
    many = sizes if isinstance(sizes, (list, tuple)) and not isinstance(sizes[0], type(None)) else [sizes]
    return [
        Tensor((shape[0], *(size if isinstance(size, (list, tuple)) else (size,))), framework="keras") for size in many
    ]


def rnn_init(run: Run, self: Instance) -> None:
    cell = self.attributes.get("cell")
    if isinstance(cell, (list, tuple)):
        self.attributes["cell"] = run.construct(StackedRNNCells, list(cell))


@layer(call=call_rnn, build=build_nothing, init=rnn_init)
def RNN(
    cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
    zero_output_for_mask=False, **kwargs,
):  # fmt: skip
    return ()


# --- the recurrent layers ---------------------------------------------------------------------------------------------


def recurrent_op(self: Instance, cell: str) -> Recurrent:
    attributes = self.attributes
    return Recurrent(
        cell,
        attributes.get("units"),
        bias=attributes.get("use_bias") is not False,
        torch_bias=(cell == "gru" and attributes.get("reset_after") is not False) or attributes.get("cudnn") is True,
        return_sequences=flag(attributes.get("return_sequences")),
        return_state=flag(attributes.get("return_state")),
        stacked=False,
    )


def recurrent(cell: str) -> tuple[Callable[..., None], Callable[..., Value]]:
    """The `init` and `call` of a recurrent layer."""

    def call(run: Run, self: Instance, sequence: Value = None, initial_state: Value = None, *args: Value, **options: Value) -> Value:
        if isinstance(sequence, (list, tuple)):
            # Keras 2 took the initial states behind the input in one list
            sequence = sequence[0] if sequence else None
        rate = self.attributes.get("dropout")
        if isinstance(rate, (int, float)) and rate > 0 and session_of(run).training[-1] is not False:
            sequence = run.apply(Dropout(rate), sequence, function="dropout", framework="keras")
        result = apply(run, self, recurrent_op(self, cell), sequence)
        return list(result) if isinstance(result, tuple) else result

    def init(run: Run, self: Instance) -> None:
        units = self.attributes.get("units")
        self.attributes["state_size"] = [units, units] if cell == "lstm" else units
        self.attributes["output_size"] = units

    return init, call


def get_cell(run: Run, self: Instance) -> Instance:
    return self


CELL = {"cell": Property(native(get_cell))}
RNN_INIT, RNN_CALL = recurrent("rnn")
LSTM_INIT, LSTM_CALL = recurrent("lstm")
GRU_INIT, GRU_CALL = recurrent("gru")


@layer(bases=(RNN,), own_activation=True, ndim=3, init=RNN_INIT, call=RNN_CALL, extra=CELL)
def SimpleRNN(
    units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
    bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
    activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
    recurrent_dropout=0.0, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
    unroll=False, seed=None, **kwargs,
):  # fmt: skip
    return Recurrent("rnn", units, bias=use_bias is not False, torch_bias=False, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=LSTM_INIT, call=LSTM_CALL, extra=CELL)
def LSTM(
    units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
    recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None,
    return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False, use_cudnn="auto",
    **kwargs,
):  # fmt: skip
    return Recurrent("lstm", units, bias=use_bias is not False, torch_bias=False, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=GRU_INIT, call=GRU_CALL, extra=CELL)
def GRU(
    units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None,
    bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
    bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False,
    go_backwards=False, stateful=False, unroll=False, reset_after=True, use_cudnn="auto", **kwargs,
):  # fmt: skip
    return Recurrent("gru", units, bias=use_bias is not False, torch_bias=reset_after is not False, stacked=False)


# Keras 2's layers for cuDNN: two bias vectors, as cuDNN has them (keras 2, layers/rnn/cudnn_lstm.py)


def cudnn(cell: str) -> Callable[..., None]:
    def init(run: Run, self: Instance) -> None:
        self.attributes["cudnn"] = True
        (LSTM_INIT if cell == "lstm" else GRU_INIT)(run, self)

    return init


@layer(bases=(RNN,), own_activation=True, ndim=3, init=cudnn("lstm"), call=LSTM_CALL, extra=CELL)
def CuDNNLSTM(
    units, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
    unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
    activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
    return_sequences=False, return_state=False, go_backwards=False, stateful=False, **kwargs,
):  # fmt: skip
    return Recurrent("lstm", units, torch_bias=True, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=cudnn("gru"), call=GRU_CALL, extra=CELL)
def CuDNNGRU(
    units, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
    kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
    kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, return_sequences=False,
    return_state=False, go_backwards=False, stateful=False, **kwargs,
):  # fmt: skip
    return Recurrent("gru", units, torch_bias=True, stacked=False)


# --- cells --------------------------------------------------------------------------------------------------------------


def cell_call(kind: str) -> Callable[..., Value]:
    def call(run: Run, self: Instance, inputs: Value = None, states: Value = None, *args: Value, **options: Value) -> Value:
        op = RecurrentCell(kind, self.attributes.get("units"), bias=self.attributes.get("use_bias") is not False)
        result = apply(run, self, op, inputs)
        return (result[0], list(result)) if isinstance(result, tuple) else (result, [result])

    return call


CELLS = {"SimpleRNNCell": "rnn", "LSTMCell": "lstm", "GRUCell": "gru"}


@layer(own_activation=True, init=RNN_INIT, call=cell_call("rnn"))
def SimpleRNNCell(
    units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
    bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
    kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
    seed=None, **kwargs,
):  # fmt: skip
    return Recurrent("rnn", units, bias=use_bias is not False, torch_bias=False, stacked=False)


@layer(own_activation=True, init=LSTM_INIT, call=cell_call("lstm"))
def LSTMCell(
    units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
    recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
    bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, **kwargs,
):  # fmt: skip
    return Recurrent("lstm", units, bias=use_bias is not False, torch_bias=False, stacked=False)


@layer(own_activation=True, init=GRU_INIT, call=cell_call("gru"))
def GRUCell(
    units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None,
    bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
    recurrent_dropout=0.0, reset_after=True, seed=None, **kwargs,
):  # fmt: skip
    return Recurrent("gru", units, bias=use_bias is not False, torch_bias=reset_after is not False, stacked=False)


def call_stacked(run: Run, self: Instance, inputs: Value = None, states: Value = None, *args: Value, **options: Value) -> Value:
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
def StackedRNNCells(cells, **kwargs):
    return ()


# --- both directions ----------------------------------------------------------------------------------------------------


def init_bidirectional(run: Run, self: Instance) -> None:
    inner = self.attributes.get("layer")
    if not is_layer(inner):
        return
    self.attributes.pop("layer")
    self.attributes["forward_layer"] = inner
    other = self.attributes.pop("backward_layer", None)
    if not is_layer(other):
        config = run.call(run.get(inner, "get_config"))
        if isinstance(config, dict):
            config = dict(config)
            state = state_of(run, inner)
            config["name"] = f"backward_{state.name}"
            config["go_backwards"] = not flag(config.get("go_backwards"))
            other = run.call(run.get(inner.cls, "from_config"), config)
        state_of(run, inner).name = f"forward_{state_of(run, inner).name}"
    self.attributes["backward_layer"] = other


def call_bidirectional(run: Run, self: Instance, sequences: Value = None, initial_state: Value = None, *args: Value, **options: Value) -> Value:
    forward, backward = self.attributes.get("forward_layer"), self.attributes.get("backward_layer")
    if not is_layer(forward) or not is_layer(backward):
        return run.unknown("the layer inside a Bidirectional is not known")
    if isinstance(sequences, (list, tuple)):
        sequences = sequences[0]
    first, second = call_layer(run, forward, sequences), call_layer(run, backward, sequences)
    states: list[Value] = []
    if isinstance(first, list) and isinstance(second, list):
        states = first[1:] + second[1:]
        first, second = first[0], second[0]
    if flag(forward.attributes.get("return_sequences")):
        second = run.apply(Flip(1), second, function="reverse", framework="keras")
    mode = self.attributes.get("merge_mode")
    if mode is None:
        return [first, second, *states]
    op = MERGES.get(mode) if isinstance(mode, str) else None
    if op is None:
        return run.unknown(f"Bidirectional has no merge_mode {mode!r}")
    merged = run.apply(op, first, second, function=op.kind, framework="keras")
    return [merged, *states] if states else merged


MERGES: dict[str, Op] = {
    "concat": Concatenate(-1), "sum": Broadcast("add"), "mul": Broadcast("multiply"), "ave": Average(),
}  # fmt: skip


def get_inner(run: Run, self: Instance) -> Value:
    return self.attributes.get("forward_layer")


@layer(
    bases=(LAYER,),
    call=call_bidirectional,
    build=build_nothing,
    init=init_bidirectional,
    extra={"layer": Property(native(get_inner))},
)
def Bidirectional(layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
    return ()


# --- convolutional ------------------------------------------------------------------------------------------------------


def conv_lstm(
    rank: int, filters: Value, kernel_size: Value, strides: Value, padding: Value, data_format: Value,
    dilation_rate: Value, use_bias: Value, return_sequences: Value, return_state: Value,
) -> ConvRecurrent:  # fmt: skip
    return ConvRecurrent(
        filters,
        per_axis(kernel_size, rank),
        stride=per_axis(strides, rank),
        padding=padding,
        dilation=per_axis(dilation_rate, rank),
        bias=use_bias is not False,
        channels_last=data_format != "channels_first",
        return_sequences=flag(return_sequences),
        return_state=flag(return_state),
    )


@layer(rank=1, own_activation=True, ndim=4)
def ConvLSTM1D(
    filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh",
    recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
    recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None,
    return_sequences=False, return_state=False, go_backwards=False, stateful=False, **kwargs,
):  # fmt: skip
    return conv_lstm(
        1, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, return_sequences, return_state
    )


@layer(rank=2, own_activation=True, ndim=5)
def ConvLSTM2D(
    filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh",
    recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
    recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None,
    return_sequences=False, return_state=False, go_backwards=False, stateful=False, **kwargs,
):  # fmt: skip
    return conv_lstm(
        2, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, return_sequences, return_state
    )


@layer(rank=3, own_activation=True, ndim=6)
def ConvLSTM3D(
    filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh",
    recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
    recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
    recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None,
    return_sequences=False, return_state=False, go_backwards=False, stateful=False, **kwargs,
):  # fmt: skip
    return conv_lstm(
        3, filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, return_sequences, return_state
    )
