"""The garbage collector, held back while a file is worked on and no longer."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from flake8_cnnmem import collector
from flake8_cnnmem.collector import LITTER, YOUNG, seldom_collected


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


class Ring:
    """Refers to itself: only the collector can tell that nobody else does."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize(
    ("looks", "gone"), [pytest.param(1, False, id="after little"), pytest.param(LITTER, True, id="after much")]
)
def test_what_a_file_has_left_is_cleared_away_before_the_next(
    looks: int, gone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.set_threshold(700, 10, 10)
    monkeypatch.setattr(collector, "looks", 0)

    @seldom_collected
    def litters() -> weakref.ref[Ring]:
        for _ in range(looks):
            gc.collect(0)
        old = Ring()
        gc.collect(1)
        return weakref.ref(old)

    left = litters()
    assert left() is not None
    seldom_collected(bool)()
    assert (left() is None) is gone
