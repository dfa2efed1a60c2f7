"""What PyTorch's autograd keeps of recurrent layers, and of their single steps.

Known and measured as the rows of `saved_tensors.py`.
"""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.frameworks.rules import New, OpRule, Saved
from flake8_cnnmem.frameworks.torch.op_rules import HALF, X, Y

STATES = (Saved("x1"), Saved("x2"))
"""Initial states that are given."""


def recurrent(*kept: New, backward: tuple[New, ...] = (), reads: str = "") -> OpRule:
    """A recurrent layer: its input, the initial states, and what is kept of the steps."""
    own = tuple(Saved(one) for one in kept)
    return OpRule((X, *STATES, *own), backward=backward, layout="time first", reads=reads, weights="all", autocast=HALF)


def fused(states: int, gates: int) -> OpRule:
    """cuDNN: x, y, the initial states, and a reserve whose size is cuDNN's own (cudnnGetRNNTempSpaceSizes). Of that the
    least that gradients can be computed of without running the steps again: the gates of each step, and the results of
    inner layers. The one published figure agrees for an LSTM, and is higher for a GRU: 736,000,000 and 864,000,000
    bytes for four layers of 320, which is 5 and 6 values for each unit and step, and the results of three layers
    (pytorch/pytorch issue 2895, cuDNN of 2017)."""
    steps = (New("steps", times=gates),) if gates else ()
    row = recurrent(New("zeros", times=states), *steps, New("inner"))
    return replace(row, keeps=(*row.keeps, Y), library="cuDNN")


def cell(*kept: Saved, made: int = 0, after: int = 0) -> OpRule:
    """One step of a recurrent layer. `made` and `after` are the gradients of its gates, in states: those that its
    backward makes, and those that are left when the first of its two products has been gone back through."""
    backward, rest = ((New("states", times=times),) if times else () for times in (made, after))
    keeps = (X, *STATES, *kept)
    return OpRule(keeps, backward=backward, layout="contiguous", weights="each", autocast=HALF, turned=True, after=rest)


RECURRENT = [
    ("rnn", fused(1, 0)),
    ("gru", fused(1, 4)),
    ("lstm", fused(2, 5)),
    # _thnn_fused_lstm_cell, _thnn_fused_gru_cell: the gates of the input and of the hidden state, a workspace.
    ("lstm_cell", cell(Saved(New("zeros", times=1)), Saved("y1"), Saved(New("states", times=12)), made=4, after=4)),
    ("gru_cell", cell(Saved(New("zeros")), Saved(New("states", times=11)), made=6, after=3)),
    # It has no gates (rnn_tanh_cell).
    ("rnn_cell", replace(cell(Saved(New("zeros")), Y, made=1, after=1), state_first=True)),
    ("conv_lstm", OpRule((X, Y, Saved(New("steps", times=6))), layout="contiguous", weights="all", autocast=HALF)),
]
