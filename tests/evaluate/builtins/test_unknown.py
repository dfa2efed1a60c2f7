"""What natives make of values that nobody knows: neither a guess, nor more doubt than there is."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.evaluate.programs import evaluate, with_batch

BEFORE = """\
import collections, copy, functools, itertools, json, math, os, random
u = input()
items = [2, 1]
pairs = {'a': 1}
numbers = {1}
"""

UNKNOWN = [
    "sum([1, u])", "max(1, u)", "max([1, u])", "sorted([u, 1])", "sorted([2, 1], key=lambda x: u)", "min(u)", "list(u)",
    "dict(u)", "{'a': u}.get('a')", "pairs.get(u)", "pairs[u]", "items[u]", "str(u)", "f'{u}'", "'%s %d' % ('a', u)",
    "'{}'.format(u)", "repr([u])", "','.join(['a', u])", "isinstance(u, int)", "isinstance(1, u)", "getattr(u, 'x')",
    "hasattr(u, 'x')", "items.index(u)", "[u, 2].index(2)", "[1, u].count(2)", "u in items", "3 in [u]",
    "any([False, u])",
    "all([u])", "set([1, u])", "{u}", "list(filter(lambda x: u, items))", "int(u)", "range(u)", "abs(u)", "round(u, 2)",
    "'abc'.replace('a', u)", "callable(u)", "type(u)", "math.sqrt(u)", "math.prod([2, u])", "not u", "bool(u)",
    "functools.reduce(lambda a, b: a + b, [1, u])", "functools.partial(max, 1)(u)", "list(itertools.product([1], u))",
    "list(itertools.chain([1], u))", "collections.Counter([u])", "os.path.exists('a')", "os.environ['A']", "hash('a')",
    "random.choice(items)", "random.random()", "json.loads(u)", "open('f').read()", "input()",
    "len(collections.Counter(u))",
    "items.extend(u) or len(items)", "pairs.update(u) or len(pairs)", "numbers.add(u) or len(numbers)", "items.pop(u)",
    "pairs.setdefault(u, 1)", "numbers.update(u) or 1 in numbers", "items.sort(key=lambda x: u) or items[0]",
    "math.factorial(10**9)", "math.comb(10**6, 10**5)", "str(object())",
]  # fmt: skip
"""Expressions whose value depends on one that is not known."""


@pytest.mark.parametrize("expression", UNKNOWN)
def test_a_value_that_depends_on_an_unknown_one_is_unknown_and_has_a_line(expression: str) -> None:
    found = evaluate(f"{BEFORE}result = {expression}")[0]["result"]
    assert isinstance(found, Unknown)
    assert not found.reason.startswith("the code raises")
    assert found.line >= 2


KNOWN = [
    ("len([u, u])", 2),
    ("len(dict(a=u))", 1),
    ("{'a': u}.get('b', 3)", 3),
    ("pairs.pop('a', u)", 1),
    ("dict(pairs, b=u)['a']", 1),
    ("[2, u].index(2)", 0),
    ("2 in [u, 2]", True),
    ("any([u, True])", True),
    ("all([u, False])", False),
    ("isinstance(1, (u, int))", True),
    ("[place for place, value in enumerate([u, u])]", [0, 1]),
    ("[right for left, right in zip([u], [1])]", [1]),
    ("len(list(map(lambda x: u, items)))", 2),
    ("len(list(reversed([1, u])))", 2),
    ("items.append(u) or len(items)", 3),
    ("items.sort(key=lambda x: u) or len(items)", 2),
    ("items.insert(u, 1) or len(items)", 3),
    ("items.remove(u) or len(items)", 1),
    ("collections.deque([u, 1])[1]", 1),
    ("collections.OrderedDict([('a', u), ('b', 2)])['b']", 2),
    ("copy.deepcopy([u, 1])[1]", 1),
    ("print(u)", None),
    ("getattr(items, 'append', u) is not None", True),
    ("functools.partial(max, u).args[0:0]", ()),
    ("len(random.sample(items, 2))", 2),
]


@pytest.mark.parametrize(("expression", "value"), KNOWN, ids=[expression for expression, _ in KNOWN])
def test_what_does_not_depend_on_an_unknown_value_stays_known(expression: str, value: Any) -> None:
    assert evaluate(f"{BEFORE}result = {expression}")[0]["result"] == value


BRANCHES = {
    "an append on one side leaves the length open": "if u: items.append(3)\nresult = len(items)",
    "a key on one side leaves its presence open": "if u: pairs['b'] = 1\nresult = pairs.get('b', 2)",
    "an item of a set on one side leaves its presence open": "if u: numbers.add(7)\nresult = 7 in numbers",
    "a sort on one side leaves the first item open": "if u: items.sort()\nresult = items[0]",
    "a pop on one side leaves the length open": "if u: items.pop()\nresult = len(items)",
    "a deque that grows on one side": "d = collections.deque([1])\nif u: d.appendleft(2)\nresult = len(d)",
    "a default that only one side makes": "d = collections.defaultdict(int)\nif u: d['a'] += 5\nresult = d.get('a', 0)",
    "a setdefault on one side": "if u: pairs.setdefault('z', 1)\nresult = pairs.get('z', 0)",
}


@pytest.mark.parametrize("program", BRANCHES.values(), ids=BRANCHES)
def test_a_container_that_changes_on_one_side_of_an_open_branch_is_open_there(program: str) -> None:
    assert isinstance(evaluate(BEFORE + program)[0]["result"], Unknown)


@pytest.mark.parametrize(
    "statement",
    ["items.append(3)", "items.extend([1])", "pairs['b'] = 1", "numbers.add(2)", "items.sort()", "pairs.update(a=2)"],
)
def test_what_the_side_that_raises_did_is_undone(statement: str) -> None:
    program = f"if u:\n    {statement}\n    raise ValueError\nresult = items, pairs, numbers"
    assert evaluate(BEFORE + program)[0]["result"] == ([2, 1], {"a": 1}, {1})


BATCH = [
    ("int(n)", Batch(1)),
    ("float(n)", Batch(1)),
    ("math.floor(n)", Batch(1)),
    ("round(n)", Batch(1)),
    ("abs(-n)", Batch(1)),
    ("sum([n, n])", Batch(2)),
    ("math.prod([n, 3, 2])", Batch(6)),
    ("max(n, 1)", Batch(1)),
    ("divmod(n * 4, 2)", (Batch(2), 0)),
    ("isinstance(n, int)", True),
    ("functools.reduce(lambda a, b: a * b, (n, 4))", Batch(4)),
]


@pytest.mark.parametrize(("expression", "value"), BATCH, ids=[expression for expression, _ in BATCH])
def test_a_size_of_the_batch_stays_one(expression: str, value: Any) -> None:
    assert with_batch(f"import math, functools\nresult = {expression}") == value


def test_a_shape_may_hold_the_batch_in_a_loop_and_in_text_only_as_unknown() -> None:
    assert isinstance(with_batch("result = range(n)"), Unknown)
    assert isinstance(with_batch("result = f'{n}'"), Unknown)
    assert isinstance(with_batch("result = {n: 1}"), Unknown)


def test_a_deep_copy_has_new_weights_and_shares_what_was_shared() -> None:
    program = """\
import copy
from torch import nn
layer = nn.Linear(3, 4)
shared = [layer, layer]
copied = copy.deepcopy(shared)
result = copied[0].weight, layer.weight, copied[0] is copied[1], copied[0] is layer
"""
    copied, original, still_shared, same = evaluate(program)[0]["result"]
    assert still_shared
    assert not same
    assert isinstance(copied, Tensor)
    assert copied is not original
    assert copied.shape == original.shape == (4, 3)
