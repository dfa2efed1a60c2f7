"""einx on PyTorch's tensors: elementwise operations, reductions and products by the names of axes.

`einx.add("b n, b d -> b n d", x, y)` is `torch.add` of views: each input with its axes in the output's order, and an
axis of one for each that it has not (https://einx.readthedocs.io/en/stable/). Without an output, that is the input
which has all axes; brackets mark the axes that an operation goes over.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.registry import TORCH
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.packages._einops_sets import einsum
from flake8_cnnmem.packages.einops import LONGEST, OTHERS, parsed, spread, transformed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value, native

NOT_FOLLOWED = "a pattern of einx is not followed"
BRACKETS = re.compile(r"[\[\]]")
MARKED = re.compile(r"\[[^\]]*\]")

ELEMENTWISE = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "where": "where",
    "maximum": "maximum", "minimum": "minimum", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "logical_and": "logical_and",
    "logical_or": "logical_or", "logaddexp": "logaddexp",
}  # fmt: skip
"""By einx's names torch's."""

REDUCTIONS = ("sum", "mean", "max", "min", "prod")


def not_followed(run: Runtime, pattern: Value, values: tuple[Value, ...]) -> Unknown | None:
    """Why an operation's arguments are not known, or are none that are followed; None where they are."""
    unknown = next((each for each in (pattern, *values) if isinstance(each, Unknown)), None)
    shapes = [each.shape for each in values if isinstance(each, Tensor)]
    unknown = unknown or next((shape for shape in shapes if isinstance(shape, Unknown)), None)
    if unknown is not None:
        return unknown
    known = isinstance(pattern, str) and len(pattern) <= LONGEST and pattern.count("->") <= 1
    if not known or not shapes or any(isinstance(each, Tensor) and each.framework != "torch" for each in values):
        return run.unknown(NOT_FOLLOWED)
    return None


def axes_of(side: str, value: Value) -> list[str] | None:
    """The names of an input's axes, those of `...` one by one and "1" for an axis of one; None where several are joined
    to one, or there are others than the tensor has."""
    try:
        groups = parsed(side, "l")
    except ValueError:
        return None
    if any(group is not None and (len(group) > 1 or "#" in "".join(group)) for group in groups):
        return None
    rank = len(value.shape) if isinstance(value, Tensor) and not isinstance(value.shape, Unknown) else 0
    count = rank - sum(group is not None for group in groups)
    if count < 0 or (count and None not in groups):
        return None
    return ["".join(group) or "1" for group in spread(groups, [f"{OTHERS}{at}" for at in range(count)])]


def output_of(side: str | None, inputs: list[list[str]]) -> list[str] | None:
    """The names of the output's axes: as they are written, or those of the input that has all."""
    if side is None:
        every = {name for names in inputs for name in names}
        found = [names for names in inputs if every <= set(names)]
        return found[0] if found else None
    others = max(([name for name in names if name.startswith(OTHERS)] for names in inputs), key=len, default=[])
    try:
        groups = parsed(side, "r")
    except ValueError:
        return None
    if any(group is not None and len(group) > 1 for group in groups):
        return None
    return ["".join(group) or "1" for group in spread(groups, others)]


def elementwise(function: str) -> Callable[..., Value]:
    """An operation of values that meet by the names of their axes."""

    def of_these(run: Runtime, description: Value, *tensors: Value, **lengths: Value) -> Value:
        cause = not_followed(run, description, tensors)
        if cause is not None:
            return cause
        left, arrow, right = BRACKETS.sub("", str(description)).partition("->")
        sides = left.split(",")
        named = [axes_of(side, value) for side, value in zip(sides, tensors, strict=False)]
        inputs = [names for names in named if names is not None]
        output = output_of(right if arrow else None, inputs)
        if len(sides) != len(tensors) or len(inputs) != len(tensors) or output is None:
            return run.unknown(NOT_FOLLOWED)
        if any(name not in output for names in inputs for name in names if name != "1"):
            return run.unknown(NOT_FOLLOWED)
        aligned = [placed(run, value, names, output) for value, names in zip(tensors, inputs, strict=True)]
        return run.call(TORCH[function], *aligned)

    return of_these


def placed(run: Runtime, value: Value, names: list[str], output: list[str]) -> Value:
    """A tensor with its axes in the output's order, and one of one where it has none: views of it."""
    if not isinstance(value, Tensor) or not isinstance(value.shape, tuple) or names == output:
        return value
    own = [name for name in names if name != "1"]
    if len(own) < len(names):
        value = run.call(run.get(value, "reshape"), *(size for size, name in zip(value.shape, names) if name != "1"))  # noqa: B905
    order = [own.index(name) for name in output if name in own]
    if order != sorted(order):
        value = run.call(run.get(value, "permute"), *order)
    for at, name in enumerate(output):
        if name not in own:
            value = run.call(run.get(value, "unsqueeze"), at)
    return value


def reduction(word: str) -> Callable[..., Value]:
    """`einx.sum("b [n] d", x)`, `einx.sum("b n d -> b d", x)`"""

    def of_these(run: Runtime, description: Value, tensor: Value, **lengths: Value) -> Value:
        cause = not_followed(run, description, (tensor,))
        if cause is not None or "keepdims" in lengths:
            return run.unknown(NOT_FOLLOWED) if cause is None else cause
        pattern = str(description)
        if "->" not in pattern:
            if "[" not in pattern:
                return run.unknown(NOT_FOLLOWED)
            pattern = f"{pattern} -> {MARKED.sub('', pattern)}"
        return transformed(run, tensor, BRACKETS.sub("", pattern), word, lengths)

    return of_these


def rearrange(run: Runtime, description: Value, *tensors: Value, **lengths: Value) -> Value:
    """`einx.rearrange("a b -> b a", x)`, of one tensor."""
    cause = not_followed(run, description, tensors)
    if cause is not None or len(tensors) != 1 or "+" in str(description):
        return run.unknown(NOT_FOLLOWED) if cause is None else cause
    return transformed(run, tensors[0], BRACKETS.sub("", str(description)), None, lengths)


def dot(run: Runtime, description: Value, *tensors: Value, **lengths: Value) -> Value:
    """`einx.dot("b [c], [c] d -> b d", x, y)`, as the einsum that it is."""
    cause = not_followed(run, description, tensors)
    if cause is not None or "->" not in str(description) or lengths:
        return run.unknown(NOT_FOLLOWED) if cause is None else cause
    return einsum(run, *tensors, BRACKETS.sub("", str(description)))


def get_at(run: Runtime, description: Value, *tensors: Value, **lengths: Value) -> Value:
    """`einx.get_at("b [n] d, b k -> b k d", x, at)`: only the shape is followed."""
    cause = not_followed(run, description, tensors)
    left, _, right = BRACKETS.sub("", str(description)).partition("->")
    sides = left.split(",")
    named = [axes_of(side, value) for side, value in zip(sides, tensors, strict=False)]
    inputs = [names for names in named if names is not None]
    output = output_of(right, inputs) if right else None
    if cause is not None or len(sides) != len(tensors) or len(inputs) != len(tensors) or output is None:
        return run.unknown(NOT_FOLLOWED) if cause is None else cause
    sizes = {
        name: size
        for names, value in zip(inputs, tensors, strict=True)
        if isinstance(value, Tensor) and isinstance(value.shape, tuple)
        for name, size in zip(names, value.shape, strict=True)
    }
    first = tensors[0]
    if any(name not in sizes for name in output) or not isinstance(first, Tensor):
        return run.unknown(NOT_FOLLOWED)
    shape: Shape = tuple(sizes[name] for name in output)
    return apply(run, Given("get_at", (shape,)), *tensors, function="get_at", dtypes=[first.dtype])


def over(function: str) -> Callable[..., Value]:
    """`einx.softmax("b [n]", x)`, over one axis."""

    def of_these(run: Runtime, description: Value, tensor: Value, **lengths: Value) -> Value:
        cause = not_followed(run, description, (tensor,))
        marked = re.findall(r"\[\s*(\w+)\s*\]", str(description).partition("->")[0])
        names = axes_of(BRACKETS.sub("", str(description).partition("->")[0]), tensor)
        if cause is not None or len(marked) != 1 or names is None:
            return run.unknown(NOT_FOLLOWED) if cause is None else cause
        return run.call(TORCH[function], tensor, names.index(marked[0]))

    return of_these


MODULES: dict[str, dict[str, Value]] = {
    "einx": {
        **{name: native(name, elementwise(function)) for name, function in ELEMENTWISE.items()},
        **{name: native(name, reduction(name)) for name in REDUCTIONS},
        **{name: native(name, over(name)) for name in ("softmax", "log_softmax")},
        "rearrange": native("rearrange", rearrange),
        "id": native("id", rearrange),
        "dot": native("dot", dot),
        "get_at": native("get_at", get_at),
    }
}
