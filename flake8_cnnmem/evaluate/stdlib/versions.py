"""`distutils.version`, and the order of versions that it shares with `packaging` and with frameworks' own strings.

The order itself is in `text/versions.py`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.text import STR
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.text.versions import (
    Order,
    VersionText,
    dev_of,
    early_of,
    late_of,
    loose_order,
    order_of,
    parsed,
    released,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value


def compared(symbol: Callable[[Any, Any], bool], order: Callable[[str], Order | None]) -> Native:
    """A comparison of a version with another one, or with its text."""

    def compare(run: Runtime, self: Instance, other: Value) -> Value:
        if isinstance(other, Unknown):
            return other
        text = other.payload if isinstance(other, Instance) and other.cls is self.cls else payload(other)
        right = order(text) if isinstance(text, str) else None
        if right is None:
            if symbol in (operator.eq, operator.ne):
                return symbol is operator.ne
            raise run.error("TypeError", "versions compare with versions")
        return symbol(order(self.payload), right)

    return Native(symbol.__name__, compare, propagate_unknown=False)


def comparisons(order: Callable[[str], Order | None]) -> dict[str, Value]:
    """The comparison methods of a class of versions, each by this order."""
    return {f"__{name}__": compared(getattr(operator, name), order) for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def text_of(run: Runtime, self: Instance) -> Value:
    """The version as it was written."""
    return self.payload


def checked(run: Runtime, self: Instance, version: Value) -> Value:
    """`Version("1.2rc1")`."""
    text = payload(version)
    if isinstance(text, Unknown):
        return text
    if not isinstance(text, str) or parsed(text) is None:
        raise run.error("ValueError", f"Invalid version: {text!r}")
    self.payload = text.strip()
    return None


def loosely(run: Runtime, self: Instance, vstring: Value = None) -> Value:
    """`LooseVersion("1.2rc1")`."""
    text = payload(vstring)
    if isinstance(text, Unknown):
        return text
    self.payload = text if isinstance(text, str) else ""
    return None


def of_release(index: int) -> Property:
    """`version.minor`: a number of the release, 0 where it has none."""

    def number(run: Runtime, self: Instance) -> Value:
        found = parsed(self.payload)
        release = released(found) if found is not None else ()
        return release[index] if index < len(release) else 0

    return Property(Native("release", number))


def of_text(read: Callable[[re.Match[str]], Value]) -> Property:
    """An attribute that is read off the written version."""

    def attribute(run: Runtime, self: Instance) -> Value:
        found = parsed(self.payload)
        return read(found) if found is not None else None

    return Property(Native("attribute", attribute))


PLAIN: dict[str, Value] = {
    "__str__": Native("__str__", text_of),
    "__repr__": Native("__repr__", lambda run, self: f"<Version('{self.payload}')>"),
    "__hash__": Native("__hash__", lambda run, self: hash(self.payload)),
}
VERSION: Class = native_class(
    "Version",
    {
        **PLAIN,
        **comparisons(order_of),
        "__init__": Native("__init__", checked, propagate_unknown=False),
        "epoch": of_text(lambda found: int(found["epoch"] or 0)),
        "release": of_text(released),
        "pre": of_text(early_of),
        "post": of_text(late_of),
        "dev": of_text(dev_of),
        "base_version": of_text(lambda found: found["release"]),
        "public": of_text(lambda found: found[0].partition("+")[0]),
        "local": of_text(lambda found: found["local"]),
        "is_prerelease": of_text(lambda found: bool(found["early"] or found["dev"])),
        "is_devrelease": of_text(lambda found: bool(found["dev"])),
        "is_postrelease": of_text(lambda found: bool(found["late"])),
        **{name: of_release(at) for at, name in enumerate(("major", "minor", "micro"))},
    },
    module="packaging.version",
)
LOOSE: Class = native_class(
    "LooseVersion",
    {
        **PLAIN,
        **comparisons(loose_order),
        "__init__": Native("__init__", loosely, propagate_unknown=False),
        "vstring": Property(Native("vstring", text_of)),
        "version": Property(
            Native("version", lambda run, self: [part[1] or part[2] for part in loose_order(self.payload)])
        ),
    },
    module="distutils.version",
)


def as_text(value: Value) -> str | Unknown:
    """What a version's text is compared with: of a tuple of numbers the text with dots."""
    inner = payload(value)
    if isinstance(inner, (tuple, list)):
        unknown = next((part for part in inner if isinstance(part, Unknown)), None)
        return unknown if unknown is not None else ".".join(map(str, inner))
    return inner if isinstance(inner, (str, Unknown)) else str(inner)


def compared_text(symbol: Callable[[Any, Any], bool]) -> Native:
    """A comparison of a version's text: as versions where both are such, else as texts."""

    def compare(run: Runtime, self: Instance, other: Value) -> Value:
        text = as_text(other)
        if isinstance(text, Unknown):
            return text
        left, right = order_of(self.payload), order_of(text)
        return symbol(left, right) if left is not None and right is not None else symbol(self.payload, text)

    return Native(symbol.__name__, compare, propagate_unknown=False)


VERSION_TEXT = Class(
    "str",
    (STR,),
    {
        "__str__": Native("__str__", text_of),
        "__repr__": Native("__repr__", lambda run, self: repr(self.payload)),
        "__hash__": Native("__hash__", lambda run, self: hash(self.payload)),
        **{f"__{word}__": compared_text(getattr(operator, word)) for word in ("lt", "le", "gt", "ge", "eq", "ne")},
    },
)


def with_order(text: VersionText) -> Instance:
    """The text as a program has it: it compares as a version, with texts and with tuples of numbers."""
    return Instance(VERSION_TEXT, payload=str(text))


def parse(run: Runtime, version: Value) -> Value:
    """`packaging.version.parse(version)`."""
    return run.call(VERSION, version)


MODULES: dict[str, dict[str, Value]] = {
    "distutils.version": {"LooseVersion": LOOSE, "StrictVersion": VERSION, "Version": LOOSE},
}
