"""What a GPU known by its name adds to the tensors, held against what others have measured."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import pytest

from flake8_cnnmem import frameworks
from flake8_cnnmem.memory import account, device, gpus
from flake8_cnnmem.memory.chips import CHIPS
from flake8_cnnmem.settings.options import Limit
from flake8_cnnmem.source import Source
from tests.memory.evaluated import fixture, graph, training_of, truth

MIB = 1024 * 1024
TRUTH = truth("device")
CONTEXT, POOL = 0.35, 0.03
"""A context grows with the kernels that a process has used; TensorFlow's pool with the context of its version."""


def ids(key: str) -> list[str]:
    return [f"{case['gpu']} {case.get('mib', case.get('bytes'))}" for case in TRUTH[key]]


BACKENDS = {**frameworks.named("keras").device, **frameworks.named("torch").device}


def by_name(gpu: str, backend: str = "torch", products: bool = True) -> dict[str, int]:
    return dict(device.terms(gpu, BACKENDS[backend], products).fixed)


@pytest.mark.parametrize("case", TRUTH["context"], ids=ids("context"))
def test_a_context_is_as_large_as_measured(case: dict[str, Any]) -> None:
    assert by_name(case["gpu"])["cuda_context"] == pytest.approx(case["mib"] * MIB, rel=CONTEXT)


def test_contexts_are_right_on_the_whole() -> None:
    ratios = [by_name(case["gpu"])["cuda_context"] / (case["mib"] * MIB) for case in TRUTH["context"]]
    assert statistics.median(ratios) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("case", TRUTH["visible"], ids=ids("visible"))
def test_what_the_driver_keeps_is_what_a_process_does_not_see(case: dict[str, Any]) -> None:
    total = gpus.find(case["gpu"]).mib
    assert total - by_name(case["gpu"])["driver"] // MIB == pytest.approx(case["mib"], rel=0.015)


def test_the_allocators_share_is_what_is_left_unusable_when_memory_runs_out() -> None:
    ratios = [case["ratio"] for case in TRUTH["reserved"]["out of memory"]]
    assert pytest.approx(statistics.median(ratios), abs=0.005) == 1 + device.ALLOCATOR / 1000


def test_the_allocators_share_is_less_than_what_is_reserved_with_memory_to_spare() -> None:
    assert min(case["ratio"] for case in TRUTH["reserved"]["to spare"]) + 0.005 >= 1 + device.ALLOCATOR / 1000


@pytest.mark.parametrize("case", TRUTH["tensorflow"], ids=ids("tensorflow"))
def test_tensorflows_pool_is_what_the_terms_leave(case: dict[str, Any]) -> None:
    left = gpus.find(case["gpu"]).mib - sum(by_name(case["gpu"], "tensorflow").values()) // MIB
    assert left == pytest.approx(case["mib"], rel=POOL)


@pytest.mark.parametrize("case", TRUTH["cublas"], ids=ids("cublas"))
def test_cublas_workspaces(case: dict[str, Any]) -> None:
    # One for each of the two threads that run a training step.
    assert by_name(case["gpu"])["cublas_workspace"] == 2 * case["bytes"]


def test_a_model_without_a_product_has_no_workspace() -> None:
    assert "cublas_workspace" not in by_name("T4", products=False)


@pytest.mark.parametrize("gpu", gpus.GPUS, ids=lambda gpu: gpu.name)
def test_no_card_loses_an_absurd_part_of_its_memory(gpu: gpus.Gpu) -> None:
    taken = sum(by_name(gpu.name).values())
    assert taken <= 0.06 * gpu.mib * MIB
    known = gpu.name.startswith(("MI", "RX ", "Radeon"))
    assert (gpu.name not in CHIPS) == known == (not taken)


def test_every_term_has_a_name_for_people() -> None:
    names = {name for gpu in CHIPS for backend in ("torch", "tensorflow") for name in by_name(gpu, backend)}
    assert {*names, "allocator"} == {*device.LABELS, "tensorflow_reserve"}
    assert [label for _, label in device.labelled({*names, "allocator"})] == [
        "workspaces", "allocator", "TensorFlow's reserve", "CUDA context", "driver",
    ]  # fmt: skip


MODEL = fixture("small_cnn.py::SmallCNN()", (3, 32, 32))
TRAINING = training_of({"batch_size": 64})


def test_the_total_is_the_tensors_and_the_terms() -> None:
    plain = account(MODEL, TRAINING, "framework", 0)
    named = account(MODEL, TRAINING, "framework", 0, "T4")
    assert named.tensor_peak == plain.tensor_peak == plain.total
    assert named.overhead == sum(size for _, size in named.overhead_parts)
    assert named.total == plain.total + named.overhead
    assert [name for name, _ in named.overhead_parts] == ["driver", "cuda_context", "cublas_workspace", "allocator"]


def test_the_largest_batch_is_the_last_that_fits_with_what_the_allocator_reserves() -> None:
    limit = Limit(gpus.find("T4").mib * MIB, "T4")
    largest = account(MODEL, TRAINING, "framework", 0, "T4").largest_batch(limit.bytes)
    totals = [
        account(MODEL, training_of({"batch_size": batch}), "framework", 0, "T4").total
        for batch in (largest, largest + 1)
    ]
    assert totals[0] <= limit.bytes < totals[1]


@pytest.mark.parametrize(
    ("accounting", "overhead", "gpu"),
    [
        pytest.param("framework", 0, "", id="a limit that is a size has no device terms"),
        pytest.param("framework", 5 * MIB, "T4", id="what the user keeps free stands for them"),
        pytest.param("cs231n", 0, "T4", id="the textbook count knows no device"),
        pytest.param("framework", 0, "MI300X", id="nothing is known of the card"),
    ],
)
def test_nothing_is_added(accounting: str, overhead: int, gpu: str) -> None:
    estimate = account(MODEL, TRAINING, accounting, overhead, gpu)
    assert (estimate.overhead, estimate.overhead_parts) == (overhead, ())


STACK = (
    "nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 128, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), "
    "nn.Flatten(), nn.Linear(128, 10))"
)


@pytest.mark.parametrize(
    ("variable", "value", "largest"),
    [
        pytest.param("", "", 139, id="as it comes"),
        pytest.param("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 178, id="segments that grow"),
        pytest.param("PYTORCH_ALLOC_CONF", "max_split_size_mb:32", 178, id="large blocks are not split"),
    ],
)
def test_a_program_sets_its_allocator(variable: str, value: str, largest: int) -> None:
    """PyTorch 2.12 itself, with 15102 MiB and a context of 140 (a T4), each batch tried in a fresh process."""
    setting = f"os.environ[{variable!r}] = {value!r}" if variable else ""
    text = f"import os\n{setting}\nfrom torch import nn\nmodel = {STACK}\n"
    model = graph(Source("stack.py", text), "model", (3, 224, 224))
    estimate = account(model, training_of({"batch_size": 64, "optimizer": "momentum"}), "framework", 0, "T4")
    assert estimate.largest_batch(gpus.find("T4").mib * MIB) == largest


def test_settings_that_pytorch_does_not_take_leave_the_share_of_what_is_measured() -> None:
    model = replace(MODEL, allocator="max_split_size_mb:8")
    estimate = account(model, TRAINING, "framework", 0, "T4")
    assert (estimate.overhead_share, estimate.reserved) == (device.ALLOCATOR, None)
