"""The table of GPUs and how a name finds its row."""

from __future__ import annotations

import re

import pytest

from flake8_cnnmem.memory import gpus
from flake8_cnnmem.memory.gpus import GPUS, Gpu, UnknownGpu


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_every_gpu_is_found_by_each_of_its_names_however_written(gpu: Gpu) -> None:
    for name in (gpu.name, *gpu.aliases):
        for written in (
            name,
            name.lower(),
            name.upper(),
            name.replace(" ", ""),
            name.replace(" ", "-"),
            f"NVIDIA {name}",
        ):
            assert gpus.find(written) is gpu, written


def test_no_name_stands_for_two_gpus() -> None:
    names = [gpus.normalise(name) for gpu in GPUS for name in (gpu.name, *gpu.aliases)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_the_memory_is_what_the_name_says_less_a_little(gpu: Gpu) -> None:
    sizes = {int(size) for name in (gpu.name, *gpu.aliases) for size in re.findall(r"[ -](\d+)GB", name)}
    # A GH200 is sold by its processor's memory, 120 or 480 GB, too.
    assert not sizes or any(0.92 * size * 1024 <= gpu.mib <= 1.02 * size * 1024 for size in sizes)


def test_the_table_reaches_from_4_to_more_than_192_gib() -> None:
    sizes = {round(gpu.mib / 1024) for gpu in GPUS}
    assert {4, 6, 8, 11, 12, 16, 24, 32, 40, 48, 80, 192} <= sizes
    assert max(sizes) > 192


# As `nvidia-smi --query-gpu=name,memory.total --format=csv,noheader` of a driver from 510 on prints them.
@pytest.mark.parametrize(
    ("name", "mib"),
    [
        ("Tesla T4", 15360),
        ("Tesla V100-SXM2-16GB", 16384),
        ("Tesla P100-PCIE-16GB", 16384),
        ("Tesla K80", 11441),
        ("NVIDIA A100-SXM4-40GB", 40960),
        ("NVIDIA A100-SXM4-80GB", 81920),
        ("NVIDIA A100 80GB PCIe", 81920),
        ("NVIDIA A10G", 23028),
        ("NVIDIA L4", 23034),
        ("NVIDIA L40S", 46068),
        ("NVIDIA H100 80GB HBM3", 81559),
        ("NVIDIA H100 NVL", 95830),
        ("NVIDIA H200", 143771),
        ("NVIDIA B200", 183359),
        ("NVIDIA GeForce RTX 3090", 24576),
        ("NVIDIA GeForce RTX 4090", 24564),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16376),
        ("NVIDIA GeForce RTX 5090", 32607),
        ("NVIDIA GeForce RTX 2080 Ti", 11264),
        ("NVIDIA GeForce GTX 1080 Ti", 11264),
        ("NVIDIA RTX A6000", 49140),
        ("NVIDIA RTX 6000 Ada Generation", 49140),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 97887),
        ("Quadro RTX 8000", 49152),
        ("AMD Instinct MI300X", 196592),
        ("Radeon RX 7900 XTX", 24560),
    ],
)
def test_the_drivers_own_names_find_the_memory_that_it_reports(name: str, mib: int) -> None:
    assert gpus.find(name).mib == mib


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("t 4", "T4"),
        ("a100 40g", "A100-40GB"),
        ("a100_80gib", "A100-80GB"),
        ("3090", "RTX 3090"),
        ("2080ti", "RTX 2080 Ti"),
        ("geforce gtx 1080", "GTX 1080"),
        ("A6000", "RTX A6000"),
        ("RTX 8000", "Quadro RTX 8000"),
    ],
)
def test_names_as_people_write_them(name: str, found: str) -> None:
    assert gpus.find(name).name == found


@pytest.mark.parametrize(
    ("name", "variants"),
    [
        ("A100", ["A100-80GB", "A100-40GB"]),
        ("Tesla V100", ["V100-32GB", "V100-16GB"]),
        ("RTX 3080", ["RTX 3080 12GB", "RTX 3080 10GB"]),
        ("GTX 1060", ["GTX 1060 6GB", "GTX 1060 3GB"]),
        ("RTX 6000", ["RTX PRO 6000", "RTX 6000 Ada", "Quadro RTX 6000"]),
    ],
)
def test_a_name_that_several_gpus_have_is_refused_with_all_of_them(name: str, variants: list[str]) -> None:
    with pytest.raises(UnknownGpu) as refused:
        gpus.find(name)
    assert all(variant in str(refused.value) for variant in variants)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("RTX 9090", "RTX 4090"),
        ("A101-40GB", "A100-40GB"),
        ("RTX 3080Tie", "RTX 3080 Ti"),
        ("L4S", "L40S"),
        ("h-10", "H100"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_ones(name: str, near: str) -> None:
    with pytest.raises(UnknownGpu, match="nearest known") as refused:
        gpus.find(name)
    assert near in str(refused.value)


@pytest.mark.parametrize("name", ["", "GPU", "NVIDIA", "toaster", "x" * 10_000, "\x00"])
def test_names_like_no_other_are_refused_briefly(name: str) -> None:
    with pytest.raises(UnknownGpu) as refused:
        gpus.find(name)
    assert len(str(refused.value)) < 250
