"""Merges, in layer form and in function form (keras/src/layers/merging), and Keras 1's `merge`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from flake8_cnnmem.frameworks.keras.stubs import LAYERS, Ops, as_tensor, layer
from flake8_cnnmem.frameworks.keras.tracking import MERGE, native
from flake8_cnnmem.graph import Op, Tensor
from flake8_cnnmem.ops import Average as AverageOp
from flake8_cnnmem.ops import Broadcast, Unsqueeze
from flake8_cnnmem.ops import Concatenate as ConcatenateOp
from flake8_cnnmem.ops import Dot as DotOp
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value


def merge_call(make: Callable[[Instance], Op], align: bool = True) -> Callable[..., Value]:
    """The call of a merging layer, by the op that it is; `align` adds axes where inputs have fewer."""

    def call(run: Runtime, self: Instance, inputs: Value = None, *others: Value, **options: Value) -> Value:
        if isinstance(inputs, Unknown):
            return run.apply(make(self), inputs, function=self.cls.name, framework="keras")
        if isinstance(inputs, Tensor) and not others:
            raise run.error("ValueError", "A merge layer should be called on a list of inputs.")
        tensors = list(inputs.values()) if isinstance(inputs, dict) else inputs
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors, *others]
        if not tensors:
            raise run.error("ValueError", "A merge layer should be called on a list of at least 1 input.")
        given = [as_tensor(run, tensor) for tensor in tensors]
        if align:
            given = same_rank(run, given)
        return run.apply(make(self), *given, function=self.cls.name, framework="keras")

    return call


def same_rank(run: Runtime, tensors: list[Tensor | Unknown]) -> list[Tensor | Unknown]:
    """Keras puts axes of 1 behind the batch of inputs with fewer axes (base_merge.py)."""
    ranks = [len(tensor.shape) for tensor in tensors if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple)]
    most = max(ranks, default=0)
    aligned: list[Tensor | Unknown] = []
    for tensor in tensors:
        while isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and 0 < len(tensor.shape) < most:
            # One output: its tensor.
            tensor = cast("Tensor", run.apply(Unsqueeze(1), tensor, function="expand_dims", framework="keras"))
        aligned.append(tensor)
    return aligned


def of(kind: str) -> Callable[..., Value]:
    """The call of a merging layer of this kind."""
    op = Broadcast(kind)
    return merge_call(lambda self: op)


AVERAGE = AverageOp()


@layer(bases=(MERGE,), call=of("add"))
def Add(**kwargs: Value) -> Ops:
    """The sum of its inputs, broadcast."""
    return ()


@layer(bases=(MERGE,), call=of("subtract"))
def Subtract(**kwargs: Value) -> Ops:
    """The difference of two inputs, broadcast."""
    return ()


@layer(bases=(MERGE,), call=of("multiply"))
def Multiply(**kwargs: Value) -> Ops:
    """The product of its inputs, broadcast."""
    return ()


@layer(bases=(MERGE,), call=of("maximum"))
def Maximum(**kwargs: Value) -> Ops:
    """The largest of its inputs, broadcast."""
    return ()


@layer(bases=(MERGE,), call=of("minimum"))
def Minimum(**kwargs: Value) -> Ops:
    """The smallest of its inputs, broadcast."""
    return ()


@layer(bases=(MERGE,), call=merge_call(lambda self: AVERAGE))
def Average(**kwargs: Value) -> Ops:
    """The mean of its inputs, broadcast."""
    return ()


@layer(bases=(MERGE,), call=merge_call(lambda self: ConcatenateOp(self.attributes.get("axis", -1)), align=False))
def Concatenate(axis: Value = -1, **kwargs: Value) -> Ops:
    """Its inputs behind each other along an axis."""
    return ()


def dot_op(self: Instance) -> DotOp:
    """The op of Dot, from the layer's attributes."""
    axes: Any = self.attributes.get("axes")
    return DotOp(tuple(axes) if isinstance(axes, list) else axes, self.attributes.get("normalize") is True)


@layer(bases=(MERGE,), call=merge_call(dot_op, align=False))
def Dot(axes: Value, normalize: Value = False, **kwargs: Value) -> Ops:
    """The product of two inputs over one axis of each."""
    return ()


def functional(cls: Class, *names: str) -> Native:
    """`keras.layers.add([a, b])`: the layer made and called at once."""

    def call(run: Runtime, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        given = dict(zip(names, args, strict=False)) | kwargs
        return run.call(run.construct(cls, **given), inputs)

    return Native(cls.name.lower(), call, propagate_unknown=False)


FUNCTIONS: dict[str, Native] = {
    "add": functional(Add),
    "subtract": functional(Subtract),
    "multiply": functional(Multiply),
    "maximum": functional(Maximum),
    "minimum": functional(Minimum),
    "average": functional(Average),
    "concatenate": functional(Concatenate, "axis"),
    "dot": functional(Dot, "axes", "normalize"),
}

MODES: dict[str, Class] = {
    "sum": Add, "mul": Multiply, "ave": Average, "max": Maximum, "min": Minimum, "concat": Concatenate, "dot": Dot,
    "cos": Dot,
}  # fmt: skip
"""Keras 1's `merge(mode=)`."""


def merge(
    run: Runtime,
    inputs: Value,
    mode: Value = "sum",
    concat_axis: Value = -1,
    dot_axes: Value = -1,
    output_shape: Value = None,
    output_mask: Value = None,
    arguments: Value = None,
    name: Value = None,
) -> Value:
    """Keras 1: `merge([a, b], mode='concat', concat_axis=3)`, or with a function of the list as its mode."""
    if not isinstance(mode, str):
        lambda_layer = run.construct(LAYERS["Lambda"], mode, output_shape=output_shape, arguments=arguments, name=name)
        return run.call(lambda_layer, inputs)
    cls = MODES.get(mode)
    if cls is None:
        return run.unknown(f"merge has no mode {mode!r}")
    options: dict[str, Value] = {"name": name}
    if cls is Concatenate:
        options["axis"] = concat_axis
    elif cls is Dot:
        options |= {"axes": dot_axes, "normalize": mode == "cos"}
    return run.call(run.construct(cls, **options), inputs)


FUNCTIONS["merge"] = native(merge)
