"""What a step of JAX keeps, as far as it is certain: XLA compiles it as a whole and decides what is kept and what is
computed again. What the gradients of products and convolutions read is kept in one form or another: a lower bound."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.optimizers import STATES
from flake8_cnnmem.frameworks.rules import OpRule, Rules, Saved, rows, table
from flake8_cnnmem.unknown import Unknown

X = Saved("x")
IN_PLACE = OpRule(gradient="reuse", layout="contiguous", reuses=True)
"""Whatever works value by value is fused with what is around it."""


READ_AGAIN = [
    ("convolution", OpRule((X,), layout="contiguous", weights="first", bias_last=True)),
    ("linear", OpRule((X,), layout="contiguous", weights="first")),
    *rows("matmul einsum", OpRule((Saved("inputs", "others"),), layout="contiguous")),
    ("attention", OpRule((X, Saved("x1"), Saved("x2")), layout="contiguous")),
    *rows("lstm gru rnn lstm_cell gru_cell rnn_cell", OpRule((X,), layout="contiguous", weights="all")),
    # The places alone.
    ("embedding", OpRule((X,), layout="contiguous")),
]

RULES = Rules(
    "flax",
    256,
    table(READ_AGAIN),
    otherwise=IN_PLACE,
    step="graph",
    merges_equal=True,
    optimizers=STATES,
)

CAUSE = Unknown("XLA decides what a step of JAX keeps; what products and convolutions read is counted")
