"""Measures a PyTorch model on fake tensors: nothing is allocated, every shape, dtype and storage is real.

`saved_bytes`: unique storages that autograd keeps after the forward pass, parameters and buffers left out,
the input batch included. `peak_bytes`: the highest sum of live storages, each rounded up to 512 bytes, over
the second of two training steps (zero_grad, forward in train mode, loss, backward, optimizer step); for
models that return several outputs the loss is on the first. Layers: the leaf modules in call order with the
output shape without the batch (a list of shapes where a module returns several tensors).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

ALIGNMENT = 512


def rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class LiveStorages(TorchDispatchMode):
    """Keeps the sum of live storages, and its highest value."""

    def __init__(self) -> None:
        super().__init__()
        self.live = 0
        self.peak = 0
        self._references: dict[int, weakref.ref[Any]] = {}

    def watch(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        known = self._references.get(key)
        if known is not None and known() is storage:
            return
        size = rounded(storage.nbytes())

        def died(reference: weakref.ref[Any]) -> None:
            self.live -= size
            if self._references.get(key) is reference:
                del self._references[key]

        self._references[key] = weakref.ref(storage, died)
        self.live += size
        self.peak = max(self.peak, self.live)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in tree_flatten(result)[0]:
            if isinstance(value, torch.Tensor):
                self.watch(value)
        return result


def first_tensor(value: Any) -> torch.Tensor:
    """The first tensor of what a model returns (a tensor, a tuple, a dict, a dataclass)."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        return first_tensor(next(iter(value.values())))
    if isinstance(value, (tuple, list)):
        return first_tensor(value[0])
    return first_tensor(next(iter(vars(value).values())))


def make_target(output: torch.Tensor) -> torch.Tensor:
    """Class indices along the second axis; zeros like the output where it has one score a sample."""
    if output.dim() < 2 or output.shape[1] == 1 or not output.is_floating_point():
        return torch.zeros(output.shape)
    return torch.zeros((output.shape[0], *output.shape[2:]), dtype=torch.int64)


def cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Cross entropy over the second axis (binary, with logits, where the output has one score a sample)."""
    if target.is_floating_point():
        return nn.functional.binary_cross_entropy_with_logits(output, target)
    return nn.functional.cross_entropy(output, target)


def shape_of(value: Any) -> list[Any] | None:
    """Shapes without the batch; of a nest of tensors the list of their shapes."""
    tensors = [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]
    if not tensors:
        return None
    if len(tensors) == 1:
        return list(tensors[0].shape[1:])
    return [list(tensor.shape[1:]) for tensor in tensors]


def make_inputs(shapes: Sequence[Sequence[int]], batch: int, tokens: int | None = None) -> list[torch.Tensor]:
    """`tokens`: the inputs hold whole numbers below this (for an Embedding), not floats."""
    if tokens is not None:
        return [torch.zeros((batch, *shape), dtype=torch.int64) for shape in shapes]
    return [torch.randn(batch, *shape) for shape in shapes]


def call_order(model: nn.Module, inputs: list[Any]) -> list[list[Any]]:
    """One row for each call of a leaf module: name, class, output shape without the batch."""
    rows: list[list[Any]] = []
    handles = []

    def hook(name: str) -> Callable[[nn.Module, Any, Any], None]:
        return lambda module, args, output: rows.append([name, type(module).__name__, shape_of(output)])

    for name, module in model.named_modules(remove_duplicate=True):
        if not list(module.children()):
            handles.append(module.register_forward_hook(hook(name)))
    model(*inputs)
    for handle in handles:
        handle.remove()
    return rows


def buffer_bytes(model: nn.Module) -> int:
    return sum(buffer.numel() * buffer.element_size() for buffer in model.buffers())


def renewed(model: nn.Module) -> nn.Module:
    """The model with new fake parameters: what `copy.deepcopy` makes of a fake one is another tensor to every view."""
    made: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None:
                if id(parameter) not in made:
                    empty = torch.empty(parameter.shape, dtype=parameter.dtype)
                    made[id(parameter)] = nn.Parameter(empty, requires_grad=parameter.requires_grad)
                module._parameters[name] = made[id(parameter)]
        if isinstance(module, nn.RNNBase):
            module._flat_weights = [getattr(module, name) for name in module._flat_weights_names]
    return model


def steps(
    model: nn.Module,
    shapes: Sequence[Sequence[int]],
    batch: int,
    tokens: int | None,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    optimizer: Callable[[Iterator[nn.Parameter]], torch.optim.Optimizer] | None = None,
) -> tuple[int, int]:
    """`(saved_bytes, peak_bytes)` of the second of two training steps. Call inside a FakeTensorMode."""
    model.train()
    make = optimizer or (lambda parameters: torch.optim.Adam(parameters, foreach=True))
    trainable = (parameter for parameter in model.parameters() if parameter.requires_grad)
    stepper = make(trainable)
    own = {tensor.untyped_storage()._cdata for tensor in (*model.parameters(), *model.buffers())}
    saved: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            saved[storage._cdata] = storage.nbytes()
        return tensor

    # The hooks hold tensors a little longer than autograd does: no hooks in the step whose peak counts.
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        inputs = make_inputs(shapes, batch, tokens)
        output = model(*inputs)
    for tensor in inputs:
        saved[tensor.untyped_storage()._cdata] = tensor.untyped_storage().nbytes()
    total = sum(saved.values())
    target = make_target(first_tensor(output))
    del inputs, output, tensor
    with LiveStorages() as live:
        for tensor in (*model.parameters(), *model.buffers()):
            live.watch(tensor)
        live.watch(target)
        del tensor
        for _ in range(2):
            inputs = make_inputs(shapes, batch, tokens)
            live.peak = live.live
            stepper.zero_grad(set_to_none=True)
            value = loss(first_tensor(model(*inputs)), target)
            value.backward()
            stepper.step()
            peak = live.peak
            del inputs, value
    return total, peak


def measure(
    make: Callable[[], nn.Module],
    shapes: Sequence[Sequence[int]],
    batch: int = 32,
    tokens: int | None = None,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = cross_entropy,
    memory: bool = True,
) -> dict[str, Any]:
    """One record of the truth files, without its target."""
    # Truncated normal draws look at their values, which fake tensors have none of.
    nn.init._no_grad_trunc_normal_ = lambda tensor, *args, **kwargs: tensor  # type: ignore[assignment]
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = renewed(make())
        model.train()
        rows = call_order(model, make_inputs(shapes, 2, tokens))
        record: dict[str, Any] = {
            "input_shape": list(shapes[0]),
            "batch_size": batch,
            "optimizer": "adam",
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "trainable": sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad),
            "buffer_bytes": buffer_bytes(model),
        }
        if len(shapes) > 1:
            record["input_shapes"] = [list(shape) for shape in shapes]
        if memory:
            record["saved_bytes"], record["peak_bytes"] = steps(model, shapes, batch, tokens, loss)
        record["layers"] = rows
    return record
