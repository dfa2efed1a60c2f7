"""Peaks of a timeline, its envelope, and the largest batch that fits, rounding included."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.memory.estimate import Line, Live, Moment
from flake8_cnnmem.memory.timeline import Timeline, upper_envelope

LINES = st.builds(Line, st.integers(0, 5000), st.integers(0, 5000))


def timeline(sizes: list[Line], releases: list[int]) -> Timeline:
    """Allocations in order, with some of them released again in between."""
    made = Timeline(512)
    for at, line in enumerate(sizes):
        lot = made.lot(line, "kept")
        block = made.come(lot)
        if at in releases:
            made.go(lot, block)
    return made


def test_every_tensor_is_rounded_up() -> None:
    made = timeline([Line(1), Line(0, 100), Line(512)], [])
    assert made.peak(1) == 3 * 512
    assert made.peak(6) == 512 + 1024 + 512


def test_the_moment_of_the_peak_is_named() -> None:
    made = Timeline(512)
    made.come(made.lot(Line(1000), "parameters"))
    made.mark("forward", "conv1")
    lot = made.lot(Line(0, 512), "temporaries")
    made.go(lot, made.come(lot))
    made.mark("optimizer")
    made.come(made.lot(Line(512), "stepping"))
    live = Live(parameters=1024, temporaries=2048)
    assert made.at_peak(4) == ({"parameters": 1024, "temporaries": 2048}, Moment("forward", "conv1", None, live))
    assert str(made.at_peak(4)[1]) == "in the forward pass, at conv1"


def test_every_moment_tells_its_highest_point() -> None:
    made = Timeline(512)
    made.come(made.lot(Line(1000), "parameters"))
    made.mark("forward", "conv1")
    lot, stepping = made.lot(Line(0, 512), "temporaries"), made.lot(Line(512), "stepping")
    block = made.come(lot)
    made.come(made.lot(Line(0, 1024), "kept"))
    made.go(lot, block)
    made.mark("optimizer")
    made.go(stepping, made.come(stepping))
    made.put_first([Line(2000)], "optimizer")
    assert made.moments(2) == (
        Moment("start", "", None, Live(parameters=1024, optimizer=2048)),
        Moment("forward", "conv1", None, Live(parameters=1024, optimizer=2048, temporaries=1024, kept=2048)),
        Moment("optimizer", "", None, Live(parameters=1024, optimizer=2048, kept=2048, temporaries=512)),
    )


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
