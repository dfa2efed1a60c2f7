"""Recurrent layers: plain, LSTM and GRU over sequences, single steps of them, and convolutional LSTM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from flake8_cnnmem.dims import BATCH, Batch, Shape, Size, multiply, product, same, show, subtract
from flake8_cnnmem.graph import Mismatch, Operand, Problem, WeightSpec
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import (
    UNSURE,
    Flag,
    Plain,
    add_if,
    blurred,
    channels_problem,
    extent,
    rank_problem,
    unknown_among,
    whole_problem,
)
from flake8_cnnmem.ops.expected import UNSTATED, Expected
from flake8_cnnmem.ops.windows import Padding, PerAxis, Window, expand
from flake8_cnnmem.unknown import Unknown

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
WORKSPACE = 5
"""States that CUDA's kernel of a GRU's step keeps of its gates (GRU_WORKSPACE_MULTIPLIER of ATen's RNN.cu)."""

NOT_CALLED = Unknown("the layer's input features are not known before its first call")
MOST_LAYERS = 4096


def width_of(declared: Size | None, inputs: tuple[Shape, ...]) -> Size:
    """The declared input width, else the input's, else Unknown."""
    if declared is not None:
        return extent(declared)
    return extent(inputs[0][-1]) if inputs and inputs[0] else NOT_CALLED


def state_problem(given: Sequence[Shape], wanted: Sequence[Shape]) -> Problem | None:
    """Initial states of other sizes than the last ones will have; None where that is not certain."""
    for state, expected in zip(given, wanted, strict=False):
        swapped = False
        if len(state) == len(expected):
            pairs = list(zip(state, expected, strict=True))
            # The batch stands elsewhere: that is right for a batch of one size alone, and of 1 where it is usual.
            swapped = any(isinstance(a, Batch) and b not in (1, a) and a in expected for a, b in pairs)
            if not swapped and all(same(a, b) is not False for a, b in pairs):
                continue
        elif len(state) > 1 and state[1:] == expected:
            # One axis more than an unbatched sequence has: such programs make their batch of one behind our back.
            continue
        other = sorted(map(repr, state)) == sorted(map(repr, expected))
        advice = "its axes are in another order" if swapped or other else ""
        return Problem("CNM201", f"takes a state of {show(expected)}, but is given {show(state)}", advice)
    return None


@dataclass(frozen=True, slots=True)
class Recurrent(Plain):
    """(N, T, inputs) -> the sequence (N, T, directions * hidden) or its last step (N, directions * hidden),
    then with `return_state` the last hidden state and for "lstm" the cell state.

    `stacked` states are torch's, (layers * directions, N, hidden) whatever `batch_first`; else (N, hidden) as
    in Keras. `two_biases` is two bias vectors a cell (torch; Keras' GRU with reset_after), else one.
    Unbatched (T, inputs) is accepted. Weights are named as in torch. Further inputs are the initial states.
    `dropout` is the one between its layers.
    """

    cell: str
    hidden: Size
    inputs: Size | None = None
    layers: Size = 1
    bidirectional: Flag = False
    bias: Flag = True
    batch_first: Flag = True
    projection: Size = 0
    two_biases: Flag = True
    return_sequences: Flag = True
    return_state: Flag = True
    stacked: Flag = True
    dropout: object = 0.0

    volume = "own"

    @property
    def kind(self) -> str:
        """ "rnn", "gru" or "lstm"."""
        return self.cell

    @property
    def width(self) -> Size:
        """The width of one direction's output."""
        return extent(self.hidden) if self.projection == 0 else extent(self.projection)

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """With a dropout between its layers it is "dropped"."""
        dropped = not (isinstance(self.dropout, (int, float)) and self.dropout == 0)
        return ("dropped",) if self.layers != 1 and dropped else ()

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """Of all layers and directions: the hidden values of every step (`steps`), one state (`states`), the initial
        ones that it makes where it is given none (`zeros`), what is handed from one step to the next (`handed`). What
        inner layers hand on (`inner`), the same where two directions are joined for it (`joined`), of one `direction`
        of one of them."""
        shape = inputs[0]
        hidden, layers, both = extent(self.hidden), extent(self.layers), 2 if self.bidirectional is True else 1
        places = product(shape[:-1])
        if name == "steps":
            return multiply(places, multiply(multiply(hidden, layers), both))
        if name == "states":
            if len(shape) < 3:
                return 0
            samples = shape[0] if self.batch_first is True else shape[1]
            return multiply(samples, multiply(multiply(hidden, layers), both))
        if name == "zeros":
            return 0 if len(inputs) > 1 else self.quantity("states", *inputs)
        if name == "handed":
            return subtract(self.quantity("steps", *inputs), self.quantity("states", *inputs))
        if name == "inner":
            return multiply(places, multiply(hidden, multiply(subtract(layers, 1), both)))
        if name == "joined":
            return self.quantity("inner", *inputs) if both == 2 else 0
        if name == "direction":
            return multiply(places, hidden) if both == 2 and self.layers != 1 else 0
        return Plain.quantity(self, name, *inputs)

    @property
    def batch_axis(self) -> int:
        """0 with `batch_first`, else 1."""
        return 1 if self.batch_first is False else 0

    @property
    def expected_input(self) -> Expected | None:
        """(batch, time, inputs), or time first; None where the first call decides the inputs."""
        if self.inputs is None:
            return None
        if self.batch_first:
            return Expected((BATCH, UNSTATED, self.inputs), (1,))
        return Expected((UNSTATED, BATCH, self.inputs), (0,))

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, T, inputs) to (N, T, width * directions) and the last states (layers * directions, N, width), of an LSTM
        two. Mismatch for other inputs."""
        shape = inputs[0]
        if len(shape) not in (2, 3):
            raise Mismatch(rank_problem(shape, "3 axes (N, T, features)", "ValueError"), None)
        directions = 2 if self.bidirectional is True else 1
        features = multiply(self.width, directions)
        if isinstance(self.bidirectional, Unknown):
            features = self.bidirectional
        batched = len(shape) == 3
        batch: Shape = () if not batched else shape[:1] if self.batch_first is True else shape[1:2]
        if batched and isinstance(self.batch_first, Unknown):
            batch = (self.batch_first,)
        sequence = (*shape[:-1], features)
        results = [sequence if self.return_sequences is True else (*batch, features)]
        if self.return_state is True:
            lead: Shape = (multiply(extent(self.layers), directions),) if self.stacked is True else ()
            results.append((*lead, *batch, self.width))
            if self.cell == "lstm":
                results.append((*lead, *batch, extent(self.hidden)))
        problem = (
            whole_problem("hidden size", (self.hidden,))
            or whole_problem("number of layers", (self.layers,))
            or whole_problem("projection", (self.projection,), 0)
            or channels_problem(shape, len(shape) - 1, self.inputs, "features")
        )
        hidden, to = self.hidden, self.projection
        if not problem and isinstance(hidden, int) and isinstance(to, int) and 0 < hidden <= to:
            what = f"projects to {to}, which must be less than its hidden size of {hidden}"
            problem = Problem("CNM201", what)
        if not problem and self.stacked is True and self.return_state is True:
            problem = state_problem(inputs[1:], results[1:])
        elif not problem and self.stacked is False:
            # A state of one sample is spread over the batch.
            given = [
                (*batch, *state[1:]) if state[:1] == (1,) and len(state) > len(batch) else state for state in inputs[1:]
            ]
            problem = state_problem(given, [(*batch, self.width), (*batch, extent(self.hidden))])
            if problem is not None and not problem.advice:
                problem = replace(problem, advice="it may be built so, and stops at its first batch")
        if problem:
            raise Mismatch(problem, tuple(results))
        return tuple(results)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """For each layer and direction "weight_ih" (gates * hidden, inputs), "weight_hh" (gates * hidden, width) and
        their biases (gates * hidden,); with a projection "weight_hr" (width, hidden)."""
        gates = GATES.get(self.cell, 1)
        hidden, layers = extent(self.hidden), extent(self.layers)
        rows = multiply(hidden, gates)
        width = width_of(self.inputs, inputs)
        directions = ("", "_reverse") if self.bidirectional is True else ("",)
        if not isinstance(layers, int) or not 0 < layers <= MOST_LAYERS:
            unknown = layers if isinstance(layers, Unknown) else UNSURE
            return {"weight_ih_l0": WeightSpec((unknown, width))}
        specs: dict[str, WeightSpec] = {}
        for layer in range(layers):
            for direction in directions:
                name = f"l{layer}{direction}"
                below = width if layer == 0 else multiply(self.width, len(directions))
                specs[f"weight_ih_{name}"] = WeightSpec((rows, below))
                specs[f"weight_hh_{name}"] = WeightSpec((rows, self.width))
                add_if(specs, self.bias, f"bias_ih_{name}", (rows,))
                if self.two_biases is True:
                    add_if(specs, self.bias, f"bias_hh_{name}", (rows,))
                if self.projection != 0:
                    specs[f"weight_hr_{name}"] = WeightSpec((self.width, hidden))
        return specs


@dataclass(frozen=True, slots=True)
class RecurrentCell(Plain):
    """One step: (N, inputs) -> hidden (N, hidden), and for "lstm" the cell state too (torch.nn.LSTMCell).
    Further inputs are the states of the step before."""

    cell: str
    hidden: Size
    inputs: Size | None = None
    bias: Flag = True

    @property
    def kind(self) -> str:
        """ "rnn_cell", "gru_cell" or "lstm_cell"."""
        return f"{self.cell}_cell"

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`states`: one hidden state; `zeros`: the one that it makes where it is given none; `gates`: those of the
        step, and the `workspace` in which CUDA's kernel of a GRU keeps what it has made of them."""
        if name == "zeros" and len(inputs) > 1:
            return 0
        if name in ("states", "zeros"):
            return multiply(product(inputs[0][:-1]), extent(self.hidden))
        if name in ("gates", "workspace"):
            wide = GATES.get(self.cell, 1) if name == "gates" else WORKSPACE
            return multiply(wide, self.quantity("states", *inputs))
        return Plain.quantity(self, name, *inputs)

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, inputs) to (N, hidden), of an LSTM twice: state and cell. Mismatch for other inputs."""
        shape = inputs[0]
        if len(shape) not in (1, 2):
            raise Mismatch(rank_problem(shape, "2 axes (N, features)", "ValueError"), None)
        results = ((*shape[:-1], extent(self.hidden)),) * (2 if self.cell == "lstm" else 1)
        problem = (
            whole_problem("hidden size", (self.hidden,))
            or channels_problem(shape, len(shape) - 1, self.inputs, "features")
            or state_problem(inputs[1:], results)
        )
        if problem:
            raise Mismatch(problem, results)
        return results

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight_ih" (gates * hidden, inputs), "weight_hh" (gates * hidden, hidden), "bias_ih" and "bias_hh" (gates *
        hidden,)."""
        rows = multiply(extent(self.hidden), GATES.get(self.cell, 1))
        specs = {
            "weight_ih": WeightSpec((rows, width_of(self.inputs, inputs))),
            "weight_hh": WeightSpec((rows, extent(self.hidden))),
        }
        add_if(specs, self.bias, "bias_ih", (rows,))
        add_if(specs, self.bias, "bias_hh", (rows,))
        return specs


@dataclass(frozen=True, slots=True)
class ConvRecurrent(Plain):
    """keras.layers.ConvLSTM2D and its like: (N, T, *sides, C) or, channels first, (N, T, C, *sides).

    Weights "weight" (4 * filters, C, *kernel), "recurrent" (4 * filters, filters, *kernel), "bias" (4 * filters,).
    """

    filters: Size
    kernel: tuple[Size, ...]
    channels: Size | None = None
    stride: PerAxis = 1
    padding: Padding = "valid"
    dilation: PerAxis = 1
    bias: Flag = True
    channels_last: Flag = True
    return_sequences: Flag = False
    return_state: Flag = False

    kind = "conv_lstm"
    volume = "own"

    def __post_init__(self) -> None:
        expand(self, "stride", "dilation")

    def channel_axis(self) -> int:
        """The channel axis, counted from the end."""
        return -1 if self.channels_last else -1 - len(self.kernel)

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`steps`: the hidden values of every step."""
        if name != "steps":
            return Plain.quantity(self, name, *inputs)
        return multiply(product(inputs[0][:-1]), extent(self.filters))

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, T, sides, C) to (N, T, sides, filters), or without the time axis; behind it the states where they are
        asked for."""
        shape = inputs[0]
        rank = len(self.kernel)
        if len(shape) != rank + 3:
            raise Mismatch(rank_problem(shape, f"{rank + 3} axes with a time axis"), None)
        cause = unknown_among(self.channels_last, self.return_sequences, self.return_state)
        if cause is not None:
            return (blurred(shape, cause, rank + 2 + (self.return_sequences is True)),)
        axis = self.channel_axis() + len(shape)
        first = 2 if self.channels_last else 3
        sides = shape[first : first + rank]
        window = Window(self.kernel, self.stride, self.padding, self.dilation)
        problem = window.problem() or whole_problem("number of filters", (self.filters,))
        after: list[Size] = [UNSURE] * rank
        if not problem:
            after, problem = window.fit(sides)
            problem = channels_problem(shape, axis, self.channels) or problem
        filters = extent(self.filters)
        frame: Shape = (*after, filters) if self.channels_last else (filters, *after)
        results = [(*shape[:2], *frame) if self.return_sequences else (shape[0], *frame)]
        if self.return_state:
            results += [(shape[0], *frame)] * 2
        if problem:
            raise Mismatch(problem, tuple(results))
        return tuple(results)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" (4 * filters, channels, kernel), "recurrent" (4 * filters, filters, kernel) and "bias" (4 *
        filters,): four gates each."""
        filters = extent(self.filters)
        rows = multiply(filters, 4)
        kernel = tuple(extent(size) for size in self.kernel)
        channels: Size = NOT_CALLED
        if self.channels is not None:
            channels = extent(self.channels)
        elif isinstance(self.channels_last, Unknown):
            channels = self.channels_last
        elif inputs and len(inputs[0]) == len(kernel) + 3:
            channels = extent(inputs[0][self.channel_axis()])
        specs = {
            "weight": WeightSpec((rows, channels, *kernel)),
            "recurrent": WeightSpec((rows, filters, *kernel)),
        }
        add_if(specs, self.bias, "bias", (rows,))
        return specs
