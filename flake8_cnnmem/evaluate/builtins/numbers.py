"""`int`, `float`, `bool`, `complex`. A size of the batch counts as an int, whose value is not known."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.concrete import SCALARS, concrete, number, pure, type_name
from flake8_cnnmem.evaluate.builtins.declare import OPERATORS, Names, made, payload, special, unknown_base
from flake8_cnnmem.evaluate.builtins.objects import host_format, host_repr
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Property, StaticMethod, Value

DIGITS = 1000
"""Of text that is read as a number: reading takes time quadratic in them."""


def convert(run: Runtime, value: Value, methods: tuple[str, ...]) -> Any:
    """A user's instance through its `__int__` and the like, a tensor through its one value; others as they are."""
    if type(value) is Instance:
        for word in methods:
            method = special(value, word)
            if isinstance(method, Bound) and (value.payload is None or not isinstance(method.function, Native)):
                return payload(run.call(method))
        if value.payload is None:
            cause = unknown_base(value)
            if cause is not None:
                return cause
            raise TypeError(f"a number is required, not '{value.cls.name}'")
        return value.payload
    return concrete(run, value) if isinstance(value, Tensor) else value


def to_int(run: Runtime, value: Any, base: Any = None) -> int | Batch | Unknown:
    """`int(value)`; a multiple of the batch stays one."""
    value = convert(run, value, ("__int__", "__index__", "__trunc__"))
    if isinstance(value, (Unknown, Batch)) or type(value) is int:
        return value
    if isinstance(value, (str, bytes, bytearray)) and len(value) > DIGITS:
        return run.unknown("a number has too many digits")
    if base is not None:
        return int(value, base)
    if isinstance(value, (int, float, str, bytes, bytearray)) or type(value) in SCALARS:
        return int(value)
    raise TypeError(f"int() argument must be a string, a bytes-like object or a real number, not '{type_name(value)}'")


def to_index(run: Runtime, value: Any) -> Value:
    """What stands for a place or a length: through `__index__`; what has none is left as it is."""
    value = convert(run, value, ("__index__",))
    return int(value) if type(value) in SCALARS else value


def to_float(run: Runtime, value: Any) -> float | Batch | Unknown:
    """`float(value)`; a multiple of the batch stays one."""
    value = convert(run, value, ("__float__", "__index__"))
    if isinstance(value, (Unknown, Batch)):
        return value
    if isinstance(value, (int, float, str, bytes, bytearray)) or type(value) in SCALARS:
        return float(value)
    raise TypeError(f"float() argument must be a string or a real number, not '{type_name(value)}'")


def arithmetic(words: tuple[str, ...]) -> Names:
    """What ints and floats have in common. numpy's scalars are plain numbers here, with the methods that code uses."""
    names = Names()
    names.operators(words)
    names["__repr__"] = host_repr
    names["__format__"] = host_format
    for word, function in (("__neg__", lambda x: -x), ("__pos__", lambda x: +x), ("__abs__", abs), ("__bool__", bool)):
        names[word] = pure(word, function)
    names["__hash__"] = pure("__hash__", hash)
    names["item"] = names["tolist"] = Native("item", lambda run, self: payload(self))
    names["astype"] = Native("astype", as_type)
    return names


def as_type(run: Runtime, self: Value, dtype: Value, **kwargs: Value) -> Value:
    """numpy's `astype` of a scalar: the dtype is a class (`int`, `np.float32`) or a name."""
    if isinstance(dtype, Class):
        return run.construct(dtype, payload(self))
    word = payload(dtype)
    if not isinstance(word, str):
        return run.unknown("a dtype is not known")
    return to_int(run, self) if "int" in word else to_float(run, self)


integers = arithmetic(tuple(word for word in OPERATORS if word != "__matmul__"))


@integers.function("__new__", propagate_unknown=False)
def int_new(run: Runtime, cls: Class, value: Value = 0, /, base: Value = None) -> Value:
    """The int itself, or an instance of a subclass that holds it."""
    for each in (value, base):
        if isinstance(each, Unknown):
            return each.as_number("int")
    return made(run, cls, to_int(run, value, base))


for _name in ("bit_length", "bit_count", "conjugate", "as_integer_ratio", "__invert__"):
    if hasattr(int, _name):
        integers[_name] = pure(_name, getattr(int, _name))
for _name, _convert in (
    ("__int__", int),
    ("__index__", int),
    ("__trunc__", int),
    ("__floor__", int),
    ("__ceil__", int),
):
    integers[_name] = Native(_name, lambda run, self: to_int(run, self))
integers["__float__"] = Native("__float__", lambda run, self: to_float(run, self))
integers["__round__"] = pure("__round__", round)
integers["is_integer"] = pure("is_integer", lambda self: True)
integers["to_bytes"] = pure("to_bytes", int.to_bytes, lambda self, length=1, *args, **kwargs: length)
integers["from_bytes"] = StaticMethod(pure("from_bytes", int.from_bytes))
for _name in ("real", "numerator"):
    integers[_name] = Property(Native(_name, lambda run, self: payload(self)))
integers["imag"] = 0
integers["denominator"] = 1

INT = host_class("int", int, dict(integers), also=(Batch,))

booleans = Names()


@booleans.function("__new__", propagate_unknown=False)
def bool_new(run: Runtime, cls: Class, value: Value = False, /) -> bool | Unknown:
    """`bool(value)`"""
    return run.truth(value)


booleans["__repr__"] = host_repr
BOOL = host_class("bool", bool, dict(booleans), INT)

floats = arithmetic(tuple(word for word in OPERATORS if word not in (
    "__matmul__", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__")))  # fmt: skip


@floats.function("__new__", propagate_unknown=False)
def float_new(run: Runtime, cls: Class, value: Value = 0.0, /) -> Value:
    """`float(value)`. ValueError for a text that is no number."""
    if isinstance(value, Unknown):
        return value.as_number("float")
    return made(run, cls, to_float(run, value))


for _name in ("is_integer", "hex", "conjugate", "as_integer_ratio"):
    floats[_name] = pure(_name, getattr(float, _name))
for _name, _function in (("__int__", int), ("__float__", float), ("__trunc__", int), ("__round__", round)):
    floats[_name] = pure(_name, _function)
floats["fromhex"] = StaticMethod(pure("fromhex", float.fromhex))
floats["real"] = Property(Native("real", lambda run, self: payload(self)))
floats["imag"] = 0.0
FLOAT = host_class("float", float, dict(floats))

complexes = arithmetic(("__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "__eq__", "__ne__"))


@complexes.function("__new__")
def complex_new(run: Runtime, cls: Class, real: Value = 0, imag: Value = MISSING) -> Value:
    """`complex(real, imag)`"""
    parts = [concrete(run, real)] if imag is MISSING else [number(run, real), number(run, imag)]
    cause = next((part for part in parts if isinstance(part, Unknown)), None)
    return cause if cause is not None else made(run, cls, complex(*parts))


complexes["conjugate"] = pure("conjugate", complex.conjugate)
complexes["real"] = Property(Native("real", lambda run, self: payload(self).real))
complexes["imag"] = Property(Native("imag", lambda run, self: payload(self).imag))
COMPLEX = host_class("complex", complex, dict(complexes))
