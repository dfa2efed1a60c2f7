"""The garbage collector, held back while a file is worked on and no longer."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from flake8_cnnmem.collector import YOUNG, seldom_collected


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        pytest.param((700, 10, 10), (YOUNG, 10, 10), id="Python's own setting"),
        pytest.param((0, 10, 10), (0, 10, 10), id="a host that does without"),
        pytest.param((10 * YOUNG, 5, 5), (10 * YOUNG, 5, 5), id="a host that holds it back further"),
    ],
)
def test_the_hosts_setting_comes_back(host: tuple[int, int, int], inside: tuple[int, int, int]) -> None:
    gc.set_threshold(*host)
    assert seldom_collected(gc.get_threshold)() == inside
    assert gc.get_threshold() == host


def test_the_hosts_setting_comes_back_after_an_error() -> None:
    gc.set_threshold(700, 10, 10)

    @seldom_collected
    def fails() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert gc.get_threshold() == (700, 10, 10)
