"""Room for deep calls: what the function gives and raises is its own, and its calls cost no page faults."""

from __future__ import annotations

import resource

import pytest

from flake8_cnnmem.running.frame_stack import with_room_below


def descend(depth: int) -> int:
    # Through `*args`, as the evaluator calls: each such call is a frame on the chunks of the stack.
    return descend(*(depth - 1,)) + 1 if depth else 0


def faults_of_many_depths() -> int:
    """Page faults of calls that go back and forth over every depth up to 400."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for depth in range(400):
        for _ in range(5):
            descend(depth)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_what_it_gives_is_the_functions_own() -> None:
    assert with_room_below(descend)(7) == 7
    assert with_room_below(descend).__name__ == "descend"


def test_what_it_raises_is_the_functions_own() -> None:
    with pytest.raises(TypeError):
        with_room_below(descend)("no depth")  # type: ignore[arg-type]


def test_calls_below_cost_no_page_faults() -> None:
    with_room_below(faults_of_many_depths)()
    assert with_room_below(faults_of_many_depths)() < 100
