"""What a container holds at one moment, and how that is put back."""

from __future__ import annotations

from collections import deque
from typing import Any

from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.values import Instance


def snapshot(container: Any) -> Any:
    """What a container or instance holds now, to be put back by `restore`."""
    if isinstance(container, Instance):
        payload = container.payload
        copy = payload.copy() if isinstance(payload, (list, dict, set, deque)) else payload
        return dict(container.attributes), copy, container.cls, container.native
    if isinstance(container, Weight):
        return container.shape, container.data, container.trainable, container.unsure
    if isinstance(container, Tensor):
        return container.shape, container.data
    return container.copy()


def restore(container: Any, state: Any) -> None:
    """Put back what `snapshot` took."""
    if isinstance(container, Instance):
        container.attributes.clear()
        container.attributes.update(state[0])
        container.cls, container.native = state[2:]
        if isinstance(container.payload, (list, dict, set, deque)):
            restore(container.payload, state[1])
    elif isinstance(container, Weight):
        container.shape, container.data, container.trainable, container.unsure = state
    elif isinstance(container, Tensor):
        container.shape, container.data = state
    elif isinstance(container, list):
        # Past what a list of a framework's own makes of it (Keras' tracked lists).
        list.__setitem__(container, slice(None), state)
    elif isinstance(container, deque):
        container.clear()
        container.extend(state)
    else:
        container.clear()
        container.update(state)
