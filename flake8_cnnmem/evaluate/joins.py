"""One value for several that a branch, or an index that is not known, may give: the value where they agree, else an
Unknown or what they have in common."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.alternatives import among
from flake8_cnnmem.evaluate.binding import bind
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.numbers import number_kind, one_number
from flake8_cnnmem.graph import Call, Tensor, Weight, calls_behind
from flake8_cnnmem.ops.either import Either
from flake8_cnnmem.runtime import DRAWN_AT_RANDOM
from flake8_cnnmem.unknown import Unknown, unless_none
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


MOST_ITEMS = 64
"""Of more than so many none is asked what it has in common with the others."""

ALIKE_DEPTH = 12
"""So deep two values are compared."""


def join(run: Interpreter, left: Value, right: Value, cause: Unknown, swap: bool | None = False) -> Value:
    """One value that stands for either: the value itself where both agree, else Unknown. Of two tensors alike the left
    one, or the right one with `swap`, stands for both; with None the left one is it."""
    if left is right:
        return left
    if isinstance(left, Unknown):
        return for_layers(either_unknown(left, right), (right,))
    if isinstance(right, Unknown):
        return for_layers(either_unknown(right, left), (left,))
    if isinstance(left, Tensor) and isinstance(right, Tensor) and not isinstance(left, Weight):
        if left.shape == right.shape and left.dtype == right.dtype and not isinstance(right, Weight):
            if swap is None:
                return left
            return either_tensor(run, *((right, left) if swap else (left, right)), cause)
        if made_of_nothing(left) and made_of_nothing(right) and (left.dtype == right.dtype or is_array(left, right)):
            return either_data(run, left, right, cause)
    elif alike(left, right, ALIKE_DEPTH):
        return left
    elif (number := one_number((left, right))) is not None:
        return number
    elif isinstance(left, Instance) and isinstance(right, Instance) and hasattr(left.native, "either"):
        if left.cls is right.cls and type(left.native) is type(right.native):
            return Instance(left.cls, dict(left.attributes), native=left.native.either(right.native, cause))
    elif type(left) is list and type(right) is list and run.havocked and not run.havocked.keys().isdisjoint(
        (id(left), id(right))
    ):  # fmt: skip
        found = run.either_length(left, right, cause)
        if found is not MISSING:
            return found
    elif isinstance(left, (tuple, list)) and type(left) is type(right) and len(left) == len(right):
        items = [join(run, a, b, cause, swap) for a, b in zip(left, right, strict=True)]
        return tuple(items) if isinstance(left, tuple) else items
    elif is_plain_dict(left) and is_plain_dict(right) and type(left) is type(right) and list(left) == list(right):
        return {key: join(run, left[key], right[key], cause, swap) for key in left}
    elif calls(left) and calls(right):
        return either_function(left, right, cause)
    # That the test is about a number says nothing of what it decides.
    cause = as_one_kind(for_layers(cause.loose(), (left, right)), (left, right))
    if left is None or right is None:
        return dataclasses.replace(cause, something=False, instead=right if left is None else left)
    return cause


def for_layers(cause: Unknown, items: Iterable[Value]) -> Unknown:
    """The cause for one of several values, of which it notes whether a layer, or a class of them, is among them."""
    if cause.of_layers or not any(map(makes_layers, items)):
        return cause
    return dataclasses.replace(cause, of_layers=True)


def made_of(run: Interpreter, cause: Unknown, values: Iterable[Value]) -> Unknown:
    """The cause for what nobody can follow and is made of some values: a layer, perhaps, where one is among them."""
    return for_layers(cause, values)


def makes_layers(value: Value) -> bool:
    """Whether a value is a layer, a class of layers, or something in a row that begins with one."""
    if isinstance(value, (list, tuple)):
        return bool(value) and makes_layers(value[0])
    if isinstance(value, Unknown):
        return value.of_layers
    return frameworks.is_layer(Instance(value) if isinstance(value, Class) else value)


def is_plain_dict(value: Value) -> TypeGuard[dict[Value, Value]]:
    """Whether a value is a dict, or one that a framework tracks the values of: none that makes or counts its own."""
    return isinstance(value, dict) and type(value).copy is dict.copy and not hasattr(value, "factory")


def either_unknown(value: Unknown, other: Value) -> Unknown:
    """One of two values of which the first is not known. It is a number for certain only if both are."""
    kind = other.number if isinstance(other, Unknown) else type(other).__name__
    return value if not value.number or kind == value.number else value.loose()


def one_of(run: Interpreter, items: Sequence[Value], cause: Unknown) -> Value:
    """The item at a place that is not known: what all have in common, or an Unknown with the objects that it may be."""
    found = common_to(run, items, cause)
    return among(found, items) if isinstance(found, Unknown) and not found.number else found


def common_to(run: Interpreter, items: Sequence[Value], cause: Unknown) -> Value:
    """What the items have in common, where they are data, results without a gradient, or functions."""
    cause = cause.loose()
    if not isinstance(items, (list, tuple)) or not items:
        return cause
    few = len(items) <= MOST_ITEMS
    if not few or (not all(map(is_data, items)) and not all(map(calls, items))):
        return in_common(run, items, cause)
    found: Value = items[0]
    for item in items[1:]:
        found = join(run, found, item, cause)
    return as_one_kind(found, items) if isinstance(found, Unknown) else found


def as_one_kind(cause: Unknown, items: Iterable[Value]) -> Unknown:
    """A cause that is a number where all of the items that it stands for are numbers of one kind."""
    kinds = {number_kind(item) for item in items}
    return cause.another(kinds.pop()) if len(kinds) == 1 and "" not in kinds else cause


def in_common(run: Interpreter, items: Sequence[Value], cause: Unknown) -> Value:
    """What stands for any of some tensors that no gradient goes through, or of tuples of such (the transitions that a
    replay memory holds): a tensor of the shape that all have. `cause` for what they do not share."""
    first = items[0]
    run.spend(len(items))
    if all(item is first for item in items):
        return first
    cause = for_layers(cause, items)
    tensors = [item for item in items if isinstance(item, Tensor)]
    if len(tensors) == len(items):
        alike = {(each.shape, each.dtype, each.framework, each.moved) for each in tensors}
        shape, dtype, framework, moved = alike.pop()
        if alike or isinstance(shape, Unknown) or any(is_learned(run, each) for each in tensors):
            return cause
        drawn = Tensor(shape, dtype, framework=framework, moved=moved)
        run.data(DRAWN_AT_RANDOM)[id(drawn)] = drawn
        return drawn
    there = [each for each in map(unless_none, items) if each is not None]
    missing = sum(each is None for each in items)
    if there and len(there) + missing == len(items) and all(isinstance(each, Tensor) for each in there):
        # The next state of a transition, which the last one of an episode does not have.
        common = in_common(run, there, cause)
        return dataclasses.replace(cause, something=False, instead=common) if isinstance(common, Tensor) else cause
    columns = fields_of(items)
    if columns is None:
        few = len(items) <= MOST_ITEMS and all(map(is_data, items))
        return one_of(run, items, cause) if few else as_one_kind(cause, items)
    common = tuple(in_common(run, column, cause) for column in columns)
    return dataclasses.replace(first, payload=common) if isinstance(first, Instance) else common


def is_learned(run: Interpreter, tensor: Tensor) -> bool:
    """Whether a gradient goes back from a tensor to a weight, or to a leaf that asks for one."""
    behind = [call for call in calls_behind([tensor]) if call.grad]
    run.spend(len(behind))
    given = [tensor, *(each for call in behind for each in (*call.inputs, *call.weights))]
    return any(isinstance(each, Weight) or each.requires_grad for each in given)


def fields_of(items: Sequence[Value]) -> list[tuple[Value, ...]] | None:
    """Of tuples of one kind and length the first fields of all, the second ones, and so on; None for anything else."""
    kinds = {item.cls if isinstance(item, Instance) else type(item) for item in items}
    inside = [item.payload if isinstance(item, Instance) else item for item in items]
    tuples = [each for each in inside if isinstance(each, tuple) and each]
    if len(kinds) > 1 or len(tuples) < len(items) or len(set(map(len, tuples))) > 1:
        return None
    return list(zip(*tuples, strict=True))


def is_data(value: Value) -> bool:
    """Whether a value is plain data: numbers, texts, and short lists of them, which a branch may leave different."""
    if isinstance(value, (list, tuple)):
        return len(value) <= MOST_ITEMS and all(map(is_data, value))
    return isinstance(value, (int, float, str, bool, type(None), Unknown)) or (
        isinstance(value, Tensor) and made_of_nothing(value)
    )


def made_of_nothing(value: Tensor) -> bool:
    """Whether a tensor is data: no op has made it, and it is nobody's parameter."""
    return value.call is None and not isinstance(value, Weight) and isinstance(value.shape, tuple)


def either_data(run: Interpreter, left: Tensor, right: Tensor, cause: Unknown) -> Value:
    """Data of one of two shapes: what they do not share is not known."""
    if isinstance(left.shape, Unknown) or isinstance(right.shape, Unknown) or left.framework != right.framework:
        return cause
    if len(left.shape) != len(right.shape):
        return cause
    shape = tuple(a if a == b else run.either_size(a, b, cause) for a, b in zip(left.shape, right.shape, strict=True))
    # Of two dtypes of an array the larger: what a model takes is of one dtype, so the code makes it one later.
    dtype = max(left.dtype, right.dtype, key=lambda name: ("float" in name, name[-2:]))
    return Tensor(shape, dtype, framework=left.framework)


def is_array(left: Tensor, right: Tensor) -> bool:
    """Whether both are NumPy's arrays."""
    return left.framework == right.framework == "numpy"


def calls(value: Value) -> bool:
    """Whether a value is called for what it does to its arguments: a function, a transform; no class and no layer."""
    if isinstance(value, Instance):
        return value.cls.find("__call__") is not MISSING and not frameworks.is_layer(value)
    return isinstance(value, (Function, Native, Bound)) and not frameworks.is_layer(getattr(value, "receiver", None))


def either_function(left: Value, right: Value, cause: Unknown) -> Instance:
    """One of two functions: a call of it is a branch whose sides call one each. Nothing else is known of it."""

    def call(run: Interpreter, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
        if run.frame is None:
            return cause
        return run.either(
            cause,
            run.frame,
            lambda frame: run.call(left, *args, **kwargs),
            lambda frame: run.call(right, *args, **kwargs),
        )

    def of_object(run: Interpreter, self: Instance, receiver: Value, cls: Class) -> Value:
        """As a method: each of the two is bound as it would be alone."""
        return either_function(bind(run, left, receiver, cls), bind(run, right, receiver, cls), cause)

    namespace: dict[str, Value] = {
        "__call__": Native("__call__", call, propagate_unknown=False),
        "__get__": Native("__get__", of_object, propagate_unknown=False),
    }
    return Instance(Class("function", namespace=namespace, unknown_base=cause))


def either_tensor(run: Interpreter, taken: Tensor, other: Tensor, cause: Unknown) -> Tensor:
    """A tensor that is one or the other of two of one shape, by an op that both lead to."""
    # What is left out is nobody's from here on.
    other.held = min(other.held, run.numbered)
    # What is taken may be an input as it came, and what is left out a layer.
    made = taken.call or other.call
    if made is None:
        return taken
    call = Call(Either(cause), (taken,), (), run.next_number(), (), made.within, made.site, made.grad, made.autocast)
    call.function = "either"
    result = Tensor(taken.shape, taken.dtype, call, 0, None, taken.framework)
    call.outputs = (result,)
    run.trace.ran(call)
    return result


def alike_calls(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors come out of the same ops on inputs of the same shapes."""
    ours, theirs = calls_behind([left]), calls_behind([right])
    return len(ours) == len(theirs) and all(
        a.op == b.op and [t.shape for t in a.outputs] == [t.shape for t in b.outputs]
        for a, b in zip(ours, theirs, strict=True)
    )


def alike(left: Value, right: Any, depth: int, seen: set[tuple[int, int]] | None = None) -> bool:
    """Whether two values cannot be told apart by what is built from them: equal plain values, or objects of one
    class with alike attributes (`resnet50(pretrained=True)` and `resnet50()` make the same layers).

    What is known of `left` by its type holds for `right`, which is of the same type where anything is asked of it.
    """
    if left is right:
        return True
    same_type = type(left) is type(right)
    if not same_type or depth == 0:
        return False
    seen = seen if seen is not None else set()
    if (id(left), id(right)) in seen:
        return True
    seen.add((id(left), id(right)))
    if isinstance(left, Instance):
        return (
            left.cls is right.cls
            and alike(left.native, right.native, depth, seen)
            and alike(left.payload, right.payload, depth, seen)
            and alike(left.attributes, right.attributes, depth, seen)
        )
    if isinstance(left, (tuple, list, deque)):
        return len(left) == len(right) and all(alike(a, b, depth - 1, seen) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        return list(left) == list(right) and all(alike(left[key], right[key], depth - 1, seen) for key in left)
    if isinstance(left, Weight):
        return bool(left.shape == right.shape and left.trainable == right.trainable and left.buffer == right.buffer)
    if isinstance(left, Bound):
        return alike(left.function, right.function, depth, seen) and alike(left.receiver, right.receiver, depth, seen)
    if isinstance(left, Function):
        return left.site is right.site and left.frame is right.frame
    if isinstance(left, Tensor):
        return bool(left.shape == right.shape and left.dtype == right.dtype and alike_calls(left, right))
    if isinstance(left, (Unknown, Class)):
        return False
    if dataclasses.is_dataclass(left):
        # What a native class keeps about its instances. Names are counted up and tell nothing apart.
        fields = [field for field in dataclasses.fields(left) if field.compare]
        words = [field.name for field in fields if field.name not in ("name", "frozen")]
        return all(alike(getattr(left, word), getattr(right, word), depth - 1, seen) for word in words)
    try:
        return bool(left == right)
    except (TypeError, ValueError):
        return False
