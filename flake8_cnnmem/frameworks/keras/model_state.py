"""What a model keeps beside what every layer keeps."""

from __future__ import annotations

from dataclasses import field

from flake8_cnnmem.frameworks.framework import Fit, Look
from flake8_cnnmem.frameworks.keras.functional import Graph
from flake8_cnnmem.frameworks.keras.session import LayerState, Session
from flake8_cnnmem.frameworks.keras.tracking import state_of
from flake8_cnnmem.graph import Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

COMPILATION = "_compile_config"
"""Where a model keeps the `compile` that is in force: among its attributes, as a branch that may not be taken may give
it another."""


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """One `compile`: what it was given by name, and what could train then, as Keras keeps to it until the next one."""

    given: dict[str, Value]
    site: Site | None
    trainable: frozenset[int]
    """Ids of the weights that train."""
    known: frozenset[int]
    """Ids of all weights by then."""
    of_2: bool
    """Whether the project, or the environment, asks for Keras 2."""
    session: Session
    doubt: Unknown | None = None
    """Why it is not known which of them train."""
    optimizer: Value = None
    """`model.optimizer` since then, unless it was set anew."""

    @property
    def in_force(self) -> tuple[frozenset[int], frozenset[int]] | None:
        """Ids of what trains and of all that was there by then, in the version that the code is counted for; None while
        the flags decide. Keras 2 keeps to what held at `compile` (`RespectCompiledTrainableState`); Keras 3 asks when
        it traces the first step since then."""
        if self.of_2 or self.session.older:
            return self.session.hooked.get(id(self), (self.trainable, self.known))
        return self.session.traced.get(id(self))


@dataclass(slots=True, eq=False)
class ModelState:
    """What a model keeps beside what every layer keeps."""

    graph: Graph | None = None
    """Of a functional model, or of a Sequential whose input is known."""
    compiled: list[Compilation] = field(default_factory=list)
    """Each `compile` in the order in which the code runs them, those of branches that may not be taken too."""
    fitted: list[Fit] = field(default_factory=list)
    """Each `fit`, `fit_generator` or `train_on_batch`, likewise."""
    looks: list[Look] = field(default_factory=list)
    """Each `evaluate`, `predict` or their like, and what a fit validates with, where the size of a batch is known."""
    stack: list[Instance] | None = None
    """A Sequential's layers, an InputLayer in front included."""
    gap: int | None = None
    """How many layers a Sequential has before the first one that is not known, `cause` saying why."""
    cause: Unknown | None = None
    """Why the graph of a functional model is not known."""


def model_state(run: Runtime, model: Instance) -> ModelState:
    """What natives keep of a model, made when it is first asked for."""
    state = state_of(run, model)
    if not isinstance(state.model, ModelState):
        state.model = ModelState()
    found: ModelState = state.model
    return found


def compilation_of(model: Instance) -> Compilation | Unknown | None:
    """The `compile` in force; Unknown where it is not known which one that is, None before the first."""
    found = model.attributes.get(COMPILATION)
    return found if isinstance(found, (Compilation, Unknown)) else None


def is_model(layer: Instance) -> bool:
    """Whether a layer is a model of its own."""
    return isinstance(layer.native, LayerState) and isinstance(layer.native.model, ModelState)


def graph_of(model: Instance) -> Graph | None:
    """A model's own graph, if it has one."""
    state = model.native
    return state.model.graph if isinstance(state, LayerState) and isinstance(state.model, ModelState) else None
