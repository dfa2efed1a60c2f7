"""Functions by name, as the stubs in `signatures/` have them: those of Keras 3, of older Keras and of TensorFlow."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cached_property

from flake8_cnnmem.frameworks.keras.ops.operands import apply, is_symbolic
from flake8_cnnmem.frameworks.keras.session import first_unknown_in, session_of, tensors_in
from flake8_cnnmem.frameworks.signatures import Stub, beside
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Native, Value

OWNER = "tensorflow"
"""The module whose functions others have as well (`tf.linalg.matmul` is `tf.matmul`)."""


class Functions:
    """The functions of a stub (frameworks/signatures.py), each made into a Native when it is first asked for.

    `shared` is the module that a stub's `from tensorflow import name` takes functions from: they are the same there.
    The stub is read when a name is first looked up.
    """

    def __init__(self, name: str, shared: Functions | None = None) -> None:
        self.name = name
        self.path = beside(os.path.dirname(__file__), name)
        self.shared = shared
        self.made: dict[str, Native] = {}

    @cached_property
    def stub(self) -> Stub:
        """The text of the stub, by function."""
        own = self.name.startswith(OWNER)
        return Stub(self.path, apply, "elementwise", of_tensorflow if own else followed)

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that the stub imports from the shared module."""
        return frozenset(name for name, (module, _) in self.stub.imports.items() if module == OWNER)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """All names, those that are imported behind its own."""
        return (*self.stub, *sorted(self.imported))

    def find(self, name: str) -> Value:
        """The function of this name, or MISSING."""
        if name not in self.made:
            if name in self.stub:
                self.made[name] = self.stub.native(name)
            elif self.shared is not None and name in self.imported:
                return self.shared.find(name)
            else:
                return MISSING
        return self.made[name]

    def signature(self, name: str) -> inspect.Signature:
        """As the stub has it, or the shared module's."""
        if self.shared is not None and name in self.imported:
            return self.shared.signature(name)
        return self.stub.signature(name)


def followed(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of a stub, whose result is led on from its arguments, and unknown where those are."""

    def call(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        given = [*args, *kwargs.values()]
        try:
            return led_on(run, function.__name__, given, function(run, *args, **kwargs))
        except (TypeError, ValueError, AttributeError, LookupError):
            # computations look closer at their arguments than they would have to if those were known
            cause = first_unknown_in(given)
            if cause is None:
                raise
            return cause

    return call


def of_tensorflow(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that Keras 3 does not take for a model's own tensors, and Keras 2 makes one layer of: what it computes
    outside of any layer is noted."""
    call = followed(function)

    def note(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        started, session = run.next_number(), session_of(run)
        result = call(run, *args, **kwargs)
        waiting = [each.call for each in tensors_in(result)]
        # Of several results the first stands for all.
        whole = waiting[0].number if waiting and waiting[0] is not None else 0
        while waiting:
            made = waiting.pop()
            if made is not None and made.within is None and made.number > started:
                session.tensorflows.add(made.number)
                session.parts_of_functions.update([made.number] if made.number != whole else [])
                waiting += [each.call for each in made.inputs]
        return result

    return note


def led_on(run: Runtime, name: str, given: object, result: Value) -> Value:
    """What a function gives, with the graph behind its arguments: a computation may make a tensor of their shapes alone
    (zeros as many as there are samples), and whatever leads to them is a part of the model all the same."""
    if not isinstance(result, Tensor) or result.call is not None or result.data is not None:
        return result
    behind = [tensor for tensor in tensors_in(given) if is_symbolic(run, tensor)]
    if not behind or any(result is tensor for tensor in behind) or not isinstance(result.shape, tuple):
        return result
    op = Given("like", (result.shape,))
    return run.apply(op, *behind, function=name, dtypes=[result.dtype], framework="keras")
