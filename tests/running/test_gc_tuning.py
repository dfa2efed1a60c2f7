"""The garbage collector, held back while a file is worked on and no longer."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from flake8_cnnmem.findings import findings_of
from flake8_cnnmem.running import gc_tuning
from flake8_cnnmem.running.gc_tuning import YOUNG, seldom_collected
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = gc.get_threshold()
    # What the tests themselves have put away.
    gc.unfreeze()
    monkeypatch.setattr(gc_tuning, "put_away", False)
    yield
    gc.freeze()
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


@pytest.mark.parametrize("generation", [gc_tuning.YOUNGEST, gc_tuning.YOUNGER])
def test_what_a_file_has_left_is_cleared_away_before_the_next(generation: int) -> None:
    gc.set_threshold(700, 10, 10)

    @seldom_collected
    def litters() -> weakref.ref[Ring]:
        left = weakref.ref(Ring().itself)
        kept = left()
        gc.collect(generation)
        del kept
        return left

    left = litters()
    assert left() is not None
    seldom_collected(bool)()
    assert left() is None


def test_what_was_there_is_not_looked_at() -> None:
    gc.set_threshold(700, 10, 10)
    ring = Ring()
    old = weakref.ref(ring)
    del ring

    @seldom_collected
    def looks() -> tuple[int, bool]:
        return gc.get_freeze_count(), old() is None

    frozen, gone = looks()
    assert frozen > 0
    assert gone
    assert gc.get_freeze_count() == 0


def test_what_the_host_has_put_away_stays_there() -> None:
    gc.set_threshold(700, 10, 10)
    gc.freeze()
    try:
        put_away = gc.get_freeze_count()
        seldom_collected(bool)()
        assert gc.get_freeze_count() >= put_away - 10
    finally:
        gc.unfreeze()


LEAVING = """
import sys
from flake8_cnnmem.running.gc_tuning import not_looked_through_at_exit
class Left:
    def __del__(self):
        print("looked through", flush=True)
left = Left()
left.itself = left
if sys.argv[1] == "ours":
    not_looked_through_at_exit()
    not_looked_through_at_exit()
del left
"""


@pytest.mark.parametrize(("whose", "said"), [("any other", "looked through"), ("ours", "")])
def test_a_process_that_ends_is_not_looked_through(whose: str, said: str) -> None:
    # By the collector, which Python runs once more at exit.
    ended = subprocess.run([sys.executable, "-c", LEAVING, whose], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == said


def test_findings_are_worked_out_with_the_collector_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.set_threshold(700, 10, 10)
    seen: list[int] = []

    def run(*given: object) -> list[object]:
        seen.append(gc.get_threshold()[0])
        return []

    monkeypatch.setattr("flake8_cnnmem.checks.run", run)
    findings_of(Source("net.py", "import torch\n"), Settings(cache_dir=""), ["CNM101"])
    assert seen == [YOUNG]
    assert gc.get_threshold() == (700, 10, 10)
