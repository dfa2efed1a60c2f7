"""From a stub to a layer class.

A stub is a function with the signature of the framework's own layer. It returns the layer's op, and thereby says
which weights the layer has and, unless the layer brings a `forward` of its own, what a call does. Arguments are
kept as attributes under torch's names and read again at each call, because code changes them in between.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from flake8_cnnmem.frameworks.changed_weights import PLACED
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, put, weights_of
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.nn.parameter import empty_weight
from flake8_cnnmem.frameworks.torch.nn.refused_arguments import refuse_arguments
from flake8_cnnmem.frameworks.torch.on_meta import REGIONS, note_made
from flake8_cnnmem.graph import Op, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime, with_known_lengths
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

Stub = Callable[..., Op]
Forward = Callable[..., Value]
Arrange = Callable[[dict[str, Value]], None]

LAYERS: dict[str, Class] = {}
"""Every native module class by its name in torch.nn."""

STUBS: dict[str, Callable[[], inspect.Signature]] = {}
"""The stubs' signatures, worked out when a layer is first made; tests hold them against torch's own."""

NONE_ABSENT: Mapping[str, str] = {}
BIAS = {"bias": "_parameters"}
AFFINE = {"weight": "_parameters", "bias": "_parameters"}
STATISTICS = {"running_mean": "_buffers", "running_var": "_buffers", "num_batches_tracked": "_buffers"}

NOT_KEPT = frozenset(("device", "dtype"))


def base_class(name: str, module: str, *bases: Class) -> Class:
    """A class of torch's own that layers share and code tests for (`_ConvNd`, `_BatchNorm`)."""
    return Class(name, bases or (MODULE,), {}, module=f"torch.nn.modules.{module}")


def layer(
    module: str,
    *bases: Class,
    forward: Forward | None = None,
    arrange: Arrange | None = None,
    weighted: bool = True,
    absent: Mapping[str, str] = NONE_ABSENT,
    members: Mapping[str, Value] | None = None,
) -> Callable[[Stub], Class]:
    """Make the class around a stub. `module` is the file of torch.nn.modules that it lives in.

    `forward(run, self, input, ...)` replaces the default call, which runs the op on one input with the weights that
    the layer has for it. `arrange` brings the bound arguments into the form in
    which torch stores them. `weighted` False spares weightless layers the question for their weights; `absent`
    names weights, and their store, that torch registers as None when the layer does without them.
    """

    def make(stub: Stub) -> Class:
        name = stub.__name__
        arguments = cache(partial(Arguments.of, stub))

        @cache
        def kept() -> tuple[str, ...]:
            return tuple(word for word in arguments().names if word not in NOT_KEPT)

        def signature() -> inspect.Signature:
            return arguments().signature

        def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
            bound = arguments().bound(args, kwargs)
            init_module(run, self)
            attributes, names = self.attributes, kept()
            for word in names:
                attributes[word] = bound[word]
            dtype = bound.get("dtype")
            if arrange is not None:
                arrange(attributes)
            if weighted:
                create_weights(run, self, stub(**{word: attributes[word] for word in names}), dtype, absent)
                if bound.get("device") is not None:
                    run.data(PLACED)[name] = True
                if bound.get("device") is not None or run.data(REGIONS):
                    note_made(run, weights_of(self), bound.get("device"))
                reset(run, self, "reset_parameters")
            refuse_arguments(run, self, name)
            return None

        def call(run: Runtime, self: Instance, input: Value) -> Value:
            attributes, names = self.attributes, kept()
            try:
                op = stub(**{word: attributes[word] for word in names})
            except KeyError:
                op = stub(**{word: attribute(run, self, word) for word in names})
            own = [attribute(run, self, word) for word in op.weights()] if weighted else ()
            return apply(run, op, input, weights=own, function=name)

        namespace: dict[str, Value] = {
            "__init__": Native("__init__", with_known_lengths(init), propagate_unknown=False),
            "forward": Native("forward", forward or call, propagate_unknown=False),
            "reset_parameters": Native("reset_parameters", nothing, propagate_unknown=False),
            **(members or {}),
        }
        cls = Class(name, bases or (MODULE,), namespace, module=f"torch.nn.modules.{module}")
        cls.facts["signature"] = signature
        LAYERS[name] = cls
        STUBS[name] = signature
        return cls

    return make


@dataclass(frozen=True, slots=True)
class Arguments:
    """A stub's signature, and what binding a call to it needs of that, worked out once."""

    signature: inspect.Signature
    names: tuple[str, ...]
    defaults: dict[str, Value]
    places: int
    """How many parameters can be given by place; -1 where some cannot be given by name."""

    @classmethod
    def of(cls, stub: Stub) -> Arguments:
        """The parameters of a layer's stub, in order with their defaults."""
        signature = inspect.signature(stub)
        parameters = signature.parameters
        kinds = [each.kind for each in parameters.values()]
        by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        return cls(
            signature,
            tuple(parameters),
            {word: each.default for word, each in parameters.items() if each.default is not each.empty},
            kinds.count(by_name[0]) if all(kind in by_name for kind in kinds) else -1,
        )

    def bound(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value]:
        """What a call binds the parameters to, defaults included. TypeError for what does not fit, in Python's words.

        `Signature.bind` takes ten times as long, and is asked only where the simple way does not fit.
        """
        names = self.names
        given = dict(zip(names, args, strict=False))
        if len(args) <= self.places and kwargs.keys().isdisjoint(given):
            bound = {**self.defaults, **given, **kwargs}
            # Neither is one missing nor one too many.
            if len(bound) == len(names) and all(word in bound for word in names):
                return bound
        binding = self.signature.bind(*args, **kwargs)
        binding.apply_defaults()
        return binding.arguments


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


def reset(run: Runtime, self: Instance, method: str) -> None:
    """The last thing that a constructor does: a method which a class of the program may have of its own."""
    if self.cls.site is not None and not isinstance(self.cls.find(method), Native):
        run.call(run.get(self, method))


def create_weights(
    run: Runtime, self: Instance, op: Op, dtype: Value = None, absent: Mapping[str, str] = NONE_ABSENT
) -> None:
    """Register an op's weights in its order, then as None those of `absent` that the op does without.

    An argument with a weight's name (`bias=True`) gives way to the weight.
    """
    attributes = self.attributes
    own = dtype_of(dtype)
    specs = op.weights()
    for name, spec in specs.items():
        attributes.pop(name, None)
        weight = empty_weight(run, spec.shape, own if spec.dtype == "float" else spec.dtype, spec.buffer)
        weight.trainable = spec.trainable
        put(run, self, "_buffers" if spec.buffer else "_parameters", name, weight)
    for name, store in absent.items():
        if name not in specs:
            attributes.pop(name, None)
            put(run, self, store, name, None)


def current(run: Runtime, self: Instance, *names: str) -> list[Any]:
    """Several attributes as they are now."""
    return [attribute(run, self, name) for name in names]


def first_tensor(value: Any) -> Tensor | Unknown | None:
    """The first tensor of an input that may be a tuple of them."""
    if isinstance(value, (Tensor, Unknown)):
        return value
    if isinstance(value, (list, tuple)) and value:
        return first_tensor(value[0])
    return None


def composite(
    module: str, *bases: Class, forward: Forward, members: Mapping[str, Value] | None = None
) -> Callable[[Callable[..., None]], Class]:
    """Make the class of a layer that is built of others: `build(run, self, ...)` has the layer's own signature."""

    def make(build: Callable[..., None]) -> Class:

        def signature() -> inspect.Signature:
            own = inspect.signature(build)
            return own.replace(parameters=list(own.parameters.values())[2:])

        def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
            init_module(run, self)
            build(run, self, *args, **kwargs)
            reset(run, self, "_reset_parameters")
            refuse_arguments(run, self, build.__name__)
            return None

        namespace: dict[str, Value] = {
            "__init__": Native("__init__", init, propagate_unknown=False),
            "forward": Native("forward", forward, propagate_unknown=False),
            "_reset_parameters": Native("_reset_parameters", nothing, propagate_unknown=False),
            "reset_parameters": Native("reset_parameters", nothing, propagate_unknown=False),
            **(members or {}),
        }
        cls = Class(build.__name__, bases or (MODULE,), namespace, module=f"torch.nn.modules.{module}")
        cls.facts["signature"] = signature
        LAYERS[cls.name] = cls
        STUBS[cls.name] = signature
        return cls

    return make
