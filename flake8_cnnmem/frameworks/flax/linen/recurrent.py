"""flax.linen's recurrent cells, and what runs them over a sequence.

Parameters after flax/linen/recurrent.py: a product of the inputs and one of the state for each gate, each a layer of
its own (`ii`, `hi`, ...).
"""

from __future__ import annotations

from typing import cast

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.flax import computing
from flake8_cnnmem.frameworks.flax.arrays import apply, as_array, made, plain, promoted, shape_of
from flake8_cnnmem.frameworks.flax.linen.layers import layer
from flake8_cnnmem.frameworks.flax.linen.module import make_weight
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Concatenate, Recurrent, RecurrentCell, Transpose
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

INPUTS = {"lstm": ("ii", "if", "ig", "io"), "gru": ("ir", "iz", "in"), "rnn": ("i",)}
STATES = {"lstm": ("hi", "hf", "hg", "ho"), "gru": ("hr", "hz", "hn"), "rnn": ("h",)}
WITH_BIAS = {"lstm": ("hi", "hf", "hg", "ho"), "gru": ("ir", "iz", "in", "hn"), "rnn": ("i",)}
"""The layers inside each cell, and those of them with a bias."""


def parameters(run: Runtime, cell: Instance, kind: str, inputs: Size) -> list[Weight]:
    """The weights of a cell, for inputs of so many features."""
    hidden = computing.count(cell.attributes.get("features"))
    found: list[Weight] = []
    for names, width in ((INPUTS[kind], inputs), (STATES[kind], hidden)):
        for name in names:
            found.append(make_weight(run, cell, f"{name}/kernel", (width, hidden)))
            if name in WITH_BIAS[kind]:
                found.append(make_weight(run, cell, f"{name}/bias", (hidden,)))
    return found


def declared_inputs(weights: list[Weight]) -> Size | None:
    """The width that the parameters were made for."""
    shape = weights[0].shape
    return shape[0] if isinstance(shape, tuple) and isinstance(shape[0], int) else None


def last_size(shape: Shape | Unknown) -> Size:
    """The last size of a shape, or why it is not known."""
    if isinstance(shape, Unknown):
        return shape
    return shape[-1] if shape else Unknown("a cell's input has no features")


def call_cell(run: Runtime, self: Instance, carry: Value, inputs: Value) -> Value:
    """One step: the new state, and what the cell gives, which is its hidden state."""
    kind = KINDS[kind_of(self)]
    weights = parameters(run, self, kind, last_size(shape_of(run, inputs)))
    states = carry if isinstance(carry, (tuple, list)) else (carry,)
    # Flax has the cell state first, ops the hidden one.
    given = [as_array(run, each) for each in reversed(states)]
    op = RecurrentCell(kind, computing.count(self.attributes.get("features")), declared_inputs(weights))
    dtypes = [promoted(inputs, *given)] * 2
    result = run.apply(
        op, as_array(run, inputs), *given, weights=weights, function=self.cls.name, dtypes=dtypes, framework="flax"
    )
    if isinstance(result, Unknown):
        return result
    if kind == "lstm":
        hidden, cell = result if isinstance(result, tuple) else (result, result)
        return ((cell, hidden), hidden)
    return (result, result)


def kind_of(cell: Instance) -> str:
    """The class of cells of linen that a cell derives from, by name; "" for one of the program's own."""
    return next((each.name for each in cell.cls.mro if each.name in KINDS), "")


def initialize_carry(run: Runtime, self: Instance, rng: Value, input_shape: Value) -> Value:
    """The carry of a cell for inputs of a shape: (..., features), of an LSTM two."""
    shape = plain(input_shape)
    if not isinstance(shape, (tuple, list)):
        return run.unknown("the shape of a cell's input is not known")
    state = (*shape[:-1], computing.count(self.attributes.get("features")))
    zeros = [made(state, "float") for _ in range(2)]
    return tuple(zeros) if KINDS[kind_of(self)] == "lstm" else zeros[0]


KINDS = {"LSTMCell": "lstm", "OptimizedLSTMCell": "lstm", "GRUCell": "gru", "SimpleCell": "rnn"}
CELLS: dict[str, Class] = {name: layer(name, call_cell, initialize_carry=initialize_carry) for name in KINDS}


def call_rnn(
    run: Runtime, self: Instance, inputs: Value, *, initial_carry: Value = None, init_key: Value = None,
    seq_lengths: Value = None, return_carry: Value = None, time_major: Value = None, reverse: Value = None,
    keep_order: Value = None,
) -> Value:  # fmt: skip
    """A cell over the steps of a sequence (batch, steps, features), or with the steps first."""
    cell = self.attributes.get("cell")
    if not isinstance(cell, Instance) or kind_of(cell) not in KINDS or cell.cls.site is not None:
        return run.unknown("a cell of the program's own is not followed over a sequence")
    steps_first = computing.merged(run, "time_major", self.attributes.get("time_major"), time_major) is True
    wants_carry = computing.merged(run, "return_carry", self.attributes.get("return_carry"), return_carry) is True
    kind, array = KINDS[kind_of(cell)], as_array(run, inputs)
    if isinstance(array, Unknown):
        return array
    if steps_first:
        array = cast("Tensor", apply(run, Transpose(0, 1), array, function="transpose"))
    weights = parameters(run, cell, kind, last_size(array.shape))
    op = Recurrent(
        kind, computing.count(cell.attributes.get("features")), declared_inputs(weights), stacked=False,
        two_biases=False, return_state=wants_carry,
    )  # fmt: skip
    with run.enter(cell):
        result = run.apply(
            op, array, weights=weights, function=cell.cls.name, dtypes=[promoted(array)] * 3, framework="flax"
        )
    parts = list(result) if isinstance(result, tuple) else [result]
    if steps_first and isinstance(parts[0], Tensor):
        parts[0] = apply(run, Transpose(0, 1), parts[0], function="transpose")
    if not wants_carry or len(parts) == 1:
        return (run.unknown("a cell's last state is not known"), parts[0]) if wants_carry else parts[0]
    return ((parts[2], parts[1]) if kind == "lstm" else parts[1], parts[0])


def call_bidirectional(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """A call of Bidirectional: both directions joined along the last axis."""
    held = self.attributes
    if held.get("return_carry") is True or options.get("return_carry") is True:
        return run.unknown("the states of both directions are not followed")
    both = [run.call(held.get(word), inputs) for word in ("forward_rnn", "backward_rnn")]
    merge = held.get("merge_fn")
    return apply(run, Concatenate(-1), *both, function="concatenate") if merge is None else run.call(merge, *both)


layer("RNN", call_rnn)
layer("Bidirectional", call_bidirectional)
