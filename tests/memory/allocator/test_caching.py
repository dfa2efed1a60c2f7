"""The allocator against PyTorch's own: what it reserved after each of the events of a few training steps."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake8_cnnmem.memory.allocator import allocator_for
from flake8_cnnmem.memory.allocator.caching import Block, CachingAllocator, OutOfMemory, next_division
from flake8_cnnmem.memory.allocator.settings import AllocatorSettings, BadAllocatorSettings, parsed

MIB = 1 << 20
TRUTH = Path(__file__).parents[3] / "fixtures" / "truth" / "allocator.json.gz"
CASES = json.loads(gzip.decompress(TRUTH.read_bytes()))["cases"]


def of_case(case: dict[str, Any]) -> CachingAllocator:
    fraction = f",per_process_memory_fraction:{case['fraction']!r}" if case["fraction"] else ""
    return allocator_for(case["card"], parsed((case["settings"] + fraction).strip(",")), case["card"])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_event_reserves_what_pytorch_reserves(case: dict[str, Any]) -> None:
    allocator = of_case(case)
    held: dict[int, Block] = {}
    reserved = [[-1, 0]]
    for at, event in enumerate(case["events"]):
        if event < 0:
            allocator.release(held.pop(-1 - event))
        else:
            held[at] = allocator.allocate(event)
        if allocator.reserved != reserved[-1][1]:
            reserved.append([at, allocator.reserved])
    if case["failed"]:
        with pytest.raises(OutOfMemory):
            allocator.allocate(case["failed"])
    assert reserved[1:] == case["reserved"]
    assert allocator.most_allocated == case["most_allocated"]
    assert allocator.most_reserved == case["most_reserved"]
    assert allocator.retries == case["retries"]


def test_the_cases_come_to_all_that_the_allocator_does() -> None:
    assert {bool(case["failed"]) for case in CASES} == {True, False}
    assert any(case["retries"] for case in CASES if not case["failed"])


@pytest.mark.parametrize(
    ("asked", "reserved"),
    [
        pytest.param(1, 2 * MIB, id="a single value"),
        pytest.param(MIB, 2 * MIB, id="the largest small request"),
        pytest.param(MIB + 1, 20 * MIB, id="the smallest large request"),
        pytest.param(10 * MIB - 512, 20 * MIB, id="the largest that shares a segment"),
        pytest.param(10 * MIB, 10 * MIB, id="the smallest with a segment of its own"),
        pytest.param(10 * MIB + 1, 12 * MIB, id="rounded up to whole pages"),
    ],
)
def test_segments(asked: int, reserved: int) -> None:
    allocator = CachingAllocator()
    allocator.allocate(asked)
    assert allocator.reserved == reserved


def test_a_large_block_is_handed_out_whole_unless_more_than_a_mebibyte_is_left() -> None:
    for rest, allocated in ((MIB, 12 * MIB), (MIB + 512, 11 * MIB - 512)):
        allocator = CachingAllocator()
        allocator.release(allocator.allocate(12 * MIB))
        assert allocator.allocate(12 * MIB - rest).size == allocated


PROGRAMS = st.lists(st.one_of(st.integers(1, 2 * MIB), st.integers(1, 40 * MIB), st.integers(-100, -1)), max_size=40)
"""Requests, and places among what is held of what is given back."""


@settings(max_examples=40)
@given(PROGRAMS, st.sampled_from(["", "max_split_size_mb:24", "expandable_segments:True"]))
def test_blocks_never_overlap_and_nothing_is_lost(events: list[int], text: str) -> None:
    allocator = allocator_for(None, parsed(text))
    held: list[Block] = []
    for event in events:
        if event > 0:
            held.append(allocator.allocate(event))
            assert held[-1].size >= event
        elif held:
            allocator.release(held.pop(event % len(held)))
        spans = sorted((block.address, block.address + block.size) for block in held)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
        free = sum(size for pool in (allocator.small, allocator.large) for size, _, _ in pool)
        assert allocator.allocated + free == allocator.reserved
    for block in held:
        allocator.release(block)
    allocator.empty_cache()
    assert (allocator.allocated, allocator.reserved) == (0, 0)


@given(st.integers(1, 1 << 36), st.sampled_from([2, 4, 8, 16]))
def test_a_size_is_rounded_up_by_no_more_than_a_part(size: int, divisions: int) -> None:
    rounded = next_division(size, divisions)
    assert size <= rounded <= max(size * (1 + 1 / divisions), 2 * size if size < divisions else 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", AllocatorSettings()),
        ("expandable_segments:True", AllocatorSettings(expandable=True)),
        ("backend:native, max_split_size_mb : 128", AllocatorSettings(max_split=128 * MIB)),
        ("garbage_collection_threshold:0.8,max_split_size_mb:21", AllocatorSettings(max_split=21 * MIB, collects=0.8)),
        ("roundup_power2_divisions:8", AllocatorSettings(divisions=(8,) * 16)),
        ("roundup_power2_divisions:[4:8,16:2,>:1]", AllocatorSettings(divisions=(8, 8, 8, 0, 2, *(1,) * 11))),
        ("pinned_use_background_threads:True", AllocatorSettings()),
    ],
)
def test_settings_are_read_as_pytorch_reads_them(text: str, found: AllocatorSettings) -> None:
    assert parsed(text) == found


@pytest.mark.parametrize(
    "text",
    ["expandable_segments", "expandable_segments:true", "max_split_size_mb:8", "max_split_size_mb:x",
     "roundup_power2_divisions:[3:4]", "roundup_power2_divisions:3", "garbage_collection_threshold:2"],
)  # fmt: skip
def test_settings_that_pytorch_does_not_take(text: str) -> None:
    with pytest.raises(BadAllocatorSettings):
        parsed(text)
