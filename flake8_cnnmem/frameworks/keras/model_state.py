"""What a model keeps beside what every layer keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from flake8_cnnmem.frameworks.keras.functional import Graph
from flake8_cnnmem.frameworks.keras.session import LayerState
from flake8_cnnmem.frameworks.keras.tracking import state_of
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Run, Value


@dataclass(slots=True, eq=False)
class ModelState:
    """What a model keeps beside what every layer keeps."""

    graph: Graph | None = None
    """Of a functional model, or of a Sequential whose input is known."""
    compiled: list[dict[str, Value]] = field(default_factory=list)
    """The arguments of each `compile`, by name, with "site", "trainable" (ids of the weights that train: Keras
    keeps to what was trainable when a model was compiled) and "known" (ids of all weights by then)."""
    fitted: list[dict[str, Value]] = field(default_factory=list)
    """The arguments of each `fit`, `fit_generator` or `train_on_batch`, by name, with "site" and "method"."""
    stack: list[Instance] | None = None
    """A Sequential's layers, an InputLayer in front included."""
    cause: Unknown | None = None
    """Why the graph of a functional model is not known."""


def model_state(run: Run, model: Instance) -> ModelState:
    state = state_of(run, model)
    if not isinstance(state.model, ModelState):
        state.model = ModelState()
    found: ModelState = state.model
    return found


def graph_of(model: Instance) -> Graph | None:
    """A model's own graph, if it has one."""
    state = model.native
    return state.model.graph if isinstance(state, LayerState) and isinstance(state.model, ModelState) else None
