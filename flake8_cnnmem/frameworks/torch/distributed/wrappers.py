"""torch.nn.DataParallel, DistributedDataParallel and other wrappers: they call the module that they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange
from flake8_cnnmem.frameworks.torch.autograd.regions import NO_OP
from flake8_cnnmem.frameworks.torch.distributed.noting import count_of
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.layer import composite
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, set_attribute
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native

NO_OP_CALL = Native("no_sync", lambda run, self, *args, **kwargs: Instance(NO_OP), propagate_unknown=False)


def forward(run: Runtime, self: Instance, /, *inputs: Value, **kwargs: Value) -> Value:
    """A call of a wrapped module."""
    return run.call(attribute(run, self, "module"), *inputs, **kwargs)


def wrapper(name: str, module: str, build: Callable[..., None], members: Mapping[str, Value] | None = None) -> Class:
    """The class of a wrapper that is no part of torch.nn: `build(run, self, module, ...)` has its signature."""

    def init(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
        init_module(run, self)
        build(run, self, *args, **kwargs)
        return None

    own = {
        "__init__": Native("__init__", init, propagate_unknown=False),
        "forward": Native("forward", forward, propagate_unknown=False),
    }
    return Class(name, (MODULE,), {**own, **(members or {})}, module=module)


def applied(run: Runtime, self: Instance, /, replicas: Value, inputs: Value, kwargs: Value = None) -> Value:
    """What the one replica makes of the one part of a batch."""
    given = run.items(run.index(inputs, 0))
    named = run.index(kwargs, 0) if kwargs else {}
    if isinstance(given, Unknown) or not isinstance(named, dict):
        return given if isinstance(given, Unknown) else named
    return [run.call(run.index(replicas, 0), *given, **named)]


ON_ONE_DEVICE: dict[str, Value] = {
    "replicate": native("replicate", lambda run, self, module, device_ids=None: [module]),
    "scatter": native("scatter", lambda run, self, inputs, kwargs, device_ids=None: ([inputs], [kwargs])),
    "parallel_apply": native("parallel_apply", applied),
    "gather": native("gather", lambda run, self, outputs, output_device=None: run.index(outputs, 0)),
}
"""What the forward pass is put together from, which subclasses override and code patches: on the device that is
estimated there is one replica."""


@composite("parallel", forward=forward, members=ON_ONE_DEVICE)
def DataParallel(
    run: Runtime, self: Instance, module: Value, device_ids: Value = None, output_device: Value = None, dim: Value = 0
) -> None:
    """`nn.DataParallel(module)`: the batch is split over GPUs."""
    set_attribute(run, self, "module", module)
    self.attributes["device_ids"] = device_ids
    arrange(
        run, module,
        Arrangement("DataParallel", count_of(device_ids), buckets="replica", divides_batch=True),
    )  # fmt: skip


def gathered_in(run: Runtime, view: Value) -> str:
    """By torch/csrc/distributed/c10d/reducer.cpp: one flat buffer for each bucket, which hold together as much as all
    gradients, and which the gradients are views of where that is asked for."""
    return "views" if view is not None and run.truth(view) is True else "copies"


@composite("parallel", forward=forward, members={"no_sync": NO_OP_CALL, "join": NO_OP_CALL})
def DistributedDataParallel(
    run: Runtime, self: Instance, module: Value, device_ids: Value = None, output_device: Value = None, dim: Value = 0,
    broadcast_buffers: Value = True, init_sync: Value = True, process_group: Value = None,
    bucket_cap_mb: Value = None, find_unused_parameters: Value = False, check_reduction: Value = False,
    gradient_as_bucket_view: Value = False, static_graph: Value = False, delay_all_reduce_named_params: Value = None,
    param_to_hook_all_reduce: Value = None, mixed_precision: Value = None, device_mesh: Value = None,
    skip_all_reduce_unused_params: Value = False, bucket_cap_mb_list: Value = None,
) -> None:  # fmt: skip
    """`DistributedDataParallel(module)`: each process has the module and its share of the batch."""
    set_attribute(run, self, "module", module)
    self.attributes["device_ids"] = device_ids
    arrange(run, module, Arrangement("DistributedDataParallel", buckets=gathered_in(run, gradient_as_bucket_view)))
