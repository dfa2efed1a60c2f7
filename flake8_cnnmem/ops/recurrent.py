"""Recurrent layers: plain, LSTM and GRU over sequences, single steps of them, and convolutional LSTM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flake8_cnnmem.dims import Shape, Size, multiply
from flake8_cnnmem.graph import Mismatch, Problem, WeightSpec
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
from flake8_cnnmem.ops.windows import Padding, PerAxis, Window, expand
from flake8_cnnmem.unknown import Unknown

GATES = {"rnn": 1, "gru": 3, "lstm": 4}

NOT_CALLED = Unknown("the layer's input features are not known before its first call")
MOST_LAYERS = 4096


def width_of(declared: Size | None, inputs: tuple[Shape, ...]) -> Size:
    """The declared input width, else the input's, else Unknown."""
    if declared is not None:
        return extent(declared)
    return extent(inputs[0][-1]) if inputs and inputs[0] else NOT_CALLED


@dataclass(frozen=True, slots=True)
class Recurrent(Plain):
    """(N, T, inputs) -> the sequence (N, T, directions * hidden) or its last step (N, directions * hidden),
    then with `return_state` the last hidden state and for "lstm" the cell state.

    `stacked` states are torch's, (layers * directions, N, hidden) whatever `batch_first`; else (N, hidden) as
    in Keras. `torch_bias` is two bias vectors a cell (torch; Keras' GRU with reset_after), else one.
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
    torch_bias: Flag = True
    return_sequences: Flag = True
    return_state: Flag = True
    stacked: Flag = True
    dropout: object = 0.0

    @property
    def kind(self) -> str:
        return self.cell

    @property
    def width(self) -> Size:
        """The width of one direction's output."""
        return extent(self.hidden) if self.projection == 0 else extent(self.projection)

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        shape = inputs[0]
        if len(shape) not in (2, 3):
            raise Mismatch(rank_problem(shape, "3 axes (N, T, features)"), None)
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
        if problem:
            raise Mismatch(problem, tuple(results))
        return tuple(results)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
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
                if self.torch_bias is True:
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
        return f"{self.cell}_cell"

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        shape = inputs[0]
        if len(shape) not in (1, 2):
            raise Mismatch(rank_problem(shape, "2 axes (N, features)"), None)
        results = ((*shape[:-1], extent(self.hidden)),) * (2 if self.cell == "lstm" else 1)
        problem = whole_problem("hidden size", (self.hidden,)) or channels_problem(
            shape, len(shape) - 1, self.inputs, "features"
        )
        if problem:
            raise Mismatch(problem, results)
        return results

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
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

    def __post_init__(self) -> None:
        expand(self, "stride", "dilation")

    def channel_axis(self) -> int:
        """The channel axis, counted from the end."""
        return -1 if self.channels_last else -1 - len(self.kernel)

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
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
