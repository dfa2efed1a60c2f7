"""Python by chance for the programs of tests/generated.py: what a model's sizes and flags are computed with.

    python tests/generated_language.py [COUNT] [SEED]

makes so many programs (2000 unless said otherwise) whose constructor computes the sizes of a few layers by random
statements and expressions of the language, runs each and prints those of which we say something else. By hand only:
needs torch. What a statement does may fail; then the program has to raise, and nothing of it is exact.
"""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

HEAD = """\
import contextlib
import enum
import functools
import itertools
import math
import operator
import re
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn


class Own(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


Pair = namedtuple("Pair", "a b", defaults=(3,))
shared = []


"""
INTEGERS = (
    "I + I", "I - I", "I * I", "I // I", "I % I", "-I", "~I", "I & I", "I | I", "I ^ I", "abs(I) << 1", "I >> 1",
    "round(F)", "int(F)", "len(L)", "len(S)", "len(D)", "sum(L)", "max(L, default=I)", "min(I, I)", "(I if B else I)",
    "(I or I)", "(I and I)", "L[I]", "L[I % 3]", "D.get(S, I)", "D[S]", "S.count(S)", "S.find(S)", "divmod(I, I)[0]",
    "divmod(I, I)[1]", "abs(I)", "pow(I, 2, 7)", "functools.reduce(lambda p, q: p * 2 - q, L, I)", "int(B)", "sum(v > I for v in L)",
    "I.bit_length()", "next((v for v in L if v > I), I)", "math.floor(F)", "math.ceil(F)", "math.trunc(F)", "math.gcd(I, I)",
    "int(str(I))", "operator.sub(I, I)", "L.index(I)", "sorted(L)[0]", "next(iter(L), I)", "ord(S[0])", "L.count(I)",
    "(lambda p, q=I: p - q)(I)", "(lambda *p: len(p))(*L)", "int(np.int64(I))", "len(set(L))", "len(S.split(S))", "sum(D.values())",
    "list(D.values())[0]", "len({*L, I})", "(B and I or I)", "Pair(I).b", "Pair(*[I, I])[0]", "sum(map(len, D))", "int(L[-1:] == L[:1])",
    "I ** 2", "int(math.isclose(F, F))", "(c := I) + c", "len(f'{I:>4}{S!r}')", "int(S.isdigit()) + I", "int(round(F, 1) * 10)",
    "len(range(I, I, 2))", "range(1, 20, 3)[I % 4]", "min(L, key=lambda v: -v)", "max((I, I), (I, I))[1]", "len(list(itertools.permutations(L[:3])))",
    "Counter(S)['a']", "Counter(L).most_common(1)[0][1]", "sum(1 for _ in itertools.takewhile(lambda v: v > I, L))", "int(np.ceil(F))",
    "int(np.prod([I, I]))", "len(bytes(S, 'utf8'))", "int.from_bytes(bytes([3, 1]), 'big') % 7", "hash(I) % 5", "complex(I, I).imag.__int__()",
    "sum(p * q for p, q in zip(L, L))", "max(enumerate(L), key=lambda e: e[1])[0]", "bool(L) + bool(S)", "I.__rsub__(I)", "len(deque(L, 2))",
)  # fmt: skip
TRUTHS = (
    "I < I", "I <= I < I", "I == I", "I != I", "I in L", "S in D", "not B", "B and B", "B or B", "any(L)", "all(L)", "isinstance(I, bool)",
    "S.startswith(S)", "S.isdigit()", "L == L", "L < L", "bool(L)", "S < S", "S in S", "F == F", "F > I", "L is L", "B is True", "I is None",
    "bool(D)", "set(L) <= set(L)", "I > I > I", "D == D", "0.1 + 0.2 == 0.3", "bool(S)", "(I, S) < (I, S)", "any(v > I for v in L)",
    "all(v != I for v in L)", "not L", "callable(I)", "hasattr(L, 'sort')", "L != L", "re.match('[a-c]+', S) is not None", "F.is_integer()",
    "isinstance(L, (list, tuple))", "set(S).isdisjoint(S)", "np.bool_(B) == True", "True if S else False", "None in L", "(B, B) == (True, B)",
)  # fmt: skip
FLOATS = (
    "I / I", "0.5", "2.5", "0.1 + 0.2", "float(I)", "math.sqrt(abs(I))", "I * 0.1", "sum([0.1] * 10)", "round(F, 1)", "F // 0.3", "F % 0.7", "-F",
    "F * I", "F - 0.5", "1.5", "3.5", "-2.5", "float('1e1')", "math.log2(abs(I) + 1)", "I ** -1", "abs(F)", "math.fsum([0.1] * 10)", "max(F, I)",
    "float(np.float32(0.1)) * 10", "np.float64(F) + I", "1e16 + F - 1e16", "math.copysign(2.5, I)", "round(I * 1.15, 2)", "sum(L) / len(L)",
)  # fmt: skip
TEXTS = (
    "'ab'", "'c1'", "''", "'a-b_c'", "S + S", "S * 2", "S[::-1]", "S[I:]", "S[:I]", "S[1:-1]", "S.upper()", "S.replace('a', 'bb')", "str(I)",
    "f'{I}{S!r:>4}'", "f'{I:03d}'", "f'{F:.2f}'", "'-'.join(D)", "S.join(['a', 'b', 'c'])", "'%d-%s' % (I, S)", "'{}{}'.format(I, S)", "S.strip('a')",
    "S.title()", "repr(L)", "S.zfill(3)", "S.partition('b')[2]", "re.sub('a', 'b', S)", "chr(97 + I % 5)", "type(I).__name__", "S.split('b')[0]",
    "min(D)", "next(iter(D))", "'{1}{0}'.format(S, I)", "f'{I=}'", "S.center(5, '*')", "S.swapcase()", "str(F)", "S.rsplit('-', 1)[-1]",
    "S.removeprefix('a')", "(S or 'z')", "(S and 'y')", "''.join(sorted(S))", "''.join(reversed(S))", "str(B)", "f'{S:<3}|'", "S.capitalize()",
    "'abc'[I % 3]", "'%-4s|' % S", "'%.1f' % F", "'%x' % abs(I)", "bin(I)", "repr(S)", "str(L[:1])", "max(S, S, key=len)", "f'{B!s:.2}'",
)  # fmt: skip
LISTS = (
    "[I, I]", "[I, I, I]", "L + L", "L * 2", "L[::-1]", "L[I:]", "L[1:I]", "L[::2]", "L[-2:]", "sorted(L)", "sorted(L, reverse=True)",
    "sorted(L, key=lambda v: (v % 3, -v))", "list(range(abs(I) % 6))", "[v + I for v in L]", "[v for v in L if v > I]", "list(map(abs, L))",
    "list(filter(None, L))", "list(reversed(L))", "[*L, I]", "list(itertools.accumulate(L))", "list(itertools.chain(L, [I]))", "list(D.values())",
    "[len(k) for k in D]", "[i * v for i, v in enumerate(L)]", "[p - q for p, q in zip(L, L[1:])]", "list(range(5, I, -2))", "list(dict.fromkeys(L))",
    "sorted(set(L))", "[ord(k) for k in S[:4]]", "[v for k, v in sorted(D.items())]", "[f() for f in [lambda: v for v in L]]", "[f() for f in [lambda v=v: v for v in L]]",
    "list(itertools.islice(itertools.cycle([I, I]), 3))", "[len(list(g)) for _, g in itertools.groupby(L)]", "[v for row in [[I], L] for v in row]",
    "(lambda *p, **k: [*p, *k.values()])(*L, **D)", "list(itertools.starmap(operator.mul, zip(L, L)))", "[sum(p) for p in itertools.combinations(L[:4], 2)]",
    "list(map(int, str(abs(I))))", "[int(v) for v in re.findall(r'\\d', S)]", "list(np.cumsum(L))", "[int(v) for v in np.array([I, I, I]) * 2]",
    "list(deque(L, maxlen=2))", "[v for v in (x for x in L) if v]", "L or [I]", "list((lambda: (yield from L))())", "[a for a in L]", "list(itertools.zip_longest(L, [I], fillvalue=1))[0:1] and L",
)  # fmt: skip
DICTS = (
    "{S: I}", "{S: I, S: I}", "{**D, S: I}", "D | {S: I}", "{k: v + 1 for k, v in D.items()}", "dict(zip('abc', L))", "dict(a=I, b=I)",
    "{k: i for i, k in enumerate(D)}", "dict(sorted(D.items(), key=lambda e: e[1]))", "dict.fromkeys('ab', I)", "{str(v): v for v in L}", "dict(D, a=I)",
    "{k: v for k, v in D.items() if v > I}", "dict(reversed(D.items()))", "{**D, **{S: I}}", "dict([(S, I), ('a', I)])", "{v: k for k, v in D.items()} and D",
)  # fmt: skip
KINDS = {"I": INTEGERS, "B": TRUTHS, "F": FLOATS, "S": TEXTS, "L": LISTS, "D": DICTS}
LEAVES = {"I": ("a", "b", "c", "2", "3", "-1", "7", "0"), "B": ("True", "False", "a > b", "b"), "F": ("0.5", "2.5", "a / 4"),
          "S": ("s", "t", "'a'"), "L": ("l", "m", "[1, 4, 2]"), "D": ("d", "e", "{'a': 2, 'ab': 5}")}  # fmt: skip


def expression(rng: random.Random, kind: str, depth: int = 2) -> str:
    """An expression of a kind: whole number, truth, float, text, list of numbers, dict from texts to numbers."""
    text = rng.choice(LEAVES[kind] if depth <= 0 or rng.random() < 0.2 else KINDS[kind])
    parts = []
    for at, letter in enumerate(text):
        alone = not (text[at - 1 : at].isalnum() or text[at + 1 : at + 2].isalnum() or text[at - 1 : at] == "_")
        inner = letter in KINDS and alone and (at == 0 or text[at - 1] not in "'\"")
        if inner:
            own = expression(rng, letter, depth - 1)
            parts.append(own if own.isalnum() else f"({own})")
        else:
            parts.append(letter)
    return "".join(parts)


SIMPLE = (
    "a = I", "b = I", "c = I", "s = S", "t = S", "l = L", "m = L", "d = D", "e = D", "a += I", "b -= I", "c *= 2", "b //= 3", "l += [I]", "m = l",
    "a, b = b, a", "a, *l = L", "*m, c = L", "(a, b), c = (I, I), I", "l.append(I)", "l.extend(L)", "l.insert(I, I)", "a = l.pop()", "a = l.pop(0)",
    "l.sort()", "l.sort(key=lambda v: -v)", "l.reverse()", "l.remove(I)", "del l[0]", "del l[:1]", "l[1:2] = L", "l[0] = I", "l[::2] = [0] * len(l[::2])",
    "d[S] = I", "a = d.pop(S, I)", "d.update(D)", "b = d.setdefault(S, I)", "c = len(m) if (m := L) else I", "del d[next(iter(d))]", "assert B, 'no'",
    "a = b = I", "l[I % 2] += I", "d['a'] = d.get('a', 0) + I", "e = d", "e = dict(d)", "m = l[:]", "m = [l] * 2\nm[0].append(1)\nm = m[1]",
    "a = (b := I) + b", "l = list(l)", "s += S", "t = s", "s, t = t, s", "l, m = m, l", "shared.append(I)\na = sum(shared)", "l *= 2", "d |= D",
    "a = int(float(s)) if s.isdigit() else I", "a, b = divmod(I, I)", "a = min(l)", "b = max(d.values())", "_, a = max((v, k) for k, v in enumerate(L))",
    "it = iter(L)\na = next(it, I)\nb = sum(it)", "z = zip(L, L)\nb = len(list(z))\na = len(list(z))", "g = (v + a for v in L)\na = I\nb = sum(g)",
    "q = deque(L, maxlen=2)\nq.appendleft(I)\na = q[-1]", "dd = defaultdict(list)\ndd[S].append(I)\na = len(dd)", "cc = Counter(S + S)\na = cc.total()",
    "od = OrderedDict(D)\nod.move_to_end(next(iter(od)))\na = list(od.values())[-1]", "r = [[0] * 2] * 2\nr[0][1] = I\na = r[1][1]", "p = Pair(I)._replace(a=I)\na = p.a + p.b",
    "for a in L: pass", "x = [a for a in L]\nb = len(x)", "k = ()\nk += (I,)\na = k[0]", "n = sum(1 for v in L if v in l)\na = n", "a = {True: I, 1: I}[1]",
    "fs = {n: (lambda: n) for n in 'xyz'}\ns = fs['x']()", "i = 3\nl = [i for i in range(2)]\na = i", "d.clear()", "l.clear()", "e = {**e, **d}", "global shared\nshared = [I]",
)  # fmt: skip
COMPOUND = (
    "if B:\n    X\nelse:\n    X", "if B:\n    X\nelif B:\n    X\n", "for v in L:\n    X\n    if B:\n        break\nelse:\n    X", "for v in L:\n    if v > I:\n        continue\n    X",
    "n = 0\nwhile n < 4:\n    n += 1\n    if B:\n        break\n    X\nelse:\n    X", "try:\n    X\nexcept (IndexError, KeyError):\n    X", "try:\n    X\nexcept Exception:\n    X\nelse:\n    X",
    "try:\n    X\nexcept ValueError as error:\n    a = len(error.args)\nfinally:\n    X", "try:\n    if B:\n        raise Own(I)\n    X\nexcept Own as own:\n    a = own.code",
    "with contextlib.suppress(IndexError, KeyError, ValueError, ZeroDivisionError):\n    X\n    X", "for k, v in D.items():\n    a += v\n    X",
    "def f(p, q=[]):\n    q.append(p)\n    return len(q)\na = f(I) + f(I)", "def f():\n    nonlocal a, l\n    X\n    a += 1\n    return b\nb = f()", "def f(*p, k=I, **r):\n    return len(p) + k + len(r)\na = f(*L, **D)",
    "def g():\n    for v in L:\n        r = yield v\n        if r:\n            yield r\ny = g()\na = next(y, I)\nb = sum(y)", "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\na = f(abs(I) % 5)",
    "def f():\n    try:\n        return I\n    finally:\n        l.append(I)\na = f()", "def f():\n    for v in L:\n        try:\n            if v > I:\n                return v\n        finally:\n            l.append(v)\n    return I\na = f()",
    "def f():\n    try:\n        return l[I]\n    except IndexError:\n        return I\n    finally:\n        if B:\n            return I\na = f()", "def deco(n):\n    def wrap(f):\n        @functools.wraps(f)\n        def run(*p):\n            return f(*p) + n\n        return run\n    return wrap\n@deco(I)\n@deco(I)\ndef h(v):\n    return v * 2\na = h(I)",
    "class K:\n    w = I\n    v = [w for _ in range(2)] if B else [I]\n    def __init__(self):\n        self.w += 1\na = K().w + K.w", "class K:\n    n = []\n    def add(self, v):\n        self.n.append(v)\n        return self\na = len(K().add(I).n) + len(K().n)",
    "class P:\n    def f(self):\n        return I\nclass Q(P):\n    def f(self):\n        return super().f() + 1\nclass R(P):\n    def f(self):\n        return super().f() * 2\nclass T(Q, R):\n    pass\na = T().f()",
    "class K:\n    def __init__(self, v):\n        self.v = v\n    def __add__(self, o):\n        return K(self.v - o.v)\n    def __lt__(self, o):\n        return self.v > o.v\n    def __bool__(self):\n        return self.v % 2 == 0\n    def __len__(self):\n        return 3\na = min(K(I), K(I)).v\nb = (K(I) + K(I)).v\nc = I if K(I) else I",
    "class K:\n    @property\n    def p(self):\n        return self._p\n    @p.setter\n    def p(self, v):\n        self._p = v + 1\nk = K()\nk.p = I\nk.p += 1\na = k.p", "class K:\n    def __getattr__(self, name):\n        return len(name)\nk = K()\nk.x = I\na = k.x + k.other",
    "class Dsc:\n    def __set_name__(self, o, name):\n        self.n = name\n    def __get__(self, i, o=None):\n        return len(self.n) + I\nclass K:\n    wide = Dsc()\na = K.wide + K().wide", "class Meta(type):\n    def __call__(cls, *p):\n        o = super().__call__(*p)\n        o.z = I\n        return o\nclass K(metaclass=Meta):\n    pass\na = K().z",
    "class B0:\n    seen = []\n    def __init_subclass__(cls, n=I):\n        cls.seen.append(n)\nclass B1(B0):\n    pass\nclass B2(B0, n=I):\n    pass\na = sum(B0.seen)", "@dataclass(order=True)\nclass C:\n    x: int\n    y: list = field(default_factory=list)\n    z: int = I\nc0 = C(I)\nc0.y.append(1)\na = len(C(I).y) + c0.z\nb = int(C(I) < C(I))",
    "class E(enum.IntEnum):\n    A = 1\n    Z = I\na = E['Z'] + E.A", "class F0(enum.Flag):\n    A = 1\n    Z = 2\n    AZ = A | Z\na = len([v for v in F0]) + (F0.A | F0.Z).value", "match I:\n    case 0 | 1:\n        X\n    case n if n > 3:\n        a = n\n    case _:\n        X",
    "match L:\n    case []:\n        a = 1\n    case [p]:\n        a = p\n    case [p, *r]:\n        a = p + len(r)", "match D:\n    case {'a': v, **r}:\n        a = v + len(r)\n    case {}:\n        a = 2", "@contextlib.contextmanager\ndef cm():\n    l.append(I)\n    try:\n        yield len(l)\n    except ValueError:\n        l.append(0)\n    finally:\n        l.append(1)\nwith cm() as a:\n    X",
    "class CM:\n    def __enter__(self):\n        return I\n    def __exit__(self, kind, value, trace):\n        l.append(1)\n        return kind is IndexError\nwith CM() as a:\n    X", "@functools.lru_cache\ndef f(v):\n    l.append(v)\n    return v\na = f(I) + f(I)", "f = functools.partial(lambda p, q, r=1: p - q + r, I)\na = f(I, r=I)",
    "@functools.singledispatch\ndef f(v):\n    return 1\n@f.register\ndef _(v: int):\n    return 2\n@f.register(list)\ndef _(v):\n    return 3\na = f(I) + f(L) + f(S)", "fs = []\nfor v in L:\n    def f():\n        return v\n    fs.append(f)\na = sum(f() for f in fs)", "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += I\n        return x\n    return g\nh = f()\nh()\na = h()",
    "class K:\n    def __init__(self):\n        self.l = []\n    def __iter__(self):\n        return iter(L)\n    def __contains__(self, v):\n        return B\n    def __getitem__(self, k):\n        return k\n    def __call__(self, *p):\n        return len(p)\nk = K()\na = sum(k) + (I in k) + k(*k)", "class K:\n    __slots__ = ('v',)\ntry:\n    k = K()\n    k.v = I\n    k.w = I\nexcept AttributeError:\n    a = k.v",
    "class K:\n    def __new__(cls, v):\n        o = super().__new__(cls)\n        o.v = v + 1\n        return o if B else v\nk = K(I)\na = k if isinstance(k, int) else k.v", "class K(int):\n    def __add__(self, o):\n        return int(self) * 2\na = K(I) + I\nb = I + K(I)", "class K(dict):\n    def __missing__(self, k):\n        return len(k)\nk = K(D)\na = k[S]\nb = k.get(S, I)",
    "class K(list):\n    def append(self, v):\n        super().append(v)\n        super().append(v)\nk = K(L)\nk.append(I)\na = len(k)", "try:\n    try:\n        X\n        raise KeyError(S)\n    finally:\n        a += 1\nexcept LookupError as error:\n    b = len(error.args[0])", "try:\n    raise Own(I) from ValueError()\nexcept (Own, ValueError) as own:\n    a = own.code + (own.__cause__ is not None)",
    "exec('a0 = 4')\nvalue = eval('len([1, 2])')\na = value", "for i in range(3):\n    for v in L:\n        if v == I:\n            break\n    else:\n        continue\n    a = i\n    break", "with contextlib.ExitStack() as stack:\n    stack.callback(l.append, I)\n    a = len(l)\nb = len(l)", "a = b = 0\nfor v in L[:]:\n    if v % 2:\n        l.append(v)\n    a += 1",
    "try:\n    a = f0\nexcept NameError:\n    a = I", "try:\n    x = int(S)\nexcept ValueError:\n    x = I\na = x", "while l:\n    a = l.pop()\n    if B:\n        break", "for i, (p, q) in enumerate(zip(L, L)):\n    a = p - q + i", "if (n := len(L)) > 1 and B:\n    a = n", "d2 = {k: [] for k in 'ab'}\nd2['a'].append(I)\na = len(d2['b'])\nd3 = dict.fromkeys('ab', [])\nd3['a'].append(I)\nb = len(d3['b'])",
)  # fmt: skip


def block(rng: random.Random, depth: int, count: int) -> str:
    return "\n".join(statement(rng, depth) for _ in range(count))


def statement(rng: random.Random, depth: int) -> str:
    text = rng.choice(COMPOUND if depth > 0 and rng.random() < 0.6 else SIMPLE)
    lines = []
    for line in text.split("\n"):
        space = line[: len(line) - len(line.lstrip())]
        if line.strip() == "X":
            inner = block(rng, depth - 1, rng.randint(1, 2))
            lines += [space + each for each in inner.split("\n") if not each.lstrip().startswith("global")] or [
                f"{space}pass"
            ]
            continue
        lines.append(filled(rng, line))
    return "\n".join(lines)


def filled(rng: random.Random, line: str) -> str:
    """A line with an expression for each letter that stands for one."""
    parts = []
    for at, letter in enumerate(line):
        around = line[at - 1 : at] + line[at + 1 : at + 2]
        if letter in KINDS and not any(each.isalnum() or each in "_.'\"" for each in around):
            own = expression(rng, letter, rng.choice([0, 1, 1, 2]))
            parts.append(own if own.isalnum() else f"({own})")
        else:
            parts.append(letter)
    return "".join(parts)


def builder(rng: random.Random) -> str:
    """A function that computes six whole numbers from nothing that it is given."""
    start = f"a, b, c = {rng.randint(-3, 8)}, {rng.randint(1, 5)}, {rng.randint(0, 9)}\ns, t = 'ab', '{rng.choice(['3', 'x-y', 'aab', ''])}'\n"
    start += f"l, m = [{rng.randint(1, 4)}, {rng.randint(-2, 4)}, {rng.randint(0, 4)}], [{rng.randint(1, 4)}]\nd, e = {{'a': {rng.randint(1, 4)}, 'b': 2}}, {{'{rng.choice(['ab', 'c'])}': {rng.randint(0, 4)}}}\n"
    body = start + block(rng, 2, rng.randint(2, 5))
    lines = body.split("\n")
    lines = [line for line in lines if line != "global shared"] if "global shared" in lines else lines
    if len(lines) != len(body.split("\n")):
        lines.insert(0, "global shared")
    text = "\n".join(f"    {line}" for line in lines)
    return f"def sizes():\n{text}\n    return [a, b, c, len(s), len(t), sum(l), len(m), sum(d.values()), len(e)]\n"


def written(seed: int) -> str:
    """A program whose layers have sizes that statements by chance compute."""
    rng = random.Random(seed)
    made = rng.choice([
        "self.u = nn.ModuleList([nn.Linear(int(v) % 7 + 1, i + 1) for i, v in enumerate(sizes())])",
        "for i, v in enumerate(sizes()):\n            setattr(self, f'u{i}', nn.Linear(int(v) % 7 + 1, i + 1))",
        "n = sizes()\n        self.u = nn.ModuleList(nn.Linear(int(p) % 7 + 1, 2) for p in n)\n        for p, v in zip(self.u, n):\n            p.requires_grad_(bool(v % 2 == 0))",
    ])  # fmt: skip
    return (
        f"{HEAD}{builder(rng)}\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.first = nn.Linear(4, 3)\n"
        f"        {made}\n\n    def forward(self, x):\n        return self.first(x)\n\n\nmodel = Net()\nx = torch.randn(3, 4)\ny = model(x)\n"
    )


def compiles(text: str) -> bool:
    try:
        compile(text, "generated.py", "exec")
    except SyntaxError:
        return False
    return True


def in_time(ask: Callable[[str], Any], text: str) -> Any:
    """What it answers within two seconds, else None: some of the loops have no end."""

    def late(*_: object) -> None:
        raise Late

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2)
    try:
        return ask(text)
    except Late:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


class Late(BaseException):
    """No program catches it: it is no Exception."""


def search(write: Callable[[int], str], count: int, first: int) -> int:
    """Prints the programs of which we say something else, and how many there were of each sort."""
    import torch  # noqa: F401  (what is asked has a limit of time)

    from tests.generated import asked, differs, said

    run = wrong = raising = exact = 0
    for seed in range(first, first + count):
        text = write(seed)
        if not compiles(text):
            continue
        run += 1
        truth = in_time(asked, text)
        if truth is None:
            continue
        told = said(text)
        raising += "raises" in truth
        exact += told["status"] == "exact"
        message = differs(truth, told)
        if message:
            wrong += 1
            print(f"seed {seed}: {message}", flush=True)
    print(f"{run} programs, {exact} exact, {raising} raise, {wrong} wrong", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    count, first = (int(text) for text in (*sys.argv[1:3], *("2000", "0")[len(sys.argv[1:3]) :]))
    sys.exit(search(written, count, first))
