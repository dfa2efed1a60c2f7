"""Recurrent layers over time (keras/src/layers/rnn)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from flake8_cnnmem.dims import Size
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
from flake8_cnnmem.frameworks.keras.session import flatten, map_structure, tensors_in
from flake8_cnnmem.frameworks.keras.shapes import TensorShape, plain_size
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.frameworks.keras.tracking import is_layer
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Index, Recurrent, Stack
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value

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
    constants = options.get("constants")
    if isinstance(sequence, list) and sequence:
        # Keras 2 takes the initial states, then the constants, behind the input in one list.
        count = self.attributes.get("_num_constants")
        behind = len(sequence) - (count if isinstance(count, int) else 0)
        constants = sequence[behind:] or constants
        initial_state = initial_state if initial_state is not None else sequence[1:behind] or None
        sequence = sequence[0]
    if constants is not None:
        self.attributes["_num_constants"] = len(constants) if isinstance(constants, (list, tuple)) else 1
    sequences, states = flag(self.attributes.get("return_sequences")), flag(self.attributes.get("return_state"))
    if not isinstance(cells, (list, tuple)) or not all(is_layer(each) for each in cells):
        return run.unknown("the cell of an RNN is not known")
    if all(each.cls.facts.get("stub") is not None and each.cls.name in CELLS for each in cells):
        return run_native_cells(run, list(cells), sequence, sequences, states)
    # Not one of ours, nor a stack of ours: the one of the list.
    return run_user_cell(run, cast("Instance", cell), sequence, initial_state, sequences, states, constants)


def run_native_cells(run: Runtime, cells: list[Instance], sequence: Value, sequences: bool, states: bool) -> Value:
    """Cells of Keras' own over a sequence, each as one recurrent op."""
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


def run_user_cell(
    run: Runtime, cell: Instance, sequence: Value, state: Value, sequences: bool, states: bool, constants: Value = None
) -> Value:
    """A cell of the code's own is called once for every step; once alone where nobody knows how many there are."""
    given = tensors_in(sequence)
    if not given or any(isinstance(each.shape, Unknown) or len(each.shape) < 3 for each in given):
        return run.unknown("the input of an RNN is not known")
    first = given[0].shape
    assert isinstance(first, tuple)
    steps = first[1]
    if state is None:
        state = initial_states(run, cell, first[0])
    followed = isinstance(steps, int) and steps <= MOST_STEPS
    outputs: list[Value] = []

    def step_of(tensor: Value, at: int) -> Value:
        return run.apply(Index((slice(None), at)), tensor, function="getitem", framework="keras")

    for at in range(steps if followed and isinstance(steps, int) else 1):
        step = map_structure(partial(step_of, at=at), sequence)
        pair = run.call(cell, step, state, **({} if constants is None else {"constants": constants}))
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            return pair if isinstance(pair, Unknown) else run.unknown("an RNN's cell gives no output and states")
        outputs.append(pair[0])
        state = pair[1]
    if not outputs:
        return run.unknown("an RNN has no steps")
    result = together(run, outputs, sequences, None if followed else steps)
    after = state if isinstance(state, (list, tuple)) else [state]
    return [result, *after] if states else result


def together(run: Runtime, outputs: list[Value], sequences: bool, steps: Size | None) -> Value:
    """What an RNN gives of its cell's outputs at each step; of one step that stands for `steps` of them."""

    def looped(tensor: Value) -> Value:
        shape = tensor.shape if isinstance(tensor, Tensor) else tensor
        if not isinstance(shape, tuple) or steps is None:
            return shape
        target = (shape[0], steps, *shape[1:]) if sequences else shape
        return run.apply(Given("rnn_loop", (target,)), tensor, function="while_loop", framework="keras")

    if steps is not None:
        return map_structure(looped, outputs[0])
    if not sequences:
        return outputs[-1]
    leaves = [list(flatten(each)) for each in outputs]
    stacked = iter(
        [run.apply(Stack(1), *column, function="stack", framework="keras") for column in zip(*leaves, strict=True)]
    )
    return map_structure(lambda leaf: next(stacked), outputs[0])


def initial_states(run: Runtime, cell: Instance, batch: Size) -> Value:
    """The cell's states before the first step: its own `get_initial_state`, or zeros of its `state_size`."""
    if cell.cls.derives_from(StackedRNNCells):
        return [initial_states(run, each, batch) for each in cell.attributes["cells"]]
    own = cell.cls.find("get_initial_state")
    if own is not MISSING:
        found = run.attempt(run.get(cell, "get_initial_state"), batch_size=batch)
        return found if isinstance(found, (list, tuple, Unknown)) else [found]
    sizes = run.get(cell, "state_size")
    if isinstance(sizes, Unknown):
        return sizes
    many = sizes if isinstance(sizes, (list, tuple)) and not isinstance(sizes, TensorShape) else [sizes]
    shapes = [size if isinstance(size, (list, tuple)) else (size,) for size in many]
    return [Tensor((batch, *map(plain_size, shape)), framework="keras") for shape in shapes]


def rnn_init(run: Runtime, self: Instance) -> None:
    """A list of cells as one stacked cell."""
    cell = self.attributes.get("cell")
    if isinstance(cell, (list, tuple)):
        self.attributes["cell"] = run.construct(StackedRNNCells, list(cell))


@layer(call=call_rnn, build=build_nothing, init=rnn_init)
def RNN(
    cell: Value, return_sequences: Value = False, return_state: Value = False, go_backwards: Value = False,
    stateful: Value = False, unroll: Value = False, zero_output_for_mask: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, features) through a cell, to the last output or to all."""
    return ()


@layer(bases=(RNN,), own_activation=True, ndim=3, init=RNN_INIT, call=RNN_CALL, extra=CELL)
def SimpleRNN(
    units: Size, activation: Value = "tanh", use_bias: Value = True, kernel_initializer: Value = "glorot_uniform",
    recurrent_initializer: Value = "orthogonal", bias_initializer: Value = "zeros", kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, return_sequences: Value = False, return_state: Value = False,
    go_backwards: Value = False, stateful: Value = False, unroll: Value = False, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, features) to (N, units), or to (N, T, units)."""
    return Recurrent("rnn", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=LSTM_INIT, call=LSTM_CALL, extra=CELL)
def LSTM(
    units: Size, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    dropout: Value = 0.0, recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, unroll: Value = False,
    use_cudnn: Value = "auto", **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, features) to (N, units), or to (N, T, units)."""
    return Recurrent("lstm", units, bias=asked(use_bias), two_biases=False, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=GRU_INIT, call=GRU_CALL, extra=CELL)
def GRU(
    units: Size, activation: Value = "tanh", recurrent_activation: Value = "sigmoid", use_bias: Value = True,
    kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, recurrent_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, dropout: Value = 0.0,
    recurrent_dropout: Value = 0.0, seed: Value = None, return_sequences: Value = False, return_state: Value = False,
    go_backwards: Value = False, stateful: Value = False, unroll: Value = False, reset_after: Value = True,
    use_cudnn: Value = "auto", **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, T, features) to (N, units), or to (N, T, units)."""
    return Recurrent("gru", units, bias=asked(use_bias), two_biases=asked(reset_after), stacked=False)


def cudnn(cell: str) -> Callable[..., None]:
    """How a layer that is made for cuDNN is set up."""

    def init(run: Runtime, self: Instance) -> None:
        self.attributes["cudnn"] = True
        (LSTM_INIT if cell == "lstm" else GRU_INIT)(run, self)

    return init


@layer(bases=(RNN,), own_activation=True, ndim=3, init=cudnn("lstm"), call=LSTM_CALL, extra=CELL)
def CuDNNLSTM(
    units: Size, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", unit_forget_bias: Value = True, kernel_regularizer: Value = None,
    recurrent_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, recurrent_constraint: Value = None, bias_constraint: Value = None,
    return_sequences: Value = False, return_state: Value = False, go_backwards: Value = False, stateful: Value = False,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """An LSTM that runs by cuDNN alone."""
    return Recurrent("lstm", units, two_biases=True, stacked=False)


@layer(bases=(RNN,), own_activation=True, ndim=3, init=cudnn("gru"), call=GRU_CALL, extra=CELL)
def CuDNNGRU(
    units: Size, kernel_initializer: Value = "glorot_uniform", recurrent_initializer: Value = "orthogonal",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, recurrent_regularizer: Value = None,
    bias_regularizer: Value = None, activity_regularizer: Value = None, kernel_constraint: Value = None,
    recurrent_constraint: Value = None, bias_constraint: Value = None, return_sequences: Value = False,
    return_state: Value = False, go_backwards: Value = False, stateful: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """A GRU that runs by cuDNN alone."""
    return Recurrent("gru", units, two_biases=True, stacked=False)
