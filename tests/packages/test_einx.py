"""einx by the names of axes, a row for a pattern: dtypes and shapes as einx 0.4 gives them on PyTorch's tensors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frameworks.torch.code import HEAD, Ran, shapes

AT = "torch.zeros(2, 3, dtype=torch.long)"
FOUND: dict[str, list[Any]] = {
    "einx.subtract('j, i -> i j', T(4), T(3))": ["float32", 3, 4],
    "einx.subtract('i, j -> 1 1 i j', T(4), T(3))": ["float32", 1, 1, 4, 3],
    "einx.subtract('... j, ... i -> ... i j', T(2, 7, 4), T(2, 7, 3))": ["float32", 2, 7, 3, 4],
    "einx.multiply('b n d, b', T(2, 3, 4), T(2))": ["float32", 2, 3, 4],
    "einx.where('b n, b n d, -> b n d', T(2, 3) > 0, T(2, 3, 4), 0.)": ["float32", 2, 3, 4],
    "einx.less('j, i -> i j', T(5), T(3))": ["bool", 3, 5],
    "einx.add('a b c, c a -> b c a', T(2, 3, 4), T(4, 2))": ["float32", 3, 4, 2],
    "einx.sum('b [n] d', T(2, 3, 4))": ["float32", 2, 4],
    "einx.mean('b n d -> b d', T(2, 3, 4))": ["float32", 2, 4],
    "einx.dot('b [c], [c] d -> b d', T(2, 3), T(3, 5))": ["float32", 2, 5],
    f"einx.get_at('b [n] d, b k -> b k d', T(2, 6, 4), {AT})": ["float32", 2, 3, 4],
    "einx.softmax('b [n]', T(2, 3))": ["float32", 2, 3],
    "einx.id('a (b c) -> b a c', T(2, 6), b=3)": ["float32", 3, 2, 2],
}


@pytest.mark.parametrize(("code", "wanted"), FOUND.items(), ids=FOUND)
def test_pattern(code: str, wanted: list[Any]) -> None:
    assert shapes(Ran(f"{HEAD}import einx\nT = torch.ones\nx = {code}\n")["x"]) == [wanted]


@pytest.mark.parametrize("pattern", ["'(a b), a'", "'a b'", "'a, b, c -> d'", "'a b -> b a -> a'"])
def test_what_is_not_followed_is_a_cause(pattern: str) -> None:
    found = shapes(Ran(f"{HEAD}import einx\nx = einx.add({pattern}, torch.ones(4), torch.ones(2))\n")["x"])
    assert found == "unknown: a pattern of einx is not followed"
