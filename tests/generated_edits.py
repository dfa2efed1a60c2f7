"""What the programs of tests/generated.py do to their models beside the layers that run: edits of containers, frozen
parts, tied weights, tests and lists that nobody knows, layers that are never called. By hand only, see there.

An edit is lines of `__init__`, or lines behind the construction of `model`; it may use layers that it makes itself and
those that there are, and leaves every shape as it is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests import generated_surgery

HEAD = f"""\
{generated_surgery.HEAD}\
import copy
import itertools
import os


def some():
    return os.listdir("/proc/self/fd")


"""
UNSURE = ("some()", "'0' in some()", "len(some()) > 1", "not some()", "'zz' in some()")
"""Tests that have an answer, which no reader of the program knows."""

Edit = Callable[[random.Random, str], str]
"""Given chance, and what the model is called, `model` or `self`: the lines."""


REFUSED = (
    "nn.Conv2d(3, 5, 3, groups=2)", "nn.GroupNorm(3, 4)", "nn.Dropout(2.0)", "nn.Linear(4 / 2, 1)", "nn.LSTM(3, 0)",
    "nn.MultiheadAttention(10, 3)", "nn.Embedding(4, 2, padding_idx=9)",
)  # fmt: skip


def small(rng: random.Random, name: str) -> str:
    """A layer that nobody calls; rarely, within the model's own constructor, one that its constructor refuses."""
    if rng.random() < 0.03 and name == "self":
        return rng.choice(REFUSED)
    width = rng.randint(1, 4)
    return rng.choice([f"nn.Linear({width}, {width})", f"nn.Linear({width}, 2, bias=False)", f"nn.LayerNorm({width})",
                       f"nn.Conv2d(4, {2 * width}, 1, groups=2)", f"nn.Embedding({width}, 2)"])  # fmt: skip


def container(rng: random.Random, name: str) -> str:
    """A Sequential or ModuleList that is changed a few times."""
    inside = ", ".join(small(rng, name) for _ in range(rng.randint(2, 4)))
    # A chain that stands by itself is a model of its own, whose layers have to fit.
    lines = [
        f"s = nn.Sequential({inside})" if name == "self" and rng.random() < 0.5 else f"s = nn.ModuleList([{inside}])"
    ]
    for _ in range(rng.randint(1, 3)):
        one, at = small(rng, name), rng.randint(-2 if name == "self" else 0, 1)
        lines.append(rng.choice([
            f"s.append({one})", f"s.insert({at}, {one})", f"s[{at}] = {one}", f"s.extend([{one}])", "s = s[1:]",
            "s = s[:-1]", "s = s[::-1]", "del s[0]", f"s.pop({rng.choice([0, -1])})", "s += s[:1]",
            f"s.add_module('{rng.randint(0, 3)}', {one})", "s = copy.deepcopy(s)",
        ]))  # fmt: skip
    return "\n".join([*lines, f"{name}.{rng.choice('pq')} = s"])


def dictionary(rng: random.Random, name: str) -> str:
    """A ModuleDict that is changed a few times."""
    lines = [f"d = nn.ModuleDict({{'a': {small(rng, name)}, 'b': {small(rng, name)}}})"]
    for _ in range(rng.randint(1, 3)):
        key, one = rng.choice("abc"), small(rng, name)
        lines.append(rng.choice([
            f"d['{key}'] = {one}", f"d.update({{'{key}': {one}}})", "d['z'] = d.pop('a') if 'a' in d else d['b']",
            f"d['{key}'] = d['b'] if 'b' in d else {one}",
        ]))  # fmt: skip
    return "\n".join([*lines, f"{name}.d = d"])


FREEZING = (
    "it = iter(OWN)\nnext(it)\nfor p in it:\n    p.requires_grad = False",
    "it = OWN\nn = len(list(it))\nfor p in it:\n    p.requires_grad = False",
    "for p, flag in zip(OWN, [False, True]):\n    p.requires_grad_(flag)",
    "for p in itertools.islice(OWN, 1, None, 2):\n    p.requires_grad = False",
    "for p in filter(lambda p: p.dim() < 2, OWN):\n    p.requires_grad = False",
    "for n, p in NAME.named_parameters():\n    p.requires_grad = 'bias' not in n",
    "for n, p in NAME.named_parameters():\n    p.requires_grad = not n.startswith('m1')",
    "NAME.requires_grad_(False)\nfor p in OWN:\n    p.requires_grad = p.dim() == 1",
    "[p.requires_grad_(False) for p in OWN if p.numel() > 9]",
    "if UNSURE:\n    for p in OWN:\n        p.requires_grad = False",
    "[p.requires_grad_(False) for _ in some() for p in OWN]",
    "for each in some():\n    if each == '0':\n        NAME.m1.requires_grad_(False)\n        break",
)
"""Parameters frozen by an iterator that is used up, cut or joined with something shorter, and by what nobody knows."""

DECIDED = (
    "if UNSURE:\n    NAME.u = ONE",
    "NAME.u = ONE if UNSURE else OTHER",
    "f = 0\nfor each in some():\n    if each == '0':\n        f = 1\n        break\nNAME.u = ONE if f else OTHER",
    "flag = 0\nfor each in some():\n    flag = 1\n    if each == 'zz':\n        break\nNAME.u = nn.Linear(flag + 1, 1)",
    "for each in some():\n    if each == 'zz':\n        break\nelse:\n    NAME.u = ONE",
    "s = []\nfor i in range(4):\n    if i and UNSURE:\n        break\n    s.append(ONE)\nNAME.u = nn.ModuleList(s)",
    "s = []\nfor at in range(3):\n    if UNSURE:\n        continue\n    s.append(ONE)\nNAME.u = nn.ModuleList(s)",
    "[setattr(NAME, f'u{each}', ONE) for each in some()]",
    "list(map(lambda each: NAME.add_module('u' + each, ONE), some()))",
    "def build():\n    if UNSURE:\n        return ONE\n    return OTHER\nNAME.u = build()",
    "def build():\n    if UNSURE:\n        return\n    NAME.u = ONE\nbuild()",
    "def build():\n    for each in some():\n        if each == 'zz':\n            return\n    NAME.u = ONE\nbuild()",
    "try:\n    if UNSURE:\n        raise ValueError\n    NAME.u = ONE\nexcept ValueError:\n    NAME.v = OTHER",
    "n = 0\nwhile UNSURE and n < 2:\n    n += 1\nNAME.u = nn.Linear(n + 1, 1)",
    "n = 0\nwhile True:\n    n += 1\n    if UNSURE or n > 2:\n        break\nNAME.u = nn.Linear(n, 1)",
    "width = 2\nif UNSURE:\n    width = 3\nNAME.u = nn.Linear(width, 1)",
    "d = {}\nif UNSURE:\n    d['w'] = 3\nNAME.u = nn.Linear(d.get('w', 2), 1)",
)
"""Layers and sizes that a test, a list or a loop of unknown turns decides about."""

LATE = (
    "k = 2\ng = (nn.Linear(k, at) for at in (1, 2))\nk = 3\nNAME.l = nn.ModuleList(g)",
    "fs = [lambda: nn.Linear(k, 1) for k in range(1, 4)]\nNAME.l = nn.ModuleList(f() for f in fs)",
    "k = 2\nf = lambda k=k: nn.Linear(k, 1)\nk = 3\nNAME.l = f()",
    "it = iter(range(1, 6))\nNAME.l = nn.ModuleList(nn.Linear(i, j) for i, j in zip(it, it))",
    "g = (nn.Linear(at, 1) for at in range(1, 4))\nNAME.l = nn.ModuleList(g)\nNAME.k = nn.ModuleList(g)",
    "def add(x, seen=[]):\n    seen.append(x)\n    return nn.ModuleList(seen)\nNAME.l = add(ONE)\nNAME.k = add(OTHER)",
)
"""Names that are bound anew before what reads them runs, defaults, and iterators that two share."""

TIED = (
    "NAME.e.weight = nn.Parameter(torch.ones(3, 3))", "NAME.f = copy.deepcopy(NAME.f)", "del NAME.e.bias",
    "NAME.f.bias = None", "NAME.e = NAME.f", "del NAME.e", "NAME.e.weight.requires_grad = False",
    "NAME.g = nn.ModuleList([NAME.e, NAME.f, NAME.e])",
    "NAME.f.weight = nn.Parameter(NAME.f.weight.data)", "NAME.e.load_state_dict(copy.deepcopy(NAME.f).state_dict())",
)  # fmt: skip
"""Weights that two layers have, or one has no more."""


def from_texts(texts: Sequence[str], before: str = "") -> Edit:
    """An edit that is one of these."""

    def edit(rng: random.Random, name: str) -> str:
        own = f"{name}.{rng.choice(['parameters()', 'parameters()', 'm1.parameters()'])}"
        words = {
            "UNSURE": rng.choice(UNSURE),
            "ONE": small(rng, name),
            "OTHER": small(rng, name),
            "OWN": own,
            "NAME": name,
        }
        text = before + rng.choice(texts)
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    return edit


def sometimes(rarely: Edit, otherwise: Edit, chance: float) -> Edit:
    def edit(rng: random.Random, name: str) -> str:
        return (rarely if rng.random() < chance else otherwise)(rng, name)

    return edit


TYING = "NAME.e, NAME.f = nn.Linear(3, 3), nn.Linear(3, 3)\nNAME.f.weight = NAME.e.weight\n"
CHANGED = from_texts(generated_surgery.CHANGED, TYING)
HOOKED = from_texts(generated_surgery.HOOKED, TYING)
"""Hooks and other changes: of two layers whose weight is one, or of those that run."""
REFUSED_CALL = from_texts(generated_surgery.REFUSED, TYING)
EDITS: tuple[Edit, ...] = (
    CHANGED, CHANGED, sometimes(REFUSED_CALL, CHANGED, 0.12), HOOKED,
    container, dictionary, from_texts(FREEZING), from_texts(DECIDED), from_texts(DECIDED), from_texts(LATE),
    from_texts(TIED, TYING),
)  # fmt: skip


def edits(seed: int) -> tuple[list[str], list[str]]:
    """A few edits: lines of `__init__` behind its layers, and lines behind the model's construction."""
    rng = random.Random(-1 - seed)
    within = [line for _ in range(rng.randint(0, 2)) for line in rng.choice(EDITS)(rng, "self").split("\n")]
    behind = [line for _ in range(rng.randint(0, 2)) for line in rng.choice(EDITS)(rng, "model").split("\n")]
    return within, behind
