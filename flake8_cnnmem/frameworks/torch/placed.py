"""Tensors that the code makes on the host: what `torch.zeros(1)` gives is there until somebody moves it.

Only an optimizer's state is asked: its step counts (`state["step"] = torch.tensor(0.0)`) take no GPU memory. Whatever a
model computes with is on the GPU.
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.torch.dtypes import DEVICE
from flake8_cnnmem.frameworks.torch.gradients import STEPPING
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.values import Instance, Run, Value

HOST = "tensors on the host"
"""Scratch of the run: the tensors, by id."""


def is_host(device: Value) -> bool:
    """Whether a `device=` says the host, or says nothing."""
    if isinstance(device, Instance) and device.cls is DEVICE:
        device = device.attributes.get("type")
    return device is None or device == "cpu"


def made_on(run: Run, made: Value, device: Value) -> Value:
    """A new tensor, noted if it is on the host."""
    if run.data(STEPPING) and isinstance(made, Tensor) and is_host(device):
        run.data(HOST)[id(made)] = made
    return made


def moved(run: Run, tensor: Value, device: Value) -> Value:
    """The tensor, on this device from here on."""
    if isinstance(tensor, Tensor) and not is_host(device):
        run.data(HOST).pop(id(tensor), None)
    return tensor


def on_host(run: Run, tensor: Any) -> bool:
    return id(tensor) in run.data(HOST)
