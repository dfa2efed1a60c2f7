"""`array[key]` and `array[key] = value`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape, Size
from flake8_cnnmem.frameworks.distances import distance, number_of_range
from flake8_cnnmem.frameworks.numpy.arithmetic import broadcast, spread
from flake8_cnnmem.frameworks.numpy.arrays import as_array, cast, count, flat_of, make, plain, with_values_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import flattened, lose, nest, rewrite, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def expanded(key: Value, rank: int) -> list[Value] | None:
    """One entry for each axis (and None for each new one); None where there are too many."""
    entries = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for entry in entries if entry is not None and entry is not ...)
    used += sum(len(entry.shape) - 1 for entry in entries if is_mask(entry) and isinstance(entry.shape, tuple))
    if used > rank:
        return None
    at = next((place for place, entry in enumerate(entries) if entry is ...), len(entries))
    filling = [slice(None)] * (rank - used)
    return entries[:at] + filling + [entry for entry in entries[at:] if entry is not ...]


def is_mask(entry: Value) -> TypeGuard[Tensor]:
    """Whether an index is an array of bools."""
    return isinstance(entry, Tensor) and entry.dtype == "bool" and isinstance(entry.shape, tuple)


def sliced(run: Runtime, size: Size, entry: slice) -> tuple[Size, range | None]:
    """The size that is left of an axis, and the places where they are known."""
    parts = (entry.start, entry.stop, entry.step)
    if parts == (None, None, None):
        return size, range(size) if isinstance(size, int) else None
    if isinstance(size, int) and all(part is None or type(part) is int for part in parts):
        places = range(size)[entry]
        return len(places), places
    length = distance(run, entry)
    if length is not None:
        return length, None
    if isinstance(size, Unknown):
        return dims.cut(size, *parts), None
    return run.unknown("how much a slice leaves is not known"), None


TABLES = "arrays of at most two axes"
"""What is read from a text: who takes rows and columns of it says that it has both."""


def of_picture(run: Runtime, tensor: Tensor, shape: Unknown, key: Value) -> Tensor:
    """A part of an array of unknown shape: of a picture a crop, or the same one turned over or with other channels."""
    entries = list(key) if isinstance(key, tuple) else [key]
    if (
        shape.sides is None
        or not all(isinstance(entry, slice) or entry is ... for entry in entries)
        or ... in entries[:2]
    ):
        return make(shape, None, tensor.dtype)
    sides = [
        side if not isinstance(entry, slice) else left_of_side(run, side, entry)
        for side, entry in zip(shape.sides, [*entries[:2], ..., ...], strict=False)
    ]
    return Tensor(shape.of_picture(*sides), tensor.dtype, framework="numpy")


def left_of_side(run: Runtime, side: Size, entry: slice) -> Size:
    """What a slice leaves of a side; `::-1` turns it over."""
    if (entry.start, entry.stop, entry.step) == (None, None, -1):
        return side
    return sliced(run, side, entry)[0]


def index(run: Runtime, tensor: Tensor, key: Value) -> Value:
    """`array[key]`: numbers, slices, None, masks and arrays of places. IndexError beyond an axis."""
    if isinstance(tensor.shape, Unknown):
        axes = [entry for entry in key if entry is not None and entry is not ...] if isinstance(key, tuple) else []
        if len(axes) == 2 and id(tensor) in run.data(TABLES):
            return index(run, Tensor((tensor.shape, tensor.shape), tensor.dtype, framework="numpy"), key)
        return of_picture(run, tensor, tensor.shape, key)
    entries = expanded(key, len(tensor.shape))
    # A value that is not known may be a number, a mask, a list of places.
    any_kind = next((each for each in entries or () if isinstance(each, Unknown) and each.number != "int"), None)
    if any_kind is not None:
        return make(any_kind.loose(), None, tensor.dtype)
    if entries is None:
        raise IndexError(f"too many indices for array: array is {len(tensor.shape)}-dimensional")
    unclear = next((entry for entry in entries if isinstance(entry, Unknown) and not entry.something), None)
    if unclear is not None and type(key) is not tuple:
        # One place, or those of a fold: not even the number of axes is known.
        return make(unclear, None, tensor.dtype)
    if any(is_mask(entry) for entry in entries):
        return make(
            (run.unknown("how many values a mask leaves is not known"), *tensor.shape[len(entries) :]),
            None,
            tensor.dtype,
        )
    shape: list[Size] = []
    picks: list[Any] = []
    fancy: list[Shape] = []
    fancy_at = 0
    axis = 0
    for entry in entries:
        if entry is None:
            shape.append(1)
            continue
        size = tensor.shape[axis]
        axis += 1
        if isinstance(entry, slice):
            left, places = sliced(run, size, entry)
            shape.append(left)
            picks.append(places)
        elif isinstance(entry, (int, Batch, Unknown)) and not isinstance(entry, bool):
            picks.append(position(entry, size))
        else:
            array = as_array(run, entry)
            if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
                return make(array if isinstance(array, Unknown) else array.shape, None, tensor.dtype)
            if not fancy:
                fancy_at = len(shape)
            fancy.append(array.shape)
            picks.append(flat_of(array) if len(array.shape) == 1 and len(fancy) == 1 else None)
    if fancy:
        shape[fancy_at:fancy_at] = broadcast(run, *fancy)
    flat = chosen(flat_of(tensor), tensor.shape, picks) if len(fancy) < 2 else None
    if is_object(tensor, shape, flat):
        return run.unknown(OBJECTS)
    made = make(tuple(shape), flat, tensor.dtype)
    if not fancy and shape and tensor.data is not None:
        whole, part = tensor.shape, tuple(shape)
        shares(made, tensor, lambda data: nest(chosen(flattened(data, len(whole)), whole, picks) or (), part))
    return plain(made if fancy else part_of_labels(made, tensor))


OBJECTS = "what an array of objects holds is not known"


def is_object(tensor: Tensor, shape: Sequence[Size], values: Value) -> bool:
    """Whether what is left of an array is one object, which may be an array or list again: rows of unequal length."""
    return tensor.dtype == "object" and not shape and values is None


def part_of_labels(part: Tensor, whole: Tensor) -> Tensor:
    """A part of labels that is not chosen by their values, as labels where it is so long that every class is in it."""
    if whole.classes:
        left, all_of_them = count(part.shape), count(whole.shape)
        if left is not None and (left == all_of_them or left >= MANY * whole.classes):
            return with_values_of(part, whole)
    return part


MANY = 200
"""So many samples a class: of shuffled samples some are of each class."""


def position(entry: Value, size: Size) -> Any:
    """A place counted from the start. IndexError beyond the axis."""
    if isinstance(entry, int) and isinstance(size, int):
        if not -size <= entry < size:
            raise IndexError(f"index {entry} is out of bounds for axis with size {size}")
        return entry % size
    return None


def chosen(flat: list[Value] | None, shape: Shape, picks: list[Any]) -> list[Value] | None:
    """The values at these places of each axis: a number, a range, a list of places; None for places not known."""
    if flat is None or any(pick is None for pick in picks):
        return None
    places = [0]
    stride = len(flat)
    for size, pick in zip(shape, picks, strict=True):
        assert isinstance(size, int)
        stride //= max(size, 1)
        if isinstance(pick, int):
            places = [place + pick * stride for place in places]
            continue
        if not all(isinstance(at, int) and -size <= at < size for at in pick):
            return None
        places = [place + at % size * stride for place in places for at in pick]
    return [flat[place] for place in places]


def set_index(run: Runtime, tensor: Tensor, key: Value, value: Value) -> Tensor:
    """The array itself, with other values, where those are known; else one of the same shape."""
    flat, source = flat_of(tensor), as_array(run, value)
    known = put(run, tensor, flat, key, source) if flat is not None and isinstance(source, Tensor) else None
    if known is None:
        lose(run, tensor)
        return make(tensor.shape, None, tensor.dtype)
    tensor.classes = tensor.one_hot = 0
    rewrite(run, tensor, nest([cast(each, tensor.dtype) for each in known], tensor.shape))
    return tensor


def put(run: Runtime, tensor: Tensor, flat: list[Value], key: Value, source: Tensor) -> list[Value] | None:
    """The values after those of another array were put where a key says; None where they are not known."""
    given = flat_of(source)
    if given is None or isinstance(source.shape, Unknown) or isinstance(tensor.shape, Unknown):
        return None
    if is_mask(key):
        chosen = flat_of(key)
        if chosen is None or key.shape != tensor.shape or len(given) != 1 or not {*map(type, chosen)} <= {bool}:
            return None
        return [given[0] if hit else old for old, hit in zip(flat, chosen, strict=True)]
    run.spend(len(flat) // 8)
    places = as_array(run, index(run, make(tensor.shape, range(len(flat)), "int64"), key))
    found = flat_of(places) if isinstance(places, Tensor) else None
    if not isinstance(places, Tensor) or found is None or isinstance(places.shape, Unknown):
        return None
    shape = source.shape[max(len(source.shape) - len(places.shape), 0) :]
    if broadcast(run, shape, places.shape) != places.shape:
        return None
    for place, each in zip(found, spread(given, shape, places.shape), strict=True):
        flat[place] = each  # type: ignore[call-overload]
    return flat


def iterate(run: Runtime, tensor: Tensor) -> list[Value] | Unknown:
    """The parts of an array along its first axis, or why they are not known. TypeError without axes."""
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    if not tensor.shape:
        raise run.error("TypeError", "iteration over a 0-d array")
    size = tensor.shape[0]
    number = number_of_range(run, tensor)
    if number is not None:
        return number
    if not isinstance(size, int):
        return size if isinstance(size, Unknown) else run.unknown("a loop over the batch is not followed")
    run.check_size(size)
    run.spend(size)
    if is_object(tensor, tensor.shape[1:], tensor.data):
        return [run.unknown(OBJECTS)] * size
    if tensor.data is None:
        return [make(tensor.shape[1:], None, tensor.dtype) for _ in range(size)]
    return [index(run, tensor, at) for at in range(size)]
