"""The known values of small tensors that lie in one storage: `t[1:]`, `t.view(-1)`, `torch.from_numpy(a)`.

What is written through one of them all of them have. A tensor with known values is changed in place, so that whoever
holds it sees that; where it cannot be said what a write reaches, the values that it may reach are not known any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

from flake8_cnnmem.dims import product
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime

Read = Callable[[Any], Any]
"""From the nested values of a tensor to those of a view of it."""

MOST_BEHIND = 64
"""Ops behind a tensor that are asked for the storage that it lies in."""


@dataclass(slots=True)
class Sharing:
    """What a tensor is a view of, how its values are read off that (None: not known), and the views of it."""

    whole: Tensor | None
    read: Read | None
    parts: list[ref[Tensor]]
    depth: int = 0
    """Views between the tensor and the one that all are of."""
    most: int = MOST_BEHIND
    """At so many views it is looked which of them are there still."""


_SHARED: WeakKeyDictionary[Tensor, Sharing] = WeakKeyDictionary()


def same_values(data: Any) -> Any:
    """How a tensor is read that has all values of another one in the same shape."""
    return data


def is_part(tensor: Tensor) -> bool:
    """Whether a tensor is known to be a view of another one."""
    sharing = _SHARED.get(tensor)
    return sharing is not None and sharing.whole is not None


def shares(part: Tensor, whole: Tensor, read: Read | None) -> None:
    """Note that a tensor lies in the storage of another one, or perhaps does, with `read` None."""
    if part is whole:
        return
    sharing = _SHARED.get(whole)
    if sharing is None:
        sharing = _SHARED[whole] = Sharing(None, None, [])
    elif len(sharing.parts) > sharing.most:
        sharing.parts[:] = [each for each in sharing.parts if each() is not None]
        sharing.most = 2 * len(sharing.parts) + MOST_BEHIND
    if sharing.depth >= MOST_BEHIND and sharing.whole is not None:
        shares(part, sharing.whole, None)
        return
    sharing.parts.append(ref(part))
    own = _SHARED.get(part)
    _SHARED[part] = Sharing(whole, read, own.parts if own is not None else [], sharing.depth + 1)


def rewrite(run: Runtime, tensor: Tensor, data: Any) -> None:
    """Give a tensor these nested values (None: not known), and all that lie in its storage what they have then."""
    behind = [tensor]
    sharing = _SHARED.get(tensor)
    if sharing is None:
        assign(run, tensor, data)
        return
    reads: list[Read | None] = []
    while sharing is not None and sharing.whole is not None:
        behind.append(sharing.whole)
        reads.append(sharing.read)
        sharing = _SHARED.get(sharing.whole)
    run.spend(len(behind))
    root = behind[-1]
    whole = data if root is tensor else put_in(run, root, reads[::-1], tensor, data)
    assign(run, root, whole)
    refresh(run, root)
    if whole is None and data is not None:
        assign(run, tensor, data)
        refresh(run, tensor)


def put_in(run: Runtime, root: Tensor, reads: Sequence[Read | None], part: Tensor, data: Any) -> Any:
    """The values of a tensor after those of a view of it were replaced, which is read in these steps; None where they
    are not known."""
    total = product(root.shape) if isinstance(root.shape, tuple) else None
    if data is None or root.data is None or not isinstance(total, int) or not isinstance(part.shape, tuple):
        return None
    run.spend(total * (len(reads) + 1) // 8)
    places: Any = nest(range(total), root.shape)
    for read in reads:
        if read is None:
            return None
        places = read(places)
    values = flattened(root.data, len(root.shape))  # type: ignore[arg-type]
    for place, value in zip(flattened(places, len(part.shape)), flattened(data, len(part.shape)), strict=True):
        values[place] = value
    return nest(values, root.shape)


def refresh(run: Runtime, whole: Tensor) -> None:
    """Read the views of a tensor off its values anew."""
    waiting = [whole]
    while waiting:
        at = waiting.pop()
        sharing = _SHARED.get(at)
        for each in sharing.parts if sharing is not None else ():
            part = each()
            own = _SHARED.get(part) if part is not None else None
            if part is None or own is None:
                continue
            read = own.read if at.data is not None else None
            size = product(part.shape) if read is not None and isinstance(part.shape, tuple) else 0
            run.spend(2 + (size // 8 if isinstance(size, int) else 0))
            assign(run, part, read(at.data) if read is not None else None)
            waiting.append(part)


def assign(run: Runtime, tensor: Tensor, data: Any) -> None:
    """Set the values of one tensor, which a branch may have to put back."""
    if tensor.data is not data:
        run.changed(tensor)
        tensor.data = data


def lose(run: Runtime, tensor: Tensor) -> None:
    """The values of a tensor, and of all that lies in its storage, are not known any more."""
    at: Tensor | None = tensor
    for _ in range(MOST_BEHIND):
        if at is None:
            break
        if at.data is not None or at in _SHARED:
            rewrite(run, at, None)
        at.largest, at.drawn = None, (0, 0)
        call = at.call
        if call is None:
            at = at.view_of
        else:
            at = call.inputs[0] if call.inputs and (call.op.view or call.op.in_place) else None


def nest(values: Sequence[Any], shape: Any) -> Any:
    """Row-major values as nested tuples; a single value for the shape ()."""
    if not shape:
        return values[0] if values else None
    items: list[Any] = list(values)
    for size in reversed(shape[1:]):
        items = [tuple(items[at : at + size]) for at in range(0, len(items), size)] if size else []
    return tuple(items)


def flattened(data: Any, rank: int) -> list[Any]:
    """The values of nested tuples in row-major order."""
    items = [data]
    for _ in range(rank):
        items = [item for group in items for item in group]
    return items


def in_order(values: Sequence[Any], sizes: Sequence[int], axes: Sequence[int]) -> list[Any]:
    """Row-major values of these sizes after the axes are reordered."""
    strides, step = [0] * len(sizes), 1
    for axis in reversed(range(len(sizes))):
        strides[axis] = step
        step *= sizes[axis]
    places = [0]
    for axis in axes:
        places = [place + strides[axis] * at for place in places for at in range(sizes[axis])]
    return [values[place] for place in places]


def wrapped(value: Any, dtype: str) -> Any:
    """A whole number as so many bits hold it."""
    bits = NARROW.get(dtype)
    if bits is None or type(value) is not int:
        return value
    left = value % 2**bits
    return left - 2**bits if dtype.startswith("i") and left >= 2 ** (bits - 1) else left


NARROW = {"int8": 8, "int16": 16, "int32": 32, "uint8": 8, "uint16": 16, "uint32": 32}
"""Bits of the whole numbers that are narrower than those of Python are likely to be."""
