"""A model as it was when it was fitted, where the program changes it later: layers that it adds or takes off
(`model.pop()`, for another head), low-rank matrices, what a layer computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.frameworks.keras.functional import Graph
from flake8_cnnmem.frameworks.keras.model_state import model_state
from flake8_cnnmem.frameworks.keras.session import LayerState, session_of
from flake8_cnnmem.frameworks.keras.tracking import all_layers, all_weights
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value


@dataclass(frozen=True, slots=True)
class Structure:
    """What a model is made of at some time."""

    graph: Graph | None
    outputs: Value
    flat_outputs: tuple[Tensor, ...]
    nodes: int
    """How many nodes its graph had: a Sequential's grows where it is."""
    stack: tuple[Instance, ...]
    """A Sequential's layers."""
    altered: frozenset[int]
    """The layers, by id, that had come to compute something else than when they were called."""

    def is_like(self, other: Structure) -> bool:
        """Whether nothing has changed from one to the other."""
        same = self.graph is other.graph and self.outputs is other.outputs and self.nodes == other.nodes
        return same and [*map(id, self.stack)] == [*map(id, other.stack)] and self.altered == other.altered


def structure_of(run: Runtime, model: Instance) -> Structure:
    """What a model is made of now."""
    state = model_state(run, model)
    graph, altered = state.graph, frozenset(session_of(run).altered)
    if graph is None:
        return Structure(None, None, (), 0, tuple(state.stack or ()), altered)
    outputs = tuple(graph.flat_outputs)
    return Structure(graph, graph.outputs, outputs, len(graph.nodes), tuple(state.stack or ()), altered)


def weights_then(model: Instance) -> frozenset[int] | None:
    """The weights, by id, that a model has; None where one of its layers is not built yet."""
    if any(not layer.native.built for layer in all_layers(model) if isinstance(layer.native, LayerState)):
        return None
    return frozenset(map(id, all_weights(model)))


@contextmanager
def as_fitted(run: Runtime, model: Instance, fit: Fit | None) -> Iterator[None]:
    """The model as it was at the end of a fit's first step, for as long as the block runs."""
    then = fit.structure if fit is not None else None
    now = structure_of(run, model) if isinstance(then, Structure) else None
    if not isinstance(then, Structure) or now is None or then.is_like(now):
        yield
        return
    put(run, model, then)
    try:
        yield
    finally:
        put(run, model, now)
        model_state(run, model).graph = now.graph


def put(run: Runtime, model: Instance, structure: Structure) -> None:
    """Make the model of what it was made of then."""
    state, graph = model_state(run, model), structure.graph
    if graph is not None:
        outputs, nodes = [*structure.flat_outputs], graph.nodes[: structure.nodes]
        graph = replace(graph, outputs=structure.outputs, flat_outputs=outputs, nodes=nodes)
    state.graph = graph
    if state.stack is not None:
        state.stack[:] = structure.stack
    session_of(run).altered = set(structure.altered)
