"""Which kernel attention takes on a card, and what it holds, against what PyTorch's CUDA code does
(fixtures/truth/cuda_attention.json)."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.frameworks.rules import New
from flake8_cnnmem.frameworks.torch.saved_by_attention import EFFICIENT, FLASH
from flake8_cnnmem.memory import attention
from flake8_cnnmem.memory.chips import CHIPS, Chip
from flake8_cnnmem.memory.dtypes import size_of
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.ops import ScaledDotProduct
from tests.memory.evaluated import truth

TRUTH = truth("cuda_attention")
CARDS = {"a100": CHIPS["A100-40GB"], "t4": CHIPS["T4"]}
NODES = {
    "ScaledDotProductEfficientAttentionBackward0": "efficient",
    "ScaledDotProductFlashAttentionBackward0": "flash",
    "SliceBackward0": "flash, padded",
    "UnsafeViewBackward0": "math",
    "ToCopyBackward0": "math, in full",
}
CASES = [(card, {**TRUTH["defaults"], **row}) for card, rows in TRUTH["cards"].items() for row in rows]


def name_of(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    varied = {key: one for key, one in value.items() if TRUTH["defaults"].get(key, one) != one}
    return ", ".join([value["dtype"], *(f"{key} {one}" for key, one in varied.items())])


def operands(case: dict[str, Any]) -> list[Value]:
    memory = Memory(Timeline(1), 1)
    n, heads, shared = case["batch"], case["heads"], case["heads"] // case["shared"]
    width = case["width"]
    shapes = [(n, heads, case["queries"], width), (n, shared, case["keys"], width)]
    shapes.append((n, shared, case["keys"], case["value_width"] or width))
    found = [memory.new(shape, case["dtype"]) for shape in shapes]
    for value in found:
        value.grad = True
    if case["mask"] is not None:
        found.append(memory.new(tuple(case["mask"]), case["dtype"]))
    return found


def chosen(case: dict[str, Any], chip: Chip) -> str:
    op = ScaledDotProduct(case["dropout"], case["causal"], grouped=case["shared"] > 1)
    return attention.kernel(op, operands(case), None, chip)[0]


@pytest.mark.parametrize(("card", "case"), CASES, ids=name_of)
def test_the_kernel_is_the_one_that_pytorch_dispatches_to(card: str, case: dict[str, Any]) -> None:
    plain = chosen(case, CARDS[card]).removesuffix(", masked").replace("dropped, ", "").replace(", dropped", "")
    assert plain == NODES[case["node"]]


FUSED = [(card, case) for card, case in CASES if "Attention" in case["node"] and card == "a100"]
STATES = 24
"""Bytes of the random numbers' state."""


def most(groups: tuple[tuple[New, ...], ...], shape: tuple[int, ...], found: list[Value]) -> int:
    """The bytes of the largest group of temporaries, at a batch that is a number."""
    sums: list[int] = []
    for group in groups:
        sums.append(0)
        for new in group:
            values = attention.QUANTITIES[new.of](shape, found)
            assert isinstance(values, int)
            sums[-1] += values * (new.bytes or size_of(found[0].dtype)) * new.times
    return max(sums)


@pytest.mark.parametrize(("card", "case"), FUSED, ids=name_of)
def test_its_workspaces_are_those_that_pytorch_asks_for(card: str, case: dict[str, Any]) -> None:
    found = operands(case)
    shape = (case["batch"], case["heads"], case["queries"], case["width"])
    if "Flash" in case["node"]:
        result = case["batch"] * case["heads"] * case["queries"] * case["width"] * size_of(case["dtype"])
        copies = 0 if case["inside"] else 2 * result
        assert most(FLASH, shape, found) == case["backward"] - copies
        assert case["batch"] * case["heads"] * case["queries"] * 4 == case["kept"] - STATES
    else:
        assert most(EFFICIENT, shape, found) == case["backward"]
        mask = attention.bias(shape, found) if case["mask"] is not None and case["mask"][-1] % 8 else 0
        assert isinstance(mask, int)
        rows = attention.rows_of(shape, found)
        assert isinstance(rows, int)
        assert rows * 4 + mask * size_of(case["dtype"]) == case["kept"]
