"""`a += b` and its like: what is changed where it lies, for whoever else holds it, and what gives a new value."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.arithmetic import HOST
from flake8_cnnmem.evaluate.operators import METHODS, binary, payload
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def in_place(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """`left op= right`: lists and tensors change in place, everything else gives a new value."""
    if isinstance(left, (list, deque)) and symbol == "+":
        if type(left) is list and run.lengthened(left, right):
            return left
        items = run.items(right)
        if isinstance(items, Unknown):
            return items
        run.check_size(len(left) + len(items))
        run.changed(left)
        left.extend(items)
        return left
    if isinstance(left, (list, deque, bytearray)) and symbol == "*" and isinstance(right, int):
        run.check_size(len(left) * right)
        run.changed(left)
        left *= right
        return left
    if isinstance(left, bytearray) and symbol == "+" and isinstance(right, (bytes, bytearray)):
        run.check_size(len(left) + len(right))
        run.changed(left)
        left += right
        return left
    if isinstance(left, Tensor) and not isinstance(right, Unknown):
        return frameworks.of(left).operate(run, symbol + "=", left, right)
    if isinstance(left, Tensor) and left.framework == "numpy" and left.call is None:
        # Whatever it is, it goes into the array as it stands: neither its shape nor its dtype can change.
        return Tensor(left.shape, left.dtype, framework="numpy")
    kinds = (set, frozenset) if isinstance(left, set) else (type(left),)
    if isinstance(left, (set, dict)) and symbol in ("|", "&", "-", "^") and isinstance(right, kinds):
        run.changed(left)
        changed: Any = HOST[symbol](left, right)
        left.clear()
        left.update(changed)
        return left
    if isinstance(left, dict) and symbol == "|" and not isinstance(right, Unknown):
        run.call(run.get(left, "update"), right)
        return left
    if isinstance(left, Instance):
        method = left.cls.find(f"__i{METHODS[symbol]}__")
        if method is not MISSING:
            return run.invoke(Bound(method, left), (right,), {})
        inside = payload(left)
        if isinstance(inside, (list, deque, set, dict)):
            made = in_place(run, symbol, inside, right)
            return left if made is inside else made
    return binary(run, symbol, left, right)
