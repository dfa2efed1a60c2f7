"""Window arithmetic against windows counted one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.dims import Batch, Size
from flake8_cnnmem.ops.windows import Window, window, window_same
from flake8_cnnmem.unknown import Unknown

sides = st.integers(1, 40)
small = st.integers(1, 6)


def counted(size: int, kernel: int, stride: int, before: int, after: int, dilation: int, ceil: bool) -> int:
    """How many windows there are, by trying every start in the padded input. Without `ceil` they must fit into it;
    with `ceil` the last may hang over the end by less than a stride, if it starts before the padding behind."""
    span = dilation * (kernel - 1) + 1
    end = size + before + after
    if not ceil:
        return len([start for start in range(0, end, stride) if start + span <= end])
    return len([start for start in range(0, size + before, stride) if start + span < end + stride])


@given(sides, small, small, st.integers(0, 3), st.integers(0, 3), st.integers(1, 3))
def test_formula_counts_windows(size: int, kernel: int, stride: int, before: int, after: int, dilation: int) -> None:
    expected = counted(size, kernel, stride, before, after, dilation, False)
    assert max(0, int_of(window(size, kernel, stride, before, after, dilation))) == expected


@given(sides, small, small, st.data(), st.integers(1, 3))
def test_formula_counts_windows_rounding_up(
    size: int, kernel: int, stride: int, data: st.DataObject, dilation: int
) -> None:
    """Only pools round up, and their padding is the same on both sides and at most half the kernel."""
    pad = data.draw(st.integers(0, kernel // 2))
    expected = counted(size, kernel, stride, pad, pad, dilation, True)
    assert max(0, int_of(window(size, kernel, stride, pad, pad, dilation, True))) == expected


def int_of(size: Size) -> int:
    assert isinstance(size, int)
    return size


@given(sides, small)
def test_same_puts_a_window_on_every_stride(size: int, stride: int) -> None:
    assert window_same(size, stride) == len(range(0, size, stride))


@given(sides, small, small, st.integers(0, 2), st.integers(1, 3))
def test_dropped_rows_are_those_behind_the_last_window(
    size: int, kernel: int, stride: int, pad: int, dilation: int
) -> None:
    window_ = Window((kernel,), (stride,), ((pad, pad),), (dilation,))
    number = int_of(window(size, kernel, stride, pad, pad, dilation))
    dropped = window_.dropped((Batch(1), 3, size), 2)
    if number < 1:
        assert dropped == ()
        return
    span = dilation * (kernel - 1) + 1
    read = (number - 1) * stride - pad + span
    gap = max(0, stride - span)
    assert dropped == (((2, size - read - gap),) if size - read > gap else ())


@given(st.lists(st.one_of(small, st.just(Unknown("?"))), min_size=5, max_size=5))
def test_unknown_absorbs(values: list[Size]) -> None:
    found = window(values[0], values[1], values[2], values[3], values[4])
    assert isinstance(found, Unknown) == any(isinstance(value, Unknown) for value in values)
