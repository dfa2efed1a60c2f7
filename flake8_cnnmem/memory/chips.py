"""The chips on the cards of `gpus`: compute capability and number of multiprocessors, from NVIDIA's own tables.

A card that is missing here (AMD's) gets no device terms: nothing that we know of is published for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Chip:
    """`capability` as CUDA writes it without the dot (75 for 7.5); `multiprocessors` that are switched on."""

    capability: int
    multiprocessors: int

    @property
    def major(self) -> int:
        return self.capability // 10

    @property
    def threads(self) -> int:
        """The most that one multiprocessor runs at once (CUDA's table of compute capabilities)."""
        if self.capability == 75:
            return 1024
        return 1536 if self.capability in (86, 87, 89) or self.major == 12 else 2048


ASSUMED = Chip(80, 108)
"""An A100's, where no card is named: what a kernel splits over the whole card depends on it."""


_TABLE = """
GB300 103 160 | B300 103 160 | GB200 100 152 | B200 100 148 | H200 90 132 | GH200-96GB 90 132 | GH200-144GB 90 132
H20 90 78 | H100 90 132 | H100_NVL 90 132 | H800 90 132 | A100-80GB 80 108 | A100-40GB 80 108 | A800-80GB 80 108
A800-40GB 80 108 | A40 86 84 | A30 80 56 | A16 86 10 | A10 86 72 | A10G 86 80 | A2 86 10 | L40S 89 142 | L40 89 142
L20 89 92 | L4 89 58 | T4 75 40 | T4G 75 40 | V100-32GB 70 80 | V100-16GB 70 80 | P100-16GB 60 56 | P100-12GB 60 56
P40 61 30 | P4 61 20 | M40-24GB 52 24 | M40-12GB 52 24 | M60 52 16 | K80 37 13 | K40 35 15
RTX_PRO_6000 120 188 | RTX_PRO_5000 120 110 | RTX_PRO_4500 120 82 | RTX_PRO_4000 120 70 | RTX_6000_Ada 89 142
RTX_5000_Ada 89 100 | RTX_4500_Ada 89 60 | RTX_4000_Ada 89 48 | RTX_2000_Ada 89 22 | RTX_A6000 86 84 | RTX_A5500 86 80
RTX_A5000 86 64 | RTX_A4500 86 56 | RTX_A4000 86 48 | RTX_A2000-12GB 86 26 | RTX_A2000-6GB 86 26
Quadro_RTX_8000 75 72 | Quadro_RTX_6000 75 72 | Quadro_RTX_5000 75 48 | Quadro_RTX_4000 75 36 | Quadro_GV100 70 80
Quadro_P6000 61 30 | Quadro_P5000 61 20 | Quadro_P4000 61 14 | Quadro_M4000 52 13
RTX_5090 120 170 | RTX_5080 120 84 | RTX_5070_Ti 120 70 | RTX_5070 120 48 | RTX_5060_Ti_16GB 120 36
RTX_5060_Ti_8GB 120 36 | RTX_5060 120 30 | RTX_5050 120 20 | RTX_4090 89 128 | RTX_4080 89 76
RTX_4070_Ti_SUPER 89 66 | RTX_4070_Ti 89 60 | RTX_4070 89 46 | RTX_4060_Ti_16GB 89 34 | RTX_4060_Ti_8GB 89 34
RTX_4060 89 24 | RTX_3090_Ti 86 84 | RTX_3090 86 82 | RTX_3080_Ti 86 80 | RTX_3080_12GB 86 70 | RTX_3080_10GB 86 68
RTX_3070_Ti 86 48 | RTX_3070 86 46 | RTX_3060_Ti 86 38 | RTX_3060_12GB 86 28 | RTX_3060_8GB 86 28 | RTX_3050_8GB 86 20
RTX_3050_6GB 86 18 | Titan_RTX 75 72 | RTX_2080_Ti 75 68 | RTX_2080 75 46 | RTX_2070 75 36 | RTX_2060_12GB 75 34
RTX_2060_6GB 75 30 | RTX_2060_SUPER 75 34 | Titan_V 70 80 | Titan_Xp 61 30 | Titan_X 61 28 | GTX_1660_Ti 75 24
GTX_1660 75 22 | GTX_1650 75 14 | GTX_1080_Ti 61 28 | GTX_1080 61 20 | GTX_1070_Ti 61 19 | GTX_1070 61 15
GTX_1060_6GB 61 10 | GTX_1060_3GB 61 9 | GTX_1050_Ti 61 6 | GTX_980_Ti 52 22 | GTX_980 52 16 | GTX_970 52 13
RTX_5090_Laptop 120 82 | RTX_5080_Laptop 120 60 | RTX_5070_Ti_Laptop 120 46 | RTX_5070_Laptop 120 36
RTX_4090_Laptop 89 76 | RTX_4080_Laptop 89 58 | RTX_4070_Laptop 89 36 | RTX_4060_Laptop 89 24 | RTX_4050_Laptop 89 20
RTX_3080_Laptop_16GB 86 48 | RTX_3080_Laptop_8GB 86 48 | RTX_3070_Laptop 86 40 | RTX_3060_Laptop 86 30
RTX_3050_Laptop 86 16
"""
"""The card's name with _ for a blank, its capability, its multiprocessors. Where one name stands for several cards
(RTX 4070 and its SUPER), those of the smaller one."""


def _parsed(table: str) -> Mapping[str, Chip]:
    found: dict[str, Chip] = {}
    for entry in table.replace("\n", "|").split("|"):
        if entry.strip():
            name, capability, multiprocessors = entry.split()
            found[name.replace("_", " ")] = Chip(int(capability), int(multiprocessors))
    return MappingProxyType(found)


CHIPS: Mapping[str, Chip] = _parsed(_TABLE)
"""By the card's name in `gpus`."""
