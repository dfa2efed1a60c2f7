"""Hostile programs whose control flow does not end: exceptions, contexts, scopes, loops."""

from __future__ import annotations

BEFORE = {
    "a walrus and lambdas without end": """\
f = lambda: f()
f()
g = lambda x: (y := g(x))
g(1)
Y = lambda f: (lambda x: x(x))(lambda x: f(lambda *a: x(x)(*a)))
Y(lambda r: lambda n: r(n + 1))(0)
(lambda x: x(x))(lambda x: x(x))
[*map(f, map(f, map(f, [1])))]
m = [1]
for i in range(10000): m = map(lambda x: x, m)
list(m)
g = (i for i in [1])
for _ in range(10000): g = (i for i in g)
list(g)
c = iter([1])
import itertools
for _ in range(10000): c = itertools.chain(c, [1])
list(c)""",
    "exceptions without end": """\
def f():
    try:
        f()
    finally:
        f()
f()
while True:
    try:
        raise ValueError
    except ValueError:
        continue
""",
    "exceptions that catch everything": """\
def f(n):
    while True:
        try:
            return f(n + 1)
        except BaseException:
            pass
f(0)""",
    "a with that swallows all": """\
class W:
    def __enter__(self): return self
    def __exit__(self, *a): return True
while True:
    with W() as w:
        raise ValueError
""",
    "a global that is changed without end": """\
import sys
sys.setrecursionlimit(10**9)
while True:
    globals()['x' * len(globals())] = 1
""",
    "scopes that ask for themselves": """\
def f():
    return locals()
locals()['locals'] = locals()
vars()['v'] = vars()
globals().update(globals())
str(globals())
import copy
copy.deepcopy(globals())
f.__globals__['f'].__dict__['f'] = f
setattr(f, 'f', f)
f.f.f.f()
dir()
class A: pass
A.A = A
A.A.A.A()
A.__mro__ = (A, A)
A.__class__ = A
a = A()
a.__class__ = a
a.__dict__ = a
a.b
import sys
sys.modules[__name__].x = sys.modules
str(sys.modules)""",
}  # fmt: skip
"""What a program does before it builds a model."""

INSIDE = {
    "an endless loop inside try": """\
while True:
    try:
        x = self.fc(x)
        x.no_such_name()
    except Exception:
        continue""",
}
"""What the forward pass of a model does."""
