"""Strides, as torch gives them (checked by hand against torch 2.13)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.ops import strides as layout

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=5).map(tuple)


@pytest.mark.parametrize(
    ("sizes", "strides", "target", "expected"),
    [
        pytest.param((4, 6), (6, 1), (4, 2, 3), (6, 3, 1), id="an axis is split"),
        pytest.param((4, 2, 3), (6, 3, 1), (24,), (1,), id="a contiguous tensor is flattened"),
        pytest.param((3, 4), (1, 3), (12,), None, id="a transposed one cannot be"),
        pytest.param((2, 3, 4), (1, 8, 2), (2, 12), (1, 2), id="axes that lie next to each other are joined"),
        pytest.param((2, 3, 4), (1, 2, 6), (2, 12), None, id="axes in the other order are not"),
        pytest.param((2, 1, 4), (4, 99, 1), (8,), (1,), id="the stride of an axis of one value does not count"),
        pytest.param((2, 3), (0, 1), (6,), None, id="a repeated axis is copied"),
        pytest.param((), (), (1, 1), (1, 1), id="a single value"),
    ],
)
def test_reshape(
    sizes: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], expected: tuple[int, ...] | None
) -> None:
    assert layout.reshape(sizes, strides, target) == expected


@pytest.mark.parametrize(
    ("sizes", "strides", "last"),
    [
        pytest.param((2, 8, 4, 4), (128, 16, 4, 1), False, id="contiguous"),
        pytest.param((2, 8, 4, 4), (128, 1, 32, 8), True, id="channels last"),
        pytest.param((2, 8, 1, 1), (8, 1, 1, 1), False, id="a pooled map is contiguous"),
        pytest.param((2, 8, 1, 1), (8, 1, 8, 8), True, id="a pooled map of a channels-last one"),
        pytest.param((2, 1, 4, 4), (16, 16, 4, 1), False, id="one channel"),
        pytest.param((2, 8, 3, 4, 4), (384, 1, 128, 32, 8), True, id="three sides"),
        pytest.param((2, 8, 4), (32, 1, 8), False, id="one side has no such layout"),
    ],
)
def test_channels_last(sizes: tuple[int, ...], strides: tuple[int, ...], last: bool) -> None:
    assert layout.is_channels_last(sizes, strides) is last


def test_arithmetic_keeps_the_order_of_its_first_operand() -> None:
    sizes = (2, 8, 4, 4)
    last, first = layout.channels_last(sizes), layout.contiguous(sizes)
    assert layout.elementwise(sizes, [(sizes, last), (sizes, first)]) == last
    assert layout.elementwise(sizes, [(sizes, first), (sizes, last)]) == first
    assert layout.elementwise(sizes, [(sizes, last), ((8, 1, 1), (1, 1, 1))]) == last


def test_arithmetic_on_a_part_fills_its_result_densely() -> None:
    # q of a packed projection: (N, heads, L, d) with strides of (N, L, 3, heads, d).
    assert layout.elementwise((2, 3, 5, 4), [((2, 3, 5, 4), (180, 4, 36, 1))]) == (60, 4, 12, 1)


@given(sizes=SIZES)
def test_contiguous_tensors_are_contiguous_and_dense(sizes: tuple[int, ...]) -> None:
    strides = layout.contiguous(sizes)
    assert layout.is_contiguous(sizes, strides)
    assert layout.is_dense(sizes, strides)
    assert layout.reshape(sizes, strides, (math.prod(sizes),)) == (1,)


@given(sizes=SIZES, data=st.data())
def test_a_permuted_tensor_flattens_only_if_contiguous(sizes: tuple[int, ...], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(sizes))))
    strides = layout.contiguous(sizes)
    own, moved = tuple(sizes[at] for at in order), tuple(strides[at] for at in order)
    assert layout.is_dense(own, moved)
    assert (layout.reshape(own, moved, (math.prod(own),)) is not None) == layout.is_contiguous(own, moved)
    assert layout.reshape(own, moved, own) is not None
