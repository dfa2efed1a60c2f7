"""Tools that print a PyTorch model for an input size: the code that calls them states what the model is fed with.

torchsummary, torchinfo, thop, ptflops, fvcore and torchviz, by the signatures of their own documentation.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


def state(run: Runtime, model: Value, shapes: Value, with_batch: bool) -> None:
    """Note the input shapes (without the batch) that a call states for a model."""
    if not isinstance(model, Instance) or isinstance(shapes, Unknown) or shapes is None:
        return
    several = (
        shapes if isinstance(shapes, (list, tuple)) and shapes and isinstance(shapes[0], (list, tuple)) else [shapes]
    )
    found = [tuple(shape) for shape in several if isinstance(shape, (list, tuple))]
    if with_batch:
        found = [shape[1:] for shape in found]
    if found and all(isinstance(size, int) and size > 0 for shape in found for size in shape):
        run.data("stated inputs").setdefault(id(model), (found, run.here()))


def torchsummary(run: Runtime, model: Value, input_size: Value = None, *args: Value, **kwargs: Value) -> Value:
    state(run, model, input_size, with_batch=False)
    return None


def torchinfo(
    run: Runtime,
    model: Value,
    input_size: Value = None,
    input_data: Value = None,
    batch_dim: Value = None,
    **kwargs: Value,
) -> Value:
    state(run, model, input_size, with_batch=batch_dim is None)
    state_data(run, model, input_data)
    return run.unknown("a summary is not followed")


def state_data(run: Runtime, model: Value, data: Value) -> None:
    tensors = [value for value in (data if isinstance(data, (list, tuple)) else [data]) if isinstance(value, Tensor)]
    if tensors and not any(isinstance(tensor.shape, Unknown) for tensor in tensors):
        state(run, model, [tensor.shape for tensor in tensors], with_batch=True)


def profile(run: Runtime, model: Value, inputs: Value = None, *args: Value, **kwargs: Value) -> Value:
    state_data(run, model, inputs)
    cause = run.unknown("a profile is not followed")
    return cause, cause


def complexity(run: Runtime, model: Value, input_res: Value = None, *args: Value, **kwargs: Value) -> Value:
    state(run, model, input_res, with_batch=False)
    cause = run.unknown("a profile is not followed")
    return cause, cause


def analysis(run: Runtime, model: Value, inputs: Value = None, *args: Value, **kwargs: Value) -> Value:
    state_data(run, model, inputs)
    return run.unknown("a profile is not followed")


def natives(**functions: Callable[..., Value]) -> dict[str, Value]:
    return {name: Native(name, function, propagate_unknown=False) for name, function in functions.items()}
