"""Tensors whose values are written over in place: `x.copy_(y)`, `x.zero_()`, `x[:, :4] = y`."""

from __future__ import annotations

from flake8_cnnmem.dims import Shape, same
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.frameworks.torch.written_parts import as_written, needs_gradient
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise, Expand, Index
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

OVERWRITE = Elementwise("overwrite", True)


def overwritten(run: Runtime, input: Value, *values: Tensor, function: str) -> Value:
    """A tensor after its values were written over, by those of another one or by a number. Those of a smaller one are
    repeated first."""
    if not isinstance(input, Tensor) or not is_floating(input.dtype):
        return input
    sources = [repeated(run, value, input.shape) for value in values]
    made = apply(run, OVERWRITE, input, *sources, function=function, dtype=input.dtype)
    return made if isinstance(made, Tensor) else input


def repeated(run: Runtime, value: Tensor, shape: Shape | Unknown) -> Value:
    """A tensor as it is written into one of this shape: axes of one value are repeated; or left out, in front."""
    own = value.shape
    if isinstance(own, Unknown) or isinstance(shape, Unknown):
        return value
    extra = max(len(own) - len(shape), 0)
    given = apply(run, Index((0,) * extra), value, function="view") if extra else value
    missing = max(len(shape) - len(own), 0)
    pairs = zip(own[extra:], shape[missing:], strict=True)
    kept = [-1 if same(old, 1) is not True or same(new, 1) is True else new for old, new in pairs]
    target = (*shape[:missing], *kept)
    return given if set(target) <= {-1} else apply(run, Expand(target), given, function="expand")


def part_overwritten(run: Runtime, tensor: Tensor, items: tuple[object, ...], source: Value) -> Tensor | None:
    """A tensor after `tensor[items] = source`, as autograd sees it: a view is taken, and what it holds is written over.
    None where nothing of that has a gradient, or where the items name single places."""
    index = Index(items)
    trained = needs_gradient(tensor) or (isinstance(source, Tensor) and needs_gradient(source))
    if not (run.grad_enabled and trained and index.view and is_floating(tensor.dtype)):
        return None
    everything = index.view_gradient == "reshape" and None not in items
    part = tensor if everything else apply(run, index, tensor, function="setitem")
    if not isinstance(part, Tensor):
        return None
    # A number that the host knows is no tensor of the card's.
    number = isinstance(source, Tensor) and source.call is None and source.shape == ()
    values = (source,) if isinstance(source, Tensor) and not number else ()
    made = overwritten(run, part, *values, function="setitem")
    if everything and isinstance(made, Tensor):
        return made
    return as_written(run, tensor)
