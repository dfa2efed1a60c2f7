"""What a rule of a derivative works with: the call that is gone back through, and the ops that it makes.

A formula gives the gradients of a call's operands as tensors with a history, which code may go back through again:
what torch's own formula makes of ordinary ops is made of them here, and in that order (tools/autograd/derivatives.yaml,
torch/csrc/autograd/FunctionsManual.cpp). An op without a formula has `NotDerived` gradients, which are a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias, TypeVar

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.graph import Call, Op, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Broadcast, Elementwise, Reduce, Reshape
from flake8_cnnmem.ops.derivative import Derivative, Restored
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown

Gradients: TypeAlias = "Sequence[Tensor | None]"
"""One for each operand of a call: its inputs, then the weights that are none of them. None where there is none."""


def deriving(run: Runtime, op: Op, *inputs: Tensor, function: str = "", dtype: str | None = None) -> tuple[Tensor, ...]:
    """The results of an op of a backward pass."""
    made = apply(run, op, *inputs, function=function or op.kind, dtype=dtype)
    results = tuple(made) if isinstance(made, tuple) else (made,)
    for result in results:
        if result.call is not None:
            result.call.derives = True
    return results


@dataclass(slots=True)
class Back:
    """The way back through one call. `wanted` says which of its operands need a gradient."""

    run: Runtime
    call: Call
    operands: tuple[Tensor, ...]
    wanted: tuple[bool, ...]
    made: list[Tensor] = field(default_factory=list)
    """What was computed, in order."""

    @property
    def x(self) -> Tensor:
        """The call's first operand."""
        return self.operands[0]

    @property
    def y(self) -> Tensor:
        """The call's first result."""
        return self.call.outputs[0]

    def op(self, op: Op, *inputs: Tensor, function: str = "", dtype: str | None = None) -> Tensor:
        """The (first) result of an op."""
        return self.several(op, *inputs, function=function, dtype=dtype)[0]

    def several(self, op: Op, *inputs: Tensor, function: str = "", dtype: str | None = None) -> tuple[Tensor, ...]:
        """All results of an op."""
        results = deriving(self.run, op, *inputs, function=function, dtype=dtype)
        self.made += results
        return results

    def unary(self, kind: str, x: Tensor) -> Tensor:
        """An elementwise op of a tensor, of its shape."""
        return self.op(Elementwise(kind), x)

    def multiply(self, a: Tensor, b: Tensor) -> Tensor:
        """a * b, broadcast."""
        return self.op(Broadcast("multiply"), a, b, function="mul")

    def divide(self, a: Tensor, b: Tensor) -> Tensor:
        """a / b, broadcast."""
        return self.op(Broadcast("divide"), a, b, function="div")

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        """a + b, broadcast."""
        return self.op(Broadcast("add"), a, b)

    def subtract(self, a: Tensor, b: Tensor) -> Tensor:
        """a - b, broadcast."""
        return self.op(Broadcast("subtract"), a, b, function="sub")

    def scale(self, x: Tensor) -> Tensor:
        """A product with a number, or a quotient by one."""
        return self.unary("scale", x)

    def shift(self, x: Tensor) -> Tensor:
        """A sum with a number."""
        return self.unary("shift", x)

    def neg(self, x: Tensor) -> Tensor:
        """-x."""
        return self.unary("neg", x)

    def derivative(self, kind: str, gradient: Tensor, *read: Tensor, like: int = 1) -> Tensor:
        """One kernel, from a gradient and what it reads."""
        return self.op(Derivative(f"{kind}_backward", like), gradient, *read)

    def restored(self, kind: str, gradient: Tensor, shape: Shape | Unknown) -> Tensor:
        """One kernel, from a gradient alone, to the shape of what is not read."""
        assert not isinstance(shape, Unknown)
        return self.op(Restored(f"{kind}_backward", shape), gradient)

    def reshape(self, x: Tensor, shape: Shape | Unknown) -> Tensor:
        """A tensor in another shape; itself where it has that shape, or where it is not known."""
        if isinstance(shape, Unknown) or x.shape == shape:
            return x
        return self.op(Reshape(shape), x, function="view")

    def sum_to(self, gradient: Tensor, shape: Shape | Unknown) -> Tensor:
        """The gradient of an operand that was repeated to the result's shape (at::sum_to)."""
        if isinstance(shape, Unknown) or isinstance(gradient.shape, Unknown) or gradient.shape == shape:
            return gradient
        lead = len(gradient.shape) - len(shape)
        axes = [at for at in range(len(gradient.shape)) if at < lead or shape[at - lead] != gradient.shape[at]]
        if axes:
            gradient = self.op(Reduce("sum", tuple(axes), True), gradient)
        return self.reshape(gradient, shape)

    def cast_to(self, gradient: Tensor, dtype: str) -> Tensor:
        """A gradient in another dtype; itself where it has that one."""
        if gradient.dtype == dtype:
            return gradient
        return self.op(Elementwise("cast"), gradient, function="to", dtype=dtype)


Rule: TypeAlias = "Callable[[Back, Tensor], Gradients]"
"""Of an op with one result: from its gradient those of the operands."""

RuleOfSeveral: TypeAlias = "Callable[[Back, Gradients], Gradients]"

RULES: dict[str, Rule] = {}
"""By kind, or by "kind/class of the op"."""

OF_SEVERAL: dict[str, RuleOfSeveral] = {}
"""Those of ops with several results, some of which may have no gradient."""

AnyRule = TypeVar("AnyRule", bound="Callable[..., Gradients]")


def rule(*kinds: str) -> Callable[[AnyRule], AnyRule]:
    """Register the function below as the derivative of these kinds of ops, of one result."""

    def register(function: AnyRule) -> AnyRule:
        for kind in kinds:
            RULES[kind] = function
        return function

    return register


def rule_of_several(*kinds: str) -> Callable[[AnyRule], AnyRule]:
    """Register the function below as the derivative of these kinds of ops, of several results."""

    def register(function: AnyRule) -> AnyRule:
        for kind in kinds:
            OF_SEVERAL[kind] = function
        return function

    return register


def sizes(tensor: Tensor) -> Shape:
    """The shape of a tensor whose rank is known."""
    assert not isinstance(tensor.shape, Unknown)
    return tensor.shape
