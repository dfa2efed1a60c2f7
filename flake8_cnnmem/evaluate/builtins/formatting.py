"""Text from values: `str`, `repr`, `format`, the `%` operator. All give Unknown where a part is unknown."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
import re
from collections import Counter, OrderedDict, deque
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.builtins.concrete import SCALARS, concrete
from flake8_cnnmem.evaluate.builtins.declare import special
from flake8_cnnmem.evaluate.unordered import members
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Namespace, Native, Value

DEPTH = 30

PERCENT = re.compile(r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[#0\- +]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+)?)?[hlL]?(?P<kind>.)", re.S)  # fmt: skip # noqa: E501

NUMBER = re.compile(r"\d+")


def to_str(run: Runtime, value: Value) -> str | Unknown:
    """`str(value)`."""
    kind = type(value)
    if type(value) is str:
        return value
    if kind in SCALARS:
        return guarded(run, str(value))
    if type(value) is Instance:
        method = special(value, "__str__")
        if method is not None:
            return text(run, run.call(method))
        if isinstance(value.payload, str):
            return value.payload
    return to_repr(run, value)


def to_repr(run: Runtime, value: Value, depth: int = 0) -> str | Unknown:
    """`repr(value)`. Objects without a repr of their own have an address in it, which is not known."""
    kind = type(value)
    if kind in SCALARS:
        return guarded(run, repr(value))
    if type(value) is Unknown:
        return value
    if isinstance(value, Batch):
        return run.unknown("the batch size has no text")
    if depth > DEPTH:
        return run.unknown("a container is nested too deeply to be printed")
    if type(value) is Instance:
        return instance_repr(run, value, depth)
    if isinstance(value, Class):
        name = value.name if value.module in ("", "builtins") else f"{value.module}.{value.name}"
        return f"<class '{name}'>"
    if isinstance(value, Namespace):
        return f"<module '{value.name}'>"
    if isinstance(value, Native):
        return f"<built-in function {value.name}>"
    return container_repr(run, value, depth)


def instance_repr(run: Runtime, value: Instance, depth: int) -> str | Unknown:
    """`repr` of an instance: its `__repr__`, a dataclass's fields, or unknown where an address is in it."""
    method = special(value, "__repr__")
    if method is not None:
        return text(run, run.call(method))
    if value.payload is not None:
        return to_repr(run, value.payload, depth + 1)
    return run.unknown(f"the text of a {value.cls.name} is not known")


def container_repr(run: Runtime, value: Value, depth: int) -> str | Unknown:
    """`repr` of a list, tuple, dict or set, items as their own."""
    if run.havocked and id(value) in run.havocked:
        return run.havocked[id(value)][1]
    if isinstance(value, dict):
        parts = []
        for key, item in list(value.items()):
            run.spend(1)
            left, right = to_repr(run, key, depth + 1), to_repr(run, item, depth + 1)
            if isinstance(left, Unknown) or isinstance(right, Unknown):
                return left if isinstance(left, Unknown) else right
            pair = f"({left}, {right})" if type(value) is OrderedDict else f"{left}: {right}"
            parts.append(pair)
        inner = ", ".join(parts)
        if type(value) is OrderedDict:
            return guarded(run, f"OrderedDict([{inner}])" if parts else "OrderedDict()")
        return guarded(run, f"Counter({{{inner}}})" if isinstance(value, Counter) else f"{{{inner}}}")
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        parts = []
        for item in members(run, value) if isinstance(value, (set, frozenset)) else list(value):
            run.spend(1)
            part = to_repr(run, item, depth + 1)
            if isinstance(part, Unknown):
                return part
            parts.append(part)
        return guarded(run, bracketed(value, parts))
    if isinstance(value, (slice, bytearray)):
        return guarded(run, repr(value))
    return run.unknown("the text of an object is not known")


def bracketed(value: Value, parts: list[str]) -> str:
    """Parts between the brackets of a container's kind."""
    inner = ", ".join(parts)
    if isinstance(value, list):
        return f"[{inner}]"
    if isinstance(value, tuple):
        return f"({inner},)" if len(parts) == 1 else f"({inner})"
    if isinstance(value, deque):
        return f"deque([{inner}])"
    if not parts:
        return f"{type(value).__name__}()"
    return f"{{{inner}}}" if isinstance(value, set) else f"frozenset({{{inner}}})"


def guarded(run: Runtime, result: str) -> str:
    """A text, if it is not too long to be held."""
    run.check_size(len(result))
    return result


def text(run: Runtime, value: Value) -> str | Unknown:
    """What a user's `__str__` or `__format__` gave, as plain text."""
    if isinstance(value, Instance) and isinstance(value.payload, str):
        return value.payload
    if isinstance(value, (str, Unknown)):
        return value
    raise run.error("TypeError", "__str__ returned non-string")


def format_value(run: Runtime, value: Value, spec: str = "") -> str | Unknown:
    """`format(value, spec)`."""
    if type(value) is Instance:
        method = special(value, "__format__")
        if method is not None:
            return text(run, run.call(method, spec))
        if special(value, "__str__") is not None or value.payload is None:
            printed = to_str(run, value)
            return printed if isinstance(printed, Unknown) else format_value(run, printed, spec)
        value = value.payload
    if not spec:
        return to_str(run, value)
    check_widths(run, spec)
    plain = concrete(run, value)
    if isinstance(plain, Unknown):
        return plain
    return guarded(run, format(plain, spec))


def check_widths(run: Runtime, spec: str) -> None:
    """A width or precision is asked for before the text is made."""
    for digits in NUMBER.findall(spec):
        run.check_size(int(digits) if len(digits) < 12 else 10**12)


def percent(run: Runtime, template: str, values: Value) -> str | Unknown:
    """`template % values`."""
    if isinstance(values, Unknown):
        return values
    if isinstance(values, Instance) and isinstance(values.payload, (tuple, dict)):
        values = values.payload
    items = iter(values if isinstance(values, tuple) else (values,))
    used_keys = False
    pieces: list[str] = []
    at = 0
    for match in PERCENT.finditer(template):
        run.spend(1)
        pieces.append(template[at : match.start()])
        at = match.end()
        if match["kind"] == "%":
            pieces.append("%")
            continue
        numbers = []
        for word in ("width", "precision"):
            amount = next_item(items) if match[word] == "*" else match[word] or ""
            if isinstance(amount, Unknown):
                return amount
            numbers.append(str(amount))
        if match["key"] is not None:
            used_keys = True
            item = run.index(values, match["key"])
        else:
            item = next_item(items)
        piece = percent_item(run, match, numbers, item)
        if isinstance(piece, Unknown):
            return piece
        pieces.append(piece)
    if template.find("%", at) >= 0:
        raise ValueError("incomplete format")
    if not used_keys and isinstance(values, tuple) and next(items, None) is not None:
        raise TypeError("not all arguments converted during string formatting")
    pieces.append(template[at:])
    return guarded(run, "".join(pieces))


def next_item(items: Any) -> Value:
    """The next item for a `%`. TypeError where there is none."""
    for item in items:
        return item
    raise TypeError("not enough arguments for format string")


def percent_item(run: Runtime, match: re.Match[str], numbers: list[str], item: Value) -> str | Unknown:
    """One item by one `%` directive, with its width and precision."""
    kind = match["kind"]
    width, precision = numbers
    check_widths(run, width)
    check_widths(run, precision)
    dot = "." + precision if "." in match[0][len(match["key"] or "") :] else ""
    if kind in "sra":
        printed = to_str(run, item) if kind == "s" else to_repr(run, item)
        if isinstance(printed, Unknown):
            return printed
        return f"%{match['flags']}{width}{dot}s" % printed
    plain = concrete(run, item)
    if isinstance(plain, Unknown):
        return plain
    return f"%{match['flags']}{width}{dot}{kind}" % (plain,)


def format_text(run: Runtime, template: str, args: tuple[Value, ...], kwargs: Any) -> str | Unknown:
    """`template.format(*args, **kwargs)`."""
    return Formatter(run, args, kwargs).fill(template, 0)


class Formatter:
    """One call of `str.format`: the numbering of its fields."""

    def __init__(self, run: Runtime, args: tuple[Value, ...], kwargs: Any) -> None:
        self.run = run
        self.args = args
        self.kwargs = kwargs
        self.next = 0

    def fill(self, template: str, depth: int) -> str | Unknown:
        """A template of `str.format` with its fields filled in; fields in their specifications to a depth of 2."""
        if depth > 2:
            raise ValueError("Max string recursion exceeded")
        pieces: list[str] = []
        for literal, field, spec, conversion in _string.formatter_parser(template):
            self.run.spend(1)
            pieces.append(literal)
            if field is None:
                continue
            item = self.field(field)
            if conversion in ("r", "a"):
                item = to_repr(self.run, item)
            elif conversion == "s":
                item = to_str(self.run, item)
            inner = self.fill(spec, depth + 1) if spec else ""
            if isinstance(item, Unknown) or isinstance(inner, Unknown):
                return item if isinstance(item, Unknown) else inner
            piece = format_value(self.run, item, inner)
            if isinstance(piece, Unknown):
                return piece
            pieces.append(piece)
        return guarded(self.run, "".join(pieces))

    def field(self, name: str) -> Value:
        """The value of a field: by number, by name, by its place, with attributes and items behind it."""
        first, rest = _string.formatter_field_name_split(name)
        if first == "":
            first = self.next
            self.next += 1
        if isinstance(first, int):
            if first >= len(self.args):
                raise IndexError(f"Replacement index {first} out of range for positional args tuple")
            value = self.args[first]
        else:
            value = self.run.index(self.kwargs, first)
        for is_attribute, key in rest:
            value = self.run.get(value, key) if is_attribute else self.run.index(value, key)
        return value
