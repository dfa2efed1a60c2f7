"""itertools, functools, operator, math, contextlib: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "itertools": """
import itertools as it
result = (
    list(it.chain([1], (2,), "a")), list(it.chain.from_iterable([[1], [2]])), list(it.product([1, 2], "ab")),
    list(it.product([0, 1], repeat=2)), list(it.combinations([1, 2, 3], 2)), list(it.permutations([1, 2])),
    list(it.accumulate([1, 2, 3])), list(it.accumulate([1, 2, 3], lambda a, b: a * b)),
    list(it.islice(it.count(5), 3)), list(it.islice(range(9), 1, 8, 3)), list(it.repeat(1, 3)),
    [next(c) for c in [it.cycle("ab")] for _ in range(3)], [(k, list(g)) for k, g in it.groupby([1, 1, 2])],
    list(it.starmap(pow, [(2, 3)])), list(it.takewhile(lambda x: x < 3, range(9))),
    list(it.dropwhile(lambda x: x < 7, range(9))), list(it.zip_longest([1], [2, 3], fillvalue=0)),
    list(it.pairwise([1, 2, 3])), list(it.compress("abc", [1, 0, 1])), list(it.filterfalse(None, [0, 1])),
    [list(t) for t in it.tee([1, 2])], list(it.combinations_with_replacement("ab", 2)),
    list(it.accumulate([1, 2], initial=10)), list(zip(it.count(1, 2), "ab"))
)
""",
    "functools": """
import functools, operator
from functools import partial, reduce, wraps, lru_cache, cached_property, total_ordering
def f(a, b=2, *c, **d): return a, b, c, d
p = partial(f, 1, x=5); q = partial(p, 7, x=6)
def deco(fn):
    @wraps(fn)
    def inner(*a, **k): return fn(*a, **k) + 1
    return inner
@deco
def g(x):
    "doc"
    return x
calls = []
@lru_cache(maxsize=None)
def h(n):
    calls.append(n); return n * 2
class C:
    n = 0
    @cached_property
    def v(self): C.n += 1; return C.n
    @lru_cache()
    def m(self, x): return x + 1
    pm = functools.partialmethod(f, b=9)
@total_ordering
class O:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
c = C(); h(1); h(1); h(2)
result = (
    p(9), q(), p.func is f, p.args, p.keywords, reduce(operator.add, [1, 2, 3]),
    reduce(lambda a, b: a * b, [2, 3], 10), g(1), g.__name__, g.__doc__, g.__wrapped__(1), calls, c.v, c.v,
    C().v, c.m(1), c.pm()[1:], O(1) <= O(1), O(2) > O(1), O(1) >= O(2),
    sorted([3, 1], key=functools.cmp_to_key(lambda a, b: b - a))
)
""",
    "singledispatch": """
from functools import singledispatch
@singledispatch
def f(x): return "any"
@f.register(int)
def _(x): return "int"
@f.register(list)
def _(x): return "list"
result = f(1), f([]), f("a"), f(True)
""",
    "operator": """
import operator as op
result = (
    op.add(1, 2), op.mul(2, 3), op.itemgetter(1)([1, 2]), op.itemgetter(0, 1)("ab"), op.attrgetter("real")(5),
    op.methodcaller("upper")("a"), op.neg(3), op.not_(0), op.contains([1], 1), op.getitem({"a": 1}, "a"),
    op.floordiv(7, 2), op.and_(6, 3), op.lt(1, 2), op.is_(None, None), op.truth([]), op.index(5),
    op.concat([1], [2]), op.countOf([1, 1], 1), op.matmul.__name__, op.xor(5, 1), op.pow(2, 3), op.mod(7, 3)
)
""",
    "math": """
import math, cmath
result = (
    math.sqrt(16), math.floor(2.7), math.ceil(2.1), math.log(8, 2), math.log2(8), math.pi, math.prod([2, 3]),
    math.gcd(12, 18), math.factorial(5), math.comb(5, 2), math.perm(5, 2), math.pow(2, 3), math.exp(0),
    math.inf > 1, math.isclose(1.0, 1.0), math.trunc(2.9), math.hypot(3, 4), math.fsum([0.1] * 10),
    math.isnan(math.nan), math.copysign(1, -2), math.fmod(7, 3), math.lcm(4, 6), math.isqrt(17),
    math.radians(180), math.modf(1.5), math.floor(-1.5), math.tau, math.dist([0, 0], [3, 4]), cmath.sqrt(-1),
    math.degrees(math.pi), math.log10(1000), math.ldexp(1.0, 3)
)
""",
    "math domain": """
import math
result = math.sqrt(-1)
""",
    "contextlib": """
from contextlib import contextmanager, suppress, nullcontext, ExitStack
log = []
@contextmanager
def c(n):
    log.append("in"); yield n * 2; log.append("out")
with c(3) as v: log.append(v)
with suppress(KeyError): {}["a"]
with nullcontext(5) as n: pass
with ExitStack() as stack:
    w = stack.enter_context(nullcontext(7)); stack.callback(log.append, "cb")
result = sorted(map(str, log)), n, w
""",
    "numbers": """
import numbers
result = (
    isinstance(1, numbers.Number), isinstance(1.0, numbers.Integral), isinstance(2, numbers.Integral),
    isinstance("a", numbers.Number), isinstance(True, numbers.Real), issubclass(int, numbers.Integral)
)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
