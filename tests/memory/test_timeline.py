"""Peaks of a timeline, its envelope, and the largest batch that fits, rounding included."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.timeline import Timeline, upper_envelope

LINES = st.builds(Line, st.integers(0, 5000), st.integers(0, 5000))


def timeline(sizes: list[Line], releases: list[int]) -> Timeline:
    """Allocations in order, with some of them released again in between."""
    made = Timeline(512)
    for at, line in enumerate(sizes):
        made.change(line, 1, "activations")
        if at in releases:
            made.change(line, -1, "activations")
    return made


def test_every_tensor_is_rounded_up() -> None:
    made = timeline([Line(1), Line(0, 100), Line(512)], [])
    assert made.peak(1) == 3 * 512
    assert made.peak(6) == 512 + 1024 + 512


def test_the_moment_of_the_peak_is_named() -> None:
    made = Timeline(512)
    made.mark("first")
    made.change(Line(1000), 1, "parameters")
    made.mark("second")
    made.change(Line(0, 512), 1, "activations")
    made.change(Line(0, 512), -1, "activations")
    made.mark("third")
    made.change(Line(512), 1, "optimizer")
    assert made.at_peak(4) == ({"parameters": 1024, "activations": 2048}, "second")
    assert made.at_peak(1) == ({"parameters": 1024, "activations": 512}, "second")


@given(st.lists(LINES, min_size=1, max_size=8), st.integers(1, 100_000))
def test_the_envelope_is_the_maximum(lines: list[Line], batch: int) -> None:
    assert max(line.at(batch) for line in upper_envelope(lines)) == max(line.at(batch) for line in lines)


@given(st.lists(LINES, min_size=1, max_size=12), st.lists(st.integers(0, 11)), st.integers(0, 10**7))
def test_the_largest_batch_is_exact(sizes: list[Line], releases: list[int], limit: int) -> None:
    made = timeline(sizes, releases)
    largest = made.largest_batch(limit, most=10**6)
    if largest:
        assert made.peak(largest) <= limit
    if largest < 10**6:
        assert made.peak(largest + 1) > limit


@given(st.lists(LINES, min_size=1, max_size=12), st.lists(st.integers(0, 11)), st.integers(1, 1000))
def test_the_envelope_bounds_the_peak_from_below(sizes: list[Line], releases: list[int], batch: int) -> None:
    made = timeline(sizes, releases)
    lowest = max((line.at(batch) for line in made.envelope()), default=0)
    assert lowest <= made.peak(batch) <= lowest + made.slack()
