"""torch.vmap: a function of one row, for all rows at once.

Of what it computes the shapes are followed, on one row; what its batching rules keep for the backward pass is not
known. https://docs.pytorch.org/docs/stable/generated/torch.vmap.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.trees import NotFollowed, closed, opened
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value, native


class Mapped:
    """One call of a mapped function: the rows that it is given, and over how many it goes."""

    def __init__(self, run: Runtime) -> None:
        self.run = run
        self.length: Size | None = None
        self.given: list[Tensor] = []

    def row(self, value: Value, axis: Value) -> Value:
        """An argument's row: of each tensor in it without the axis. NotFollowed where its axes are not known,
        ValueError of the program where tensors are of different length."""
        if axis is None:
            return value
        leaves: list[Value] = []
        shape = opened(value, leaves)
        axes: list[Value] = [axis] * len(leaves)
        if isinstance(axis, (list, tuple, dict)):
            axes = []
            opened(axis, axes)
            if len(axes) != len(leaves):
                raise NotFollowed
        return closed(shape, iter([self.without(leaf, at) for leaf, at in zip(leaves, axes, strict=True)]))

    def without(self, leaf: Value, axis: Any) -> Value:
        """A tensor's row: what it is without this axis."""
        if axis is None:
            return leaf
        if not isinstance(leaf, Tensor) or isinstance(leaf.shape, Unknown) or type(axis) is not int:
            raise NotFollowed
        rank = len(leaf.shape)
        if not -rank <= axis < rank:
            raise self.run.error("ValueError", f"in_dim {axis} is not in the range of a tensor of {rank} axes")
        axis %= rank
        size = leaf.shape[axis]
        if self.length is not None and dims.same(size, self.length) is False:
            raise self.run.error(
                "ValueError", "vmap: Expected all tensors to have the same size in the mapped dimension"
            )
        self.length = size
        self.given.append(leaf)
        return Tensor((*leaf.shape[:axis], *leaf.shape[axis + 1 :]), leaf.dtype, framework="torch")

    def all_rows(self, leaf: Value, axis: Any) -> Value:
        """What is given of one row's result, with the mapped axis in it."""
        if (
            not isinstance(leaf, Tensor)
            or isinstance(leaf.shape, Unknown)
            or type(axis) is not int
            or self.length is None
        ):
            raise NotFollowed
        at = axis % (len(leaf.shape) + 1)
        shape: Shape = (*leaf.shape[:at], self.length, *leaf.shape[at:])
        weights = weights_behind(self.run, leaf)
        op = Given("vmap", (shape,))
        return apply(self.run, op, *self.given, weights=weights, function="vmap", dtypes=[leaf.dtype])


def weights_behind(run: Runtime, result: Tensor) -> list[Weight]:
    """The weights that the row's result is computed with: a gradient goes to them."""
    found: dict[int, Weight] = {}
    waiting, seen = [result], {id(result)}
    while waiting:
        tensor = waiting.pop()
        run.spend(1)
        if isinstance(tensor, Weight):
            found[id(tensor)] = tensor
        elif tensor.call is not None:
            for each in (*tensor.call.inputs, *tensor.call.weights):
                if id(each) not in seen:
                    seen.add(id(each))
                    waiting.append(each)
    return list(found.values())


def vmap(
    run: Runtime, func: Value, in_dims: Value = 0, out_dims: Value = 0, randomness: Value = "error", *,
    chunk_size: Value = None,
) -> Value:  # fmt: skip
    """`torch.vmap(func, in_dims, out_dims)`: the function that maps it."""

    def mapped(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        call = Mapped(run)
        axes: Sequence[Value] = in_dims if isinstance(in_dims, (list, tuple)) else [in_dims] * len(args)
        if len(axes) != len(args):
            raise run.error("ValueError", f"vmap: in_dims has {len(axes)} entries for {len(args)} inputs")
        try:
            rows = [call.row(value, axis) for value, axis in zip(args, axes, strict=True)]
            named = {word: call.row(value, 0) for word, value in kwargs.items()}
        except NotFollowed:
            return run.unknown("over what a function is mapped is not known")
        if call.length is None:
            raise run.error("ValueError", "vmap: at least one of in_dims must be an axis")
        # A model that is called on a row is not fed with it.
        one = Native("mapped", lambda run, *rows: run.call(func, *rows, **named), propagate_unknown=False)
        result = run.make_data(one, *rows)
        leaves: list[Value] = []
        try:
            shape = opened(result, leaves)
            ends: list[Value] = [out_dims] * len(leaves)
            if isinstance(out_dims, tuple):
                ends = list(out_dims)
                if len(ends) != len(leaves):
                    raise NotFollowed
            return closed(shape, iter([call.all_rows(leaf, at) for leaf, at in zip(leaves, ends, strict=True)]))
        except NotFollowed:
            cause = next((leaf for leaf in leaves if isinstance(leaf, Unknown)), None)
            return run.unknown("what a mapped function gives is not known") if cause is None else cause

    return Native("vmap", mapped, propagate_unknown=False)


VMAP = native("vmap", vmap)
