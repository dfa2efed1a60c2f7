"""torch.nn's recurrent layers and cells."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.nn.layer import base_class, composite, create_weights, current, nothing
from flake8_cnnmem.frameworks.torch.nn.modules.module import stored
from flake8_cnnmem.frameworks.torch.nn.utils.rnn import PACKED, packed
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Recurrent, RecurrentCell
from flake8_cnnmem.ops.base import asked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

RNNBase = base_class("RNNBase", "rnn")
RNNBase.namespace["flatten_parameters"] = Native("flatten_parameters", nothing, propagate_unknown=False)
RNNCellBase = base_class("RNNCellBase", "rnn")
BASES = {"RNNBase": RNNBase, "RNNCellBase": RNNCellBase}


def op_of(self: Instance, cell: str, first: bool) -> Recurrent:
    """The op of a recurrent layer, from the attributes that it has; `first` where the batch leads."""
    held = self.attributes
    return Recurrent(
        cell,
        size(held.get("hidden_size")),
        size(held.get("input_size")),
        size(held.get("num_layers", 1)),
        asked(held.get("bidirectional", False)),
        asked(held.get("bias", True)),
        first,
        size(held.get("proj_size", 0)),
        dropout=held.get("dropout", 0.0),
    )


def given(hx: Value) -> list[Tensor]:
    """The tensors of an initial state: one, or for an LSTM two. Those of unknown rank would hide the result's."""
    states = hx if isinstance(hx, (tuple, list)) else (hx,)
    return [state for state in states if isinstance(state, Tensor) and not isinstance(state.shape, Unknown)]


def states_given(run: Runtime, self: Instance, hx: Value) -> list[Tensor]:
    """The initial states of a call. Of one tensor an LSTM takes the first two parts for h and c, whatever they are
    (`hx[0].dim() != 3` in torch/nn/modules/rnn.py)."""
    if kind_of(self) == "lstm" and isinstance(hx, Tensor) and isinstance(hx.shape, tuple) and hx.shape:
        hx = (run.index(hx, 0), run.index(hx, 1))
    return given(hx)


def kind_of(self: Instance) -> str:
    """Which recurrence it is: the classes that are declared here say it."""
    return str(self.cls.find("_cell"))


def recurrent_forward(run: Runtime, self: Instance, input: Value, hx: Value = None) -> Value:
    """A call of a recurrent layer: (output, last states), of an LSTM (output, (h, c)); a packed sequence gives one."""
    first = self.attributes.get("batch_first") is True
    sequence = input if isinstance(input, Instance) and input.cls is PACKED else None
    tensor = input
    if sequence is not None:
        tensor = sequence.attributes["padded"]
        first = sequence.attributes["batch_first"] is True
    op = op_of(self, kind_of(self), first)
    names = list(stored(self, "_parameters"))
    tensor = tensor_of(tensor)
    dtype = tensor.dtype if isinstance(tensor, Tensor) else "float"
    states = states_given(run, self, hx)
    results = apply(
        run, op, tensor, *states, weights=current(run, self, *names), function=cell_class(self), dtype=dtype
    )
    if not isinstance(results, tuple):
        return results if isinstance(results, Unknown) else (results, run.unknown("a recurrent state is not known"))
    output, *last = results
    state = last[0] if len(last) == 1 else tuple(last)
    return (packed(output, first, sequence.attributes["lengths"]) if sequence is not None else output), state


def cell_class(self: Instance) -> str:
    """ "RNN", "LSTM" or "GRU": the class of torch that a layer derives from."""
    return next((cls.name for cls in self.cls.mro if cls.name in ("RNN", "LSTM", "GRU")), "RNN")


def build(
    run: Runtime, self: Instance, input_size: Value, hidden_size: Value, num_layers: Value = 1, bias: Value = True,
    batch_first: Value = False, dropout: Value = 0.0, bidirectional: Value = False, proj_size: Value = 0,
    device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """What the constructors of all recurrent layers do: attributes, and weights for each layer and direction."""
    self.attributes.update(
        input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, bias=bias, batch_first=batch_first,
        dropout=dropout, bidirectional=bidirectional, proj_size=proj_size,
    )  # fmt: skip
    cell = kind_of(self)
    self.attributes["mode"] = {"lstm": "LSTM", "gru": "GRU"}.get(cell, "RNN_TANH")
    create_weights(run, self, op_of(self, cell, batch_first is True), dtype)
    self.attributes["bias"] = bias


@composite("rnn", RNNBase, forward=recurrent_forward, members={"_cell": "rnn"})
def RNN(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`nn.RNN(...)`, tanh or relu by its nonlinearity."""
    nonlinearity = kwargs.pop("nonlinearity", "tanh")
    if len(args) > 3:
        nonlinearity = args[3]
        args = args[:3] + args[4:]
    build(run, self, *args, **kwargs)
    self.attributes["nonlinearity"] = nonlinearity
    self.attributes["mode"] = "RNN_RELU" if nonlinearity == "relu" else "RNN_TANH"


@composite("rnn", RNNBase, forward=recurrent_forward, members={"_cell": "lstm"})
def LSTM(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`nn.LSTM(input_size, hidden_size, num_layers, ...)`: (T, N, in) to (T, N, hidden), with the last h and c of each
    layer."""
    build(run, self, *args, **kwargs)


@composite("rnn", RNNBase, forward=recurrent_forward, members={"_cell": "gru"})
def GRU(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`nn.GRU(input_size, hidden_size, num_layers, ...)`: (T, N, in) to (T, N, hidden), with the last h of each
    layer."""
    build(run, self, *args, **kwargs)


def cell_forward(run: Runtime, self: Instance, input: Value, hx: Value = None) -> Value:
    """A call of a recurrent cell: (N, inputs) to (N, hidden), of an LSTM (h, c)."""
    held = self.attributes
    op = RecurrentCell(kind_of(self), size(held.get("hidden_size")), size(held.get("input_size")), held["_biased"])
    names = list(stored(self, "_parameters"))
    return apply(run, op, input, *given(hx), weights=current(run, self, *names), function=self.cls.name)


def build_cell(run: Runtime, self: Instance, input_size: Value, hidden_size: Value, bias: Value, dtype: Value) -> None:
    """What the constructors of all recurrent cells do."""
    self.attributes.update(input_size=input_size, hidden_size=hidden_size, bias=bias, _biased=asked(bias))
    op = RecurrentCell(kind_of(self), size(hidden_size), size(input_size), asked(bias))
    create_weights(run, self, op, dtype)


@composite("rnn", RNNCellBase, forward=cell_forward, members={"_cell": "rnn"})
def RNNCell(
    run: Runtime, self: Instance, input_size: Value, hidden_size: Value, bias: Value = True,
    nonlinearity: Value = "tanh", device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """`nn.RNNCell(input_size, hidden_size)`: (N, in) and a state of (N, hidden) to (N, hidden)."""
    build_cell(run, self, input_size, hidden_size, bias, dtype)
    self.attributes["nonlinearity"] = nonlinearity


@composite("rnn", RNNCellBase, forward=cell_forward, members={"_cell": "lstm"})
def LSTMCell(
    run: Runtime, self: Instance, input_size: Value, hidden_size: Value, bias: Value = True, device: Value = None,
    dtype: Value = None,
) -> None:  # fmt: skip
    """`nn.LSTMCell(input_size, hidden_size)`: (N, in) and states of (N, hidden) to h and c of (N, hidden)."""
    build_cell(run, self, input_size, hidden_size, bias, dtype)


@composite("rnn", RNNCellBase, forward=cell_forward, members={"_cell": "gru"})
def GRUCell(
    run: Runtime, self: Instance, input_size: Value, hidden_size: Value, bias: Value = True, device: Value = None,
    dtype: Value = None,
) -> None:  # fmt: skip
    """`nn.GRUCell(input_size, hidden_size)`: (N, in) and a state of (N, hidden) to (N, hidden)."""
    build_cell(run, self, input_size, hidden_size, bias, dtype)
