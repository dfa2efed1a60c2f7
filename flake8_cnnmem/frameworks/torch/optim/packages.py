"""The packages of optimizers that are known without their source, by the names of their modules."""

from __future__ import annotations

from functools import cache

from flake8_cnnmem.frameworks.torch.optim import bitsandbytes, fused
from flake8_cnnmem.values import MISSING, Namespace

CONTENTS = {
    "bitsandbytes.optim": bitsandbytes.OPTIM,
    "apex.optimizers": fused.APEX,
    "deepspeed.ops.adam": fused.DEEPSPEED,
}
ALONE = {"bitsandbytes": "optim"}
"""Packages that are imported as a whole, with the module that is known of each."""


@cache
def find_module(dotted: str) -> Namespace | None:
    contents = CONTENTS.get(dotted)
    return None if contents is None else Namespace(dotted, lambda name: contents.get(name, MISSING))


@cache
def stand_in(dotted: str) -> Namespace | None:
    """A package whose source is not found."""
    known = ALONE.get(dotted)
    if known is None:
        return None
    return Namespace(dotted, lambda name: find_module(f"{dotted}.{name}") or MISSING if name == known else MISSING)
