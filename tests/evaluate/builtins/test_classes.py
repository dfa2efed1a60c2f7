"""Classes derived from builtin types: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "list methods": """
a = [3, 1]; a.append(2); a.extend((5, 4)); a.insert(0, 9); a.remove(1); p = a.pop(); q = a.pop(0)
a.sort(); a.reverse(); b = a.copy(); a += [7]; a *= 2
del a[0]; a[0:2] = [8]; c = list(a); a.clear(); result = a, b, c, p, q
""",
    "sort with key": """
a = ["bb", "a"]; a.sort(key=len, reverse=True); result = a
""",
    "dict methods": """
d = {"a": 1}; d["b"] = 2; s = d.setdefault("c", []); s.append(1); u = d.setdefault("a", 9)
d.update(x=1); d.update({"y": 2}); d.update([("z", 3)])
p = d.pop("a"); q = d.pop("nope", None); r = d.popitem(); del d["x"]; d |= {"k": 1}
result = (
    d, s, u, p, q, r, len(d)
)
""",
    "set methods": """
s = {1, 2}; s.add(3); s.discard(9); s.remove(1); s.update([5, 6], {7})
s.intersection_update([2, 3, 5]); s.difference_update([5]); t = s.copy(); s |= {8}; s -= {2}
s.clear()
result = (
    s, t
)
""",
    "subclass of dict": """
class D(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k); self.extra = 1
    def __getattr__(self, n):
        try: return self[n]
        except KeyError: raise AttributeError(n)
    def __setattr__(self, n, v): self[n] = v
    def __missing__(self, k): return k * 2
d = D({"a": 1}, b=2); d.c = 5
result = (
    d.a, d["b"], d.c, d.extra, len(d), sorted(d), d["zz"], d.get("zz"), isinstance(d, dict), dict(d), {**d},
    list(d.items()), "a" in d, d == {"a": 1, "b": 2, "c": 5, "extra": 1}, hasattr(d, "nope"), bool(d)
)
""",
    "subclass of list": """
class L(list):
    def append(self, x): super().append(x * 2)
    def total(self): return sum(self)
l = L([1, 2]); l.append(3); l += [1]
result = (
    list(l), l.total(), len(l), l[0], l[1:], isinstance(l, list), sorted(l), 6 in l, l == [1, 2, 6, 1], [*l]
)
""",
    "subclass of str": """
class S(str):
    def shout(self): return self.upper() + "!"
s = S("ab")
result = (
    s.shout(), s + "c", len(s), s == "ab", {"ab": 1}[s], {s: 2}["ab"], "x" + s, f"{s}", s[0], "%s" % s,
    "a" in s, ",".join([s, "z"]), isinstance(s, str), "{}".format(s)
)
""",
    "subclass of int": """
class I(int):
    def double(self): return self * 2
i = I(5)
result = (
    i.double(), i + 1, 1 + i, i == 5, [1, 2, 3, 4, 5, 6][i], range(i), i > 3, int(i), f"{i:03d}", max(i, 2),
    -i, isinstance(i, int), i // 2, bool(I(0))
)
""",
    "subclass of tuple": """
class T(tuple):
    def __new__(cls, *args): return super().__new__(cls, args)
t = T(1, 2, 3)
result = (
    t[0], len(t), t + (4,), list(t), t == (1, 2, 3), isinstance(t, tuple), t[1:], {t: 1}[(1, 2, 3)]
)
""",
    "subclass of Exception": """
class E(ValueError):
    def __init__(self, msg, code): super().__init__(msg); self.code = code
try: raise E("bad", 3)
except ValueError as e: result = str(e), e.code, e.args, type(e).__name__, isinstance(e, Exception)
""",
    "exceptions": """
def f(kind):
    try:
        if kind == 0: raise KeyError("k")
        if kind == 1: return [][1]
        if kind == 2: return {}["x"]
        if kind == 3: return int("z")
        if kind == 4: return None.foo
        if kind == 5: raise NotImplementedError
        if kind == 6: return 1 + "a"
        if kind == 7: assert False, "why"
        return "ok"
    except KeyError as e: return "key", str(e)
    except (IndexError, ValueError) as e: return type(e).__name__
    except AttributeError: return "attribute"
    except AssertionError as e: return str(e)
    except Exception as e: return type(e).__name__
    finally: pass
result = [f(k) for k in range(9)]
""",
    "singleton": """
class S:
    _i = None
    def __new__(cls, *a, **k):
        if cls._i is None: cls._i = super().__new__(cls)
        return cls._i
    def __init__(self, v=0): self.v = v
result = S(1) is S(2), S(3).v
""",
    "properties": """
class P:
    def __init__(self): self._x = 1
    @property
    def x(self): return self._x
    @x.setter
    def x(self, v): self._x = v * 2
    y = property(lambda self: 5)
    def get_z(self): return self._x
    z = property(get_z)
    @staticmethod
    def s(a): return a
    @classmethod
    def c(cls, a): return cls.__name__, a
    t = staticmethod(lambda q: q + 1)
p = P(); p.x = 5
result = p.x, p.y, p.z, P.s(1), p.s(2), P.c(3), p.c(4), p.t(1), P.t(2)
""",
    "iterator class": """
class It:
    def __init__(self, n): self.n = n
    def __iter__(self): self.i = 0; return self
    def __next__(self):
        if self.i >= self.n: raise StopIteration
        self.i += 1; return self.i
    def __len__(self): return self.n
    def __contains__(self, x): return x == 99
    def __getitem__(self, k): return k
i = iter(It(2))
result = (
    list(It(3)), sum(It(3)), next(i), next(i), next(i, "end"), len(It(4)), 99 in It(1), max(It(3)),
    list(zip(It(2), "ab")), list(map(str, It(2))), sorted(It(2), reverse=True), tuple(It(1)), It(1)[5]
)
""",
    "generators": """
def g(n):
    for i in range(n): yield i
    return "done"
def h():
    yield from g(2); yield 9
x = g(3)
result = (
    list(h()), next(x), list(x), sum(g(4)), [a for a in g(2)], dict(zip(g(2), "ab")), max(g(3)),
    any(i > 1 for i in g(3))
)
""",
    "setattr and vars": """
class A: pass
a = A(); setattr(a, "x", 1); vars(a)["y"] = 2; a.__dict__.update(z=3); delattr(a, "x")
object.__setattr__(a, "w", 4)
result = a.y, a.z, a.w, hasattr(a, "x"), sorted(vars(a)), getattr(A, "q", 5)
""",
    "super setattr": """
class A:
    def __setattr__(self, n, v): super().__setattr__(n, v * 2)
    def __init_subclass__(cls, **k): cls.extra = k
class B(A, tag=1): pass
a = A(); a.x = 2; b = B(); b.y = 3; result = a.x, b.y, B.extra
""",
    "total order of str conversions": """
class A:
    def __repr__(self): return "<A>"
class B(A):
    def __str__(self): return "b"
class C:
    def __format__(self, spec): return "c" + spec
    def __len__(self): return 0
    def __int__(self): return 7
    def __float__(self): return 7.5
    def __index__(self): return 2
    def __bool__(self): return True
    def __round__(self, n=None): return 3
    def __abs__(self): return 4
    def __hash__(self): return 5
    def __ceil__(self): return 9
import math
result = (
    str(A()), repr(B()), str(B()), f"{B()} {B()!r}", [A()].__repr__(), "%s %r" % (B(), B()), f"{C():x}",
    int(C()), float(C()), [0, 1, 2][C()], bool(C()), round(C()), abs(C()), hash(C()), str({"a": A()}),
    math.ceil(C())
)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
