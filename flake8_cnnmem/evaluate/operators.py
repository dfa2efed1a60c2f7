"""Operators, comparison, truth: containers by Python itself, within the budget, the rest by its owner."""

from __future__ import annotations

import operator
from collections import OrderedDict, deque
from collections.abc import Callable, ItemsView, KeysView
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate import lengths
from flake8_cnnmem.evaluate.arithmetic import HOST, MIRRORED, NUMBERS, by_batch, numeric, on_batch, with_unknown
from flake8_cnnmem.evaluate.builtins.concrete import of_paths
from flake8_cnnmem.evaluate.builtins.declare import IDENTITY_CHANGES, Identity
from flake8_cnnmem.evaluate.builtins.reflection import Directory
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip

ORDER = {"<": ("lt", "gt"), "<=": ("le", "ge"), ">": ("gt", "lt"), ">=": ("ge", "le")}

PLAIN = NUMBERS | {Identity, str, bytes, type(None), range, type(...)}
CONTAINERS = (list, tuple, dict, set, frozenset, deque)


IDENTIFYING = frozenset(("is", "is not", "==", "!=", "in", "not in"))
"""What may be asked of the number that `id` gives."""

COMPARED = frozenset(("==", "!=", "<", "<=", ">", ">="))
"""What may answer otherwise in a later turn of a loop."""


def binary(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right` of any two values: numbers, sizes with the batch, tensors, texts, containers, instances."""
    run.spend(1)
    left_kind, right_kind = type(left), type(right)
    if symbol in COMPARED and type(left) is int and type(right) is int and run.invocation is None:
        if run.trace.turn is not None:
            turn = run.trace.turn
            run.trace.tests(run.numbered, left, right, run.site)
            first = turn.compared(symbol, left, right) or turn.compared(MIRRORED.get(symbol, symbol), right, left)
            if run.trace.repeating and first in run.trace.approached:
                return run.unknown("how far a loop has counted is not known")
    if (left_kind is Identity or right_kind is Identity) and symbol not in IDENTIFYING:
        return run.unknown(IDENTITY_CHANGES)
    if left_kind in NUMBERS and right_kind in NUMBERS and symbol in HOST:
        if symbol == "%" and run.trace.turn is not None:
            run.trace.tests(run.numbered, None, None, run.site)
            run.trace.turn.counted_off(left, right)
        elif symbol == "//" and run.trace.turn is not None and left_kind is int and right_kind is int:
            run.trace.turn.divided(cast("int", left), cast("int", right))
        return numeric(run, symbol, left, right)
    if symbol in ("is", "is not", "==", "!=", "in", "not in"):
        return relation(run, symbol, left, right)
    if left_kind is Unknown or right_kind is Unknown:
        if left_kind is list or right_kind is list or symbol == "+":
            found = lengths.in_a_row(run, symbol, left, right)
            if found is not MISSING:
                return found
        return with_unknown(run, symbol, left, right)
    owner = left if isinstance(left, Tensor) else right
    if isinstance(owner, Tensor):
        if isinstance(left, Tensor) and isinstance(right, Tensor) and left.framework == "numpy":
            owner = right
        if not (isinstance(left, Instance) and dunder(left, METHODS.get(symbol, "")) is not MISSING):
            return frameworks.of(owner).operate(run, symbol, left, right)
    if symbol == "%" and (left_kind is str or left_kind is bytes):
        return on_containers(run, symbol, left, right)
    if left_kind is Instance or right_kind is Instance:
        return on_instances(run, symbol, left, right)
    if left_kind is Batch or right_kind is Batch:
        return on_batch(run, symbol, left, right)
    if left_kind is Class or right_kind is Class:
        if symbol == "|":
            return (*flat(left), *flat(right))
        return run.unknown(f"{symbol} between classes is not followed")
    return on_containers(run, symbol, left, right)


def flat(value: Value) -> tuple[Value, ...]:
    """`int | None` as isinstance takes it."""
    return value if isinstance(value, tuple) else (value,)


def on_containers(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """Sequences, sets, strings and whatever else Python computes itself; growth is checked first."""
    if symbol in ("+", "*"):
        for sequence, other in ((left, right), (right, left)):
            if isinstance(sequence, (str, bytes, list, tuple)):
                if run.havocked and id(sequence) in run.havocked:
                    found = lengths.in_a_row(run, symbol, left, right)
                    return run.havocked[id(sequence)][1] if found is MISSING else found
                if symbol == "*" and isinstance(other, int):
                    run.check_size(len(sequence) * max(other, 0))
                elif symbol == "+" and isinstance(other, (str, bytes, list, tuple)):
                    run.check_size(len(sequence) + len(other))
    if symbol == "%" and isinstance(left, (str, bytes)):
        return run.call(run.builtin("str").namespace["__mod__"], left, right)
    if symbol in ("<", "<=", ">", ">=") and isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return lexicographic(run, symbol, left, right)
    if symbol not in HOST:
        return run.unknown(f"{symbol} is not followed")
    if isinstance(left, (Function, Native, Bound)) or isinstance(right, (Function, Native, Bound)):
        raise run.error("TypeError", f"unsupported operand type(s) for {symbol}")
    if isinstance(left, PurePosixPath) or isinstance(right, PurePosixPath):
        return of_paths(symbol, HOST[symbol]).function(run, left, right)
    result = HOST[symbol](left, right)
    if isinstance(result, (*CONTAINERS, str, bytes)):
        run.spend(len(result) // 64)
    return result


def lexicographic(run: Interpreter, symbol: str, left: Any, right: Any) -> Value:
    """An order of two sequences: that of the first items that differ."""
    for a, b in zip(left, right, strict=False):
        same = run.equal(a, b)
        if isinstance(same, Unknown):
            return same
        if not same:
            return binary(run, symbol, a, b)
    return HOST[symbol](len(left), len(right))


def dunder(instance: Instance, word: str) -> Value:
    """The method of an operator that an instance's class has, or MISSING."""
    return instance.cls.find(f"__{word}__") if word else MISSING


def on_instances(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """An operation on instances by their methods, reflected ones too; or MISSING."""
    words = ORDER.get(symbol) or (METHODS.get(symbol, ""), "r" + METHODS.get(symbol, ""))
    for side, other, word in ((left, right, words[0]), (right, left, words[1])):
        if not isinstance(side, Instance):
            continue
        unknown_base = side.cls.any_unknown_base()
        method = dunder(side, word)
        if method is not MISSING:
            result = run.invoke(Bound(method, side), (other,), {})
            if result is not NotImplemented:
                return result
        elif unknown_base is not None:
            return unknown_base
    left, right = payload(left), payload(right)
    if isinstance(left, Instance) or isinstance(right, Instance):
        raise run.error("TypeError", f"unsupported operand type(s) for {symbol}")
    return binary(run, symbol, left, right)


def payload(value: Value) -> Any:
    """The host value that an instance of a builtin's subclass holds; any other value as it is."""
    return value.payload if isinstance(value, Instance) and value.payload is not None else value


def relation(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """`is`, `in`, `==` and their opposites."""
    if symbol in ("is", "is not"):
        same = identical(left, right)
        if same is False and type(left) is Instance and type(right) is Instance and left.cls.by_native:
            same = equal(run, left, right)
        if isinstance(same, Unknown):
            return same
        return same if symbol == "is" else not same
    if symbol in ("==", "!="):
        owner = left if isinstance(left, Tensor) else right
        if isinstance(owner, Tensor):
            if left is None or right is None or isinstance(left, str) or isinstance(right, str):
                return symbol == "!="
            for side in (left, right):
                if isinstance(side, Unknown):
                    return side
            return frameworks.of(owner).operate(run, symbol, left, right)
        if symbol == "!=" and isinstance(left, Instance):
            method = user_dunder(left, "__ne__")
            if method is not MISSING:
                return run.invoke(Bound(method, left), (right,), {})
        same = equal(run, left, right)
        if isinstance(same, Unknown):
            return same
        return same if symbol == "==" else not same
    if type(left) is int and run.trace.turn is not None and run.invocation is None:
        later = [first for first in changes_after(left, right) if run.trace.turn.compared("in", left, first)]
        if run.trace.repeating and not run.trace.approached.isdisjoint(later):
            return run.unknown("how far a loop has counted is not known")
    inside = contains(run, right, left)
    if isinstance(inside, Unknown):
        return inside
    return inside if symbol == "in" else not inside


def changes_after(count: int, container: Value) -> list[int]:
    """The first count after this one for which `count in container` may answer otherwise, if there is one."""
    if isinstance(container, range) and container.step == 1:
        edges = [container.start, container.stop]
    elif isinstance(container, (list, tuple, set, frozenset, dict)) and len(container) <= MOST_MILESTONES:
        edges = [item for item in container if type(item) is int]
    else:
        return []
    later = [edge for edge in edges if edge > count]
    return [min(later)] if later else []


MOST_MILESTONES = 64
"""In longer containers of numbers it is not looked for the next one."""


def identical(left: Value, right: Value) -> bool | Unknown:
    """Whether two values are one object; unknown where either is not known."""
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Unknown):
            return False if side.something and other is None else side
    if type(left) in PLAIN and type(right) in PLAIN:
        return left is right or (type(left) is type(right) and left == right)
    if isinstance(left, (Bound, tuple)) and type(left) is type(right):
        return left is right
    return left is right


def user_dunder(value: Value, word: str) -> Value:
    """A comparison method that is not just `object`'s or a host type's own."""
    if not isinstance(value, Instance):
        return MISSING
    for cls in value.cls.mro:
        if word in cls.namespace:
            return MISSING if cls.host is not None else cls.namespace[word]
    return MISSING


def equal(run: Interpreter, left: Value, right: Value) -> bool | Unknown:
    """Whether two values are equal as Python compares them; unknown where that cannot be said."""
    if left is right and not isinstance(left, (Unknown, float, Tensor)):
        return True
    left_kind, right_kind = type(left), type(right)
    if left_kind in PLAIN and right_kind in PLAIN:
        return bool(left == right)
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    if left_kind is Instance or right_kind is Instance:
        return equal_instances(run, left, right)
    if type(left) is Batch or right_kind is Batch:
        if left_kind is right_kind:
            return bool(left == right)
        other = right if left_kind is Batch else left
        if not isinstance(other, (int, float)) or other <= 0:
            return False
        batch = left if isinstance(left, Batch) else right
        return by_batch(run, "==", batch.multiple, other) if isinstance(batch, Batch) else False
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return run.truth(binary(run, "==", left, right))
    if run.havocked and left_kind is right_kind:
        for side in (left, right):
            if id(side) in run.havocked:
                return run.havocked[id(side)][1]
    if isinstance(left, (list, tuple, deque)) and isinstance(right, (list, tuple, deque)) and left_kind is right_kind:
        if len(left) != len(right):
            return False
        return all_equal(run, zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        ordered = isinstance(left, OrderedDict) and isinstance(right, OrderedDict)
        if (list(left) != list(right)) if ordered else (left.keys() != right.keys()):
            return False
        return all_equal(run, ((left[key], right[key]) for key in left))
    if isinstance(left, Bound) and isinstance(right, Bound):
        return left.function is right.function and left.receiver is right.receiver
    if isinstance(left, (*CONTAINERS, KeysView, ItemsView)) or left_kind in PLAIN:
        return bool(left == right)
    return left is right


def all_equal(run: Interpreter, pairs: Any) -> bool | Unknown:
    """Whether all pairs are equal: False as soon as one is not, else the first cause why it is not known."""
    unknown: Unknown | None = None
    for left, right in pairs:
        run.spend(1)
        same = equal(run, left, right)
        if same is False:
            return False
        if isinstance(same, Unknown) and unknown is None:
            unknown = same
    return True if unknown is None else unknown


def equal_instances(run: Interpreter, left: Value, right: Value) -> bool | Unknown:
    """Equality of instances: `__eq__`, the fields of a dataclass, identity."""
    for side, other in ((left, right), (right, left)):
        method = user_dunder(side, "__eq__")
        if method is not MISSING:
            result = run.invoke(Bound(method, side), (other,), {})
            if result is not NotImplemented:
                return run.truth(result)
    plain_left, plain_right = payload(left), payload(right)
    if not isinstance(plain_left, Instance) and not isinstance(plain_right, Instance):
        return equal(run, plain_left, plain_right)
    # What a base that is not known says of equality nobody knows: an enum's value, a string's.
    bases = (each.cls.any_unknown_base() for each in (left, right) if isinstance(each, Instance))
    cause = next((base for base in bases if base is not None), None)
    return left is right if cause is None else cause


def contains(run: Interpreter, container: Value, item: Value) -> bool | Unknown:
    """`item in container`."""
    container = container if user_dunder(container, "__contains__") is not MISSING else payload(container)
    if isinstance(container, Unknown):
        return container
    if run.havocked and id(container) in run.havocked:
        return run.havocked[id(container)][1]
    if isinstance(container, Instance):
        method = container.cls.find("__contains__")
        if method is not MISSING:
            return run.truth(run.invoke(Bound(method, container), (item,), {}))
    if isinstance(item, Unknown):
        return item if not isinstance(container, (list, tuple, dict, set)) or container else False
    if isinstance(container, (dict, set, frozenset)):
        key = run.key(item)
        if isinstance(key, Unknown):
            return key
        if key in container:
            return True
        if isinstance(key, str) and isinstance(container, dict) and id(container) in run.registries:
            return run.importer.registered(container, key)
        unknown = next((each for each in container if isinstance(each, Unknown)), None)
        return False if unknown is None else unknown
    if isinstance(container, range):
        return in_range(run, container, payload(item))
    if isinstance(container, (str, bytes, Directory)):
        return bool(item in container)
    if isinstance(container, Class):
        metaclass = container.facts.get("metaclass")
        method = metaclass.find("__contains__") if isinstance(metaclass, Class) else MISSING
        if isinstance(method, Function):
            return run.truth(run.invoke(Bound(method, container), (item,), {}))
        members = run.items(container)
        return members if isinstance(members, Unknown) else any(member is item for member in members)
    # Of an iterator it draws until one is equal.
    items = run.iterate(container) if hasattr(container, "__next__") else run.items(container)
    if isinstance(items, Unknown):
        return items
    unknown = None
    for each in items:
        # One object is in a list that holds it, whatever it says of itself: `nan in [nan]`.
        same = True if each is item and type(each) is not Unknown else equal(run, each, item)
        if same is True:
            return True
        if isinstance(same, Unknown) and unknown is None:
            unknown = same
    return False if unknown is None else unknown


def in_range(run: Interpreter, numbers: range, item: Value) -> bool | Unknown:
    """Python looks at every number of a range, except for an int."""
    if isinstance(item, (Batch, Tensor)):
        return run.unknown("the number that is looked for is not known")
    if isinstance(item, float) and item.is_integer():
        item = int(item)
    return isinstance(item, int) and item in numbers


def truth(run: Interpreter, value: Value) -> bool | Unknown:
    """Whether a value is true, by `__bool__` and `__len__`; unknown where that cannot be said."""
    kind = type(value)
    if kind is bool:
        return bool(value)
    if kind in PLAIN:
        return bool(value)
    if type(value) is Unknown:
        return value
    if kind is Batch:
        return True
    if isinstance(value, CONTAINERS):
        run.read_whole(value)
        return run.havocked[id(value)][1] if run.havocked and id(value) in run.havocked else bool(value)
    if isinstance(value, Tensor):
        if value.data is not None and not isinstance(value.data, tuple):
            return bool(value.data)
        if isinstance(value.data, tuple) and len(value.data) == 1 and not isinstance(value.data[0], tuple):
            return truth(run, value.data[0])
        return run.unknown("the values of a tensor are not known")
    if type(value) is Instance:
        for word in ("__bool__", "__len__"):
            method = value.cls.find(word)
            if method is not MISSING:
                return truth(run, run.invoke(Bound(method, value), (), {}))
        unknown_base = value.cls.any_unknown_base()
        if unknown_base is not None:
            return True
        return truth(run, value.payload) if value.payload is not None else True
    return True


def unary(run: Interpreter, symbol: str, value: Value) -> Value:
    """`-value`, `+value` and `~value`."""
    run.spend(1)
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Tensor):
        return frameworks.of(value).operate(run, "invert" if symbol == "~" else symbol, value, None)
    if isinstance(value, Instance):
        word = {"neg": "__neg__", "pos": "__pos__", "~": "__invert__"}[symbol]
        method = value.cls.find(word)
        if method is not MISSING:
            return run.invoke(Bound(method, value), (), {})
        value = payload(value)
    if isinstance(value, Batch):
        return dims.negate(value) if symbol == "neg" else value
    rules: dict[str, Callable[[Any], Value]] = {"neg": operator.neg, "pos": operator.pos, "~": operator.invert}
    return rules[symbol](value)
