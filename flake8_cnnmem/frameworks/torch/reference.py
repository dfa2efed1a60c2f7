"""PyTorch's CPU build on fake tensors under a dispatch mode, as reference figures are measured: what it keeps and makes
for a moment where CUDA does otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from flake8_cnnmem.frameworks.rules import New, OpRule, Rules, Saved
from flake8_cnnmem.frameworks.torch.autograd.nodes import nodes_of
from flake8_cnnmem.frameworks.torch.op_rules import X, temporaries
from flake8_cnnmem.frameworks.torch.optim.states import STATES as OPTIMIZERS
from flake8_cnnmem.frameworks.torch.saved_by_attention import unfused
from flake8_cnnmem.frameworks.torch.saved_by_recurrence import cell, recurrent
from flake8_cnnmem.frameworks.torch.saved_tensors import REWRITES, TABLE


def by_onednn(between: New, *backward: New) -> OpRule:
    """The rule of a recurrent layer that oneDNN runs."""
    states = (New("states", times=2), New("zeros", times=2))
    return recurrent(New("steps"), *states, between, backward=backward, reads="time first")


def by_steps(*kept: New) -> OpRule:
    """The rule of a recurrent layer that runs step by step, keeping these for each."""
    return recurrent(*kept, New("zeros"), New("inner"), reads="time first")


OUT_OF_PLACE: Mapping[str, tuple[New, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("max", "min", "median", "mode", "kthvalue", "topk", "sort"), temporaries(1)),
        **dict.fromkeys(("copy/Index", "copy/Masked", "gather", "take"), temporaries(1)),
        **dict.fromkeys(("bce_with_logits", "bce_with_logits/unreduced"), temporaries(1)),
        **dict.fromkeys(("softmax", "copy/several"), ()),
        **dict.fromkeys(("amax", "amin", "max/all", "min/all"), (New("x", 1),)),
        **dict.fromkeys(("max/whole", "min/whole"), (New("x", 1, 3),)),
        "prod": temporaries(5),
        "cumprod": temporaries(8),
    }
)
"""What backward passes make for a moment in the CPU build and under a dispatch mode, where they do not write into what
they have made before."""
SEEN_BY_DISPATCH: Mapping[str, OpRule] = MappingProxyType(
    {kind: replace(row, roomy=False, passing="", reads="" if row.passing else row.reads) for kind, row in TABLE.items()}
    | {
        kind: replace(TABLE[kind], roomy=False, forward=(), backward=made, counts=False)
        for kind, made in OUT_OF_PLACE.items()
    }
    | {
        # Their gradients lie as their inputs there.
        kind: replace(TABLE[kind], roomy=False, forward=(), layout="like")
        for loss in ("mse", "smooth_l1", "huber")
        for kind in (loss, f"{loss}/unreduced")
    }
)
"""A dispatch mode sees tensors, and not that the storage behind a loss is larger than the one value in it."""

REFERENCE = Rules(
    "torch",
    512,
    MappingProxyType(
        {
            **SEEN_BY_DISPATCH,
            # The CPU build has no bool mask, no fused rms norm, and oneDNN's recurrent workspace is not seen.
            "dropout": OpRule((Saved(New("x")),)),
            "logsigmoid": OpRule((X, Saved(New("x")))),
            "rms_norm": OpRule(
                (X, Saved(New("rows", 4)), Saved(New("x"))), forward=temporaries(1), backward=temporaries(2)
            ),
            # oneDNN: the input with time first, the result of each layer and direction, the states; a dropout's mask.
            "lstm": by_onednn(New("joined"), New("joined"), New("direction")),
            "lstm/dropped": by_onednn(New("inner", times=2), New("joined")),
            # No kernel of its own: the ops of each step.
            "gru": by_steps(New("steps", times=6), New("handed")),
            "gru/dropped": by_steps(New("steps", times=6), New("handed"), New("inner")),
            "rnn": by_steps(New("steps")),
            "rnn/dropped": by_steps(New("steps"), New("inner")),
            "lstm_cell": cell(Saved(New("zeros")), Saved(New("states", times=5))),
            "gru_cell": cell(Saved(New("zeros")), Saved(New("states", times=6))),
            # It has no fused kernel for a trained mask, a dropout, or v of another width.
            "attention/math": unfused(New("probabilities")),
            "attention/masked": unfused(New("probabilities")),
            "attention/unequal": unfused(New("probabilities")),
            "attention/dropout": unfused(New("probabilities", times=3), backward=2),
            "attention/math, dropped": unfused(New("probabilities", times=3), backward=2),
        }
    ),
    # A dispatch mode makes every tensor look like a subclass, and those are never added into (accumulate in
    # torch/csrc/autograd/input_buffer.cpp).
    accumulates_in_place=False,
    eager=True,
    rewrites=REWRITES,
    nodes=nodes_of,
    optimizers=OPTIMIZERS,
)
"""PyTorch's CPU build on fake tensors under a dispatch mode, as reference figures are measured."""
