"""The GPUs that people train on, and how much memory each has.

`mib` is what the driver reports as total: `nvidia-smi --query-gpu=memory.total` of a driver from 510 on (2022; older
ones left out what the driver keeps for itself, for example 15109 MiB of a T4's 15360), with ECC as the card comes,
and `rocm-smi --showmeminfo vram` for AMD. It is up to 4% below the number on the box. A column names where the
figure was seen: "nvidia-smi" or "rocm-smi" in several public logs of that card, "size" for cards of which we have
seen none, whose memory is the nominal size less what others of their family lack.
"""

from __future__ import annotations

import re
from functools import cache

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """`name` as people write it; `mib` as the driver reports it; `seen` says how that is known."""

    name: str
    mib: int
    seen: str
    aliases: tuple[str, ...] = ()


class UnknownGpu(ValueError):
    """No GPU, or several, have this name; the message says which are near."""


_SMI, _ROCM, _SIZE = "nvidia-smi", "rocm-smi", "size"

GPUS = (
    # Data centre
    Gpu("GB300", 284208, _SMI),
    Gpu("B300", 275040, _SMI, ("B300 SXM6 AC",)),
    Gpu("GB200", 189471, _SMI),
    Gpu("B200", 183359, _SMI, ("B200 SXM6",)),
    Gpu("H200", 143771, _SMI, ("H200 SXM", "H200 141GB", "H200 NVL")),
    Gpu("GH200-96GB", 97871, _SMI, ("GH200 480GB", "GH200 120GB")),
    Gpu("GH200-144GB", 145920, _SMI, ("GH200 144G HBM3e",)),
    Gpu("H20", 97871, _SMI, ("H20 96GB",)),
    Gpu("H100", 81559, _SMI, ("H100 80GB HBM3", "H100 80GB", "H100 PCIe", "H100 SXM", "H100 SXM5")),
    Gpu("H100 NVL", 95830, _SMI, ("H100 94GB", "H100 96GB")),
    Gpu("H800", 81559, _SMI, ("H800 80GB", "H800 PCIe")),
    Gpu("A100-80GB", 81920, _SMI, ("A100-SXM4-80GB", "A100 80GB PCIe", "A100-SXM-80GB", "A100-PCIE-80GB")),
    Gpu("A100-40GB", 40960, _SMI, ("A100-SXM4-40GB", "A100-PCIE-40GB", "A100-SXM-40GB", "A100 40GB PCIe")),
    Gpu("A800-80GB", 81920, _SMI, ("A800-SXM4-80GB", "A800 80GB PCIe")),
    Gpu("A800-40GB", 40960, _SIZE, ("A800-SXM4-40GB", "A800 40GB Active")),
    Gpu("A40", 46068, _SMI, ("A40 48GB",)),
    Gpu("A30", 24576, _SMI, ("A30 24GB",)),
    Gpu("A16", 15356, _SMI, ("A16 16GB",)),
    Gpu("A10", 23028, _SMI, ("A10 24GB",)),
    Gpu("A10G", 23028, _SMI, ("A10G 24GB",)),
    Gpu("A2", 15356, _SMI, ("A2 16GB",)),
    Gpu("L40S", 46068, _SMI, ("L40S 48GB",)),
    Gpu("L40", 46068, _SMI, ("L40 48GB",)),
    Gpu("L20", 46068, _SMI, ("L20 48GB",)),
    Gpu("L4", 23034, _SMI, ("L4 24GB",)),
    Gpu("T4", 15360, _SMI, ("T4 16GB",)),
    Gpu("T4G", 15360, _SIZE, ("T4G 16GB",)),
    Gpu("V100-32GB", 32768, _SMI, ("V100-SXM2-32GB", "V100-PCIE-32GB", "V100-SXM3-32GB", "V100S-PCIE-32GB", "V100S")),
    Gpu("V100-16GB", 16384, _SMI, ("V100-SXM2-16GB", "V100-PCIE-16GB", "V100-FHHL-16GB")),
    Gpu("P100-16GB", 16384, _SMI, ("P100-PCIE-16GB", "P100-SXM2-16GB")),
    Gpu("P100-12GB", 12288, _SIZE, ("P100-PCIE-12GB",)),
    Gpu("P40", 23040, _SMI, ("P40 24GB",)),
    Gpu("P4", 7680, _SIZE, ("P4 8GB",)),
    Gpu("M40-24GB", 23040, _SMI),
    Gpu("M40-12GB", 11520, _SIZE),
    Gpu("M60", 7680, _SIZE, ("M60 8GB",)),
    Gpu("K80", 11441, _SMI, ("K80 12GB",)),
    Gpu("K40", 11441, _SMI, ("K40m", "K40c", "K40 12GB")),
    Gpu("MI355X", 294896, _SIZE, ("MI355X 288GB",)),
    Gpu("MI350X", 294896, _SIZE, ("MI350X 288GB",)),
    Gpu("MI325X", 262128, _SIZE, ("MI325X 256GB",)),
    Gpu("MI300X", 196592, _ROCM, ("MI300X 192GB", "MI300X OAM")),
    Gpu("MI300A", 131056, _SIZE, ("MI300A 128GB",)),
    Gpu("MI250X", 65520, _ROCM, ("MI250X GCD",)),
    Gpu("MI250", 65520, _ROCM, ("MI250 GCD",)),
    Gpu("MI210", 65520, _ROCM, ("MI210 64GB",)),
    Gpu("MI100", 32752, _SIZE, ("MI100 32GB",)),
    # Workstation
    Gpu(
        "RTX PRO 6000",
        97887,
        _SMI,
        (
            "RTX PRO 6000 Blackwell",
            "RTX PRO 6000 Blackwell Workstation Edition",
            "RTX PRO 6000 Blackwell Server Edition",
            "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            "RTX PRO 6000 96GB",
            "RTX 6000 Pro",
        ),
    ),
    Gpu("RTX PRO 5000", 48935, _SMI, ("RTX PRO 5000 Blackwell", "RTX PRO 5000 48GB")),
    Gpu("RTX PRO 4500", 32623, _SMI, ("RTX PRO 4500 Blackwell", "RTX PRO 4500 32GB")),
    Gpu("RTX PRO 4000", 24467, _SMI, ("RTX PRO 4000 Blackwell", "RTX PRO 4000 24GB")),
    Gpu("RTX 6000 Ada", 49140, _SMI, ("RTX 6000 Ada Generation", "RTX 6000 Ada 48GB")),
    Gpu("RTX 5000 Ada", 32760, _SMI, ("RTX 5000 Ada Generation", "RTX 5000 Ada 32GB")),
    Gpu("RTX 4500 Ada", 24570, _SIZE, ("RTX 4500 Ada Generation", "RTX 4500 Ada 24GB")),
    Gpu("RTX 4000 Ada", 20475, _SMI, ("RTX 4000 Ada Generation", "RTX 4000 SFF Ada Generation", "RTX 4000 Ada 20GB")),
    Gpu("RTX 2000 Ada", 16380, _SIZE, ("RTX 2000 Ada Generation", "RTX 2000 Ada 16GB")),
    Gpu("RTX A6000", 49140, _SMI, ("A6000", "A6000 48GB")),
    Gpu("RTX A5500", 24564, _SIZE, ("A5500", "A5500 24GB")),
    Gpu("RTX A5000", 24564, _SMI, ("A5000", "A5000 24GB")),
    Gpu("RTX A4500", 20470, _SIZE, ("A4500", "A4500 20GB")),
    Gpu("RTX A4000", 16376, _SMI, ("A4000", "A4000 16GB")),
    Gpu("RTX A2000-12GB", 12282, _SMI, ("A2000 12GB",)),
    Gpu("RTX A2000-6GB", 6138, _SMI, ("A2000 6GB",)),
    Gpu("Quadro RTX 8000", 49152, _SIZE),
    Gpu("Quadro RTX 6000", 24576, _SMI),
    Gpu("Quadro RTX 5000", 16384, _SMI),
    Gpu("Quadro RTX 4000", 8192, _SIZE),
    Gpu("Quadro GV100", 32768, _SIZE, ("GV100",)),
    Gpu("Quadro P6000", 24576, _SIZE, ("P6000",)),
    Gpu("Quadro P5000", 16384, _SIZE, ("P5000",)),
    Gpu("Quadro P4000", 8192, _SIZE, ("P4000",)),
    Gpu("Quadro M4000", 8192, _SIZE, ("M4000",)),
    Gpu("Radeon PRO W7900", 46064, _ROCM, ("W7900",)),
    # Consumer
    Gpu("RTX 5090", 32607, _SMI, ("RTX 5090 32GB", "RTX 5090 D")),
    Gpu("RTX 5080", 16303, _SMI, ("RTX 5080 16GB",)),
    Gpu("RTX 5070 Ti", 16303, _SMI, ("RTX 5070 Ti 16GB",)),
    Gpu("RTX 5070", 12227, _SMI, ("RTX 5070 12GB",)),
    Gpu("RTX 5060 Ti 16GB", 16311, _SMI),
    Gpu("RTX 5060 Ti 8GB", 8151, _SIZE),
    Gpu("RTX 5060", 8151, _SMI, ("RTX 5060 8GB",)),
    Gpu("RTX 5050", 8151, _SIZE, ("RTX 5050 8GB",)),
    Gpu("RTX 4090", 24564, _SMI, ("RTX 4090 24GB", "RTX 4090 D")),
    Gpu("RTX 4080", 16376, _SMI, ("RTX 4080 16GB", "RTX 4080 SUPER")),
    Gpu("RTX 4070 Ti SUPER", 16376, _SMI, ("RTX 4070 Ti SUPER 16GB",)),
    Gpu("RTX 4070 Ti", 12282, _SMI, ("RTX 4070 Ti 12GB",)),
    Gpu("RTX 4070", 12282, _SMI, ("RTX 4070 12GB", "RTX 4070 SUPER")),
    Gpu("RTX 4060 Ti 16GB", 16380, _SMI),
    Gpu("RTX 4060 Ti 8GB", 8188, _SMI),
    Gpu("RTX 4060", 8188, _SMI, ("RTX 4060 8GB",)),
    Gpu("RTX 3090 Ti", 24564, _SIZE, ("RTX 3090 Ti 24GB",)),
    Gpu("RTX 3090", 24576, _SMI, ("RTX 3090 24GB",)),
    Gpu("RTX 3080 Ti", 12288, _SMI, ("RTX 3080 Ti 12GB",)),
    Gpu("RTX 3080 12GB", 12288, _SMI),
    Gpu("RTX 3080 10GB", 10240, _SMI),
    Gpu("RTX 3070 Ti", 8192, _SMI, ("RTX 3070 Ti 8GB",)),
    Gpu("RTX 3070", 8192, _SMI, ("RTX 3070 8GB",)),
    Gpu("RTX 3060 Ti", 8192, _SMI, ("RTX 3060 Ti 8GB",)),
    Gpu("RTX 3060 12GB", 12288, _SMI),
    Gpu("RTX 3060 8GB", 8192, _SIZE),
    Gpu("RTX 3050 8GB", 8192, _SMI),
    Gpu("RTX 3050 6GB", 6144, _SIZE),
    Gpu("Titan RTX", 24576, _SMI),
    Gpu("RTX 2080 Ti", 11264, _SMI, ("RTX 2080 Ti 11GB",)),
    Gpu("RTX 2080", 8192, _SMI, ("RTX 2080 8GB", "RTX 2080 SUPER")),
    Gpu("RTX 2070", 8192, _SMI, ("RTX 2070 8GB", "RTX 2070 SUPER")),
    Gpu("RTX 2060 12GB", 12288, _SIZE),
    Gpu("RTX 2060 6GB", 6144, _SMI),
    Gpu("RTX 2060 SUPER", 8192, _SMI, ("RTX 2060 SUPER 8GB",)),
    Gpu("Titan V", 12288, _SIZE),
    Gpu("Titan Xp", 12288, _SIZE),
    Gpu("Titan X", 12288, _SIZE, ("GTX Titan X", "Titan X Pascal")),
    Gpu("GTX 1660 Ti", 6144, _SMI, ("GTX 1660 Ti 6GB",)),
    Gpu("GTX 1660", 6144, _SMI, ("GTX 1660 6GB", "GTX 1660 SUPER")),
    Gpu("GTX 1650", 4096, _SMI, ("GTX 1650 4GB", "GTX 1650 SUPER", "GTX 1650 Ti")),
    Gpu("GTX 1080 Ti", 11264, _SMI, ("GTX 1080 Ti 11GB",)),
    Gpu("GTX 1080", 8192, _SMI, ("GTX 1080 8GB",)),
    Gpu("GTX 1070 Ti", 8192, _SMI, ("GTX 1070 Ti 8GB",)),
    Gpu("GTX 1070", 8192, _SMI, ("GTX 1070 8GB",)),
    Gpu("GTX 1060 6GB", 6144, _SMI),
    Gpu("GTX 1060 3GB", 3072, _SIZE),
    Gpu("GTX 1050 Ti", 4096, _SMI, ("GTX 1050 Ti 4GB",)),
    Gpu("GTX 980 Ti", 6144, _SIZE, ("GTX 980 Ti 6GB",)),
    Gpu("GTX 980", 4096, _SIZE, ("GTX 980 4GB",)),
    Gpu("GTX 970", 4096, _SIZE, ("GTX 970 4GB",)),
    Gpu("RX 7900 XTX", 24560, _ROCM, ("RX 7900 XTX 24GB",)),
    Gpu("RX 7900 XT", 20464, _ROCM, ("RX 7900 XT 20GB",)),
    Gpu("RX 9070 XT", 16304, _SIZE, ("RX 9070 XT 16GB", "RX 9070")),
    Gpu("RX 6900 XT", 16368, _ROCM, ("RX 6900 XT 16GB", "RX 6800 XT", "RX 6800")),
    # Laptops
    Gpu("RTX 5090 Laptop", 24463, _SMI, ("RTX 5090 Laptop 24GB",)),
    Gpu("RTX 5080 Laptop", 16303, _SMI, ("RTX 5080 Laptop 16GB",)),
    Gpu("RTX 5070 Ti Laptop", 12227, _SMI, ("RTX 5070 Ti Laptop 12GB", "RTX 5070 Ti Mobile")),
    Gpu("RTX 5070 Laptop", 8151, _SIZE, ("RTX 5070 Laptop 8GB",)),
    Gpu("RTX 4090 Laptop", 16376, _SMI, ("RTX 4090 Laptop 16GB",)),
    Gpu("RTX 4080 Laptop", 12282, _SMI, ("RTX 4080 Laptop 12GB",)),
    Gpu("RTX 4070 Laptop", 8188, _SMI, ("RTX 4070 Laptop 8GB",)),
    Gpu("RTX 4060 Laptop", 8188, _SMI, ("RTX 4060 Laptop 8GB",)),
    Gpu("RTX 4050 Laptop", 6141, _SMI, ("RTX 4050 Laptop 6GB",)),
    Gpu("RTX 3080 Laptop 16GB", 16384, _SIZE),
    Gpu("RTX 3080 Laptop 8GB", 8192, _SIZE),
    Gpu("RTX 3070 Laptop", 8192, _SMI, ("RTX 3070 Laptop 8GB",)),
    Gpu("RTX 3060 Laptop", 6144, _SMI, ("RTX 3060 Laptop 6GB",)),
    Gpu("RTX 3050 Laptop", 4096, _SMI, ("RTX 3050 Laptop 4GB",)),
)

SEVERAL = re.compile(r"(\d{1,4})\s*[x×]\s*(\S.*)", re.IGNORECASE)
"""`2xT4`, `8 x A100-80GB`: how many of what."""

_MAKERS = re.compile(r"nvidia|geforce|tesla|amd|instinct|radeon|graphics|gpu")
_GIGABYTES = re.compile(r"(\d+)g(?:i?b)?$")


def normalise(name: str) -> str:
    """A name without what does not matter: case, spaces, hyphens, the maker's words (`NVIDIA GeForce RTX 3090`)."""
    bare = _MAKERS.sub("", re.sub(r"[\s_-]+", "", name.lower()))
    return _GIGABYTES.sub(r"\1gb", bare)


@cache
def names() -> dict[str, Gpu]:
    """Every name and alias, normalised, to its GPU. A GeForce goes by its number alone, too (`3090`, `2080 Ti`)."""
    known = {normalise(name): gpu for gpu in GPUS for name in (gpu.name, *gpu.aliases)}
    bare = {key.removeprefix("rtx").removeprefix("gtx"): gpu for key, gpu in known.items()}
    return {key: gpu for key, gpu in bare.items() if key[:4].isdigit()} | known


def find(name: str) -> Gpu:
    """The GPU of this name. Raises UnknownGpu, with the nearest names, or all that the name may stand for."""
    wanted = normalise(name)
    found = names().get(wanted)
    if found is not None:
        return found
    shown = name.strip() if len(name.strip()) <= 40 else name.strip()[:37] + "..."
    meant = [gpu for gpu in GPUS if wanted in {_family(key) for key in (gpu.name, *gpu.aliases)}]
    if len(meant) == 1:
        return meant[0]
    if meant:
        *first, last = [gpu.name for gpu in meant]
        raise UnknownGpu(f"{shown!r} may be one of several GPUs: say {', '.join(first)} or {last}")
    near = nearest(wanted)
    hint = f"the nearest known ones are {', '.join(near)}; " if near else ""
    raise UnknownGpu(f"{shown!r} is neither a size such as 12GiB nor a known GPU; {hint}`cnnmem gpus` lists them all")


def _family(name: str) -> str:
    """A name without its size and its generation: what `RTX 6000`, of which there are three, may stand for."""
    without_size = re.sub(r"[\s_-]\d+\s*gb$", "", name, flags=re.IGNORECASE)
    return re.sub(r"quadro|pro(?=\d)|ada$", "", normalise(without_size))


def nearest(wanted: str, count: int = 3) -> list[str]:
    """Names of known GPUs like this normalised name, the likeliest first."""
    from difflib import get_close_matches

    close = get_close_matches(wanted[:60], names(), n=4 * count, cutoff=0.5)
    return list(dict.fromkeys(names()[key].name for key in close))[:count]
