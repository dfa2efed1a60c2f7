"""`str`, `bytes`, `bytearray`: the methods, with the length of every result asked for beforehand."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.concrete import concrete, pure
from flake8_cnnmem.evaluate.builtins.declare import Names, made, payload
from flake8_cnnmem.evaluate.builtins.formatting import format_text, percent, to_str
from flake8_cnnmem.evaluate.builtins.objects import host_format, host_repr
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Native, StaticMethod, Value

BOTH = (
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii", "isdigit", "islower",
    "isspace",
    "istitle", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex",
    "rpartition",
    "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper",
)  # fmt: skip
"""Methods of text and of bytes whose results are not longer than a few times their receiver."""

ONLY_TEXT = ("casefold", "encode", "isdecimal", "isidentifier", "isnumeric", "isprintable")

OPERATOR_METHODS = ("__add__", "__mul__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")


def width(self: Any, amount: int, *fill: Any) -> int:
    """How long a text may get by `center`, `ljust` and their like."""
    return max(len(self), amount)


def expanded(self: Any, tabsize: int = 8) -> int:
    """How long a text may get by `expandtabs`."""
    tab = "\t" if isinstance(self, str) else b"\t"
    return len(self) + max(tabsize, 0) * int(self.count(tab))


def replaced(self: Any, old: Any, new: Any, count: int = -1) -> int:
    """How long a text may get by `replace`."""
    times = self.count(old) if count < 0 else min(count, self.count(old))
    return len(self) + int(times) * max(len(new) - len(old), 0)


def joined(self: Any, parts: Any) -> int:
    """How long a text gets by `join`."""
    parts = list(parts)
    return sum(len(part) for part in parts if isinstance(part, (str, bytes))) + len(self) * len(parts)


def translated(self: Any, table: Any, *delete: Any, **named: Any) -> int:
    """How long a text may get by `translate`."""
    longest = (
        max((len(item) for item in table.values() if isinstance(item, str)), default=1)
        if hasattr(table, "values")
        else 1
    )
    return len(self) * max(longest, 1)


def shared(kind: Any) -> Names:
    """The methods that text and bytes have in common."""
    names = Names()
    names.operators(OPERATOR_METHODS)
    for word in BOTH:
        names[word] = pure(word, getattr(kind, word))
    for word in ("center", "ljust", "rjust", "zfill"):
        names[word] = pure(word, getattr(kind, word), width)
    names["expandtabs"] = pure("expandtabs", kind.expandtabs, expanded)
    names["replace"] = pure("replace", kind.replace, replaced)
    names["translate"] = pure("translate", kind.translate, translated)
    names["maketrans"] = StaticMethod(pure("maketrans", kind.maketrans))
    names["__len__"] = Native("__len__", lambda run, self: len(payload(self)))
    names["__iter__"] = Native("__iter__", lambda run, self: run.iterate(payload(self)))
    names["__contains__"] = pure("__contains__", kind.__contains__)
    names["__getitem__"] = pure("__getitem__", kind.__getitem__)
    names["__repr__"] = host_repr
    names["__format__"] = host_format

    @names.method("join")
    def join(run: Runtime, self: Any, parts: Value) -> Any:
        items = run.items(parts)
        if isinstance(items, Unknown):
            return items
        plain = concrete(run, items)
        if isinstance(plain, Unknown):
            return plain
        run.check_size(joined(self, plain))
        return self.join(plain)

    @names.function("__hash__")
    def hash_(run: Runtime, self: Value) -> Value:
        return run.unknown("the hash of a text changes from run to run")

    return names


def bytes_percent(run: Runtime, template: Any, values: Value) -> Any:
    """`template % values` of bytes."""
    text = percent(run, template.decode("latin-1"), values)
    return text if isinstance(text, Unknown) else type(template)(text.encode("latin-1"))


strings = shared(str)
for _name in ONLY_TEXT:
    strings[_name] = pure(_name, getattr(str, _name))
strings["__str__"] = Native("__str__", lambda run, self: to_str(run, payload(self)))


@strings.function("__new__")
def str_new(run: Runtime, cls: Class, object: Value = "", encoding: Any = None, errors: Any = None) -> Value:
    """The text itself, or an instance of a subclass that holds it."""
    value = object
    if isinstance(value, (bytes, bytearray)) and (encoding is not None or errors is not None):
        return made(run, cls, value.decode(encoding or "utf-8", errors or "strict"))
    text = to_str(run, value)
    return text if isinstance(text, Unknown) else made(run, cls, text)


@strings.method("__mod__", propagate_unknown=False)
def mod(run: Runtime, self: Any, values: Value, /) -> Value:
    """`template % values`"""
    return percent(run, self, values) if isinstance(self, str) else bytes_percent(run, self, values)


@strings.method("format", propagate_unknown=False)
def format_(run: Runtime, self: str, /, *args: Value, **kwargs: Value) -> Value:
    """`template.format(...)`"""
    return format_text(run, self, args, kwargs)


@strings.method("format_map", propagate_unknown=False)
def format_map(run: Runtime, self: str, mapping: Value, /) -> Value:
    """`template.format_map(mapping)`"""
    return format_text(run, self, (), mapping)


STR = host_class("str", str, dict(strings))


def bytes_like(kind: Any) -> Names:
    """The methods of bytes and bytearray."""
    names = shared(kind)
    names["decode"] = pure("decode", kind.decode)
    names["hex"] = pure("hex", kind.hex, lambda self, *args: 3 * len(self))
    names["fromhex"] = StaticMethod(pure("fromhex", kind.fromhex))

    names["__mod__"] = Native("__mod__", lambda run, self, values: bytes_percent(run, payload(self), values))

    @names.function("__new__")
    def new(run: Runtime, cls: Class, source: Value = b"", encoding: Any = None, errors: str = "strict") -> Value:
        if isinstance(payload(source), str):
            if encoding is None:
                raise TypeError("string argument without an encoding")
            return made(run, cls, kind(payload(source), encoding, errors))
        if isinstance(source, int):
            run.check_size(source)
            return made(run, cls, kind(source))
        items = source if isinstance(source, (bytes, bytearray)) else run.items(source)
        plain = concrete(run, items)
        return plain if isinstance(plain, Unknown) else made(run, cls, kind(plain))

    return names


BYTES = host_class("bytes", bytes, dict(bytes_like(bytes)))

byte_arrays = bytes_like(bytearray)


@byte_arrays.method("append")
def append(run: Runtime, self: bytearray, item: int) -> None:
    """`bytearray.append(item)`"""
    run.changed(self)
    self.append(item)


@byte_arrays.method("extend")
def extend(run: Runtime, self: bytearray, items: Value) -> Value:
    """`bytearray.extend(items)`"""
    plain = concrete(run, run.items(items))
    if isinstance(plain, Unknown):
        return plain
    run.check_size(len(self) + len(plain))
    run.changed(self)
    self.extend(plain)
    return None


BYTEARRAY = host_class("bytearray", bytearray, dict(byte_arrays))
