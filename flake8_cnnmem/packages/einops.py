"""einops on tensors of any framework: `rearrange`, `reduce`, `repeat` and their layers, as reshapes and transpositions.

By einops' documentation of its patterns; the steps are taken in its order: split axes, transpose, reduce, add axes,
join axes. What has nothing to do is left out.
"""

from __future__ import annotations

import re

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.registry import TORCH
from flake8_cnnmem.graph import Op, Problem, Tensor
from flake8_cnnmem.ops import Expand, Permute, Reduce, Unsqueeze
from flake8_cnnmem.ops.base import count as counted
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.packages._einops_sets import einsum, pack, unpack
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value, native

Group = tuple[str, ...]
TOKEN = re.compile(r"\(|\)|\.\.\.|[A-Za-z_]\w*|\d+|\S")
OTHERS = "..."
LONGEST = 400
"""Characters of a pattern."""


def parsed(side: str, which: str) -> list[Group | None]:
    """The axes of one side, each as the names that it is made of; `1` and `()` as none; None for `...` by itself.

    Numbers are axes of that size, each its own: their names tell the place as well. ValueError for what is no pattern.
    """
    found: list[Group | None] = []
    inner: list[str] | None = None
    for at, token in enumerate(TOKEN.findall(side)):
        if token.isdigit() and token != "1":
            token = f"{token}#{which}{at}"
        if token == "(":
            if inner is not None:
                raise ValueError(f"brackets inside brackets in {side!r}")
            inner = []
        elif token == ")":
            if inner is None:
                raise ValueError(f"a bracket too many in {side!r}")
            found.append(tuple(inner))
            inner = None
        elif token not in (OTHERS, "1") and not token.isidentifier() and "#" not in token:
            raise ValueError(f"no axis: {token!r}")
        elif inner is not None:
            inner.extend([token] if token != "1" else [])
        else:
            found.append(None if token == OTHERS else (token,) if token != "1" else ())
    if inner is not None:
        raise ValueError(f"a bracket is missing in {side!r}")
    return found


def number(name: str) -> int | None:
    """The size of an axis that is written as a number."""
    return int(name.partition("#")[0]) if "#" in name else None


def spread(groups: list[Group | None], others: list[str]) -> list[Group]:
    """With the axes that `...` stands for: one by one where it stands alone, together within brackets."""
    result: list[Group] = []
    for group in groups:
        if group is None:
            result.extend((name,) for name in others)
        else:
            result.append(tuple(each for name in group for each in (others if name == OTHERS else [name])))
    return result


def transformed(run: Runtime, tensor: Value, pattern: Value, reduction: Value, lengths: dict[str, Value]) -> Value:
    if isinstance(tensor, (list, tuple)):
        tensor = run.call(TORCH["stack"], list(tensor))
    for value in (tensor, pattern, *lengths.values()):
        if isinstance(value, Unknown):
            return value
    if not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
        shape = getattr(tensor, "shape", None)
        return shape if isinstance(shape, Unknown) else run.unknown("einops of what is no tensor")
    if not isinstance(pattern, str) or len(pattern) > LONGEST or pattern.count("->") != 1:
        return run.unknown("a pattern of einops is not followed")
    left_text, right_text = pattern.split("->")
    first, second = parsed(left_text, "l"), parsed(right_text, "r")
    count = len(tensor.shape) - sum(group is not None for group in first)
    others = [f"{OTHERS}{at}" for at in range(max(count, 0))] if None in first else []
    if any(group is not None and OTHERS in group for group in first) or count != len(others):
        wanted_axes = counted(len(first), "axis", "axes")
        return refused(run, tensor, f"takes a tensor of {wanted_axes}, but is given {dims.show(tensor.shape)}")
    left, right = spread(first, others), spread(second, others)
    wrong = wrong_group(left, tensor.shape, lengths)
    if wrong is not None:
        return refused(run, tensor, wrong)
    sizes = split_sizes(run, tensor, left, lengths, pattern)
    names = [name for group in left for name in group]
    wanted = [name for group in right for name in group]
    if any(len(group) != 1 for group in left):
        tensor = run.call(run.get(tensor, "reshape"), *(sizes[name] for name in names))
    kept = [name for name in wanted if name in sizes and name in names]
    order = kept + [name for name in names if name not in kept]
    if order != names:
        places = tuple(names.index(name) for name in order)
        tensor = step(run, tensor, "permute", places, Permute(places))
    if len(order) > len(kept):
        tensor = reduced(run, tensor, reduction, tuple(range(len(kept), len(order))))
    if isinstance(tensor, Unknown):
        return tensor
    tensor, sizes = added(run, tensor, kept, wanted, sizes, lengths)
    if any(len(group) != 1 for group in right):
        tensor = run.call(run.get(tensor, "reshape"), *(dims.product(sizes[name] for name in group) for group in right))
    return tensor


def split_sizes(
    run: Runtime, tensor: Tensor, left: list[Group], lengths: dict[str, Value], pattern: str
) -> dict[str, Size]:
    """The size of each axis by name: those that are given, and in each group the one that is left."""
    assert isinstance(tensor.shape, tuple)
    sizes: dict[str, Size] = {}
    for group, size in zip(left, tensor.shape, strict=True):
        open_ = [name for name in group if name not in lengths and number(name) is None]
        sizes.update({name: size_of(name, lengths) for name in group if name not in open_})
        known = dims.product(sizes[name] for name in group if name not in open_)
        if len(open_) > 1:
            raise run.error("ValueError", f"{pattern!r} leaves the sizes of {', '.join(open_)} open")
        if open_:
            sizes[open_[0]] = dims.floor_divide(size, known)
    return sizes


def wrong_group(left: list[Group], shape: dims.Shape, lengths: dict[str, Value]) -> str | None:
    """What einops refuses (`_reconstruct_from_shape_uncached`): an axis that the given sizes do not divide, or, where
    all are given, are not."""
    for group, size in zip(left, shape, strict=True):
        given = [name for name in group if name in lengths or number(name) is not None]
        known = dims.product(size_of(name, lengths) for name in given)
        if len(given) == len(group) and dims.same(size, known) is False:
            return f"takes an axis of {known!r} for ({' '.join(group)}), but is given {size!r}"
        if known != 0 and dims.same(dims.modulo(size, known), 0) is False:
            return f"splits an axis into parts of {known!r} for ({' '.join(group)}), but is given {size!r}"
    return None


def refused(run: Runtime, tensor: Tensor, what: str) -> Value:
    """einops raises an EinopsError, which is a RuntimeError: what it would give is not known."""
    problem = Problem("CNM201", what, error="RuntimeError")
    run.apply(Refused(problem), tensor, function="rearrange", framework=tensor.framework)
    return Tensor(run.unknown(what), tensor.dtype, framework=tensor.framework)


def size_of(name: str, lengths: dict[str, Value]) -> Size:
    own = number(name)
    if own is not None:
        return own
    given = lengths[name]
    return given if isinstance(given, (int, dims.Batch)) else Unknown("the size of an axis is not known")


def reduced(run: Runtime, tensor: Value, reduction: Value, axes: tuple[int, ...]) -> Value:
    word = {"max": "amax", "min": "amin"}.get(reduction, reduction) if isinstance(reduction, str) else None
    if word not in ("mean", "sum", "amax", "amin", "prod"):
        return run.unknown("a reduction of einops is not followed")
    return step(run, tensor, word, (axes,), Reduce({"amax": "max", "amin": "min"}.get(word, word), axes))


def added(
    run: Runtime, tensor: Value, kept: list[str], wanted: list[str], sizes: dict[str, Size], lengths: dict[str, Value]
) -> tuple[Value, dict[str, Size]]:
    """With the new axes that only the right side has, over which the values are repeated."""
    if kept == wanted:
        return tensor, sizes
    full = {**sizes, **{name: size_of(name, lengths) for name in wanted if name not in sizes}}
    for at, name in enumerate(wanted):
        if name not in sizes:
            tensor = step(run, tensor, "unsqueeze", (at,), Unsqueeze(at))
    target = tuple(full[name] for name in wanted)
    return step(run, tensor, "expand", target, Expand(target)), full


def step(run: Runtime, tensor: Value, method: str, args: tuple[Value, ...], op: Op) -> Value:
    """One step by the tensor's own method, where its framework has it under this name, else by the op that it is."""
    found = run.find(tensor, method) if isinstance(tensor, Tensor) else tensor
    if isinstance(tensor, Tensor) and (found is MISSING or isinstance(found, Unknown)):
        return run.apply(op, tensor, function=method, framework=tensor.framework)
    return found if isinstance(found, Unknown) else run.call(found, *args)


def rearrange(run: Runtime, tensor: Value, pattern: Value, **axes_lengths: Value) -> Value:
    return transformed(run, tensor, pattern, None, axes_lengths)


def reduce(run: Runtime, tensor: Value, pattern: Value, reduction: Value, **axes_lengths: Value) -> Value:
    return transformed(run, tensor, pattern, reduction, axes_lengths)


def repeat(run: Runtime, tensor: Value, pattern: Value, **axes_lengths: Value) -> Value:
    return transformed(run, tensor, pattern, None, axes_lengths)


def forward(run: Runtime, self: Instance, input: Value) -> Value:
    own = self.attributes
    return transformed(run, input, own["pattern"], own.get("reduction"), own["axes_lengths"])


def layer_init(run: Runtime, self: Instance, pattern: Value, *args: Value, **axes_lengths: Value) -> Value:
    """`Rearrange(pattern, **lengths)`, `Reduce(pattern, reduction, **lengths)`."""
    init_module(run, self)
    given = axes_lengths.pop("reduction", args[0] if args else None)
    self.attributes.update(pattern=pattern, reduction=given, axes_lengths=axes_lengths)
    return None


def layer(name: str) -> Class:
    members = {"__init__": native("__init__", layer_init), "forward": native("forward", forward)}
    return Class(name, (MODULE,), members, module="einops.layers.torch")


MODULES: dict[str, dict[str, Value]] = {
    "einops": {
        "rearrange": native("rearrange", rearrange),
        "reduce": native("reduce", reduce),
        "repeat": native("repeat", repeat),
        "einsum": native("einsum", einsum),
        "pack": native("pack", pack),
        "unpack": native("unpack", unpack),
    },
    "einops.layers": {},
    "einops.layers.torch": {"Rearrange": layer("Rearrange"), "Reduce": layer("Reduce")},
    "einops.einops": {},
}
