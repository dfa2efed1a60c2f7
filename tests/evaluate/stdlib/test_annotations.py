"""What annotations stand for, where a program asks: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.evaluate.programs import interpreted, real

KINDS = """
import inspect
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar, Dict, List, Literal, Optional, Tuple, Union
from typing import get_args, get_origin, get_type_hints

class Kind(Enum):
    A = "a"

@dataclass
class Inner:
    width: int = 8

@dataclass
class Base:
    depth: int = 2

@dataclass
class Conf(Base):
    inner: Inner = field(default_factory=Inner)
    maybe: Optional[Inner] = None
    also: "Inner | None" = None
    many: List[Inner] = field(default_factory=list)
    by: Dict[str, Inner] = field(default_factory=dict)
    kind: Kind = Kind.A
    mode: Literal["a", "b"] = "a"
    pair: Tuple[int, ...] = ()
    noted: Annotated[float, "x"] = 3
    new: list[int] | None = None
    of_class: ClassVar[int] = 5

def f(a: int, b: "Inner" = None, *args: float, c: Kind = Kind.A, d=2, **kw: str) -> Inner:
    return a
"""

BUILT = """
def build(cls, raw):
    hints, made = get_type_hints(cls), {}
    for each in fields(cls):
        if each.name not in raw:
            continue
        value, hint = raw[each.name], hints[each.name]
        options = get_args(hint) if get_origin(hint) is Union else (hint,)
        for option in options:
            if is_dataclass(option) and isinstance(value, dict):
                value = build(option, value)
            elif get_origin(option) is list and isinstance(value, list):
                value = [build(get_args(option)[0], item) for item in value]
            elif isinstance(option, type) and issubclass(option, Enum):
                value = option(value)
        made[each.name] = value
    return cls(**made)

c = build(Conf, {"depth": 3, "inner": {"width": 4}, "maybe": {"width": 5}, "many": [{"width": 6}], "kind": "a"})
result = c.depth, c.inner.width, c.maybe.width, c.many[0].width, c.kind is Kind.A, c.also
"""

HINTS = """
h = get_type_hints(Conf)
result = (
    list(h), h["inner"] is Inner, h["depth"] is int, get_origin(h["maybe"]) is Union, Inner in get_args(h["maybe"]),
    get_origin(h["many"]) is list, get_args(h["many"])[0] is Inner, get_args(h["by"]) == (str, Inner),
    h["kind"]("a") is Kind.A, get_args(h["mode"]), get_args(h["pair"])[1] is ...,
    h["noted"] is float, get_origin(h["depth"]),
    isinstance(h["new"], type), h["maybe"] == Optional[Inner], h["maybe"] == Optional[int],
    get_type_hints(f)["return"] is Inner, sorted(get_type_hints(f)),
)
"""

AS_WRITTEN = """
p = inspect.signature(f).parameters
result = (
    [is_dataclass(each.type) for each in fields(Conf)], fields(Conf)[0].type in (int, "int"), fields(Conf)[3].type,
    str(p["a"].annotation) == str(int), p["b"].annotation, p["d"].annotation is inspect.Parameter.empty,
    p["c"].annotation in (Kind, "Kind"), inspect.signature(f).return_annotation in (Inner, "Inner"),
    sorted(inspect.getfullargspec(f).annotations), f.__annotations__["b"], Conf.__annotations__["also"],
    sorted(Conf.__annotations__) == sorted(Conf.__annotations__),
)
"""

PROGRAMS = {
    "a dataclass of dicts": KINDS + BUILT,
    "a dataclass of dicts, annotations as texts": "from __future__ import annotations\n" + KINDS + BUILT,
    "hints": KINDS + HINTS,
    "hints of texts": "from __future__ import annotations\n" + KINDS + HINTS,
    "annotations": KINDS + AS_WRITTEN,
    "annotations that are texts": "from __future__ import annotations\n" + KINDS + AS_WRITTEN,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_annotations_are_what_python_gives(name: str) -> None:
    assert interpreted(PROGRAMS[name]) == real(PROGRAMS[name])


NOT_KNOWN = {
    "a name that is not there": "from typing import get_type_hints\n"
    "class A:\n    a: 'Gone'\nresult = get_type_hints(A)['a']",
    "what a call gives": "from typing import get_type_hints\n"
    "class A:\n    a: 'conint(gt=0)'\nresult = get_type_hints(A)['a']",
    "a generic class that is no annotation": "from typing import List, get_origin\nresult = get_origin(List[int])",
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_annotations_that_cannot_be_told(name: str) -> None:
    assert isinstance(interpreted(NOT_KNOWN[name]), Unknown)
