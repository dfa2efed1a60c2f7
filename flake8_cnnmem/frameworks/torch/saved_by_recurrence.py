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


def cell(*kept: Saved, made: tuple[New, ...] = (), fused: int = 0, state: str = "weight") -> OpRule:
    """One step of a recurrent layer. `made` are the gradients of its gates, and of the state where the kernel makes
    one. A `fused` kernel sums so many for the biases, else each product does. `state`: what the hidden state is kept
    for, if not for its product's weight."""
    return OpRule(
        (Saved("x", "weight"), Saved("x1", state), Saved("x2"), *kept),
        backward=made,
        layout="contiguous",
        weights="each",
        autocast=HALF,
        turned=True,
        begins=bool(made),
        gates_summed=fused,
        mask_first=fused > 0,
    )


RECURRENT = [
    ("rnn", fused(1, 0)),
    ("gru", fused(1, 4)),
    ("lstm", fused(2, 5)),
    # _thnn_fused_lstm_cell, _thnn_fused_gru_cell: the gates of the input and of the hidden state, a workspace.
    ("lstm_cell", cell(Saved(New("zeros")), Saved(New("gates", times=3)), Saved("y1"), made=(New("gates"),), fused=1)),
    (
        "gru_cell",
        cell(
            Saved(New("zeros")),
            Saved(New("gates", times=2)),
            Saved(New("workspace")),
            made=(New("gates", times=2), New("states")),
            fused=2,
            state="any",
        ),
    ),
    # It has no gates, but two products that are summed (rnn_tanh_cell).
    (
        "rnn_cell",
        replace(cell(Saved(New("zeros")), Y, made=(New("gates"),)), forward=(New("gates", times=2),), state_first=True),
    ),
    ("conv_lstm", OpRule((X, Y, Saved(New("steps", times=6))), layout="contiguous", weights="all", autocast=HALF)),
]
