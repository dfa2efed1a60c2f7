"""Nothing that a program asks of builtins and the library takes long, or makes anything enormous."""

from __future__ import annotations

import time
from collections.abc import Sized
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake8_cnnmem.evaluate import interpreter
from flake8_cnnmem.evaluate.budget import BITS, LENGTH
from tests import pace
from tests.evaluate.programs import evaluate

SECONDS = 20.0
"""Far above what one of these takes on a slow machine, far below what any would take without a bound."""

STEPS = 200_000
"""A tenth of what one statement may take, so that what ends only with the budget ends sooner here."""


@pytest.fixture(autouse=True)
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "STATEMENT_STEPS", STEPS)


EXPRESSIONS = [
    "'x' * {n}", "[0] * {n}", "(0,) * {n}", "b'x' * {n}", "list(range({n}))", "tuple(range({n}))", "set(range({n}))",
    "sum(range({n}))", "max(range({n}))", "sorted(range({n}))", "list(reversed(range({n})))",
    "list(map(abs, range({n})))",
    "list(zip(range({n}), range({n})))", "list(enumerate(range({n})))", "dict.fromkeys(range({n}))", "bytes({n})",
    "bytearray({n})", "2 ** {n}", "pow(7, {n})", "1 << {n}", "10 ** {n} ** {n}", "math.factorial({n})",
    "math.comb({n}, {n} // 2)",
    "math.perm({n})", "math.prod(range(1, {n}))", "f'{{1:>{n}}}'", "f'{{1:0{n}d}}'", "f'{{1.5:.{n}f}}'", "'%{n}d' % 1",
    "'%.{n}f' % 1.5", "'%*d' % ({n}, 1)", "'{{:{n}}}'.format(1)", "'{{:{{}}}}'.format(1, {n})", "format(1, '{n}')",
    "'a'.ljust({n})", "'a'.rjust({n}, '*')", "'a'.center({n})", "'1'.zfill({n})", "'\\t'.expandtabs({n})",
    "('a' * 1000).replace('a', 'b' * {n})", "'ab'.join(['x' * 1000] * {n})",
    "('a' * 1000).translate({{97: 'b' * {n}}})",
    "(5).to_bytes({n}, 'big')", "list(itertools.count())", "sum(itertools.cycle([1]))",
    "list(itertools.repeat(1, {n}))",
    "list(itertools.product(range(100), repeat=10))", "list(itertools.permutations(range(15)))", "[*range({n})]",
    "list(itertools.combinations(range(100), 50))", "list(itertools.islice(itertools.count(), {n}))",
    "round(1.5, -{n})",
    "list(itertools.accumulate(range({n})))", "list(iter(int, 1))", "next(x for x in itertools.count() if x < 0)",
    "collections.deque(range({n}))", "collections.Counter(range({n}))", "list(collections.Counter(a={n}).elements())",
    "all(itertools.repeat(True))", "any(itertools.repeat(False))", "{{x for x in range({n})}}", "int('9' * {n})",
    "re.match('(a+)+$', 'a' * 40 + 'b')", "re.match('(a|aa)*b', 'a' * 60)", "re.sub('a', 'b' * {n}, 'a' * 500)",
    "re.match('a*a*a*a*a*a*b', 'a' * 500)", "json.dumps([1], indent={n})", "json.dumps([1] * {n})",
    "json.loads('[' * {n})",
    "random.sample(range({n}), {n})", "np.zeros({n})", "np.arange({n})", "np.tile([1, 2], {n})", "np.repeat([1], {n})",
    "list(np.zeros({n}))", "np.eye({n})", "np.linspace(0, 1, {n})", "np.zeros(({n}, {n})).tolist()",
    "np.array([1] * {n})",
    "np.power(7, {n})", "np.concatenate([np.zeros({n})] * 3)", "functools.reduce(lambda a, b: a * b, range(1, {n}))",
    "copy.deepcopy([[0] * 1000] * {n})", "str([[0] * 1000] * {n})", "'a b'.split() * {n}", "sorted('ab' * {n})",
    "list(filter(None, itertools.repeat(0)))", "list('a' * {n})", "len(list(range({n})))", "zip(*[range({n})] * 3)",
    "min(itertools.count())", "str(10 ** 4000 * 10 ** {n})",
    "pathlib.Path(*['a'] * {n})", "os.path.join(*['a'] * {n})",
    "collections.namedtuple('P', ['f'] * {n})",
    "heapq.nlargest({n}, range({n}))", "list(range({n}))[::-1]", "'%s' % ('x' * {n})", "(lambda: [0] * {n})()",
]  # fmt: skip

BEFORE = (
    "import collections, copy, functools, heapq, itertools, json, math, os, pathlib, random, re\nimport numpy as np\n"
)


def small(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, Sized)):
        return True
    return (
        value.bit_length() <= 8 * BITS if isinstance(value, int) else isinstance(value, range) or len(value) <= LENGTH
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(n=st.sampled_from([10**6, 10**9, 10**18, 10**60]))
def test_an_expression_ends_soon_whatever_its_number_is(expression: str, n: int) -> None:
    started = time.process_time()
    variables, _ = evaluate(f"{BEFORE}result = {expression.format(n=n)}")
    assert not pace.beyond(time.process_time() - started, SECONDS)
    assert small(variables.get("result"))


LOOPS = {
    "a list that doubles": "items = [0]\nfor _ in range(100): items += items",
    "a list that is extended by itself": "items = [0]\nfor _ in range(100): items.extend(items)",
    "a text that doubles": "text = 'a'\nfor _ in range(100): text = text + text",
    "a text that is formatted into itself": "text = 'ab'\nfor _ in range(100): text = '{0}{0}'.format(text)",
    "a number that is squared": "n = 7\nfor _ in range(100): n = n * n",
    "a list inside itself": "items = []\nitems.append(items)\ntext = str(items)\nsame = items == [items]",
    "a dict that holds itself": "d = {}\nd['d'] = d\ntext = repr(d)",
    "a deep nest": "items = []\nfor _ in range(100000): items = [items]\ntext = str(items)",
    "a deep tuple as a key": "t = ()\nfor _ in range(100000): t = (t,)\nd = {t: 1}",
    "an endless loop over a queue": "import collections\nq = collections.deque([1])\nwhile q: q.append(q.popleft())",
    "a list that grows while it is looped over": "items = [1]\nfor item in items: items.append(item)",
    "a dict that grows while it is looped over": "d = {0: 0}\nfor key in d.keys(): d[len(d)] = key",
    "a set that grows while it is looped over": "s = {0}\nfor item in s: s.add(len(s))",
    "dicts of dicts without end": "import collections\nt = lambda: collections.defaultdict(t)\nd = t()\n"
    "for _ in range(10**9): d = d['a']",
    "a partial of a partial": "import functools\nf = print\nfor _ in range(10**6): f = functools.partial(f, 1)",
    "a search in a long list, again and again": "items = list(range(100000))\n"
    "for _ in range(10**6): items.index(99999)",
    "a long list's first item, again and again": "items = [0] * 1000000\nfor _ in range(10**6): next(iter(items))",
    "a long list that is cut, again and again": "items = [0] * 1000000\nfor _ in range(10**6): items[1:]",
    "a long list in a branch, again and again": "items = [0] * 1000000\nfor _ in range(10**6):\n"
    "    if input(): items[0] = 1",
    "a long list that is shifted, again and again": "items = [0] * 1000000\n"
    "for _ in range(10**6): items.insert(0, items.pop())",
    "a long text, again and again": "text = 'ab' * 400000\nfor _ in range(10**6): text.replace('b', 'c')",
}


@pytest.mark.parametrize("program", LOOPS.values(), ids=LOOPS)
def test_a_loop_that_grows_something_ends_soon(program: str) -> None:
    started = time.process_time()
    variables, _ = evaluate(program)
    assert not pace.beyond(time.process_time() - started, SECONDS)
    assert all(small(value) for name, value in variables.items() if not name.startswith("__"))
