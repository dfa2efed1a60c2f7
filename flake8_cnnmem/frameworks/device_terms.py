"""What a backend takes of a GPU beside the tensors of a step, as far as it is the backend that decides it."""

from __future__ import annotations

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Reserve:
    """Memory that is left to the system: MiB by the compute capability up to which they hold, and those above.

    `name` is that of the term in the JSON, `label` what people read.
    """

    name: str
    label: str
    up_to: tuple[tuple[int, int], ...]
    above: int

    def mib(self, major: int) -> int:
        """MiB that are left on a chip of this compute capability."""
        return next((mib for last, mib in self.up_to if major <= last), self.above)


@dataclass(frozen=True, slots=True)
class DeviceTerms:
    """`caching`: the tensors lie in the caching allocator that `memory/allocator` replays, and matrix products have
    workspaces of its library. `reserve`: what is left to the system."""

    caching: bool = False
    reserve: Reserve | None = None


CACHING = DeviceTerms(caching=True)
OWN_POOL = DeviceTerms()
"""A pool of its own, of which nothing more is known."""
