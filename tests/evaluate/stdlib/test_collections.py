"""collections, copy, heapq and the abstract classes: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "defaultdict": """
from collections import defaultdict
d = defaultdict(list); d["a"].append(1); d["a"].append(2); n = defaultdict(int); n["x"] += 1
k = defaultdict(lambda: 5)["z"]
result = (
    dict(d), dict(n), k, "q" in d, d.get("q"), len(d), isinstance(d, dict), [k for k in d], d == {"a": [1, 2]}
)
""",
    "OrderedDict": """
from collections import OrderedDict
d = OrderedDict([("a", 1), ("b", 2)]); d["c"] = 3; d.move_to_end("a"); p = d.popitem(last=False)
result = (
    list(d.items()), p, d == {"c": 3, "a": 1}, repr(d), str(d), isinstance(d, dict)
)
""",
    "OrderedDict that loses keys": """
from collections import OrderedDict
d = OrderedDict(a=1); d.update({"b": 2, "c": 3}); p = d.pop("b", d.pop("nope", 0)); q = d.popitem()
d.setdefault("e", p)
result = (
    list(d), list(d.items()), p, q, len(d), repr(d)
)
""",
    "Counter": """
from collections import Counter
c = Counter("abca"); c.update("a"); c["z"] += 2
result = (
    dict(c), c.most_common(1), c["nope"], sum(c.values()), list(Counter(a=2).elements()), c.total(),
    dict(Counter("ab") + Counter("b"))
)
""",
    "deque": """
from collections import deque
d = deque([1, 2], maxlen=3); d.append(3); d.append(4); d.appendleft(0); x = d.pop(); y = d.popleft()
d.extend([7, 8]); d.rotate(1); d.extendleft([1])
result = (
    list(d), x, y, d.maxlen, len(d), d[0]
)
""",
    "namedtuple": """
from collections import namedtuple
P = namedtuple("P", "x y"); p = P(1, y=2); Q = namedtuple("Q", ["a", "b"], defaults=[5]); x, y = p
result = (
    p.x, p[1], x, y, p._fields, p._replace(x=9), p._asdict(), Q(1), P._make([3, 4]), p == (1, 2),
    isinstance(p, tuple), len(p), repr(p), list(p), p + (3,), P.__name__, str(p)
)
""",
    "namedtuple wrong": """
from collections import namedtuple
result = namedtuple("P", "x y")(1)
""",
    "subclass of namedtuple": """
from collections import namedtuple
class P(namedtuple("P", ["x", "y"])):
    def __new__(cls, x, y=2): return super().__new__(cls, x, y)
    @property
    def area(self): return self.x * self.y
    @classmethod
    def square(cls, n): return cls(n, n)
result = P(3).area, P.square(4), P(1)[0], {P(1): 5}[P(1)]
""",
    "NamedTuple": """
from typing import NamedTuple, List
class P(NamedTuple):
    x: int
    y: int = 5
    names: "List[int]" = None
    def total(self): return self.x + self.y
p = P(1); a, b, c = P(1, 2, 3); F = NamedTuple("F", [("u", int), ("v", str)])
result = p, p.total(), p.x, a, b, c, P._fields, p._replace(x=3).x, F(1, "a").v, isinstance(p, tuple), P(x=9)
""",
    "ChainMap": """
from collections import ChainMap
m = ChainMap({"a": 1}, {"a": 2, "b": 3})
result = (
    m["a"], m["b"], sorted(m), len(m), "b" in m, m.get("z", 0), dict(m)
)
""",
    "UserDict": """
from collections import UserDict
class D(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k, v * 2)
d = D(); d["a"] = 1; result = d["a"], "a" in d, len(d), list(d), d.get("q", 3)
""",
    "copy": """
import copy
class A:
    def __init__(self): self.x = [1, [2]]; self.me = self
a = A(); b = copy.copy(a); c = copy.deepcopy(a); l = [a.x, a.x]; m = copy.deepcopy(l)
a.x[1].append(3); d = {"k": [1]}; e = copy.deepcopy(d); d["k"].append(2)
result = (
    b.x is a.x, c.x, c.me is c, m[0] is m[1], m[0] is l[0], e, copy.copy([1, [2]]), copy.deepcopy((1, [2])),
    copy.deepcopy({1, 2})
)
""",
    "abc": """
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Sequence, Mapping, MutableMapping, Iterable, Callable
class A(ABC):
    @abstractmethod
    def f(self): ...
    @property
    @abstractmethod
    def p(self): ...
class B(A):
    def f(self): return 1
    @property
    def p(self): return 2
class Meta(metaclass=ABCMeta): pass
class Seq(Sequence):
    def __init__(self, d): self.d = d
    def __getitem__(self, i): return self.d[i]
    def __len__(self): return len(self.d)
class Mp(MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = Mp(); m["a"] = 1; m.update(b=2); m.setdefault("c", 3); x = m.pop("a")
class It:
    def __iter__(self): return iter([1])
result = (
    B().f(), B().p, isinstance(B(), A), list(Seq([1, 2])), 2 in Seq([1, 2]), Seq("ab").index("b"),
    list(reversed(Seq([1, 2]))), list(m.items()), m.get("z", 9), "b" in m, x, dict(m), isinstance(m, Mapping),
    isinstance(It(), Iterable), isinstance(B(), Iterable), isinstance([], Sequence), isinstance("", Sequence),
    isinstance(lambda: 1, Callable), isinstance(range(3), Sequence), isinstance({1}, Sequence),
    issubclass(dict, Mapping), isinstance(Seq([]), Sequence), len(m)
)
""",
    "statistics": """
import statistics, heapq, bisect
h = [3, 1]; heapq.heapify(h); heapq.heappush(h, 0); x = heapq.heappop(h)
result = (
    statistics.mean([1, 2, 3]), statistics.median([3, 1, 2]), x, heapq.nlargest(2, [1, 5, 3]),
    bisect.bisect([1, 2, 3], 2), heapq.heappop(h)
)
""",
    "types": """
import types
n = types.SimpleNamespace(a=1, b=[2]); n.c = 3
def f(self): return self
class C: pass
o = C(); o.m = types.MethodType(f, o)
result = (
    n.a, n.c, n == types.SimpleNamespace(a=1, b=[2], c=3), repr(n), o.m() is o,
    isinstance(f, types.FunctionType), isinstance(types, types.ModuleType), isinstance(o.m, types.MethodType)
)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
