"""What `PYTORCH_CUDA_ALLOC_CONF` (`PYTORCH_ALLOC_CONF`) asks of the allocator.

After c10/core/AllocatorConfig.{h,cpp} of PyTorch 2.12: `key:value` pairs parted by commas, lists of `size:value` in
brackets. Keys that change no size (`backend:native`, pinned memory, lock handling) are passed over.
"""

from __future__ import annotations

import re
from dataclasses import replace

from flake8_cnnmem.lazy_dataclass import dataclass

MIB = 1 << 20

POWERS = 16
"""roundup_power2_divisions has a value for each power of two from 1 MiB to 64 GiB."""


@dataclass(frozen=True, slots=True)
class AllocatorSettings:
    """`max_split` in bytes, 0 for none; `rounding` is how much larger than asked a block that may not be split is
    handed out. `divisions` are those of each power of two from 1 MiB on, empty for none. `fraction` is what the process
    allows itself of the card, 0 for all of it; a garbage collection (`collects`, a share of that) needs one."""

    expandable: bool = False
    max_split: int = 0
    rounding: int = 20 * MIB
    divisions: tuple[int, ...] = ()
    collects: float = 0.0
    large_segment: int = 20 * MIB
    fraction: float = 0.0


class BadAllocatorSettings(ValueError):
    """PyTorch would not take this text."""


_PAIR = re.compile(r"([a-z_0-9]+):(\[[^\]]*\]|[^,\[\]]*)(?:,|$)")


def parsed(text: str) -> AllocatorSettings:
    """The settings that a value of the environment variable makes; BadSettings where PyTorch would raise."""
    plain = "".join(text.split())
    found = AllocatorSettings()
    at = 0
    while at < len(plain):
        pair = _PAIR.match(plain, at)
        if pair is None:
            raise BadAllocatorSettings(f"no key:value pair at {plain[at:]!r}")
        found = _with(found, *pair.groups())
        at = pair.end()
    return found


def _with(settings: AllocatorSettings, key: str, value: str) -> AllocatorSettings:
    if key == "expandable_segments":
        if value not in ("True", "False"):
            raise BadAllocatorSettings(f"expandable_segments takes True or False, not {value!r}")
        return replace(settings, expandable=value == "True")
    if key == "max_split_size_mb":
        return replace(settings, max_split=_at_least_20(key, value) * MIB)
    if key == "max_non_split_rounding_mb":
        return replace(settings, rounding=_at_least_20(key, value) * MIB)
    if key == "large_segment_size_mb":
        return replace(settings, large_segment=_at_least_20(key, value) * MIB)
    if key == "garbage_collection_threshold":
        return replace(settings, collects=_share(value))
    if key == "per_process_memory_fraction":
        return replace(settings, fraction=_share(value))
    if key == "roundup_power2_divisions":
        return replace(settings, divisions=_divisions(value))
    return settings


def _number(value: str) -> int:
    if not value.isdigit():
        raise BadAllocatorSettings(f"{value!r} is no number")
    return int(value)


def _at_least_20(key: str, value: str) -> int:
    number = _number(value)
    if number < 20:
        raise BadAllocatorSettings(f"{key} is too small, must be at least 20")
    return number


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise BadAllocatorSettings(f"{value!r} is no share of the memory")
    return share


def _divisions(value: str) -> tuple[int, ...]:
    """`4`, or `[64:8,256:4,>:1]`: the first entry holds for all smaller sizes, too, each further one for that power of
    two alone, and `>` for what is larger than the one before it."""
    if not value.startswith("["):
        return (_division(value),) * POWERS
    found = [0] * POWERS
    last = -1
    for entry in value[1:-1].split(","):
        size, _, times = entry.partition(":")
        if size == ">":
            found[last + 1 :] = [_division(times)] * (POWERS - last - 1)
            continue
        mib = _number(size)
        if mib & (mib - 1) or not mib:
            raise BadAllocatorSettings(f"{size} is no power of two")
        at = min(mib.bit_length() - 1, POWERS - 1)
        if last < 0:
            found[:at] = [_division(times)] * at
        found[at] = _division(times)
        last = at
    return tuple(found)


def _division(value: str) -> int:
    number = _number(value)
    if number & (number - 1):
        raise BadAllocatorSettings(f"{value} is no power of two")
    return number
