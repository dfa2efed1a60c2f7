"""Hostile programs whose syntax, protocols and imports grow without end: annotations, patterns, f-strings, attributes
that ask for themselves, generators of generators, unpacking, powers, folders that lead in circles, line ends."""

from __future__ import annotations

HEAD = "import torch\nfrom torch import nn\n"

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x)


net = Net()
net(torch.zeros(1, 8))
"""


def deep(opening: str, closing: str, inner: str, depth: int) -> str:
    return opening * depth + inner + closing * depth


BEFORE = {
    "decorators that make decorators": """\
def d(n):
    def deco(f):
        return d(n + 1)(f)
    return deco
@d(0)
def g(): pass
def twice(f):
    return lambda *a: (f(*a), f(*a))
"""
    + "@twice\n" * 60
    + "def h(): return 1\nh()",
    "an f-string of 100,000 parts": "a = 1\ns = f'" + "{a}" * 100_000 + "'",
    "f-strings that hold each other's widths": "w = 3\ns = f'{1:{w}{w}{w}{w}{w}{w}{w}{w}{w}}'\nt = f'{s:{s}}'\nu = f'{10**9:{10**9}}'",
    "annotations that are computed without end": "from typing import *\nT = int\nfor i in range(10**6):\n    T = Union[T, List[T]]\nx: T = 1\ny: "
    + deep("List[", "]", "int", 90)
    + "\ndef f(a: Dict[T, T], *, b: 10**10**10 = 1) -> [0] * 10**12: pass\nT | T | T\nget_type_hints(f)",
    "annotations that double": "from typing import *\nT = Tuple[int, int]\nfor i in range(64):\n    T = Tuple[T, T]\nstr(T)\nhash(T)\nT == T\nget_args(T)",
    "a tower of walruses": "x = " + "".join(f"(a{n} := " for n in range(80)) + "1" + ")" * 80 + "\nwhile (n := 1):\n    (m := [n] * 10**9)",
    "a match of 20,000 cases": "match 5:\n" + "".join(f"    case {n}: y = {n}\n" for n in range(6, 20_006)),
    "a match on what answers itself": """\
class P:
    __match_args__ = ('a', 'b')
    @property
    def a(self): return self
    @property
    def b(self): return P()
p = P()
match p:
    case P(P(P(P(P(P(P(P(a, b), c), d), e), f), g), h), i): pass
    case P(a=P(a=P(a=P()))): pass
for i in range(10_000):
    match p:
        case P(q, r): p = q""",
    "alternatives in patterns": "x = [1] * 2000\nmatch x:\n    case [" + ", ".join(["1 | 2 | [*_, 3, *_]".replace(", *_]", "]")] * 60) + ", *rest]: pass\n    case [*a]: pass",
    "attributes that ask for others": """\
class A:
    def __getattr__(self, name): return getattr(self, name + 'x')
class B:
    def __getattribute__(self, name): return self.x
class C:
    def __getattr__(self, name): return C()
    def __call__(self, *a, **k): return self(*a, **k)
    def __setattr__(self, name, value): self.__dict__[name] = value; setattr(self, name, value)
    def __delattr__(self, name): del self.a
for cls in (A, B, C):
    try: cls().y
    except Exception: pass
c = C()
c.a.b.c.d.e()
c.a = 1
del c.a""",
    "descriptors that set themselves": """\
class D:
    def __get__(self, o, t=None): return getattr(o, 'd') if o is not None else self
    def __set__(self, o, v): o.d = v
    def __delete__(self, o): del o.d
    def __set_name__(self, owner, name): setattr(owner, name + '_', D()); self.__set_name__(owner, name + '_')
class O:
    d = D()
o = O()
try: o.d
except Exception: pass
o.d = 1
del o.d""",
    "classes that make their subclasses": """\
class S:
    def __init_subclass__(cls, **k):
        type(cls.__name__ + '_', (cls,), {})
class T(S): pass
class M(type):
    def __new__(m, name, bases, space): return M(name + '_', bases, space)
class N(metaclass=M): pass
def grow(c, n=0):
    return grow(type('C', (c,), {}), n + 1)
grow(object)""",
    "class bodies in loops": "made = []\nfor i in range(10**6):\n    class C(nn.Module):\n        data = [i] * 1000\n        def forward(self, x): return x\n    made.append(C)",
    "a class body that loops": "class K:\n    n = 0\n    while True:\n        n += 1\n        locals()[f'a{n}'] = n\n",
    "a diamond of 300 classes": "class A0: pass\nclass B0: pass\n"
    + "".join(f"class A{n}(A{n - 1}, B{n - 1}): pass\nclass B{n}(A{n - 1}, B{n - 1}): pass\n" for n in range(1, 300))
    + "A299()\nA299.mro()",
    "an inheritance of 800 classes": "class A0: pass\n" + "".join(f"class A{n}(A{n - 1}): pass\n" for n in range(1, 800)) + "A799().x if hasattr(A799, 'x') else A799.mro()",
    "generators of generators": """\
def g(n):
    if n: yield from g(n - 1); yield from g(n - 1)
    yield n
sum(g(40))
def nest(it):
    return (x for x in nest(y for y in it))
list(nest(range(3)))
it = iter(range(10))
for i in range(3_000):
    it = (x for x in it)
list(it)
it = iter(range(10))
for i in range(3_000):
    it = map(lambda x: x, filter(None, zip(it, it)))
list(it)
import itertools
t = itertools.tee(itertools.count(), 1000)
for i in range(100): t = itertools.tee(t[0], 1000)
list(itertools.chain.from_iterable(itertools.repeat(itertools.repeat(1))))""",
    "unpacking without end": """\
*a, b = range(10**18)
a, *b = iter(int, 1)
x = [1, 2]
for i in range(60): x = [*x, *x]
def f(*a, **k): return f(*a, *a, **k)
try: f(1)
except Exception: pass
f2 = lambda *a: a
f2(*range(10**12))
(((((a, b), c), d), e), f) = (((((1, 2), 3), 4), 5), 6)
a, b = b, a = a, b = [[], []]
[*[*[*[*[*range(10**9)]]]]]""",
    "texts that grow by themselves": """\
s = 'ab'
while True:
    s = s.replace('a', s)
    t = s.join(s)
    u = s % ((s,) * s.count('%'))
    v = s.format(*[s] * 100)
    w = s.translate({97: s, 98: s})
    x = '{0}{0}{0}{0}{0}{0}{0}{0}'.format(s)
    s = x + s * 3""",
    "powers of powers": """\
a = 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2
b = 9 ** 9 ** 9
c = pow(3, 10**20)
d = pow(3, 10**20, 10**10**6)
e = 10 ** -10 ** 10 ** 10
f = (1j) ** (10**10)
g = 2.0 ** 10 ** 10
h = (-1) ** 0.5 ** 10 ** 9
n = 3
for i in range(100): n **= n
for i in range(100): n = n * n << n
import math
math.factorial(10**9); math.comb(10**9, 10**8); math.perm(10**9); math.prod(range(1, 10**9)); math.isqrt(10**10**8)
divmod(10**4000, 7); (10**4000).bit_length(); (10**9).to_bytes(10**12, 'big'); int.from_bytes(b'a' * 10**9, 'big')
hash(10**4000); str(7**4000); bin(1 << 10**9); round(10**4000, -10**9); 1 << (1 << 62)
from fractions import Fraction
from decimal import Decimal
q = Fraction(1, 3)
for i in range(100): q = q * q + Fraction(1, i + 1)
Decimal(10) ** Decimal(10**18); Decimal('1e999999999').to_integral_value()""",
    "ranges of 10**18": """\
a = list(range(10**18)); b = tuple(range(10**18)); c = set(range(10**18)); d = dict.fromkeys(range(10**18))
e = sum(range(10**18)); f = max(range(10**18)); g = sorted(range(10**18)); h = list(reversed(range(10**18)))
i = 10**17 in range(10**18); j = 'a' in range(10**18); k = 0.5 in range(10**18); l = range(10**18)[10**17:10**18:3]
m = list(enumerate(range(10**18))); n = list(zip(range(10**18), range(10**18))); o = range(10**18) == range(10**18 + 1)""",
    "dicts of dicts, doubled": """\
d = {}
for i in range(10**4): d = {'a': d, 'b': d}
str(d); d == d.copy(); hash(str(d))
import json, copy, pickle
copy.deepcopy(d); json.dumps(d); pickle.dumps(d)
e = {(a, b): {(c, f): [a] * 1000 for c in range(1000) for f in range(1000)} for a in range(1000) for b in range(1000)}
g = {}
for i in range(10**7): g[i] = {j: g for j in range(i)}""",
    "comparisons of what is nested": """\
a, b = [], []
for i in range(10**5): a, b = [a], [b]
a == b; a < b; hash((1,)); a in b; repr(a); str(b); [a] == [b]
t = ()
for i in range(10**5): t = (t, t)
hash(t); t == t; t < (t,); sorted([t, t, t])
x = {}
y = {'x': x}; x['y'] = y
x == y; y == x; [x, y].index(y)
f = frozenset()
for i in range(10**5): f = frozenset([f])
hash(f)""",
    "slices and indices without end": """\
x = list(range(1000))
for i in range(10**6): x[i:i] = x[:]
y = [0] * 10
y[10**18:10**18] = range(10**12); y[::10**30]; y[-10**30:10**30]
z = torch.zeros(10)[(None,) * 10**5]
w = torch.zeros(10)[..., None][..., [0] * 10**7]
v = torch.zeros(2, 2)
for i in range(10**5): v = v[None]
u = torch.arange(10**12)[torch.arange(10**12)]
memoryview(b'a' * 10**9)[::2]""",
    "imports made in loops": "import importlib\nfor i in range(10**6):\n    importlib.import_module('m' * i)\n    __import__('torch.' + 'nn.' * i)\ndef f():\n    from torch import *\n    import net\n    return f()\nf()\nimport " + ".".join(["a"] * 300),
    "names without end": "a = 1\n" + "a" * 100_000 + " = 2\nx" + "_" * 50_000 + " = 1\nglobals()['b' * 10**6] = 1\nfor i in range(10**6): globals()[f'g{i}'] = i\nsetattr(nn, 'c' * 10**7, 1)\nvars()[1] = 2",
    "contexts within contexts": "import contextlib\n@contextlib.contextmanager\ndef c():\n    with c() as x: yield x\nwith c(): pass\nwith contextlib.ExitStack() as s:\n    for i in range(10**7): s.enter_context(torch.no_grad())\nwith "
    + ", ".join(["torch.no_grad()"] * 3_000)
    + ": pass\n"
    + "".join(f"{' ' * n}with torch.no_grad():\n" for n in range(19))
    + " " * 19
    + "pass",
    "tries within tries": "".join(f"{' ' * n}try:\n" for n in range(18)) + " " * 18 + "1 / 0\n"
    + "".join(f"{' ' * n}except Exception as e:\n{' ' * n} raise e from e\n{' ' * n}finally:\n{' ' * n} pass\n" for n in reversed(range(18)))
    + "e = ValueError()\nfor i in range(10**5):\n    try: raise e\n    except Exception as f: e = ValueError(f, f)\nstr(e); repr(e)\ne.__cause__ = e; e.__context__ = e",
    "deletions without end": "x = list(range(200_000))\nwhile x:\n    del x[0]\n    x.append(1); x.insert(0, 2)\n    del x[::2]\n    x += x + x\nwhile True:\n    try: del nothing\n    except NameError: pass",
    "hooks that register hooks": """\
m = nn.Linear(8, 8)
def hook(module, *a):
    module.register_forward_hook(hook); module.register_forward_pre_hook(hook)
    module(torch.zeros(1, 8))
m.register_forward_hook(hook)
m(torch.zeros(1, 8))
def again(g):
    x.register_hook(again); x.sum().backward(); return g
x = torch.zeros(3, requires_grad=True)
x.register_hook(again)
x.sum().backward()
torch.nn.modules.module.register_module_forward_hook(hook)
m(torch.zeros(1, 8))""",
    "optimizers of everything": """\
m = nn.Linear(8, 8)
groups = [{'params': [p]} for p in m.parameters()] * 10**7
torch.optim.SGD(groups, 0.1)
o = torch.optim.Adam(m.parameters())
while True:
    o.add_param_group({'params': list(nn.Linear(8, 8).parameters())})
    o.step(); o.state[o] = o; o.param_groups.append(o.param_groups)
    s = torch.optim.lr_scheduler.SequentialLR(o, [torch.optim.lr_scheduler.StepLR(o, 1)] * 10**6, list(range(10**6)))""",
    "data sets without end": """\
from torch.utils.data import *
class D(Dataset):
    def __len__(self): return 10**18
    def __getitem__(self, i): return self[i + 1]
d = D()
d[0]; len(d); list(d)
for i in range(10**5): d = ConcatDataset([d, d])
for x in DataLoader(d, batch_size=10**18): pass
for x in DataLoader([torch.zeros(10**9)] * 10**9, batch_size=7): pass
s = Subset(D(), range(10**18)); random_split(D(), [10**17] * 10)
class I(IterableDataset):
    def __iter__(self): return iter(I())
for x in DataLoader(I()): pass""",
    "lambdas of lambdas": "f = lambda: f()\ntry: f()\nexcept RecursionError: pass\ng = "
    + "lambda: " * 80
    + "1\nh = lambda x: lambda y: h(x)(y)\nY = lambda f: (lambda x: f(lambda v: x(x)(v)))(lambda x: f(lambda v: x(x)(v)))\nY(lambda r: lambda n: r(n) + r(n))(1)\n"
    + "c = lambda x: x\nfor i in range(1000): c = (lambda k: lambda x: k(k(x)))(c)\nc(1)",
    "partials of partials": "import functools\np = functools.partial(print)\nfor i in range(10**5): p = functools.partial(p, i)\np()\n@functools.lru_cache(None)\ndef f(n): return f(n + 1) + f(n + 2)\ntry: f(0)\nexcept RecursionError: pass\n@functools.singledispatch\ndef s(x): return s(x)\ntry: s(1)\nexcept RecursionError: pass\nfunctools.reduce(lambda a, b: a + a, range(10**9), 'a')\nfunctools.reduce(lambda a, b: [a, a], range(10**9), [])",
    "enumerations and named tuples without end": "import enum, collections\nE = enum.Enum('E', [f'a{n}' for n in range(800)])\nlist(E)\nF = enum.Flag('F', {f'a{n}': 1 << n for n in range(800)})\nN = collections.namedtuple('N', [f'a{n}' for n in range(800)])\nN(*range(800))._replace(a0=1)\nclass G(enum.Enum):\n    locals().update({f'b{n}': n for n in range(800)})\nc = collections.Counter('a' * 10**9)\nfor i in range(100): c += c\nlist(c.elements())\ncollections.ChainMap(*[{}] * 10**7)['x']\nd = collections.defaultdict(lambda: d[1])\nd[0]",
    "annotations of a class without end": "import dataclasses\nclass A:\n" + "".join(f"    a{n}: int = {n}\n" for n in range(2_000)) + "A = dataclasses.dataclass(A)\nA(); repr(A()); A() == A(); dataclasses.asdict(A()); dataclasses.replace(A())\nB = dataclasses.make_dataclass('B', [(f'b{n}', int) for n in range(3_000)])",
}  # fmt: skip

INSIDE = {
    "a forward pass that makes layers without end": "while True:\n    self.a = nn.Linear(8, 8)\n    self.add_module(str(id(x)), nn.Linear(8, 8))\n    x = self.a(x)",
    "a forward pass of itertools": "import itertools\nfor a, b, c in itertools.product(range(10**6), repeat=3):\n    x = x + a\nfor p in itertools.permutations(range(100)):\n    x = x[:, list(p)[:8]]",
    "a forward pass that stacks itself": "xs = [x]\nfor i in range(10**5):\n    xs.append(torch.cat(xs, 1))\nx = torch.stack(xs)",
    "a graph of squares": "for i in range(200):\n    x = x.unsqueeze(-1) * x.unsqueeze(-2)\n    x = x @ x.transpose(-1, -2)\n    x = x.repeat(2, *[1] * (x.dim() - 1))",
    "einsum without end": "e = ','.join(['ab'] * 10**6) + '->ab'\ny = torch.einsum(e, *[x] * 10**6)\nz = torch.einsum('a' * 10**7, x)",
}  # fmt: skip

FILES = {
    "line ends of all kinds": (HEAD + "x = 1\r\ny = 2\rz = '''a\r\nb\rc\n'''\r\n" + NET).encode().replace(b"self.fc = nn", b"self.fc = \\\r\n            nn"),
    "two byte-order marks": b"\xef\xbb\xbf\xef\xbb\xbf" + (HEAD + NET).encode(),
    "a byte-order mark within": (HEAD + "x = '\ufeff'\n\ufeff\n" + NET).encode(),
    "UTF-16 without a mark": (HEAD + NET).encode("utf-16-le"),
    "UTF-32": (HEAD + NET).encode("utf-32"),
    "an encoding that is no text": b"# coding: rot13\n" + (HEAD + NET).encode(),
    "an encoding that unpacks": b"# coding: zip\n" + (HEAD + NET).encode(),
    "an encoding of many names": b"# " + b"coding: utf-8 " * 5_000 + b"\n" + (HEAD + NET).encode(),
    "UTF-7": b"# -*- coding: utf-7 -*-\n" + (HEAD + NET).encode(),
    "an encoding named without end": b"# coding: " + b"a" * 100_000 + b"\n" + (HEAD + NET).encode(),
    "form feeds within lines": (HEAD + NET).replace("    ", " \f    ").encode(),
    "a NUL byte at the end": (HEAD + NET).encode() + b"\0",
    "a control-Z at the end": (HEAD + NET).encode() + b"\x1a",
    "surrogates": (HEAD + "x = '\\ud800' * 10**6\nprint(x.encode('utf-8', 'surrogatepass'))\n" + NET).encode() + b"y = '\xed\xa0\x80'\n",
    "names that are one when normalised": (HEAD + "".join(f"ﬁ{n} = fi{n} = {n}\n" for n in range(2_000)) + NET.replace("self.fc", "self.ﬁ")).encode(),
    "right to left": (HEAD + "x = '\u202e' # \u2066 cnnmem: batch-size=\u0669\n" + NET).encode(),
    "tabs in the midst of lines": (HEAD + NET).replace(" = ", "\t=\t").replace("    ", "        \t").encode(),
    "indents of 100 levels": (HEAD + "".join(f"{' ' * n}if True:\n" for n in range(99)) + " " * 99 + "pass\n" + NET).encode(),
    "spaces behind lines": (HEAD + NET).replace("\n", " " * 20_000 + "\n").encode(),
    "empty lines without end": (HEAD + "\n" * 2_000_000 + NET).encode(),
    "comments without end": (HEAD + "# \n" * 500_000 + NET).encode(),
    "backslashes without end": (HEAD + "x = 1 \\\n" + "\\\n" * 50_000 + "\n" + NET).encode(),
}  # fmt: skip

PROJECTS = {
    "a circle of 300 modules": {
        "net.py": HEAD + "from m0 import *\nimport m0\nprint(m0.x)\n" + NET,
        **{f"m{n}.py": f"from m{(n + 1) % 300} import *\nimport m{(n + 7) % 300}\nx = m{(n + 7) % 300}.x\n" for n in range(300)},
    },
    "a module that changes what imports it": {
        "net.py": HEAD + "import other\n" + NET,
        "other.py": "import sys, net, __main__\nsys.modules['torch'] = sys.modules[__name__]\nsys.modules['net'] = None\nnet.Net = __main__.Net = other = None\nwhile True:\n    sys.path.append('.')\n    sys.meta_path.insert(0, sys)\n",
    },
    "stars without end": {
        "net.py": HEAD + "".join(f"from s{n} import *\n" for n in range(200)) + NET,
        **{f"s{n}.py": "from net import *\n" + "".join(f"a{k} = {k}\n" for k in range(300)) for n in range(200)},
    },
    "an __all__ without end": {
        "net.py": HEAD + "from a import *\n" + NET,
        "a.py": "__all__ = []\nwhile True:\n    __all__ += ['x'] * 10**6\n    __all__ = __all__ * 2\ndef __getattr__(name): return __getattr__(name + 'x')\n",
    },
    "JSON of objects within objects": {
        "net.py": HEAD + "import json\nd = json.load(open('a.json'))\nfor i in range(10**6):\n    d = d.get('a', d)\nprint(json.dumps(d))\n" + NET,
        "a.json": '{"a":' * 900 + "1" + "}" * 900,
    },
    "a table of 10**6 rows": {
        "net.py": HEAD + "import csv, pandas\nrows = list(csv.reader(open('a.csv')))\ndata = pandas.read_csv('a.csv')\nfor r in rows:\n    for s in rows: pass\n" + NET,
        "a.csv": "1,2,3\n" * 400_000,
    },
    "requirements that ask for themselves": {
        "net.py": HEAD + NET,
        "requirements.txt": "-r requirements.txt\n-r ./requirements.txt\n-c requirements.txt\n" + "torch==" + "1." * 50_000 + "\n" + "torch>=1,<2,!=" + ",!=".join(str(n) for n in range(20_000)) + "\n",
        "setup.py": "from setuptools import setup\nsetup(install_requires=[" + "'torch', " * 30_000 + "])\n",
        "pyproject.toml": "[project]\ndependencies = [" + "'torch', " * 50_000 + "]\n",
        "environment.yml": "dependencies:\n" + "- torch\n" * 50_000,
    },
}  # fmt: skip
