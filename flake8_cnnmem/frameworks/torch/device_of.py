"""Tensors that the code makes on the host: what `torch.zeros(1)` gives is there until somebody moves it.

Only an optimizer's state is asked: its step counts (`state["step"] = torch.tensor(0.0)`) take no GPU memory. Whatever a
model computes with is on the GPU.
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.torch.autograd.grad import STEPPING
from flake8_cnnmem.frameworks.torch.devices import is_host
from flake8_cnnmem.frameworks.torch.on_meta import REGIONS, is_meta
from flake8_cnnmem.frameworks.torch.on_meta import note_made as note_on_meta
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

HOST = "tensors on the host"
"""Scratch of the run: the tensors, by id. One that is moved is another tensor from then on."""


def made_on(run: Runtime, made: Value, device: Value) -> Value:
    """A new tensor, noted if it is on the host."""
    if run.data(STEPPING) and isinstance(made, Tensor) and (device is None or is_host(device)):
        run.data(HOST)[id(made)] = made
    if is_meta(device) or run.data(REGIONS):
        note_on_meta(run, [made], device)
    if isinstance(made, Tensor) and made.call is None and made.site is None:
        made.site = run.here()
    return made


def on_host(run: Runtime, tensor: Any) -> bool:
    """Whether a tensor is noted to lie in the host's memory."""
    return id(tensor) in run.data(HOST)
