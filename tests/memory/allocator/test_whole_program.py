"""A program in one loop, beside the allocator that takes it event by event."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake8_cnnmem.memory.allocator import allocator_for
from flake8_cnnmem.memory.allocator.caching import DEFAULTS, OutOfMemory
from flake8_cnnmem.memory.allocator.card import PRECISION, OnCard, replay
from flake8_cnnmem.memory.allocator.program import Program
from flake8_cnnmem.memory.allocator.settings import MIB
from flake8_cnnmem.memory.allocator.whole_program import run_whole
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.replay_result import Replayed

SIZES = st.one_of(st.integers(1, 4096), st.integers(1, 2 * MIB), st.integers(1, 30 * MIB))
LOTS = st.lists(st.builds(Line, st.one_of(st.just(0), SIZES), st.one_of(st.just(0), SIZES)), min_size=1, max_size=6)
EVENTS = st.lists(st.one_of(st.integers(0, 50), st.integers(-50, -1)), max_size=80)
"""Lots that are asked for, and places among what is held of what is given back."""


def program_of(lots: list[Line], events: list[int]) -> Program:
    requests: list[int] = []
    held: list[int] = []
    for event in events:
        if event >= 0:
            held.append(len(requests))
            requests.append(event % len(lots))
        elif held:
            requests.append(-1 - held.pop(event % len(held)))
    return Program(tuple(lots), tuple(requests))


def by_events(program: Program, batch: int, room: int | None) -> tuple[int, int] | None:
    try:
        allocator = replay(program, batch, allocator_for(room))
    except OutOfMemory:
        return None
    return allocator.most_allocated, allocator.most_reserved


@settings(max_examples=80)
@given(LOTS, EVENTS, st.integers(1, 3), st.sampled_from([1.0, 0.95, 0.8, 0.5]))
def test_it_is_what_the_allocator_does(lots: list[Line], events: list[int], batch: int, share: float) -> None:
    program = program_of(lots, events)
    free = by_events(program, batch, None)
    assert run_whole(program, batch, None) == free
    assert free is not None
    room = int(free[1] * share)
    assert run_whole(program, batch, room) == by_events(program, batch, room)


@pytest.mark.parametrize(
    ("room", "reached"),
    [
        pytest.param(None, (14 * MIB, 26 * MIB), id="as much as it wants"),
        pytest.param(16 * MIB, (14 * MIB, 14 * MIB), id="the first segment is given back"),
        pytest.param(13 * MIB, None, id="not enough"),
    ],
)
def test_segments_are_given_back(room: int | None, reached: tuple[int, int] | None) -> None:
    program = Program((Line(12 * MIB), Line(14 * MIB)), (0, -1, 1))
    assert run_whole(program, 1, room) == by_events(program, 1, room) == reached


@pytest.mark.parametrize(
    ("room", "needed"),
    [
        pytest.param(40 * MIB, 26 * MIB, id="room for all segments"),
        pytest.param(20 * MIB, 14 * MIB, id="the first segment is given back"),
        pytest.param(13 * MIB, 14 * MIB, id="the least room that it does with"),
        pytest.param(MIB, 14 * MIB, id="far from fitting"),
    ],
)
def test_what_a_step_needs_of_a_card(room: int, needed: int) -> None:
    program = Program((Line(12 * MIB), Line(14 * MIB)), (0, -1, 1))
    replayed = cast("Replayed", SimpleNamespace(batch=1))
    card = OnCard(replayed, workspace=0, visible=PRECISION * MIB, settings=DEFAULTS, _programs={1: program})
    found = card.at(1, room)
    assert (found.allocated, found.needed) == (14 * MIB, needed)
    assert found.reserved == (14 * MIB if room == 20 * MIB else 26 * MIB)
