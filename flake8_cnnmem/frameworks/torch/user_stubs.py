"""What a project's stubs say of functions and layers of PyTorch, as natives.

A call makes one `Declared` op with the results, and what it keeps beside them, as outputs; its backward pass is one
that is written by hand, like that of a torch.autograd.Function: it holds what the stub's `saves` names, and gives each
floating argument a gradient of its own shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.autograd.function import WRITTEN, kernel_backward
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of, is_floating
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, put
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.nn.parameter import empty_weight
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops.declared import Declared
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.stubs.reading import (
    FLOATING,
    NO_RESULT,
    Annotation,
    Choice,
    ClassStub,
    Described,
    FunctionStub,
    StubModule,
    TensorType,
    tensors_of,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, StaticMethod, Value

UNSAID = "declared without saves"
"""The kind of a call of which no stub says what it keeps: it has no rule, and the estimate is a lower bound."""

NONE_HELD: Mapping[str, Value] = MappingProxyType({})


def bind_stubs(stub: StubModule) -> Mapping[str, Value]:
    """The functions and classes of a stub as values, by name."""
    made: dict[str, Value] = {}
    for name, member in stub.members.items():
        if isinstance(member, FunctionStub):
            made[name] = function(member)
        elif isinstance(member, ClassStub):
            made[name] = class_of(member, made, stub.dotted)
    return made


def function(stub: FunctionStub) -> Native:
    """A function of a user's stub."""

    def called(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return call(run, stub, args, kwargs)

    return Native(stub.name, called, propagate_unknown=False)


def class_of(stub: ClassStub, known: Mapping[str, Value], dotted: str) -> Class:
    """A layer where a base is `Module` or a layer of the same stub; else a plain class."""
    bases = [MODULE if base == "Module" else known.get(base) for base in stub.bases]
    found = tuple(base for base in bases if isinstance(base, Class))
    is_layer = any(MODULE in base.mro for base in found)
    namespace: dict[str, Value] = {}
    for name, described in stub.methods.items():
        namespace[name] = StaticMethod(function(described)) if described.static else method(described, stub)
    if "__init__" in stub.methods or not found:
        namespace["__init__"] = constructor(stub, is_layer)
    return Class(stub.name, found, namespace, module=dotted)


def constructor(stub: ClassStub, is_layer: bool) -> Native:
    """Keeps the arguments as attributes, and makes the weights in the order in which the stub has them."""
    described = stub.methods["__init__"].described if "__init__" in stub.methods else ()

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        found = chosen(run, stub.name, described, args, kwargs) if described else None
        if isinstance(found, Unknown):
            return found
        given = found[1] if found is not None else {}
        if is_layer:
            init_module(run, self)
        run.changed(self)
        self.attributes.update(given)
        for name, weight in stub.weights.items():
            make_weight(run, self, name, weight, given)
        return None

    return Native("__init__", init, propagate_unknown=False)


def make_weight(run: Runtime, self: Instance, name: str, said: TensorType, given: Mapping[str, Value]) -> None:
    """A parameter or buffer. One that may be None is there unless the argument of its name is false."""
    assert said.pattern is not None
    store = "_buffers" if said.kind == "Buffer" else "_parameters"
    flag = run.truth(given.get(name, True)) if said.optional else True
    if flag is False:
        put(run, self, store, name, None)
        return
    shape = flag if isinstance(flag, Unknown) else said.pattern.shape({}, given)
    dtype = dtype_of(given.get("dtype")) if said.dtype in ("", FLOATING) else said.dtype
    put(run, self, store, name, empty_weight(run, shape, dtype, buffer=store == "_buffers"))


def method(stub: FunctionStub, owner: ClassStub) -> Native:
    """A method of a class of a user's stub."""

    def called(run: Runtime, self: Value, *args: Value, **kwargs: Value) -> Value:
        if not isinstance(self, Instance):
            return run.unknown(f"{owner.name}.{stub.name} is called on what is no {owner.name}")
        name = owner.name if stub.name in ("forward", "__call__") else stub.name
        weights = [run.find(self, each) for each in owner.weights]
        own = [each for each in weights if isinstance(each, Weight) and not each.buffer]
        return call(run, stub, args, kwargs, name, self.attributes, own)

    return Native(stub.name, called, propagate_unknown=False)


def call(
    run: Runtime, stub: FunctionStub, args: tuple[Value, ...], kwargs: dict[str, Value], name: str = "",
    attributes: Mapping[str, Value] = NONE_HELD, weights: Sequence[Weight] = (),
) -> Value:  # fmt: skip
    """What a call gives, by the first signature that its arguments fit. TypeError where they fit none."""
    found = chosen(run, stub.name, stub.described, args, kwargs)
    if isinstance(found, Unknown):
        return found
    described, given = found
    return applied(run, name or stub.name, described, given, attributes, weights)


def chosen(
    run: Runtime, name: str, described: Sequence[Described], args: tuple[Value, ...], kwargs: dict[str, Value]
) -> tuple[Described, dict[str, Value]] | Unknown:
    """The first signature that takes the arguments, with what they bind. TypeError, in Python's words, for none."""
    failure: TypeError | None = None
    for each in described:
        try:
            bound = each.signature.bind(*args, **kwargs)
        except TypeError as error:
            failure = error
            continue
        bound.apply_defaults()
        fits = len(described) == 1 or chooses(each, bound.arguments)
        if isinstance(fits, Unknown):
            return fits
        if fits:
            return each, bound.arguments
    if failure is not None:
        raise failure
    return run.unknown(f"no signature that the stub has for {name} takes these arguments")


def chooses(described: Described, given: Mapping[str, Value]) -> bool | Unknown:
    """Whether every argument that a signature chooses by has one of its values."""
    for name, said in described.arguments.items():
        value = given.get(name)
        if not isinstance(said, Choice):
            continue
        if isinstance(value, Unknown):
            return value
        if not any(type(value) is type(each) and value == each for each in said.values):
            return False
    return True


def applied(
    run: Runtime, name: str, described: Described, given: Mapping[str, Value], attributes: Mapping[str, Value],
    weights: Sequence[Weight],
) -> Value:  # fmt: skip
    """One call: an op with the stub's shapes, in a region whose backward pass keeps what the stub says."""
    results = tensors_of(described.result)
    if not results:
        return None if described.result == NO_RESULT else run.unknown(f"the stub does not say what {name} gives")
    tensors = [
        (word, said, value if isinstance(value, (Tensor, Unknown)) else tensor_of(value))
        for word, said in described.arguments.items()
        if isinstance(said, TensorType) and (value := given.get(word)) is not None
    ]
    beside = [each for each in described.saved or () if isinstance(each, TensorType)]
    patterns = [each.pattern for each in (*(said for _, said, _ in tensors), *results, *beside)]
    counted = {word for pattern in patterns if pattern is not None for word in pattern.arguments()}
    known = {**attributes, **given}
    op = Declared(
        UNSAID if described.saved is None else WRITTEN,
        tuple(said.pattern for _, said, _ in tensors),
        tuple(each.pattern for each in (*results, *beside)),
        tuple(word for word, _, _ in tensors),
        {word: plain(known.get(word)) for word in sorted(counted)},
    )
    values = [value for _, _, value in tensors]
    given_dtypes = [value.dtype for value in (*values, *weights) if isinstance(value, Tensor)]
    meant = {
        "": next(iter(given_dtypes), "float"),
        FLOATING: next((dtype for dtype in given_dtypes if is_floating(dtype)), "float"),
    }
    dtypes = [meant.get(each.dtype, each.dtype) for each in (*results, *beside)]
    with run.enter(None) as region:
        made = apply(run, op, *values, weights=weights, function=name, dtypes=dtypes)
    outputs: list[Any] = list(made) if isinstance(made, tuple) else [made]
    outputs += outputs[:1] * (len(dtypes) - len(outputs))
    if described.saved is not None and run.grad_enabled:
        named = {word: value for word, _, value in tensors}
        held = [each for each in kept(described.saved, named, outputs, len(results)) if isinstance(each, Tensor)]
        region.own = kernel_backward(run, [*values, *weights], outputs[: len(results)], held)
    return arranged(run, name, described.result, iter(outputs))


def kept(
    saved: Sequence[str | TensorType], named: Mapping[str, Value], outputs: Sequence[Value], results: int
) -> list[Value]:
    """What `saves` names: arguments, results, and the outputs that are no results."""
    own = iter(outputs[results:])
    found: list[Value] = []
    for each in saved:
        if isinstance(each, TensorType):
            found.append(next(own))
        elif each in named:
            found.append(named[each])
        elif each.startswith("result"):
            found.append(outputs[int(each.removeprefix("result").strip("[]") or 0)])
    return [value for value in found if isinstance(value, Tensor)]


def arranged(run: Runtime, name: str, said: Annotation, outputs: Any) -> Value:
    """The results as the function gives them: one, or a tuple, with what is no tensor in its place."""
    if isinstance(said, tuple):
        return tuple(arranged(run, name, each, outputs) for each in said)
    if isinstance(said, TensorType):
        return next(outputs)
    return None if said == NO_RESULT else run.unknown(f"the stub does not say what {name} gives")


def plain(value: Value) -> Value:
    """An argument as sizes count with it: a list as a tuple, which cannot change afterwards."""
    return tuple(value) if isinstance(value, list) else value
