"""What recurrent layers and their cells share."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.frameworks.keras.stubs import apply
from flake8_cnnmem.frameworks.keras.tracking import native
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops import Dropout, Recurrent
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Property, Value


def flag(value: Value) -> bool:
    """Whether a flag is set."""
    return value is True or value == 1


def recurrent_op(self: Instance, cell: str) -> Recurrent:
    """The op of a recurrent layer, from its attributes."""
    attributes = self.attributes
    return Recurrent(
        cell,
        attributes["units"],
        bias=asked(attributes.get("use_bias")),
        two_biases=(cell == "gru" and attributes.get("reset_after") is not False) or attributes.get("cudnn") is True,
        return_sequences=flag(attributes.get("return_sequences")),
        return_state=flag(attributes.get("return_state")),
        stacked=False,
    )


def recurrent(cell: str) -> tuple[Callable[..., None], Callable[..., Value]]:
    """The `init` and `call` of a recurrent layer."""

    def call(
        run: Runtime,
        self: Instance,
        sequence: Value = None,
        initial_state: Value = None,
        *args: Value,
        **options: Value,
    ) -> Value:
        if isinstance(sequence, (list, tuple)):
            # Keras 2 took the initial states behind the input in one list
            initial_state = initial_state if initial_state is not None else list(sequence[1:]) or None
            sequence = sequence[0] if sequence else None
        states = initial_state if isinstance(initial_state, (list, tuple)) else [initial_state]
        given = [state for state in states if isinstance(state, Tensor)]
        if cell == "lstm" and isinstance(sequence, Tensor) and len(given) == len(states) == 1:
            what = "takes two states, the last output and the cell's, but is given one"
            problem = Problem("CNM201", what, "it may be built so, and stops at its first batch", error="IndexError")
            sequence = run.apply(Refused(problem), sequence, *given, function="initial_state", framework="keras")
        rate = self.attributes.get("dropout")
        if isinstance(rate, (int, float)) and rate > 0 and session_of(run).training[-1] is not False:
            sequence = run.apply(Dropout(rate), sequence, function="dropout", framework="keras")
        result = apply(run, self, recurrent_op(self, cell), [sequence, *given])
        return list(result) if isinstance(result, tuple) else result

    def init(run: Runtime, self: Instance) -> None:
        units = self.attributes.get("units")
        self.attributes["state_size"] = [units, units] if cell == "lstm" else units
        self.attributes["output_size"] = units

    return init, call


def get_cell(run: Runtime, self: Instance) -> Instance:
    """`layer.cell`: the layer itself, which holds the cell's weights."""
    return self


def get_initial_state(
    run: Runtime, self: Instance, batch_size: Value = None, inputs: Value = None, **options: Value
) -> Value:
    """`layer.get_initial_state(batch_size)`: zeros of (batch, units), one for each state. Keras 2 gives its input."""
    given = inputs if inputs is not None else batch_size
    batch = given.shape[0] if isinstance(given, Tensor) and isinstance(given.shape, tuple) and given.shape else given
    sizes = self.attributes["state_size"]
    return [
        Tensor((plain_size(batch), plain_size(size)), framework="keras")
        for size in (sizes if isinstance(sizes, list) else [sizes])
    ]


CELL = {"cell": Property(native(get_cell)), "get_initial_state": native(get_initial_state)}


RNN_INIT, RNN_CALL = recurrent("rnn")


LSTM_INIT, LSTM_CALL = recurrent("lstm")


GRU_INIT, GRU_CALL = recurrent("gru")
