"""What a GPU takes beside the tensors: named terms, for a limit that is given as a GPU's name.

Every term rests on published figures, which are in fixtures/truth/device.json with their sources; what is not known
of a card or a framework is not added (cuDNN's workspaces, TensorFlow's fragmentation, AMD's cards). A limit that is
given as a size has none of them: it is what the tensors may take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from flake8_cnnmem import frameworks
from flake8_cnnmem.frameworks.device_terms import OWN_POOL, DeviceTerms, Reserve
from flake8_cnnmem.graph import Model
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory import gpus
from flake8_cnnmem.memory.allocator.card import OnCard
from flake8_cnnmem.memory.allocator.settings import AllocatorSettings, BadAllocatorSettings, parsed
from flake8_cnnmem.memory.chips import CHIPS, Chip
from flake8_cnnmem.memory.convolution_workspaces import workspaces
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.memory.replay_result import Replayed
from flake8_cnnmem.supported import FRAMEWORKS

MIB = 1024 * 1024

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "cublas_workspace": "workspaces",
        "allocator": "allocator",
        "cuda_context": "CUDA context",
        "driver": "driver",
    }
)
"""The terms as people read them, by their names in the JSON, in the order in which they are told. What a backend
reserves is told behind the allocator's."""


def labelled(names: Iterable[str]) -> list[tuple[str, str]]:
    """These terms in the order in which they are told, each as (its name, what people read)."""
    found = {**LABELS, **{each.name: each.label for each in reserves(set(names) - {*LABELS})}}
    told = list(LABELS)
    told[2:2] = sorted({*found} - {*LABELS})
    return [(name, found[name]) for name in told if name in {*names}]


def reserves(names: set[str]) -> list[Reserve]:
    """What backends reserve under these names. Only where there are any the frameworks are asked."""
    known = (frameworks.named(name) for name in FRAMEWORKS) if names else ()
    found = (terms.reserve for each in known for terms in each.device.values())
    return [each for each in found if each is not None and each.name in names]


VISIBLE: Mapping[str, int] = MappingProxyType(
    {
        "T4": 15102,
        "A100-40GB": 40448,
        "A100-80GB": 81152,
        "H100": 81009,
        "A30": 24094,
        "A10": 22516,
        "RTX A4000": 15985,
        "RTX 3090": 24259,
        "RTX 4090": 24207,
        "RTX 6000 Ada": 48509,
    }
)
"""MiB that CUDA offers to a process, of those cards of which it is known: what the driver's total has beyond it is the
driver's own. "total capacity" of PyTorch's out-of-memory messages, deviceQuery, torch.cuda.get_device_properties."""

CONTEXT_PER_MULTIPROCESSOR = 3.5
"""MiB of a CUDA context for each multiprocessor, with lazy loading of kernels (CUDA from 11.7 on, torch from 2.0 on):
3.0 of an idle process to 4.6 of one with many kernels. A context holds stacks and local memory for every thread that
the chip can run at once."""

CUBLAS = 4096 * 1024 * 2 + 16 * 1024 * 8
CUBLAS_LARGE = 4096 * 1024 * 8
"""Bytes that PyTorch gives each cuBLAS handle, and those on Hopper and Blackwell
(aten/src/ATen/cuda/CublasHandlePool.cpp)."""

ALLOCATOR = 25
"""Thousandths of the tensors' peak that PyTorch's caching allocator cannot use when memory is short, where the step's
events are not known so that it could be replayed: 0 to 70, in out-of-memory messages of PyTorch itself. With memory to
spare it reserves 2 to 13 % more than it has allocated, but gives that back before it fails."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a device adds: bytes by name, and thousandths of the tensors' peak."""

    fixed: tuple[tuple[str, int], ...] = ()
    share: int = 0

    def parts(self, peak: int) -> tuple[tuple[str, int], ...]:
        """Every term in bytes, for a peak of this many bytes."""
        more = -(-peak * self.share // 1000)
        return (*self.fixed, ("allocator", more)) if more else self.fixed


def terms(gpu: str, backend: DeviceTerms, products: bool) -> Terms:
    """The terms of a card by its name in `gpus`. `products` says whether the model uses cuBLAS."""
    chip = CHIPS.get(gpu)
    if chip is None:
        return Terms()
    found = [*outside(gpu, chip)]
    if backend.reserve is not None:
        found.append((backend.reserve.name, backend.reserve.mib(chip.major) * MIB))
    if not backend.caching:
        return Terms(tuple(found))
    if products:
        # One for the forward pass, one for autograd's own thread.
        found.append(("cublas_workspace", 2 * workspace(chip)))
    return Terms(tuple(found), ALLOCATOR)


def outside(gpu: str, chip: Chip) -> Iterator[tuple[str, int]]:
    """What is taken of a card before a framework asks for any of it."""
    if gpu in VISIBLE:
        yield "driver", (gpus.find(gpu).mib - VISIBLE[gpu]) * MIB
    yield "cuda_context", context(chip)


def workspace(chip: Chip) -> int:
    """Bytes of a cuBLAS workspace: one for each thread that has a handle."""
    return CUBLAS_LARGE if chip.major >= 9 else CUBLAS


def context(chip: Chip) -> int:
    """Bytes of a CUDA context."""
    return int(CONTEXT_PER_MULTIPROCESSOR * chip.multiprocessors) * MIB


def added(estimate: Estimate, model: Model, gpu: str, dtype: str, least: bool = True) -> Estimate:
    """The estimate with what this GPU adds; as it is where nothing is known. `least` as `account` has it."""
    if estimate.tensor_peak is None:
        return estimate
    framework = frameworks.named(model.framework)
    # A mode of a backend stands behind a comma.
    backend = framework.device.get((model.backend or framework.computes).partition(",")[0], OWN_POOL)
    chip = CHIPS.get(gpu)
    if chip is not None and backend.caching and isinstance(estimate.peaks, Replayed):
        settings = settings_of(model)
        if settings is not None and not (estimate.left_out or model.causes):
            on_card = reserved(estimate, estimate.peaks, gpu, chip, settings, least)
            found = workspaces(model, dtype, estimate.batch_size, estimate.tensor_peak)
            return replace(on_card, convolutions=found.most, convolutions_usual=found.usual)
    beside = terms(gpu, backend, any(call.op.multiplies for call in model.calls))
    parts = beside.parts(estimate.tensor_peak)
    more = sum(size for _, size in parts)
    if not more:
        return estimate
    return replace(
        estimate,
        overhead=estimate.overhead + more,
        overhead_parts=parts,
        overhead_share=beside.share,
        total=estimate.total + more,
    )


def settings_of(model: Model) -> AllocatorSettings | None:
    """What the code asks of the allocator; None where PyTorch would not take that."""
    try:
        return parsed(model.allocator)
    except BadAllocatorSettings:
        return None


def reserved(
    estimate: Estimate, replayed: Replayed, gpu: str, chip: Chip, settings: AllocatorSettings, least: bool
) -> Estimate:
    """The estimate with what PyTorch's allocator reserves for the step on this card."""
    assert estimate.tensor_peak is not None
    parts = [*outside(gpu, chip)]
    fixed = sum(size for _, size in parts)
    visible = gpus.find(gpu).mib * MIB - sum(size for name, size in parts if name == "driver")
    on_card = OnCard(replayed, workspace(chip), visible, settings)
    found = on_card.at(estimate.batch_size, gpus.find(gpu).mib * MIB - fixed, least)
    if on_card.workspaces:
        parts.append(("cublas_workspace", on_card.workspaces))
    parts.append(("allocator", found.needed - estimate.tensor_peak - on_card.workspaces))
    more = found.needed - estimate.tensor_peak
    return replace(
        estimate,
        overhead=estimate.overhead + fixed + more,
        overhead_parts=tuple(parts),
        overhead_replayed=more,
        total=estimate.total + fixed + more,
        allocated=found.allocated,
        reserved=found.reserved,
        peaks=on_card,
    )
