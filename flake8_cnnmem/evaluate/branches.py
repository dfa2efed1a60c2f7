"""Branches on tests that are not known: both sides run, and what they disagree on is Unknown.

A journal notes every container before it is first changed, so that one side can be undone before the other
runs. Containers are the variables of frames, attributes of instances, lists, dicts and sets.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.attributes import bind
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.evaluate.statements import BREAK, CONTINUE, Returned
from flake8_cnnmem.graph import Call, Tensor, Weight, calls_behind
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

Journal = dict[int, tuple[Value, Any]]
ALIKE_DEPTH = 12


class Side:
    """What one side of a branch did."""

    __slots__ = ("born", "numbered", "raised", "signal", "states")

    def __init__(self) -> None:
        self.signal: Value = None
        self.raised: Raised | None = None
        self.states: Journal = {}
        """Each container the side changed, with its state at the side's end."""
        self.born: set[int] = set()
        """Those of them that the side itself made: nobody else knows them."""
        self.numbered = 0


def snapshot(container: Any) -> Any:
    """What a container or instance holds now, to be put back by `restore`."""
    if isinstance(container, Instance):
        payload = container.payload
        copy = payload.copy() if isinstance(payload, (list, dict, set, deque)) else payload
        return dict(container.attributes), copy, container.cls, container.native
    return container.copy()


def restore(container: Any, state: Any) -> None:
    """Put back what `snapshot` took."""
    if isinstance(container, Instance):
        container.attributes.clear()
        container.attributes.update(state[0])
        container.cls, container.native = state[2:]
        if isinstance(container.payload, (list, dict, set, deque)):
            restore(container.payload, state[1])
    elif isinstance(container, list):
        # Past what a list of a framework's own makes of it (Keras' tracked lists).
        list.__setitem__(container, slice(None), state)
    elif isinstance(container, deque):
        container.clear()
        container.extend(state)
    else:
        container.clear()
        container.update(state)


def take(run: Interpreter, cause: Unknown, frame: Frame, code: Code) -> Side:
    """Run one side under a journal of its own, note what it did, and undo it."""
    outer, run.journal = run.journal, {}
    outer_births, run.births = run.births, {}
    depth, invocation = run.budget.depth, run.invocation
    started, logged = run.numbered, len(run.log) if run.log is not None else 0
    side = Side()
    ended = False
    run.trace.doubts.append(cause)
    turn = run.trace.turn
    try:
        side.signal = code(frame)
        ended = True
    except Raised as raised:
        side.raised = raised
        run.budget.depth, run.invocation = depth, invocation
        ended = True
    finally:
        run.trace.doubts.pop()
        run.trace.leave(turn, run.numbered)
        journal = run.journal
        births, run.journal, run.births = run.births, outer, outer_births
        # Where the budget ends all branches around this one are left as well: none of them asks what it did.
        if ended:
            side.born = born_with(births, journal)
            side.states = {key: (container, snapshot(container)) for key, (container, _) in journal.items()}
            if outer_births is not None:
                outer_births.update(births)
            if outer is not None:
                for key, noted in journal.items():
                    outer.setdefault(key, noted)
        for container, before in journal.values():
            restore(container, before)
        run.frame = frame
    run.spend(len(journal) + len(births))
    side.numbered = run.numbered - started
    for call in run.log[logged:] if run.log is not None else ():
        call.doubtful = True
    return side


def born_with(births: Mapping[int, Value], journal: Journal) -> set[int]:
    """The objects that were made since a journal began, and the containers in them that were empty when first changed:
    by id. An object that is made on one side is whole there, whether that side is taken or not."""
    found = {key for key in births if key in journal}
    waiting: list[Any] = [births[key] for key in found]
    while waiting:
        value = waiting.pop()
        inside = value.attributes if isinstance(value, Instance) else value
        for item in list(inside.values() if isinstance(inside, dict) else inside):
            if isinstance(item, (dict, list, set, deque)) and id(item) in journal and id(item) not in found:
                before = journal[id(item)][1]
                if not before:
                    found.add(id(item))
                    waiting.append(item)
    return found


def branch(run: Interpreter, cause: Unknown, frame: Frame, body: Code, orelse: Code) -> Value:
    """`if cause: body else: orelse`. Gives the signal that ends the block, as a statement does."""
    run.spend(1)
    first = take(run, cause, frame, body)
    second = take(run, cause, frame, orelse)
    if first.raised is not None and second.raised is not None:
        commit(run, second)
        raise second.raised
    if first.raised is not None:
        return settle(run, frame, second)
    if second.raised is not None:
        return settle(run, frame, first)
    if first.signal is None and second.signal is None:
        merge(run, first, second, cause)
        return None
    if isinstance(first.signal, Returned) and isinstance(second.signal, Returned):
        merge(run, first, second, cause)
        return Returned(join(run, first.signal.value, second.signal.value, cause))
    ended, other = (first, second) if first.signal is not None else (second, first)
    if isinstance(other.signal, Returned):
        ended, other = other, ended
    if isinstance(ended.signal, Returned):
        frame.pending.append((ended.signal.value, cause, run.numbered))
        return settle(run, frame, other)
    if ended.signal is other.signal:
        merge(run, first, second, cause)
        return ended.signal
    # One side leaves the round or the loop: the loop goes on as the other side says, and the variables
    # as they stood here are joined with those at its end.
    before = frame.variables.copy()
    variables = ended.states.get(id(frame.variables))
    if ended.signal is BREAK or ended.signal is CONTINUE:
        frame.breaks.append((variables[1] if variables is not None else before, cause, run.numbered))
    return settle(run, frame, other)


def settle(run: Interpreter, frame: Frame, side: Side) -> Value:
    """Keep what one side of a branch did, and give how it left."""
    commit(run, side)
    return side.signal


def commit(run: Interpreter, side: Side) -> None:
    """Put the containers into the state in which one side left them."""
    for container, state in side.states.values():
        run.changed(container)
        restore(container, state)


def merge(run: Interpreter, first: Side, second: Side, cause: Unknown) -> None:
    """Bring every container that either side changed into a state that both agree on."""
    for key in {**first.states, **second.states}:
        container = (first.states.get(key) or second.states[key])[0]
        run.changed(container)
        maker = first if key in first.born else second if key in second.born else None
        if maker is not None:
            restore(container, maker.states[key][1])
            continue
        before = snapshot(container)
        left = first.states[key][1] if key in first.states else before
        right = second.states[key][1] if key in second.states else before
        restore(container, merged(run, container, left, right, cause, first.numbered > second.numbered))


def merged(run: Interpreter, container: Value, left: Any, right: Any, cause: Unknown, swap: bool) -> Any:
    """The state of a container after either of two sides: what differs is `cause`. With `swap` the right side is taken
    first."""
    if isinstance(container, Instance):
        attributes = joined_dict(run, left[0], right[0], cause, swap)
        payload = container.payload
        if isinstance(payload, (list, dict, set, deque)):
            payload = merged(run, payload, left[1], right[1], cause, swap)
        return attributes, payload, *left[2:]
    if isinstance(left, dict):
        return joined_dict(run, left, right, cause, swap)
    if isinstance(left, (list, deque)):
        if len(left) == len(right):
            return [join(run, a, b, cause, swap) for a, b in zip(left, right, strict=True)]
        run.havoc(container, cause)
        few = len(left) + len(right) < MOST_ITEMS
        run.note_sample(container, [*left, *right] if few else [cause])
        return left if len(left) < len(right) else right
    if left != right:
        run.havoc(container, cause)
    return left


def joined_dict(run: Interpreter, left: Any, right: Any, cause: Unknown, swap: bool) -> dict[Value, Value]:
    """A dict with the keys of both sides; a key that one lacks, or that differs, is `cause`."""
    result: dict[Value, Value] = OrderedDict() if isinstance(left, OrderedDict) else {}
    for key in {**left, **right}:
        a, b = left.get(key, MISSING), right.get(key, MISSING)
        result[key] = cause if a is MISSING or b is MISSING else join(run, a, b, cause, swap)
    return result


def either(run: Interpreter, cause: Unknown, frame: Frame, body: Code, orelse: Code) -> Value:
    """`body if cause else orelse`."""

    def returning(code: Code) -> Code:
        return lambda frame: Returned(code(frame))

    signal = branch(run, cause, frame, returning(body), returning(orelse))
    return signal.value if isinstance(signal, Returned) else cause


def aside(run: Interpreter, code: Code, frame: Frame) -> Value:
    """A value that may not be evaluated at all (`unknown or code`): what it changes is undone."""
    side = take(run, Unknown(""), frame, lambda frame: Returned(code(frame)))
    return side.signal.value if isinstance(side.signal, Returned) else Unknown("one side raises")


def join(run: Interpreter, left: Value, right: Value, cause: Unknown, swap: bool = False) -> Value:
    """One value that stands for either: the value itself where both agree, else Unknown."""
    if left is right:
        return left
    if isinstance(left, Unknown):
        return either_unknown(left, right)
    if isinstance(right, Unknown):
        return either_unknown(right, left)
    if isinstance(left, Tensor) and isinstance(right, Tensor) and not isinstance(left, Weight):
        if left.shape == right.shape and left.dtype == right.dtype and not isinstance(right, Weight):
            return either_tensor(run, *((right, left) if swap else (left, right)), cause)
        if made_of_nothing(left) and made_of_nothing(right) and (left.dtype == right.dtype or is_array(left, right)):
            return either_data(left, right, cause)
    elif alike(left, right, ALIKE_DEPTH):
        return left
    elif (number := one_number((left, right))) is not None:
        return number
    elif isinstance(left, Instance) and isinstance(right, Instance) and hasattr(left.native, "either"):
        if left.cls is right.cls and type(left.native) is type(right.native):
            return Instance(left.cls, dict(left.attributes), native=left.native.either(right.native, cause))
    elif isinstance(left, (tuple, list)) and type(left) is type(right) and len(left) == len(right):
        items = [join(run, a, b, cause, swap) for a, b in zip(left, right, strict=True)]
        return tuple(items) if isinstance(left, tuple) else items
    elif type(left) is dict and type(right) is dict and list(left) == list(right):
        return {key: join(run, left[key], right[key], cause, swap) for key in left}
    elif calls(left) and calls(right):
        return either_function(left, right, cause)
    # That the test is about a number says nothing of what it decides.
    cause = cause.loose()
    if left is None or right is None:
        return dataclasses.replace(cause, something=False, instead=right if left is None else left)
    return cause


def either_unknown(value: Unknown, other: Value) -> Unknown:
    """One of two values of which the first is not known. It is a number for certain only if both are."""
    kind = other.number if isinstance(other, Unknown) else type(other).__name__
    return value if not value.number or kind == value.number else value.loose()


def one_number(values: Sequence[Value]) -> Tensor | None:
    """What stands for any of these where each is a number, or a tensor of one value that no gradient goes through: the
    first of the tensors, since whatever is computed with either has the same sizes."""
    found: Tensor | None = None
    for value in values:
        if isinstance(value, Tensor) and not isinstance(value, Weight) and value.shape == ():
            if value.call is not None and value.call.grad:
                return None
            found = found or value
        elif type(value) not in (int, float):
            return None
    return found


MOST_ITEMS = 64


def one_of(run: Interpreter, items: Sequence[Value], cause: Unknown) -> Value:
    """The item at a place that is not known: what all have in common, where they are data or functions."""
    cause = cause.loose()
    if not isinstance(items, (list, tuple)) or not 0 < len(items) <= MOST_ITEMS:
        return cause
    if not all(map(is_data, items)) and not all(map(calls, items)):
        return cause
    found: Value = items[0]
    for item in items[1:]:
        found = join(run, found, item, cause)
    kinds = {type(item) for item in items}
    if isinstance(found, Unknown) and len(kinds) == 1 and kinds <= {int, float}:
        return found.another(kinds.pop().__name__)
    return found


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


def either_data(left: Tensor, right: Tensor, cause: Unknown) -> Value:
    """Data of one of two shapes: what they do not share is not known."""
    if isinstance(left.shape, Unknown) or isinstance(right.shape, Unknown) or left.framework != right.framework:
        return cause
    if len(left.shape) != len(right.shape):
        return cause
    shape = tuple(a if a == b else cause for a, b in zip(left.shape, right.shape, strict=True))
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
        return either(
            run,
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


class Either(Weightless):
    """Stands in the graph where it is not known which of two tensors of one shape it is: the cheaper one is taken."""

    __slots__ = ("cause",)
    kind = "identity"
    view = True

    def __init__(self, cause: Unknown) -> None:
        self.cause = cause

    def outputs(self, *inputs: Any) -> tuple[Any, ...]:
        """The shape of its first input, which stands for whichever is taken."""
        return inputs[:1]


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
        words = [field.name for field in dataclasses.fields(left) if field.name not in ("name", "frozen")]
        return all(alike(getattr(left, word), getattr(right, word), depth - 1, seen) for word in words)
    try:
        return bool(left == right)
    except (TypeError, ValueError):
        return False
