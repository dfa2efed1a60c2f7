"""Functions by name: those of Keras 3 as stubs (`signatures/`), those of TensorFlow and older Keras as tables.

A table has a name, the real function's parameters in order, and the computation that it is. A signature is a string of
words there. `word` is a parameter of the same name in the computation, `word>other` one that is called `other` there,
`word>` one that changes no shape. Words after `*` are taken by name only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TypeAlias

from flake8_cnnmem.frameworks.keras.ops.operands import apply, is_symbolic
from flake8_cnnmem.frameworks.keras.session import first_unknown_in, tensors_in
from flake8_cnnmem.frameworks.signatures import Stub, beside
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.values import MISSING, Native, Runtime, Value

Entry: TypeAlias = "tuple[str, Callable[..., Value]] | tuple[str, Callable[..., Value], dict[str, Value]]"


class Table:
    """Names of a module's functions; each becomes a Native when it is first asked for."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries
        self.made: dict[str, Native] = {}

    def find(self, name: str) -> Value:
        """The function of this name, or MISSING."""
        made = self.made.get(name)
        if made is not None:
            return made
        entry = self.entries.get(name)
        if entry is None:
            return MISSING
        signature, function, *fixed = entry
        found = self.made[name] = function_native(name, signature, function, fixed[0] if fixed else {})
        return found

    def __contains__(self, name: str) -> bool:
        return name in self.entries


class Functions:
    """The functions of a stub (frameworks/signatures.py); each becomes a Native when it is first asked for."""

    def __init__(self, name: str) -> None:
        self.stub = Stub(beside(os.path.dirname(__file__), name), apply, "elementwise", followed)
        self.entries = tuple(self.stub)
        self.made: dict[str, Native] = {}

    def find(self, name: str) -> Value:
        """The function of this name, or MISSING."""
        if name not in self.made:
            if name not in self.entries:
                return MISSING
            self.made[name] = self.stub.native(name)
        return self.made[name]


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


def function_native(name: str, signature: str, function: Callable[..., Value], fixed: dict[str, Value]) -> Native:
    """A Native with this signature that calls the computation under its own parameter names."""
    order: list[str] = []
    targets: dict[str, str] = {}
    variadic = False
    by_name = False
    for word in signature.split():
        if word == "*":
            by_name = True
            continue
        if word.startswith("*"):
            variadic = True
            continue
        given, arrow, target = word.partition(">")
        targets[given] = target if arrow else given
        if not by_name:
            order.append(given)

    def call(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        bound: dict[str, Value] = {}
        if len(args) > len(order) and not variadic:
            raise TypeError(f"{name}() takes {len(order)} positional arguments but {len(args)} were given")
        for word, value in zip(order, args, strict=False):
            target = targets[word]
            if target:
                bound[target] = value
        for word, value in kwargs.items():
            target = targets.get(word, word)
            if word not in targets:
                raise TypeError(f"{name}() got an unexpected keyword argument '{word}'")
            if target:
                bound[target] = value
        try:
            if variadic:
                named = {word: bound[word] for word in bound if word in kwargs}
                return led_on(run, name, args, function(run, *args, **{**fixed, **named}))
            return led_on(run, name, list(bound.values()), function(run, **{**fixed, **bound}))
        except (TypeError, ValueError, AttributeError, LookupError):
            # computations look closer at their arguments than they would have to if those were known
            cause = first_unknown_in(list(bound.values()) or args)
            if cause is None:
                raise
            return cause

    return Native(name, call, propagate_unknown=False)
