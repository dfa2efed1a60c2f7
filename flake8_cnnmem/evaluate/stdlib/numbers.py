"""`numbers`: the tower of abstract number classes."""

from __future__ import annotations

import numbers

from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Native, Value

tower: dict[str, Class] = {}


def check(run: Runtime, self: Class, value: Value) -> Value:
    """`isinstance(value, numbers.Integral)` and its like."""
    cls = run.type_of(value)
    if isinstance(cls, Unknown):
        return cls
    real = getattr(numbers, self.name, None)
    return real is not None and any(base.host is not None and issubclass(base.host, real) for base in cls.mro)


def subclass_check(run: Runtime, self: Class, cls: Value) -> bool:
    """`issubclass(cls, numbers.Integral)` and its like."""
    if not isinstance(cls, Class):
        raise TypeError("issubclass() arg 1 must be a class")
    real = getattr(numbers, self.name)
    return any(base.host is not None and issubclass(base.host, real) for base in cls.mro)


for _name, _base in (
    ("Number", ""),
    ("Complex", "Number"),
    ("Real", "Complex"),
    ("Rational", "Real"),
    ("Integral", "Rational"),
):
    tower[_name] = Class(
        _name,
        (tower.get(_base, OBJECT),),
        {
            "__instancecheck__": Native("__instancecheck__", check, propagate_unknown=False),
            "__subclasscheck__": Native("__subclasscheck__", subclass_check),
        },
        module="numbers",
    )

MODULES: dict[str, dict[str, Value]] = {"numbers": dict(tower)}
