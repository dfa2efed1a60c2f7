"""Weights on the meta device: they have sizes and no values, and no op takes one together with what lies elsewhere.

Noted are weights that a layer makes there, or that a module is moved there with, until the module is given memory
(`to_empty`) or other values. Whatever is computed of them alone lies there as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.changed_weights import PLACED
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value

THERE = "on the meta device"
"""Scratch of the run: the tensors, by id."""
REGIONS = "regions of the meta device"
"""Scratch of the run: under "open" how many `with torch.device("meta")` are entered."""


def is_meta(device: Value) -> bool:
    """Whether a device is the one without memory for certain."""
    kind = device.attributes.get("type") if isinstance(device, Instance) else device
    return isinstance(kind, str) and kind.partition(":")[0] == "meta"


def enter_device(run: Runtime, self: Instance) -> Value:
    """`with torch.device(...)`: what is made inside lies there."""
    if is_meta(self):
        count_regions(run, 1)
    else:
        run.data(PLACED)["region"] = True
    return self


def leave_device(run: Runtime, self: Instance, *exception: object) -> None:
    """It ends."""
    if is_meta(self):
        count_regions(run, -1)


def count_regions(run: Runtime, more: int) -> None:
    """So many more of them are open."""
    found = run.data(REGIONS)
    run.changed(found)
    found["open"] = found.get("open", 0) + more


def note_made(run: Runtime, made: Iterable[Any], device: Value = None) -> None:
    """A layer has made these, on a device that it was told or where the region around it says."""
    if is_meta(device) or (device is None and run.data(REGIONS).get("open")):
        note_there(run, made)


def note_there(run: Runtime, tensors: Iterable[Any]) -> None:
    """These lie there from now on."""
    found = run.data(THERE)
    run.changed(found)
    found.update((id(tensor), tensor) for tensor in tensors if isinstance(tensor, Tensor))


def forget(run: Runtime, tensors: Iterable[Weight]) -> None:
    """These have memory again."""
    found = run.data(THERE)
    if found:
        run.changed(found)
        for tensor in tensors:
            found.pop(id(tensor), None)


def note_mixed(run: Runtime, what: str, operands: Sequence[Value], made: Value) -> None:
    """An op has run on some that lie there: on those alone it makes another one; with others torch refuses it."""
    found = run.data(THERE)
    tensors = [each for each in operands if isinstance(each, Tensor)]
    there = [each for each in tensors if id(each) in found]
    if there and all(id(each) in found or each.shape == () for each in tensors):
        note_there(run, made if isinstance(made, tuple) else (made,))
    elif there:
        note_cause(run, None, "meta device", f"a layer on the meta device has no values: {what} is refused")
