"""What makes a tensor puts it where `device` says; what is made like another one lies beside that."""

from __future__ import annotations

import pytest

from flake8_cnnmem.graph import Tensor
from tests.frameworks.torch.code import Ran

MAKERS = (
    "zeros(3", "ones(3", "empty(3", "rand(3", "randn(3", "full((3,), 1", "randint(0, 4, (3,)", "randperm(3",
    "arange(3", "range(0, 3", "linspace(0, 1, 3", "logspace(0, 1, 3", "eye(3", "tensor([1, 2]", "as_tensor([1, 2]",
    "normal(0.0, 1.0, (3,)", "tril_indices(3, 3", "triu_indices(3, 3", "hann_window(3",
)  # fmt: skip
COPIERS = (
    "torch.zeros_like(x", "torch.rand_like(x", "torch.full_like(x, 2", "torch.randint_like(x, 2", "x.new_zeros((3,)",
    "x.new_full((3,), 1", "x.new_empty((3,)",
)  # fmt: skip


def places(code: str) -> list[bool]:
    ran = Ran(f"import torch\n{code}")
    assert ran.failures == []
    found = [ran[name] for name in ("told", "host", "silent")]
    assert all(isinstance(tensor, Tensor) for tensor in found)
    return [isinstance(tensor, Tensor) and tensor.moved for tensor in found]


@pytest.mark.parametrize("maker", MAKERS)
def test_a_tensor_lies_where_it_is_made(maker: str) -> None:
    made = f"torch.{maker}"
    code = f"told = {made}, device='cuda')\nhost = {made}, device='cpu')\nsilent = {made})\n"
    assert places(code) == [True, False, False]


@pytest.mark.parametrize("copier", COPIERS)
def test_a_tensor_lies_beside_what_it_is_made_like(copier: str) -> None:
    code = f"x = torch.zeros(3)\ntold = {copier}, device='cuda')\nhost = {copier})\nx = x.cuda()\nsilent = {copier})\n"
    assert places(code) == [True, False, True]
