"""`tensor[key]` and `tensor[key] = value`."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Batch, Shape, same, show
from flake8_cnnmem.frameworks.distances import distance
from flake8_cnnmem.frameworks.torch.applying import apply, asks_for_gradient, refuse_leaf, tensor_of
from flake8_cnnmem.frameworks.torch.functions.constants import Constant, scalar, spread, value_as
from flake8_cnnmem.frameworks.torch.functions.overwriting import part_overwritten
from flake8_cnnmem.graph import Call, Mismatch, Problem, Tensor, Weight
from flake8_cnnmem.ops import Elementwise, Index, Masked
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import flattened, lose, nest, rewrite, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

MOST_AXES = 256
"""Axes of what is indexed, and items of a key: PyTorch's arithmetic ends at 64 axes."""

TOO_MANY_AXES = Unknown("a tensor has more axes than are followed")


def normalised(run: Runtime, tensor: Tensor, key: Value) -> tuple[Any, ...] | Unknown:
    """A key as the items of an Index of a tensor: tensors of one known value count as numbers only inside slices."""
    items = as_items(key)
    if len(items) > MOST_AXES:
        return TOO_MANY_AXES
    made: list[Any] = []
    for item in items:
        if isinstance(item, Unknown):
            if item.number != "int":
                return item
            # Whichever place it is, it is one place.
            made.append(0)
            continue
        if isinstance(item, slice):
            if isinstance(item.step, int) and item.step <= 0 and tensor.framework == "torch":
                raise run.error("ValueError", "step must be greater than zero")
            length = distance(run, item)
            cut: slice | Tensor = slice(bound(item.start), bound(item.stop), bound(item.step))
            if length is not None:
                # Wherever it begins, it is as long; of an axis of unknown length as well.
                alone = sum(isinstance(each, (slice, Tensor, list)) and each != slice(None) for each in items) == 1
                at, shape = sum(each is not None for each in made), tensor.shape
                plain = isinstance(shape, tuple) and at < len(shape) and type(shape[at]) is int
                known = not alone or (plain and all(each is not Ellipsis for each in made))
                cut = slice(0, length) if known else Tensor((length,), "int64")
            made.append(cut)
        elif isinstance(item, Tensor):
            number = scalar(item) if item.shape == () and item.dtype != "bool" else None
            made.append(number if isinstance(number, int) else item)
        elif item is None or item is Ellipsis or isinstance(item, (int, Batch, list, tuple, range)):
            made.append(whole_list(item))
        else:
            return Unknown("a tensor is indexed by something that is not known")
    return tuple(made)


def whole_list(item: Any) -> Any:
    """A list of ints as it is; one with anything else is not known."""
    if isinstance(item, (list, tuple)) and not all(isinstance(part, (int, list, tuple, range)) for part in item):
        return Tensor((len(item),), "int64")
    return item


def bound(value: Value) -> Value:
    """A slice's bound: a number by its value."""
    if isinstance(value, Tensor):
        number = scalar(value)
        return int(number) if number is not None else Unknown("a slice's bound is computed from a tensor's values")
    return value


def index(run: Runtime, tensor: Value, key: Value) -> Value:
    """`tensor[key]`: a view for numbers and slices, a copy for tensors; values of constants are followed."""
    tensor = tensor_of(tensor)
    if isinstance(tensor, Unknown):
        return tensor
    many = not isinstance(tensor.shape, Unknown) and len(tensor.shape) > MOST_AXES
    items = TOO_MANY_AXES if many else normalised(run, tensor, key)
    if isinstance(items, Unknown):
        from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape

        return lost_shape(run, tensor, items, "getitem")
    unknown = next((each for each in as_items(key) if isinstance(each, Unknown)), None)
    if tensor.data is not None and unknown is not None:
        return unknown.loose()
    if tensor.data is not None and not isinstance(tensor, Weight) and not any(map(is_open, as_items(key))):
        known = looked_up(tensor, items)
        if known is not None:
            if run.invocation is not None:
                # Outside of a model it is a batch of data, which is moved by itself.
                known.view_of, known.born = tensor, tensor.born
            return known
    if is_old_number(tensor, items):
        return run.unknown("a number is computed from a tensor's values").as_number("float")
    if takes_all(tensor, items):
        return apply(run, Elementwise("alias"), tensor, function="getitem")
    # The places that tensors give are read, and kept for the backward pass; of a list a tensor is made.
    places = [item for item in map(as_places, items) if isinstance(item, Tensor) and isinstance(item.shape, tuple)]
    masked = any(place.dtype == "bool" for place in places)
    op = Masked(items) if masked else Index(items)
    return apply(run, op, tensor, *places, function="getitem", dtype=tensor.dtype)


def takes_all(tensor: Tensor, items: tuple[Any, ...]) -> bool:
    """Whether slices take the whole of every axis: the tensor itself, by another name (applySlice of
    torch/csrc/autograd/python_variable_indexing.cpp)."""
    shape = tensor.shape
    if isinstance(shape, Unknown) or not items or len(items) > len(shape):
        return False
    return all(
        isinstance(item, slice)
        and item.start in (None, 0)
        and item.step in (None, 1)
        and (item.stop is None or (type(item.stop) is int and type(size) is int and item.stop >= size))
        for item, size in zip(items, shape, strict=False)
    )


def as_items(key: Value) -> tuple[Value, ...]:
    """The items of a key as it is written."""
    return key if isinstance(key, tuple) else (key,)


def is_open(item: Any) -> bool:
    """Whether a slice has a bound or step that is not known."""
    if not isinstance(item, slice):
        return False
    return any(isinstance(bound(part), Unknown) for part in (item.start, item.stop, item.step))


def as_places(item: Any) -> Any:
    """A list of whole numbers as the tensor that is made of it; any other item as it is."""
    if isinstance(item, (list, range)) and item and all(type(part) is int for part in item):
        return Constant((len(item),), "int64")
    return item


def is_old_number(tensor: Tensor, items: tuple[Any, ...]) -> bool:
    """`loss.data[0]`, or a rate of hits computed from `.data`: what `loss.item()` was called before PyTorch 0.4, in
    which a number had an axis. Programs of then are read for what they train; that they stop here today is nothing that
    their sizes are wrong for."""
    return tensor.shape == () and items == (0,) and tensor.call is not None and is_detached(tensor.call)


def is_detached(last: Call) -> bool:
    """Whether all that a call's result is computed from has been detached on the way."""
    waiting, seen, found = [last], {last.number}, False
    while waiting:
        call = waiting.pop()
        if getattr(call.op, "kind", "") == "detach":
            found = True
            continue
        if call.weights:
            return False
        for tensor in call.inputs:
            if tensor.call is not None and tensor.call.number not in seen:
                seen.add(tensor.call.number)
                waiting.append(tensor.call)
    return found


def looked_up(tensor: Tensor, items: tuple[Any, ...]) -> Constant | None:
    """The part of a constant with known values that a basic index takes."""
    if isinstance(tensor.shape, Unknown):
        return None
    try:
        (shape,) = Index(items).outputs(tensor.shape)
    except Mismatch:
        return None
    if isinstance(shape, Unknown):
        return None
    used = sum(1 for item in items if isinstance(item, (int, slice)) and not isinstance(item, bool))
    full: list[Any] = []
    for item in items:
        if item is Ellipsis:
            full.extend([slice(None)] * (len(tensor.shape) - used))
        elif item is None or (isinstance(item, (int, slice)) and not isinstance(item, bool)):
            full.append(item)
        else:
            return None
    made = Constant(shape, tensor.dtype, data=taken(tensor.data, full))
    if tensor.moved:
        made.moved, made.born, made.view_of = True, tensor.born, tensor
    shares(made, tensor, lambda data: taken(data, full))
    return made


def taken(data: Any, items: list[Any]) -> Any:
    """The nested values that indices leave of nested values."""
    if not items:
        return data
    first, rest = items[0], items[1:]
    if first is None:
        return (taken(data, rest),)
    if isinstance(first, slice):
        return tuple(taken(part, rest) for part in data[first])
    return taken(data[first], rest)


def set_index(run: Runtime, tensor: Tensor, key: Value, value: Value) -> Tensor:
    """The tensor after `tensor[key] = value`: the same storage, written to."""
    items = normalised(run, tensor, key)
    if run.invocation is None and isinstance(tensor, Weight):
        refuse_leaf(run, tensor)
    elif asks_for_gradient(run, tensor) and not isinstance(items, Unknown):
        apply(run, LeafPart(items), tensor, function="setitem")
        return tensor
    if isinstance(tensor, Weight):
        lose(run, tensor)
        return tensor
    problem = does_not_fit(tensor, items, key, value)
    if problem is not None:
        apply(run, problem, tensor, tensor_of(value), function="setitem")
        return Tensor(tensor.shape, tensor.dtype, tensor.call, tensor.index)
    known = written(run, tensor, key, value)
    if known is not None:
        return known
    source = tensor_of(value)
    if not isinstance(items, Unknown):
        whole = part_overwritten(run, tensor, items, source)
        if whole is not None:
            return whole
    sources = (source,) if isinstance(source, Tensor) and source.shape != () else ()
    result = apply(run, Elementwise("set_slice", True), tensor, *sources, function="setitem", dtype=tensor.dtype)
    return result if isinstance(result, Tensor) else tensor


class LeafPart(Index):
    """A part of a leaf that asks for a gradient, which is written into: autograd refuses that, whatever its size."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """Mismatch, with the leaf's own shape to go on with."""
        (part,) = Index.outputs(self, inputs[0])
        shown = "a part" if isinstance(part, Unknown) else show(part)
        what = f"writes into {shown} of a leaf of {show(inputs[0])} that asks for a gradient"
        raise Mismatch(Problem("CNM201", what, "clone() before it would do"), inputs[:1])


class Part(Index):
    """Values that are written into a part of the first input: the second one has that part's shape, or broadcasts."""

    __slots__ = ()

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """The first input's shape. Mismatch for values of another shape."""
        (part,) = Index.outputs(self, inputs[0])
        if not isinstance(part, Unknown) and not stretches(inputs[1], part):
            what = f"writes {show(inputs[1])} into {show(part)}, a part of {show(inputs[0])}"
            raise Mismatch(Problem("CNM201", what, "sizes that are equal, or 1, would fit"), inputs[:1])
        return (inputs[0],)


def stretches(shape: Shape, target: Shape) -> bool:
    """Whether a tensor may be repeated to another shape; axes of one value in front do not count."""
    extra = len(shape) - len(target)
    if any(same(size, 1) is False for size in shape[: max(extra, 0)]):
        return False
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return all(same(own, 1) is not False or same(own, wanted) is not False for own, wanted in pairs)


def does_not_fit(tensor: Tensor, items: Any, key: Value, value: Value) -> Part | None:
    """The assignment whose values surely are of another shape than the part of a tensor that they are written into."""
    source = tensor_of(value)
    if isinstance(items, Unknown) or isinstance(tensor.shape, Unknown) or not isinstance(source, Tensor):
        return None
    if isinstance(source.shape, Unknown) or source.shape == ():
        return None
    if any(isinstance(each, Unknown) for each in as_items(key)):
        return None
    try:
        Part(items).outputs(tensor.shape, source.shape)
    except Mismatch:
        return Part(items)
    return None


def written(run: Runtime, tensor: Tensor, key: Value, value: Value) -> Tensor | None:
    """A constant of which a part was replaced by a number or by other known values; None where autograd, or the device,
    has to do with it."""
    items = normalised(run, tensor, key)
    if tensor.data is None or isinstance(items, Unknown) or isinstance(tensor.shape, Unknown):
        lose(run, tensor)
        return None
    unknown = any(isinstance(each, Unknown) or is_open(each) for each in as_items(key))
    source = None if unknown else tensor_of(value)
    data = replaced(tensor, items, source) if isinstance(source, Tensor) else None
    if data is not None:
        rewrite(run, tensor, data)
        return tensor
    lose(run, tensor)
    if type(tensor) is not Constant:
        return None
    whole = unknown or not all(isinstance(item, (int, slice)) and not isinstance(item, bool) for item in items)
    return tensor if whole or isinstance(value, (int, float, Constant)) else None


def replaced(tensor: Tensor, items: tuple[Any, ...], source: Tensor) -> Any:
    """The values of a tensor after those of another one were put where indices or a mask say; None if not known."""
    assert isinstance(tensor.shape, tuple)
    if isinstance(source, Weight) or source.data is None or not isinstance(source.shape, tuple):
        return None
    values = flattened(tensor.data, len(tensor.shape))
    mask = items[0] if len(items) == 1 else None
    if isinstance(mask, Tensor) and mask.dtype == "bool" and mask.shape == tensor.shape and mask.data is not None:
        number = scalar(source)
        chosen = flattened(mask.data, len(tensor.shape))
        put = [value_as(number, tensor.dtype) if hit else old for old, hit in zip(values, chosen, strict=True)]
        return nest(put, tensor.shape) if number is not None else None
    part = looked_up(Constant(tensor.shape, "int64", data=nest(range(len(values)), tensor.shape)), items)
    if part is None or not isinstance(part.shape, tuple) or not stretches(source.shape, part.shape):
        return None
    own = source.shape[max(len(source.shape) - len(part.shape), 0) :]
    given = spread(flattened(source.data, len(source.shape)), own, part.shape)
    for place, value in zip(flattened(part.data, len(part.shape)), given, strict=True):
        values[place] = value_as(value, tensor.dtype)
    return nest(values, tensor.shape)
