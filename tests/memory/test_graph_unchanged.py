"""Memory reads the graph and leaves it as it was: what is worked out of a model's bytes is no part of the model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import memory
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROGRAMS = (
    "memory/torch/own_backward.py",
    "memory/keras/unet.py",
    "programs/cyclegan.py",
    "programs/accumulation.py",
    "programs/checkpointed_reentrant.py",
)
PLAIN = (int, float, str, bytes, bool, type(None), type)


def snapshot(*starts: Any) -> dict[int, tuple[str, ...]]:
    """Every object of the graph that is reached from these, by its id: what its fields hold, objects by ids."""
    found: dict[int, tuple[str, ...]] = {}
    waiting: list[Any] = list(starts)
    while waiting:
        value = waiting.pop()
        if id(value) in found or isinstance(value, PLAIN):
            continue
        parts: list[Any] = []
        if isinstance(value, (list, tuple, set, frozenset)):
            parts = list(value)
        elif isinstance(value, dict):
            parts = [*value, *value.values()]
        elif dataclasses.is_dataclass(value) and type(value).__module__ in ("flake8_cnnmem.graph", ACTIONS):
            parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
        found[id(value)] = tuple(repr(part) if isinstance(part, PLAIN) else str(id(part)) for part in parts)
        waiting += parts
    return found


ACTIONS = "flake8_cnnmem.memory.actions"


@pytest.mark.parametrize("program", PROGRAMS)
def test_accounting_leaves_the_graph_as_it_was(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    account, sizes = memory.account, []

    def watched(model: Any, training: Any, accounting: str, overhead: int, gpu: str = "", step: Any = None,
                parts: Any = ()) -> Any:  # fmt: skip
        before = snapshot(model, step, *parts)
        estimate = account(model, training, accounting, overhead, gpu, step, parts)
        assert snapshot(model, step, *parts) == before
        sizes.append(len(before))
        return estimate

    monkeypatch.setattr(memory, "account", watched)
    analyse(load(str(FIXTURES / program)), Settings())
    assert sizes
    assert max(sizes) > 50
