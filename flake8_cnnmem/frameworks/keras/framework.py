"""Keras' answers to what the rest of the program asks of a framework."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.frameworks.device_terms import CACHING, OWN_POOL, DeviceTerms, Reserve
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.frameworks.keras import evidence, tensors
from flake8_cnnmem.frameworks.keras.as_fitted import as_fitted
from flake8_cnnmem.frameworks.keras.fitting import note_unfollowed, trained_then
from flake8_cnnmem.frameworks.keras.functional import replay
from flake8_cnnmem.frameworks.keras.model_state import graph_of
from flake8_cnnmem.frameworks.keras.models import MODEL
from flake8_cnnmem.frameworks.keras.ops.backend import backend
from flake8_cnnmem.frameworks.keras.session import LayerState, Node, session_of
from flake8_cnnmem.frameworks.keras.tracking import all_layers, all_weights, is_layer, sublayers
from flake8_cnnmem.frameworks.keras.version import version
from flake8_cnnmem.frameworks.rules import Lowered, Rules
from flake8_cnnmem.frameworks.spelling import Spelling
from flake8_cnnmem.graph import Model, Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


def name_of(layer: Instance) -> str:
    """The name of a layer."""
    state = layer.native
    return state.name if isinstance(state, LayerState) else layer.cls.name.lower()


def weights(root: Instance) -> list[Weight]:
    """Keras' own order of `model.weights`, trainable ones first.

    Each weight's `trainable` is set to what holds for this model: a weight may be frozen in one and train in another.
    """
    found = all_weights(root)
    trained = trained_then(root)
    for weight in found:
        if not weight.buffer:
            weight.trainable = id(weight) in trained
    return sorted(found, key=lambda weight: not weight.trainable)


def children(layer: Instance) -> list[tuple[str, Instance]]:
    """Pairs of name and layer of those that a layer holds directly."""
    return [(name_of(child), child) for child in sublayers(layer)]


def paths(root: Instance) -> dict[int, str]:
    """Layer names as `summary()` prints them; inside a nested model with its name in front."""
    found = {id(root): ""}
    for layer in all_layers(root):
        outer = found[id(layer)]
        for name, child in children(layer):
            if id(child) not in found:
                found[id(child)] = f"{outer}.{name}" if outer else name
    return found


def call_root(run: Runtime, root: Instance, inputs: Sequence[Value]) -> Value:
    """A functional model's own outputs, unless it is given inputs of other shapes; else a call on the inputs."""
    graph = graph_of(root)
    # A subclass that writes its own `call` is called.
    if graph is not None and isinstance(root.cls.find("call"), Native):
        cause = root.native.model.cause
        if cause is not None:
            return cause
        if not inputs or fits(graph.flat_inputs, inputs):
            altered = session_of(run).altered
            stale = bool(altered) and any(id(layer) in altered for layer in all_layers(root))
            return replay(run, graph, list(graph.flat_inputs)) if stale else graph.outputs
    several = built_on_several(root)
    if several is not None and (not inputs or fits(several.inputs, inputs)):
        return several.result
    if not inputs:
        nodes = root.native.nodes if isinstance(root.native, LayerState) else []
        return nodes[0].result if nodes else run.unknown("the model's input is not known")
    return run.call(root, inputs[0] if len(inputs) == 1 else list(inputs))


def sorted_by_key(result: Value) -> Value:
    """What a model gives, its dicts in the order of their keys: `keras.tree.flatten` goes through them so."""
    if type(result) is list or type(result) is tuple:
        return type(result)(sorted_by_key(each) for each in result)
    if type(result) is dict and all(isinstance(key, str) for key in result):
        return {key: sorted_by_key(result[key]) for key in sorted(result)}
    return result


def fits(own: Sequence[Tensor], given: Sequence[Value]) -> bool:
    """Whether the model's own inputs are what is given: then its own tensors answer."""
    if len(own) != len(given):
        return False
    return all(
        mine is other or (isinstance(other, Tensor) and mine.shape == other.shape)
        for mine, other in zip(own, given, strict=True)
    )


def is_model(instance: Instance) -> bool:
    """Whether a layer is a model."""
    return instance.cls.derives_from(MODEL)


def own_inputs(root: Instance) -> list[Tensor] | None:
    """The inputs of a functional model; those of a model of a class's own that was built on several of them."""
    graph = graph_of(root)
    if graph is not None:
        return list(graph.flat_inputs)
    node = built_on_several(root)
    return list(node.inputs) if node is not None else None


def built_on_several(root: Instance) -> Node | None:
    """The first call of a model, if that was on a list or dict of batches."""
    nodes = root.native.nodes if isinstance(root.native, LayerState) else []
    if not nodes or not nodes[0].arguments or not isinstance(nodes[0].arguments[0], (list, tuple, dict)):
        return None
    inputs = nodes[0].inputs
    batches = all(isinstance(each.shape, tuple) and each.shape[:1] == (BATCH,) for each in inputs)
    return nodes[0] if len(inputs) > 1 and batches else None


def lost(root: Instance) -> Unknown | None:
    """Why a functional model's graph is not known; None where it is."""
    return root.native.model.cause if graph_of(root) is not None else None


def computing(run: Runtime) -> str:
    """The backend; "tensorflow, eager" where the code trains with a GradientTape and makes no graph anywhere."""
    session, found = session_of(run), backend(run)
    return f"{found}, eager" if found == "tensorflow" and session.taped and not session.graphed else found


def allocator(run: Runtime) -> str:
    """PyTorch's, where that computes. Its folder is loaded then alone."""
    if computing(run) != "torch":
        return ""
    from flake8_cnnmem.frameworks.torch.allocator_settings import allocator_settings

    return allocator_settings(run)


def spelling() -> Spelling:
    """How its programs write what decides sizes, loaded when a size is wrong."""
    from flake8_cnnmem.frameworks.keras.spelling import SPELLING

    return SPELLING


def rules() -> Rules:
    """The rules of Keras on TensorFlow, in graph mode; loaded when a memory is asked for."""
    from flake8_cnnmem.frameworks.keras.saved_tensors import RULES

    return RULES


def lower(model: Model) -> Lowered:
    """What the backend runs of a model."""
    if model.backend == "torch":
        from flake8_cnnmem.frameworks.keras import on_torch

        return Lowered(on_torch.lowered(model), on_torch.RULES)
    if model.backend == "tensorflow, eager":
        from flake8_cnnmem.frameworks.keras.on_torch import held_by_layers
        from flake8_cnnmem.frameworks.keras.saved_tensors import EAGER

        last = max((call.number for call in model.calls), default=0)
        return Lowered(replace(model, held=held_by_layers(model.calls, last)), EAGER)
    if model.backend == "jax":
        from flake8_cnnmem.frameworks.keras.saved_tensors import JAX, JAX_CAUSE

        return Lowered(model, JAX, JAX_CAUSE)
    return Lowered(model, rules())


TENSORFLOW = DeviceTerms(
    reserve=Reserve("tensorflow_reserve", "TensorFlow's reserve", ((6, 500), (7, 1050), (8, 1536)), 1800)
)
"""What TensorFlow leaves to the system when it takes the rest of the card for itself (MinSystemMemory of
tensorflow/core/common_runtime/gpu/gpu_device.cc)."""

FRAMEWORK = Framework(
    name="keras",
    alignment=256,
    channels_last=True,
    get=tensors.get,
    set=tensors.set_attribute,
    type_of=tensors.type_of,
    operate=tensors.operate,
    index=tensors.index,
    set_index=tensors.set_index,
    iterate=tensors.iterate,
    length=tensors.length,
    is_layer=is_layer,
    weights=weights,
    children=children,
    paths=paths,
    call_root=lambda run, root, inputs: sorted_by_key(call_root(run, root, inputs)),
    lower=lower,
    rules=rules,
    spelling=spelling,
    computes="tensorflow",
    device={"tensorflow": TENSORFLOW, "torch": CACHING, "jax": OWN_POOL},
    versions={"keras": "3.15", "tensorflow": "2.21"},
    version=version,
    class_targets=lambda shape: shape[:-1] if len(shape) > 1 else shape,
    outermost_rows=True,
    single_layers=frozenset(("MultiHeadAttention", "GroupQueryAttention", "Bidirectional")),
    checkpoints=None,
    optimizers_own=False,
    declares_inputs=False,
    is_model=is_model,
    own_inputs=own_inputs,
    lost=lost,
    as_fitted=as_fitted,
    backend=computing,
    allocator=allocator,
    made_by_unfollowed=note_unfollowed,
    keeps_graphs=False,
    optimizer_of=evidence.optimizer_of,
    updated_by=evidence.updated_by,
    compiled=evidence.compiled,
    fits=evidence.fits,
    looks=evidence.looks,
    fit_followed=evidence.fit_followed,
    doubts=evidence.doubts,
    input_stated=evidence.input_stated,
    policy=evidence.policy,
)
