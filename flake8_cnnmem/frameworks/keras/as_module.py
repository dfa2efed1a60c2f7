"""On the torch backend a Keras layer is a torch.nn.Module as well (keras/src/backend/torch/layer.py).

Code that trains a Keras model in a PyTorch loop asks it for its parameters and sets its mode as of any module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flake8_cnnmem.frameworks.keras.ops.backend import backend
from flake8_cnnmem.frameworks.keras.tracking import LAYER, all_layers, all_weights, sublayers
from flake8_cnnmem.frameworks.keras.trainable import set_trainable
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Native, Value


def parameters(run: Runtime, self: Instance, recurse: Value = True) -> Iterator[Weight]:
    """Every variable, those that are not trained too: Keras holds them all as parameters."""
    return iter(all_weights(self))


def named_parameters(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Iterator[tuple[str, Weight]]:
    """`layer.named_parameters()` under the torch backend: pairs of name and weight."""
    return iter([(weight.name or "", weight) for weight in all_weights(self)])


def modules(run: Runtime, self: Instance) -> Iterator[Instance]:
    """`layer.modules()` under the torch backend: the layer and all below it."""
    return iter(list(all_layers(self)))


def children(run: Runtime, self: Instance) -> Iterator[Instance]:
    """`layer.children()` under the torch backend."""
    return iter(sublayers(self))


def itself(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """Moving a model, and its mode: a Keras layer trains or not by the argument of its call."""
    return self


def requires_grad(run: Runtime, self: Instance, requires_grad: Value = True) -> Instance:
    """`layer.requires_grad_(...)` under the torch backend: the layer."""
    set_trainable(run, self, requires_grad)
    return self


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Changes no size."""


def state_dict(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> dict[str, Value]:
    """`layer.state_dict()` under the torch backend."""
    return {f"{number}.{weight.name}": weight for number, weight in enumerate(all_weights(self))}


def zero_grad(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`layer.zero_grad()` under the torch backend."""
    run.note("zero_grad", self)


METHODS: dict[str, Callable[..., Value]] = {
    "parameters": parameters,
    "named_parameters": named_parameters,
    "modules": modules,
    "children": children,
    **dict.fromkeys(("to", "cuda", "cpu", "train", "eval", "float", "share_memory"), itself),
    "requires_grad_": requires_grad,
    "state_dict": state_dict,
    "load_state_dict": nothing,
    "zero_grad": zero_grad,
}


def of_modules(name: str, method: Callable[..., Value]) -> Native:
    """A method that layers have under the torch backend alone."""

    def call(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        if backend(run) != "torch":
            raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
        return method(run, self, *args, **kwargs)

    return Native(name, call, propagate_unknown=False)


LAYER.namespace.update({name: of_modules(name, method) for name, method in METHODS.items()})
