"""How PyTorch's op rules are written: differentiated by the input or the result, temporaries, lists of autocast."""

from __future__ import annotations

from flake8_cnnmem.frameworks.rules import New, OpRule, Saved

X = Saved("x")
Y = Saved("y")
OPERANDS = Saved("inputs", "others")
"""A factor is kept if another factor needs a gradient."""


def temporaries(tensors: int, of: str = "x") -> tuple[New, ...]:
    """So many tensors of the size of an operand, made for a moment."""
    return (New(of, times=tensors),) if tensors else ()


def by_input(backward: int = 0, **fields: str | bool) -> OpRule:
    """Differentiated by the input; `backward` temporaries of its size on top of the gradient."""
    return OpRule((X,), backward=temporaries(backward), **fields)  # type: ignore[arg-type]


def by_result(backward: int = 0, **fields: str | bool) -> OpRule:
    """Differentiated by the result."""
    return OpRule((Y,), backward=temporaries(backward), **fields)  # type: ignore[arg-type]


NOTHING = OpRule()
PASSES = OpRule(gradient="same")
CONSTANT = OpRule(gradient="none")

HALF = "half"
FULL = "float32"
RESULT = "result"
FUSED_HALF = "fused"
"""The autocast lists of torch/_higher_order_ops and aten/src/ATen/autocast_mode.h."""
