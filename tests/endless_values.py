"""Hostile programs whose values, calls and containers grow without end."""

from __future__ import annotations

BEFORE = {
    "a huge dict comprehension": """\
d = {i: [j for j in range(10**9)] for i in range(10**9)}
s = {(a, b, c) for a in range(10**6) for b in range(10**6) for c in range(10**6)}""",
    "products without end (1)": """\
import itertools
list(itertools.product(range(1000), repeat=10))
list(itertools.permutations(range(20)))
list(itertools.combinations(range(100), 50))
list(itertools.chain.from_iterable(itertools.repeat([1])))
itertools.product(range(10**9), repeat=10**9)
list(itertools.accumulate(itertools.count()))
list(zip(itertools.repeat(1), itertools.count()))""",
    "products without end (2)": """\
import itertools
list(itertools.islice(itertools.count(), 10**12))
list(itertools.cycle([1]))
for a in itertools.count(): pass
list(itertools.groupby(itertools.count()))
itertools.tee(itertools.count(), 10**9)
list(itertools.starmap(max, itertools.repeat((1, 2))))
list(itertools.takewhile(lambda x: True, itertools.count()))""",
    "products without end (3)": """\
import itertools
list(itertools.filterfalse(lambda x: True, itertools.count()))
max(itertools.count())
set(itertools.count())
sorted(itertools.count())
3.5 in itertools.count()
any(itertools.repeat(0))
all(itertools.repeat(1))""",
    "products without end (4)": """\
import itertools
tuple(itertools.zip_longest(itertools.count(), [1]))
sum(itertools.repeat(1))
list(map(lambda x: x, itertools.count()))
list(enumerate(itertools.count()))
[*itertools.count()]
a, b = itertools.count()
a, *b = itertools.count()""",
    "products without end (5)": """\
import itertools
dict(zip(itertools.count(), itertools.count()))
','.join(itertools.repeat('a'))""",
    "sorted by hostile keys": """\
class K:
    def __lt__(self, o): return self < o
    def __eq__(self, o): return sorted([self, o])
    def __hash__(self): return hash((self,))
sorted([K(), K(), K()])
max(K(), K())
sorted(range(300000), key=lambda x: sorted(range(300000)))
l = list(range(100000))
l.sort(key=lambda x: l.sort())
sorted([1, 2, 3], key=lambda x: [].__getitem__(x))
{K(): 1, K(): 2}
K() in [K()]
l.index(K())
[l] == [l]
min([[l] * 1000] * 1000)""",
    "dataclasses that hold themselves": """\
from dataclasses import dataclass, field, asdict, replace, astuple
@dataclass
class D:
    a: 'D' = None
    b: list = field(default_factory=list)
d = D()
d.a = d
d.b.append(d)
asdict(d)
astuple(d)
repr(d)
d == D(d)
hash(d)
replace(d)
import copy, json
copy.deepcopy(d)
json.dumps({'a': d.b})
@dataclass
class E:
    e: object = field(default_factory=lambda: E())
E()
x = {}
x['x'] = x
json.dumps(x)
print(x, d, f'{x}')
from pprint import pprint, pformat
pformat(x)
y = [1]
y[0] = y
y == y
y < y
y in y
z = []
z.append(z)
y == z
str(z)
hash((z,))
tuple(z)
len(str([z, z]))""",
    "decorators that return themselves": """\
def d(f):
    return d
@d
@d
@d
class A: pass
d(d)(d)(d)
A()()()()
class C:
    def __call__(self, *a, **k): return self(*a, **k)
    def __get__(self, i, o): return self.__get__(i, o)
    x = property(lambda self: self.x)
c = C()
@c
def f(): pass
c.x
C.f = c
c.f
import functools
@functools.wraps(f)
def f(): return f()
f()
@functools.lru_cache
def g(n): return g(n + 1)
g(0)
@functools.singledispatch
def h(n): return h(n)
h(1)
p = functools.partial(f)
for i in range(10000): p = functools.partial(p, 1)
p()
q = functools.reduce(lambda a, b: (lambda: a()), range(10000), lambda: 1)
q()""",
    "reductions without end (1)": """\
import functools, itertools, operator, random
functools.reduce(lambda a, b: a + b, itertools.count())
functools.reduce(operator.mul, range(1, 10**9))
functools.reduce(lambda a, b: [a, b], range(10**9))
functools.reduce(operator.add, [[1]] * 100000)
sum([[1]] * 100000, [])
sum(range(10**12))
max(range(10**12))""",
    "reductions without end (2)": """\
import functools, itertools, operator, random
list(reversed(range(10**12)))
range(10**12)[::3].index(9)
10**11 in range(10**12)
'a' in range(10**12)
len(range(10**30))
sorted(range(10**12))
for i in range(10**30): pass""",
    "reductions without end (3)": """\
import functools, itertools, operator, random
tuple(range(10**9))
set(range(10**9))
random = __import__('random').sample(range(10**12), 10**9)
random.choices([1], k=10**12)
random.shuffle(list(range(300000)))
random.sample(range(10**9), 10**8)""",
    "huge numbers": """\
import math, decimal, fractions
math.factorial(10**9)
math.comb(10**9, 10**8)
math.perm(10**9)
math.prod(range(1, 10**9))
pow(10, 10**10)
pow(3, 10**9, 10**9)
pow(7, -1, 10**4000)
(-7) ** 10**10
2.0 ** 10**10
math.gcd(10**4000, 3**4000)
math.isqrt(10**5000)
decimal.Decimal(10) ** 10**10
decimal.getcontext().prec = 10**9
decimal.Decimal(1) / 3
fractions.Fraction(1, 3) ** 10**9
fractions.Fraction('1e1000000000')
n = 3
while True: n = n * n
1 << 10**18
(1 << 4000) * (1 << 4000)
10**4000 % 7
float(10**4000)
round(10**4000, -3000)
divmod(10**4000, 3)
math.lcm(*range(1, 10**6))
math.fsum([1e308] * 10)
int(1e308) ** 100
hash(10**4000)
math.log(10**4000)
complex(1e308, 1e308) ** 100
(0.1).as_integer_ratio()
math.nextafter(0, 1)""",
    "deques": """\
import collections
d = collections.deque(range(10**12), maxlen=3)
e = collections.deque(maxlen=10**12)
while True: e.append(e)""",
    "deques of all kinds": """\
import collections
d = collections.deque([1], maxlen=10**12)
d.extend(d)
for i in range(100): d.extend(list(d))
d.rotate(10**12)
c = collections.Counter('a' * 10**6)
c.update({'b': 10**12})
list(c.elements())
for i in range(100): c += c
m = collections.ChainMap({}, {})
for i in range(10000): m = m.new_child(m)
m['x']
dd = collections.defaultdict(lambda: dd['x'])
dd['x']
collections.namedtuple('X', ['a%d' % i for i in range(10**6)])
u = collections.UserDict()
u['u'] = u
str(u)""",
    "lists in lists, doubled": """\
l = [1]
for _ in range(100): l = [l, l]
str(l)
l == [l]
import copy, json
copy.deepcopy(l)
len(repr(l))
hash(str(l))
t = (1,)
for _ in range(100): t = (t, t)
hash(t)
t == t[0]
{t: 1}
str(t)
nn.Linear(t, l)
json.dumps(l)
print(l)
f'{l}'
set([t])
sorted([t, t])
import numpy as np
np.array(l)
torch.tensor(l)
max(t, t[0])
d = {}
for _ in range(100): d = {1: d, 2: d}
str(d)
copy.deepcopy(d)
d == {1: d, 2: d}""",
    "lists in lists, deep": """\
l = []
for _ in range(20000): l = [l]
str(l)
l == [l]
import copy
copy.deepcopy(l)
nn.Sequential(l)
torch.tensor(l)
import numpy as np
np.array(l)
t = ()
for _ in range(20000): t = (t,)
hash(t)
{t: 1}
t == (t,)
isinstance(1, t)
torch.zeros(t)
nn.Conv2d(t, t, t)
d = {}
for _ in range(20000): d = {1: d}
d == {1: d}
keras.Input(t)
keras.layers.Dense(t)
torch.cat(l)
nn.Linear(8, 8)(l)
print(l, t)""",
}
"""What a program does before it builds a model."""


OFTEN = {
    "sorts without end": ("l = list(range(200000))\nimport bisect, heapq", """\
sorted(l)
l.sort()
l.reverse()
max(l), min(l), sum(l)
l.index(199999)
l.count(3)
199999 in l
l == l[:]
tuple(l)
l.insert(0, l.pop(0))
heapq.heapify(l)
heapq.nlargest(5, l)
bisect.insort(l, 0)"""),
    "keys of equal hash": (
        "d = {}\nh = 2**61 - 1\nimport collections",
        """\
d[i * h] = i
{i * h for i in range(30000)}
dict.fromkeys(range(0, 30000 * h, h))
frozenset(i << 61 for i in range(30000))
collections.Counter(i * h for i in range(30000))
{(i * h,): i for i in range(30000)}
set(range(0, 30000 * h, h))
dict(zip(range(0, 30000 * h, h), range(30000)))
sorted(set(d)), {**d}, d == dict(d), set(d) & set(d)
d.setdefault(i * h, d.get(i * h + h)), (i * h in d)
{i * h: 1 for i in range(30000)}""",
    ),
    "long keys": ("t = [tuple(range(9999)) + (i,) for i in range(9)] * 99\nl = ['a' * 99999 + str(i) for i in (1, 2)] * 9", """\
sorted(t)
t == t[:]
set(t)
hash(t[0])
sorted(l)
l[0] == l[2]
set(l)
max(l)
max(t)"""),
    "paths without end": ("import os, pathlib\np = 'a/' * 1500\nq = pathlib.Path('a')\nr = pathlib.Path('a/' * 1900)", """\
p = os.path.join(p, 'a')
q = q / 'a'
os.path.normpath(p)
os.path.split(p)
r.parent
list(r.parents)
r.parts
str(r)
r == q
r.with_suffix('.b')
os.path.commonprefix([p, p])
os.path.relpath(p, '..')
os.path.abspath(p)"""),
    "texts without end": ("s = 'ab' * 100000\nimport math", """\
s.split('a')
s.replace('a', 'b')
s.find('c')
'c' in s
s.upper()
s == s[:-1] + 'c'
s.count('ab')
s[::-1]
hash(s)
s.strip('ab')
('a' * 50000 + 'b') * 2 in 'a' * 250000
s.isidentifier()
s.encode()
int('9' * 4000)
str(10**1200)
pow(3, 10**1000, 10**1000)
(10**1200) ** 0.5
math.gcd(3**2000, 2**3000)
math.factorial(300)
math.comb(3000, 1500)"""),
}  # fmt: skip
"""By name what comes first, and lines that are carried out without end."""

TOGETHER = 3
"""So many of them leave enough of the budget for the model behind."""

for _name, (_first, _text) in OFTEN.items():
    _lines = _text.split("\n")
    for _at in range(0, len(_lines), TOGETHER):
        BEFORE[f"{_name} ({_at // TOGETHER + 1})"] = "\n".join(
            [_first, *(f"for i in range(10**6): {line}" for line in _lines[_at : _at + TOGETHER])]
        )
