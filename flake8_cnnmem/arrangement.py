"""How a training is arranged around its model and its loop: over how many devices, what of it lies elsewhere, in which
precision its optimizer works. Frameworks note it, the memory of one device is worked out from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown

TERMS = ("optimizer", "gradients", "parameters")
"""What is divided among devices: stage 1 of ZeRO divides the first of them, stage 2 the first two, stage 3 all."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What stands around the training of one model.

    `name` is what the code calls it ("DistributedDataParallel", "ZeRO stage 2"). `devices` is None where nobody says
    how many there are, and 1 where it has nothing to do with that.
    """

    name: str
    devices: int | None = 1
    divides: int = 0
    """How many of the `TERMS` are divided among the devices."""
    buckets: str = ""
    """What gradients are gathered in, to be sent: "copies" of them, "views" where they lie in there themselves,
    "replica" for those of a replica, which are summed up when the backward pass ends."""
    elsewhere: frozenset[str] = frozenset()
    """Of the `TERMS` those that lie in the host's memory, and "activations" for what waits for the backward pass."""
    master: bool = False
    """Whether the optimizer updates float32 copies of parameters in half precision."""
    units: tuple[frozenset[int], ...] = ()
    """Parameters, by id, that are gathered together for the time in which they are used, where they are divided."""
    divides_batch: bool = False
    """Whether the batch is divided among the devices by what trains, not by the loader."""
    sums: bool = False
    """Whether several devices add their gradients up in buffers of which it is not known how large they are."""
    causes: tuple[Unknown, ...] = ()
    """What is not counted, or not as it will be."""
    optional: bool = False
    """Whether it holds only where there are several devices: a launcher that is not seen may start it on one."""
    told: bool = False
    """Whether somebody else than the code says how many devices there are."""
    bucket: int = 0
    """Bytes of a buffer in which gradients are gathered, there during the backward pass."""

    def on(self, devices: int | None) -> Arrangement:
        """The same with the number of devices that somebody states, where the code does not."""
        if self.devices is not None or devices is None:
            return self
        return replace(self, devices=devices, told=True)

    @property
    def shared(self) -> bool:
        """Whether the number of devices changes what one of them holds."""
        return bool(self.divides) or self.divides_batch or self.sums


@dataclass(slots=True)
class Arrangements:
    """Those that were noted of one layer, with the layer."""

    layer: object
    noted: list[Arrangement] = field(default_factory=list)


ARRANGEMENTS = "arrangements"
"""The scratch dict of an evaluation in which they are noted, by the layer's id."""


EVERY = 0
"""In its place, what holds for all models."""


def joined(noted: list[Arrangement]) -> Arrangement | None:
    """One arrangement that says what all of them say."""
    if not noted:
        return None
    first = noted[0]
    for each in noted[1:]:
        devices = max((n for n in (first.devices, each.devices) if n is not None), default=None)
        if (first.devices is None and first.shared) or (each.devices is None and each.shared):
            devices = devices if devices is not None and devices > 1 else None
        names = [first.name, each.name] if each.name not in first.name else [first.name]
        first = Arrangement(
            ", ".join(names),
            devices,
            max(first.divides, each.divides),
            first.buckets or each.buckets,
            first.elsewhere | each.elsewhere,
            first.master or each.master,
            tuple(dict.fromkeys((*first.units, *each.units))),
            first.divides_batch or each.divides_batch,
            first.sums or each.sums,
            told_once((*first.causes, *each.causes)),
            first.optional and each.optional,
            first.told or each.told,
            max(first.bucket, each.bucket),
        )
    return first


def told_once(causes: Iterable[Unknown]) -> tuple[Unknown, ...]:
    """Causes that differ in more than their place."""
    return tuple({cause.reason: cause for cause in reversed(list(causes))}.values())[::-1]
