"""torch.optim.swa_utils: an averaged copy of a model, which lies in memory beside it (torch/optim/swa_utils.py)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.copying import deep_copy
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.distributed.wrappers import forward
from flake8_cnnmem.frameworks.torch.nn.layer import composite
from flake8_cnnmem.frameworks.torch.nn.modules.module import set_attribute
from flake8_cnnmem.frameworks.torch.optim.schedulers import scheduler
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


def unchanged(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """An update is written into the copy; what it makes for a moment is a chunk of the weights, in the optimizer's
    shade: it is over before the next step begins."""
    return None


@composite(
    "swa_utils",
    forward=forward,
    members={"update_parameters": Native("update_parameters", unchanged, propagate_unknown=False)},
)
def AveragedModel(
    run: Runtime, self: Instance, model: Value, device: Value = None, avg_fn: Value = None, multi_avg_fn: Value = None,
    use_buffers: Value = False,
) -> None:  # fmt: skip
    """`AveragedModel(model)`: a module that holds a deep copy of the model."""
    copied = deep_copy(model)
    if device is not None and isinstance(copied, Instance):
        copied = run.call(run.get(copied, "to"), device)
    set_attribute(run, self, "module", copied)


def averaging(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`get_ema_multi_avg_fn()` and its like: a function that averages in place."""
    return Native("average", unchanged, propagate_unknown=False)


def update_bn(run: Runtime, loader: Value, model: Value, device: Value = None) -> Value:
    """One pass over the loader without a gradient, for the running statistics of batch norm: an evaluation's loop."""
    before, run.grad_enabled = run.grad_enabled, False
    turn = run.repeated()
    try:
        items = run.iterate(loader)
        for _ in range(2):
            with turn:
                batch = None if isinstance(items, Unknown) else next(items, None)
                given = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
                if given is None:
                    break
                run.attempt(model, all_to_device(run, given) if device is not None else given)
    finally:
        run.grad_enabled = before
    return None


SWA_UTILS: dict[str, Value] = {
    "SWALR": scheduler("SWALR"),
    "AveragedModel": AveragedModel,
    "update_bn": Native("update_bn", update_bn, propagate_unknown=False),
    **{
        name: Native(name, averaging, propagate_unknown=False)
        for name in ("get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn", "get_swa_avg_fn")
    },
}
