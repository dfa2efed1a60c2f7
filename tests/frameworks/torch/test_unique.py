"""torch.unique gives as many axes as PyTorch does: the sizes that values decide are not known, the others are."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran


def shape_of(value: Any) -> Any:
    assert isinstance(value, Tensor)
    return [None if isinstance(size, Unknown) else size for size in value.shape]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        # Measured with torch 2.13 on torch.randn(2, 3, 4); None for what depends on the values.
        ("torch.unique(x)", [[None]]),
        ("x.unique(dim=1)", [[2, None, 4]]),
        ("torch.unique(x, dim=-1, return_inverse=True)", [[2, 3, None], [4]]),
        ("torch.unique(x, return_inverse=True, return_counts=True)", [[None], [2, 3, 4], [None]]),
        ("torch.unique(x, dim=0, return_counts=True)", [[None, 3, 4], [None]]),
        ("torch.unique_consecutive(x, dim=2)", [[2, 3, None]]),
        ("torch.unique_consecutive(x, return_inverse=True)", [[None], [2, 3, 4]]),
    ],
)
def test_unique_keeps_the_axes(call: str, shapes: list[list[int | None]]) -> None:
    found = Ran(f"import torch\nx = torch.randn(2, 3, 4)\ny = {call}\n")["y"]
    found = found if isinstance(found, tuple) else (found,)
    assert [shape_of(each) for each in found] == shapes
