"""tf.distribute and keras.distribution: how many devices share each batch. The estimate is of one of them.

A strategy that mirrors a model gives each device its share of a batch. Where neither the code nor an option says how
many devices there are, one is counted, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange
from flake8_cnnmem.frameworks.framework import NUMBER_OF_GPUS
from flake8_cnnmem.frameworks.keras.ops.backend import NAME_SCOPE
from flake8_cnnmem.frameworks.keras.pipeline_elements import changed_in, facts_of, pipeline
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Property, Value, native

REPLICAS = "_replicas"
NAME = "_strategy"


def share(size: int, devices: int) -> int:
    """The largest part of a batch that one device gets."""
    return -(-size // devices)


def replicas_of(self: Instance) -> int:
    """Over how many devices a strategy trains."""
    found = self.attributes.get(REPLICAS, 1)
    return found if isinstance(found, int) else 1


def mirrored_init(run: Runtime, self: Instance, devices: Value = None, *args: Value, **kwargs: Value) -> None:
    """`MirroredStrategy(devices)`: as many replicas as devices are listed, or as the option says."""
    listed = len(devices) if isinstance(devices, (list, tuple)) else 0
    self.attributes[REPLICAS] = listed or int(run.choose(NUMBER_OF_GPUS, ("1",)) or "1")
    self.attributes[NAME] = Arrangement(self.cls.name, listed or None, sums=True)


def shares(run: Runtime, self: Instance) -> None:
    """From here on models train on each device's share."""
    session_of(run).replicas = replicas_of(self)
    noted = self.attributes.get(NAME)
    if isinstance(noted, Arrangement):
        arrange(run, None, noted)


def single_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """One device, or the TPU's own, which are no GPUs."""


def scope(run: Runtime, self: Instance) -> Value:
    """`strategy.scope()`: from here on models train with the strategy."""
    shares(run, self)
    return run.construct(NAME_SCOPE)


def number(run: Runtime, self: Instance) -> int:
    """`strategy.num_replicas_in_sync`."""
    return replicas_of(self)


def run_function(
    run: Runtime, self: Instance, fn: Value, args: Value = (), kwargs: Any = None, **options: Value
) -> Value:
    """`strategy.run(fn, args)`: the call on one replica."""
    return run.call(fn, *(args if isinstance(args, (tuple, list)) else ()), **(kwargs or {}))


def distributed(run: Runtime, self: Instance, dataset: Value = None, *args: Value) -> Value:
    """A pipeline of each device's share."""
    shares(run, self)
    devices = replicas_of(self)
    facts = facts_of(dataset) if isinstance(dataset, Instance) else {}
    if not isinstance(dataset, Instance) or devices < 2 or not facts:
        return dataset

    def part(tensor: Tensor) -> Tensor:
        shape = tensor.shape
        if isinstance(shape, Unknown) or not shape or not isinstance(shape[0], int):
            return tensor
        return Tensor((share(shape[0], devices), *shape[1:]), tensor.dtype, framework="keras")

    changed = {**facts, "element": changed_in(facts.get("element"), part)}
    size = facts.get("batch_size")
    if isinstance(size, int):
        changed["batch_size"] = share(size, devices)
    return pipeline(dataset.cls, changed)


def by_function(run: Runtime, self: Instance, dataset_fn: Value = None, *args: Value) -> Value:
    """Each device's own pipeline."""
    return run.call(dataset_fn, run.unknown("the context of a device is not known"))


def value_of(run: Runtime, self: Instance, reduce_op: Value = None, value: Value = None, axis: Value = None) -> Value:
    """`strategy.reduce(op, value)`: the value."""
    return value


def results(run: Runtime, self: Instance, value: Value = None) -> Value:
    """`strategy.experimental_local_results(value)`: one for each replica, of which one is followed."""
    return (value,)


def other(run: Runtime, self: Instance, name: str) -> Value:
    """Any other attribute of a strategy, which is not followed."""
    return MISSING if name.startswith("__") else run.unknown(f"Strategy.{name} is not followed")


STRATEGY = Class(
    "Strategy",
    namespace={
        "__init__": native("__init__", single_init),
        "__getattr__": native("__getattr__", other),
        "scope": native("scope", scope),
        "run": native("run", run_function),
        "experimental_run_v2": native("experimental_run_v2", run_function),
        "num_replicas_in_sync": Property(native("num_replicas_in_sync", number)),
        "experimental_distribute_dataset": native("experimental_distribute_dataset", distributed),
        "distribute_datasets_from_function": native("distribute_datasets_from_function", by_function),
        "experimental_distribute_datasets_from_function": native("by_function", by_function),
        "reduce": native("reduce", value_of),
        "experimental_local_results": native("experimental_local_results", results),
    },
    module="tensorflow.distribute",
)


def named(name: str, init: Callable[..., Value]) -> Class:
    """A class of strategies."""
    return Class(name, (STRATEGY,), {"__init__": native("__init__", init)}, module="tensorflow.distribute")


MEMBERS: dict[str, Value] = {
    "Strategy": STRATEGY,
    **{name: named(name, mirrored_init) for name in ("MirroredStrategy", "CentralStorageStrategy")},
    "MultiWorkerMirroredStrategy": named(
        "MultiWorkerMirroredStrategy", lambda run, self, *args, **kwargs: mirrored_init(run, self)
    ),
    **{name: named(name, single_init) for name in ("OneDeviceStrategy", "TPUStrategy", "ParameterServerStrategy")},
    "get_strategy": native("get_strategy", lambda run: run.construct(STRATEGY)),
    "has_strategy": native("has_strategy", lambda run: False),
}


def multi_gpu_model(run: Runtime, model: Value, gpus: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Keras 2's wrapper: the same model on each of so many GPUs, each with its part of the batch."""
    count: Value = len(gpus) if isinstance(gpus, (list, tuple)) else gpus
    counted = count if type(count) is int and count > 0 else None
    session_of(run).replicas = counted or int(run.choose(NUMBER_OF_GPUS, ("1",)) or "1")
    arrange(run, None, Arrangement("multi_gpu_model", counted, sums=True))
    return model


def set_distribution(run: Runtime, value: Value = None) -> None:
    """`keras.distribution.set_distribution(value)`: from here on models train on each device's share."""
    if isinstance(value, Instance):
        shares(run, value)


def data_parallel_init(
    run: Runtime, self: Instance, device_mesh: Value = None, devices: Value = None, *rest: Value, **options: Value
) -> None:
    """`DataParallel(devices=...)`: each device has its share of the batch."""
    mirrored_init(run, self, devices)


def model_parallel_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`ModelParallel(layout_map=...)`: variables are divided as a map says, which is not followed."""
    cause = run.unknown("how ModelParallel divides a model among devices is not followed: counted for one")
    self.attributes[NAME] = Arrangement("ModelParallel", causes=(cause,))


DISTRIBUTION: dict[str, Value] = {
    "DataParallel": named("DataParallel", data_parallel_init),
    "ModelParallel": named("ModelParallel", model_parallel_init),
    "set_distribution": native("set_distribution", set_distribution),
}
