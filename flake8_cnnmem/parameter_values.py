"""`parameter.data`: a tensor of its own in a parameter's storage. Whatever is done with its values is done with the
parameter's; only whether it asks for a gradient is said of it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value

VALUES_READ = "parameters whose values were read"
"""Scratch of the run: by a parameter's id its values."""

CONTAINERS = "flake8_cnnmem.evaluate."
"""Natives of Python's own hold what they are given; those of frameworks are given the parameter."""


@dataclass(slots=True, eq=False, repr=False)
class ValuesOf(Weight):
    """The values of the parameter `of`, as code holds them. `trainable` is their own flag."""

    of: Weight | None = None

    def moved_at(self, number: int) -> bool:
        """Where the parameter lay then."""
        return self.moved if self.of is None else self.of.moved_at(number)


def values_of(run: Runtime, weight: Weight) -> ValuesOf:
    """What `weight.data` gives."""
    read = run.data(VALUES_READ)
    known = read.get(id(weight))
    if known is None or known.shape is not weight.shape or known.dtype != weight.dtype:
        known = ValuesOf(weight.shape, weight.dtype, framework=weight.framework, moved=weight.moved, name=weight.name,
                         trainable=False, of=weight)  # fmt: skip
        read[id(weight)] = known
    known.moved = weight.moved
    return known


def owner(value: Any) -> Any:
    """The parameter in whose storage a value lies that was read of one; others themselves."""
    return value.of if type(value) is ValuesOf else value


def owners(native: Native, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Any:
    """The arguments of a native as it is given them: for a framework parameters in the place of their values, in lists
    and tuples as well."""
    if str(getattr(native.function, "__module__", "")).startswith(CONTAINERS) or native.of_values:
        return args, kwargs
    return tuple(inside(value) for value in args), {word: inside(value) for word, value in kwargs.items()}


def inside(value: Any) -> Any:
    """A value, or a list or tuple with what lies in it, in the place of values that were read of parameters."""
    if type(value) in (list, tuple) and any(type(item) is ValuesOf for item in value):
        return type(value)(owner(item) for item in value)
    return owner(value)


def leaves_no_graph(values: Iterable[Any]) -> bool:
    """Whether values that were read of parameters are among these, alone or in lists, and nothing that a gradient could
    go back to: what is computed of them has no graph."""
    found = False
    for value in values:
        for each in value if type(value) in (list, tuple) else (value,):
            if type(each) is ValuesOf:
                found = not each.trainable
                if not found:
                    return False
            elif isinstance(each, Tensor):
                asks = each.trainable if isinstance(each, Weight) else each.requires_grad
                if asks or (each.call is not None and each.call.grad):
                    return False
    return found


def on_owners(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation on tensors, done with the parameters in the place of their values: in place it gives the values."""

    def operation(run: Runtime, *args: Value) -> Any:
        of_values = run.grad_enabled and leaves_no_graph(args)
        run.grad_enabled = run.grad_enabled and not of_values
        try:
            return given_back(function(run, *(owner(value) for value in args)), args)
        finally:
            run.grad_enabled = run.grad_enabled or of_values

    return operation


def given_back(result: Value, args: Sequence[Value]) -> Value:
    """What an operation gives that was done on parameters in the place of the arguments: values where it gives their
    parameter, as in-place operations do."""
    return next((value for value in args if type(value) is ValuesOf and value.of is result), result)
