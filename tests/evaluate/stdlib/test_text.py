"""re, json, string, textwrap, typing, inspect: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "re": r"""
import re
m = re.match(r"(\w+)-(\d+)", "abc-12"); p = re.compile(r"\d+")
result = (
    m.group(1), m.groups(), m[2], re.sub(r"\d", "x", "a1b2"), re.findall(r"\d+", "1 22"),
    re.split(r"[,;]", "a,b;c"), re.search("z", "abc"), p.findall("3 4"),
    p.sub(lambda m: str(int(m.group()) + 1), "a1"), m.span(), bool(p.match("5")),
    re.sub("(a)", r"\1\1", "ab"), re.IGNORECASE == re.I, re.match("A", "a", re.I) is not None,
    [m.group() for m in re.finditer("a", "aba")], re.fullmatch("a", "ab"), re.escape("a.b"), m.groupdict(),
    p.pattern, m.start(2)
)
""",
    "json: hooks": """
import json
from collections import OrderedDict
from types import SimpleNamespace
text = '{"b": {"c": 1}, "a": [{"c": 2}]}'
made = json.loads(text, object_hook=lambda held: SimpleNamespace(**held))
rows = json.loads(text, object_pairs_hook=OrderedDict)
both = json.loads(text, object_hook=lambda held: 1, object_pairs_hook=lambda pairs: len(pairs))
plain = json.loads(text, object_hook=None)["b"], json.loads("3", object_hook=list)
result = made.b.c, made.a[0].c, list(rows), rows["b"]["c"], both, plain
""",
    "json": """
import json
result = json.loads('{"a": [1, 2.5, null, true]}'), json.dumps({"a": [1, None]}), json.dumps([1], indent=2)
""",
    "string and text": r"""
import string, textwrap
result = string.ascii_lowercase, string.digits, textwrap.dedent("  a\n  b")
""",
    "typing": """
from typing import *
import typing as t
T = TypeVar("T")
class G(Generic[T]):
    def __init__(self, x: T): self.x = x
class D(TypedDict, total=False):
    a: int
class Pr(Protocol):
    def f(self) -> int: ...
class L(List[int]): pass
class M(Dict[str, int]): pass
Alias = Union[int, List[str], None]
Fn = Callable[..., Optional[int]]
A = NewType("A", int)
@overload
def f(x: int) -> int: ...
def f(x): return x
result = (
    G(1).x, G[int](2).x, D(a=1), L([1]), M(a=1), cast(int, "x"), TYPE_CHECKING, A(3), f(2),
    isinstance([], Sequence), isinstance({}, Mapping), isinstance(1, Sequence), isinstance("a", Iterable),
    isinstance(len, t.Callable), isinstance([], t.List), isinstance((), t.Tuple), isinstance({}, t.Hashable),
    isinstance(iter([]), Iterator)
)
""",
    "inspect": """
import inspect
def f(a, b=1, *c, d, e=2, **g): pass
class C:
    def __init__(self, x, y=3): pass
    def m(self, z): pass
s = inspect.signature(f)
result = (
    list(s.parameters), s.parameters["b"].default, s.parameters["a"].default is inspect.Parameter.empty,
    list(inspect.signature(C).parameters), list(inspect.signature(C(1).m).parameters), inspect.isclass(C),
    inspect.isfunction(f), inspect.isclass(f), inspect.getfullargspec(f).args,
    s.parameters["c"].kind == inspect.Parameter.VAR_POSITIONAL,
    [n for n, _ in inspect.getmembers(C, inspect.isfunction)]
)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
