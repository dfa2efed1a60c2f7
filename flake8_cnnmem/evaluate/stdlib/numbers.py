"""`numbers`, `fractions`, `decimal`."""

from __future__ import annotations

import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import OBJECT, host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, made
from flake8_cnnmem.evaluate.builtins.known import SCALARS, hosted, known
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Native, Property, Run, Value

tower: dict[str, Class] = {}


def check(run: Run, self: Class, value: Value) -> Value:
    cls = run.type_of(value)
    if isinstance(cls, Unknown):
        return cls
    real = getattr(numbers, self.name, None)
    return real is not None and any(base.host is not None and issubclass(base.host, real) for base in cls.mro)


def subclass_check(run: Run, self: Class, cls: Class) -> bool:
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
            "__instancecheck__": Native("__instancecheck__", check, absorb=False),
            "__subclasscheck__": Native("__subclasscheck__", subclass_check),
        },
        module="numbers",
    )

WORDS = ("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__eq__", "__lt__",
"__le__", "__gt__",
         "__ge__")  # fmt: skip


def exact(name: str, host: Any, methods: tuple[str, ...], properties: tuple[str, ...], module: str) -> Class:
    """A class of exact numbers, whose values are the host's own."""
    names = Names()
    names.operators(WORDS)

    @names.function("__new__")
    def new(run: Run, cls: Class, *args: Value) -> Value:
        plain = known(run, args)
        if isinstance(plain, Unknown):
            return plain
        for arg in plain:
            if isinstance(arg, str):
                run.check_size(len(arg) * 100)
        return made(run, cls, host(*plain))

    for word in methods:
        names[word] = hosted(word, getattr(host, word))
    for word in properties:
        names[word] = Property(Native(word, lambda run, self, word=word: getattr(self, word)))
    for word, function in (("__int__", int), ("__float__", float), ("__round__", round), ("__abs__", abs)):
        names[word] = hosted(word, function)
    return host_class(name, host, dict(names), module=module)


SCALARS.update((Fraction, Decimal))
FRACTION = exact("Fraction", Fraction, ("limit_denominator",), ("numerator", "denominator"), "fractions")
DECIMAL = exact("Decimal", Decimal, ("is_nan", "to_integral_value"), (), "decimal")

MODULES: dict[str, dict[str, Value]] = {
    "numbers": dict(tower), "fractions": {"Fraction": FRACTION}, "decimal": {"Decimal": DECIMAL},
}  # fmt: skip
