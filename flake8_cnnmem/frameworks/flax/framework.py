"""Flax's answers to what the rest of the program asks of a framework: one for linen and nnx."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.device_terms import OWN_POOL
from flake8_cnnmem.frameworks.flax import optimizers
from flake8_cnnmem.frameworks.flax.jax import elementwise, members, shaping
from flake8_cnnmem.frameworks.flax.linen.module import FLAGS, MODULE, inner_function, is_module
from flake8_cnnmem.frameworks.flax.nnx import module as nnx
from flake8_cnnmem.frameworks.flax.scopes import forget, scope_of
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.frameworks.rules import Lowered, Rules
from flake8_cnnmem.graph import Model, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value

CONTAINERS = ("Sequential",)


def is_layer(value: Value) -> bool:
    """Whether a value is a module of linen or nnx."""
    return is_module(value) or nnx.is_module(value)


def children(layer: Instance) -> list[tuple[str, Instance]]:
    """Pairs of name and layer of those that a layer holds directly, but for what could not be followed."""
    if nnx.is_module(layer):
        return nnx.children(layer)
    held = layer.native.children if is_module(layer) and hasattr(layer.native, "children") else {}
    return [(name, child) for name, child in held.items() if isinstance(child, Instance)]


def inside(root: Instance) -> Iterator[tuple[str, Instance]]:
    """A module and all in it, each once, with the names that lead there."""
    seen, waiting = {id(root)}, [("", root)]
    while waiting:
        path, layer = waiting.pop(0)
        yield path, layer
        for name, child in children(layer):
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append((f"{path}.{name}" if path else name, child))


def weights(root: Instance) -> list[Weight]:
    """Parameters in the order in which the model makes them, then statistics."""
    found: dict[int, Weight] = {}
    for _, layer in inside(root):
        own = nnx.weights(layer) if nnx.is_module(layer) else scope_of(layer).weights.values()
        found.update((id(weight), weight) for weight in own)
    return sorted(found.values(), key=lambda weight: weight.buffer)


def paths(root: Instance) -> dict[int, str]:
    """By `id` of each layer below a root, its dotted name."""
    return {id(layer): path for path, layer in inside(root)}


def call_root(run: Runtime, root: Instance, inputs: Sequence[Value]) -> Value:
    """Call a model on its inputs, its switches as in training. A module of linen makes its parameters for them."""
    if is_module(root):
        forget(run, root)
    function = inner_function(root.cls.find("__call__"))
    if function is None:
        return run.call(root, *inputs)
    names = function.parameters.positional[1 + len(inputs) :]
    told = {name: FLAGS[name] for name in (*names, *function.parameters.keywords) if name in FLAGS}
    return run.call(root, *inputs, **told)


def is_model(instance: Instance) -> bool:
    """A module of the program's own, or a container, that is no part of another."""
    if instance.cls.site is None and instance.cls.name not in CONTAINERS:
        return False
    return not (
        instance.cls.derives_from(MODULE) and instance.native is not None and instance.native.parent is not None
    )


def rules() -> Rules:
    """The rules of what training holds."""
    from flake8_cnnmem.frameworks.flax.saved_tensors import RULES

    return RULES


def lower(model: Model) -> Lowered:
    """The model as it runs, with the cause that memory is a lower bound."""
    from flake8_cnnmem.frameworks.flax.saved_tensors import CAUSE

    return Lowered(model, rules(), CAUSE)


def class_targets(shape: Shape) -> Shape:
    """The shape of targets that are class numbers, for logits of this shape."""
    return shape[:-1] if len(shape) > 1 else shape


FRAMEWORK = Framework(
    name="flax",
    alignment=256,
    channels_last=True,
    get=members.get,
    set=members.set_attribute,
    type_of=lambda tensor: members.ARRAY,
    operate=elementwise.operate,
    index=shaping.index,
    set_index=members.set_index,
    iterate=shaping.iterate,
    length=shaping.length,
    is_layer=is_layer,
    weights=weights,
    children=children,
    paths=paths,
    call_root=call_root,
    lower=lower,
    rules=rules,
    computes="jax",
    device={"jax": OWN_POOL},
    versions={"flax": "0.12", "jax": "0.10"},
    class_targets=class_targets,
    outermost_rows=False,
    single_layers=frozenset(("MultiHeadAttention",)),
    checkpoints=None,
    optimizers_own=False,
    declares_inputs=False,
    is_model=is_model,
    own_inputs=lambda root: None,
    shape_error="TypeError",
    optimizer_of=optimizers.optimizer_of,
    updated_by=optimizers.updated_by,
)
