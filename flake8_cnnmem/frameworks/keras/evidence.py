"""What Keras code says of training: optimizers as names and objects, what `compile` and `fit` were told, the policy."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from flake8_cnnmem.frameworks.framework import Compiled, Fit, Framework, Look
from flake8_cnnmem.frameworks.keras.batches import batch_of, is_source
from flake8_cnnmem.frameworks.keras.config_objects import OPTIMIZER, OPTIMIZERS
from flake8_cnnmem.frameworks.keras.fitting import told_late, usual_batch
from flake8_cnnmem.frameworks.keras.model_state import ModelState, graph_of
from flake8_cnnmem.frameworks.keras.pipeline_elements import changed_in
from flake8_cnnmem.frameworks.keras.session import LayerState, session_of
from flake8_cnnmem.frameworks.keras.tracking import sublayers
from flake8_cnnmem.frameworks.keras.variables import untracked
from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.graph import Site, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

TELLING = (
    "momentum", "nesterov", "amsgrad", "centered", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm",
    "use_ema", "gradient_accumulation_steps",
)  # fmt: skip
"""Options that change what an optimizer keeps or makes for its step."""

NAMES = {name.lower(): name for name in OPTIMIZERS} | {"gradientdescent": "SGD", "momentum": "SGD"}


def optimizer_of(value: Value) -> Optimizer | None:
    """`"adam"`, `Adam(amsgrad=True)`, `LossScaleOptimizer(Adam())`, TensorFlow 1's `AdamOptimizer()`."""
    if isinstance(value, str):
        name = value.lower().removesuffix("optimizer")
        return Optimizer(name) if name in NAMES else None
    if isinstance(value, dict):
        # The form that `serialize` gives.
        return optimizer_of(value.get("class_name"))
    if not isinstance(value, Instance):
        return None
    if not value.cls.derives_from(OPTIMIZER):
        torch = pytorch()
        return torch.optimizer_of(value) if torch is not None else None
    inner = value.attributes.get("inner_optimizer")
    if inner is not None:
        wrapped = optimizer_of(inner)
        return Optimizer(wrapped.name, (*wrapped.options, ("loss_scale", True))) if wrapped is not None else None
    known = next((cls.name for cls in value.cls.mro if cls.name in OPTIMIZERS), value.cls.name)
    if known == "Optimizer" and value.cls.site is not None:
        site = value.site or value.cls.site
        cause = Unknown(f"what the optimizer {value.cls.name} keeps is not followed", site.path, site.line)
        return Optimizer(value.cls.name.lower(), (), Update(causes=(cause,)))
    options: dict[str, Any] = {}
    for word in TELLING:
        setting = value.attributes.get(word)
        if isinstance(setting, (bool, int, float)) and setting:
            options[word] = setting
    name = known.lower().removesuffix("optimizer") or value.cls.name.lower()
    if name in ("sgd", "gradientdescent", "momentum"):
        name = "momentum" if options.get("momentum") else "sgd"
    return Optimizer(name, tuple(sorted(options.items())))


def updated_by(optimizer: Instance) -> list[Weight] | None:
    """What an optimizer of PyTorch's was made for; of Keras' own what the steps that the code makes update."""
    if optimizer.cls.derives_from(OPTIMIZER):
        return list(optimizer.native.values()) if isinstance(optimizer.native, dict) and optimizer.native else None
    torch = pytorch()
    return torch.updated_by(optimizer) if torch is not None else None


def pytorch() -> Framework | None:
    """PyTorch, where the code uses it: on that backend its optimizers train Keras' models too."""
    loaded = sys.modules.get("flake8_cnnmem.frameworks.torch")
    return loaded.FRAMEWORK if loaded is not None else None


def state_of_model(instance: Instance) -> ModelState | None:
    """What natives keep of a model; None for a layer that is none."""
    state = instance.native
    return state.model if isinstance(state, LayerState) and isinstance(state.model, ModelState) else None


def compiled(instance: Instance) -> list[Compiled]:
    """The calls of `compile` on a model, in order."""
    state = state_of_model(instance)
    if state is None:
        return []
    return [
        Compiled(each.given.get("optimizer"), each.given.get("loss"), each.site, each.given.get("jit_compile"))
        for each in state.compiled
    ]


def fit_followed(run: Runtime, fit: Fit) -> Fit:
    """A call of `fit` with what its first step is given, whatever is fitted. Floating-point arrays are cast to float32
    on their way (keras/src/trainers/data_adapters/array_data_adapter.py)."""
    usual = usual_batch(fit.data, {}) if not is_source(fit.data) else None
    batch = batch_of(run, fit.data, None, fit.batch_size, usual)
    cast = changed_in(batch, lambda tensor: replace(tensor, dtype="float") if tensor.dtype == "float64" else tensor)
    return replace(fit, usual=usual, batch=cast)


def fits(instance: Instance) -> list[Fit]:
    """The calls of `fit` and its like on a model, in order."""
    state = state_of_model(instance)
    return [] if state is None else list(state.fitted)


def looks(instance: Instance) -> list[Look]:
    """The calls of `evaluate`, `predict` and their like on a model, in order."""
    state = state_of_model(instance)
    return [] if state is None else list(state.looks)


def doubts(run: Runtime, model: Instance) -> tuple[Unknown, ...]:
    """Those of the last fit; of a model that is trained otherwise those of the program, and that a step around it does
    more than call it; and that it holds variables that Keras may not count."""
    found, session, variable, late = fits(model), session_of(run), untracked(run, model), told_late(run, model)
    more = session.parts_of_steps.get(id(model)) if not found else None
    mixed = of_several_policies(run, model)
    own = [each for each in (late, more, variable, mixed) if each is not None]
    return (*found[-1].doubts, *found[-1].unfollowed, *own) if found else (*own, *session.drawn.values())


def input_stated(run: Runtime, model: Instance) -> tuple[Site | None, int | None]:
    """The first Input of a functional model, or the first layer of a Sequential one."""
    graph = graph_of(model)
    if graph is None or not graph.flat_inputs:
        return None, None
    found = session_of(run).node_of(graph.flat_inputs[0])
    layer = found[0].operation if found is not None else None
    if not isinstance(layer, Instance):
        return None, None
    batch = layer.native.properties.get("batch_size") if isinstance(layer.native, LayerState) else None
    return layer.site, batch if isinstance(batch, int) else None


def policy(run: Runtime, model: Instance) -> tuple[str, Site | None] | None:
    """The global policy under which the layers were made, or the dtype that `set_floatx` asks for."""
    session = session_of(run)
    kept = policies(model)
    name, site = next(iter(kept.items())) if len(kept) == 1 else (session.policy, session.policy_site)
    if isinstance(name, str) and name != "float32":
        return name, site
    if session.floatx != "float32":
        return session.floatx, run.data("keras").get("policy site")
    return None


def policies(model: Instance) -> dict[Value, Site | None]:
    """The global policies under which a model's layers with weights were made, which are not told a dtype of their own,
    and who asks for each."""
    found: dict[Value, Site | None] = {}
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        layer = waiting.pop()
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        waiting += sublayers(layer)
        state = layer.native
        if isinstance(state, LayerState) and state.weights and state.dtype is None:
            name, site = state.made_under
            found.setdefault(name if isinstance(name, str) else "", site)
    return found


def of_several_policies(run: Runtime, model: Instance) -> Unknown | None:
    """Why the dtypes of a model are not those of one policy: what was set between its layers."""
    kept = policies(model)
    if len(kept) < 2:
        return None
    site = next(site for site in kept.values() if site is not None)
    return Unknown(
        "layers made under several dtype policies are counted as if made under the last", site.path, site.line
    )
