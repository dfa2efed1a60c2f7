"""One device's share of a training, by the figures that those who made it public give."""

from __future__ import annotations

import pytest

from flake8_cnnmem.arrangement import Arrangement, joined
from flake8_cnnmem.graph import Model, Weight
from flake8_cnnmem.memory.data_parallel import shared
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.replay_result import Replayed
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.unknown import Unknown

GB = 10**9


def step(parameters: int, each: int, slots: int = 2) -> Replayed:
    """A step of one large parameter in so many bytes a value, without activations."""
    timeline = Timeline(512)
    line = Line(parameters * each)
    timeline.come(timeline.lot(line, "parameters"))
    timeline.mark("forward")
    timeline.mark("backward")
    timeline.come(timeline.lot(line, "gradients"))
    timeline.mark("optimizer")
    timeline.put_first([line] * slots, "optimizer")
    return Replayed(timeline, 1, 0, (), (), lambda batch: step(parameters, each, slots))


def of_weight(parameters: int, dtype: str = "float") -> Model:
    return Model("one", "torch", None, (), (), (), (Weight((parameters,), dtype),))


def peak(arrangement: Arrangement, parameters: int, dtype: str = "float16", slots: int = 2) -> int:
    each = 2 if dtype == "float16" else 4
    return shared(step(parameters, each, slots), arrangement, of_weight(parameters, dtype), dtype).timeline.peak(1)


PAPER = {0: 120.0, 1: 31.4, 2: 16.6, 3: 1.88}
"""Figure 1 of "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (Rajbhandari and others 2020): GB
of model states on one of 64 devices, 7.5 billion parameters, Adam with float16 parameters and gradients and 12 bytes a
parameter of float32 copies and state."""


@pytest.mark.parametrize(("stage", "gigabytes"), PAPER.items())
def test_zero_divides_what_its_paper_says(stage: int, gigabytes: float) -> None:
    arrangement = Arrangement("ZeRO", 64, stage, master=True)
    assert peak(arrangement, 7_500_000_000) / GB == pytest.approx(gigabytes, rel=0.005)


def test_a_single_device_has_everything() -> None:
    assert peak(Arrangement("ZeRO", 1, 3), 1_000_000, "float32") == peak(Arrangement("nothing"), 1_000_000, "float32")
    assert peak(Arrangement("ZeRO", None, 3), 1_000_000, "float32") == peak(Arrangement("x"), 1_000_000, "float32")


SIZE = 1_000_000
ROUNDED = -(-SIZE * 4 // 512) * 512
TERMS = {
    "buckets are a copy of all gradients": (Arrangement("DDP", buckets="copies"), 5),
    "a gradient is there for a moment beside its place in a bucket": (Arrangement("DDP", buckets="views"), 5),
    "a replica's gradients are summed up beside it": (Arrangement("DP", 2, buckets="replica"), 5),
    "a replica on one device is the model itself": (Arrangement("DP", 1, buckets="replica"), 4),
    "state on the host takes no room": (Arrangement("offload", elsewhere=frozenset(("optimizer",))), 2),
    "what holds for several devices alone": (Arrangement("launcher", None, buckets="copies", optional=True), 4),
}
"""In multiples of the parameters: they, their gradients and Adam's two slots are four."""


@pytest.mark.parametrize(("arrangement", "times"), TERMS.values(), ids=TERMS)
def test_what_a_wrapper_adds_or_takes(arrangement: Arrangement, times: int) -> None:
    assert peak(arrangement, SIZE, "float32") == times * ROUNDED


def test_arrangements_of_one_model_add_up() -> None:
    both = joined([
        Arrangement("FSDP", None, 3, units=(frozenset((1,)),), causes=(Unknown("not counted", "a.py", 1),)),
        Arrangement("FSDP", None, 3, units=(frozenset((2,)),), causes=(Unknown("not counted", "a.py", 2),)),
    ])  # fmt: skip
    assert both is not None
    assert (both.name, both.devices, both.units) == ("FSDP", None, (frozenset((1,)), frozenset((2,))))
    assert [(cause.reason, cause.line) for cause in both.causes] == [("not counted", 1)]
    assert both.on(8).devices == 8


def test_the_largest_batch_is_that_of_one_device() -> None:
    alone, divided = (shared(step(SIZE, 4), Arrangement("ZeRO", n, 3), of_weight(SIZE), "float32") for n in (1, 4))
    assert alone.largest_batch(2 * ROUNDED) == 0
    assert divided.largest_batch(2 * ROUNDED) > 0
