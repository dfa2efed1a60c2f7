"""Sizes as people write them, and as we print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem import units
from flake8_cnnmem.units import GIB, KIB, MIB, TIB


@pytest.mark.parametrize(
    ("text", "size"),
    [
        pytest.param("12GiB", 12 * GIB, id="the usual form"),
        pytest.param("12GB", 12 * GIB, id="a GB is a GiB"),
        pytest.param("8 GB", 8 * GIB, id="a space before the unit"),
        pytest.param("  8gb ", 8 * GIB, id="spaces around, small letters"),
        pytest.param("11000MiB", 11000 * MIB, id="MiB"),
        pytest.param("1.5GiB", 3 * GIB // 2, id="a fraction"),
        pytest.param(".5g", GIB // 2, id="a fraction without a leading zero, a single letter"),
        pytest.param("0.1GiB", GIB // 10, id="a fraction that is no whole number of bytes is cut"),
        pytest.param("64k", 64 * KIB, id="kilobytes"),
        pytest.param("2TiB", 2 * TIB, id="terabytes"),
        pytest.param("123456", 123456, id="plain bytes"),
        pytest.param("512 bytes", 512, id="bytes by name"),
        pytest.param("0", 0, id="nothing"),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert units.parse(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GiB",
        "12 apples",
        "-1GiB",
        "+1GiB",
        "1e9",
        "nan",
        "inf",
        "1,5GiB",
        "12GiB free",
        "0x10",
        "٣GiB",
        "1" * 5000,
        "9" * 19 + "T",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(units.BadSize, match=r"12GiB|more memory than any machine"):
        units.parse(text)


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 MiB"),
        (1, "<0.01 MiB"),
        (40_000, "0.04 MiB"),
        (3 * MIB + MIB // 2, "3.5 MiB"),
        (37 * MIB, "37 MiB"),
        (1023 * MIB, "1.0 GiB"),
        (900 * MIB, "900 MiB"),
        (14_951_318_978, "13.9 GiB"),
        (1536 * GIB, "1536.0 GiB"),
        (units.LARGEST + 1, "over 1,024 TiB"),
        (10**400, "over 1,024 TiB"),
    ],
)
def test_a_size_is_shown(size: int, shown: str) -> None:
    assert units.show(size) == shown


@given(st.integers(0, 2**50))
def test_what_is_shown_is_within_a_twentieth_of_what_it_shows(size: int) -> None:
    shown = units.show(size)
    if not shown.startswith("<"):
        assert units.parse(shown) == pytest.approx(size, rel=0.05, abs=0.005 * MIB + 1)


@given(st.integers(0, 2**50), st.integers(-(2**31), 2**31))
def test_different_sizes_look_different_side_by_side(size: int, difference: int) -> None:
    other = max(size + difference, 0)
    shown = units.show_apart(size, other)
    assert (shown[0] == shown[1]) == (size == other)
