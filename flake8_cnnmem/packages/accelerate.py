"""Hugging Face's accelerate: a loop of the user's own, its model, optimizer and loaders handed to `prepare`.

By accelerate/accelerator.py (1.15): in `accumulate` the optimizer's step and its clearing of gradients do nothing until
`gradient_accumulation_steps` batches have gone through.
"""

from __future__ import annotations

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange
from flake8_cnnmem.frameworks.torch.distributed.fsdp import fully_sharded
from flake8_cnnmem.frameworks.torch.distributed.noting import world_size
from flake8_cnnmem.frameworks.torch.distributed.precision import precision_of
from flake8_cnnmem.frameworks.torch.distributed.prepared import (
    COMMON,
    in_autocast,
    models_in,
    move_batches,
    no_op,
    nothing,
)
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZER
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER
from flake8_cnnmem.packages import deepspeed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Instance, Value, native

SHOWN = 2
"""So many micro-batches stand for any number that is gathered: those after the second find what that one did."""


def init(
    run: Runtime, self: Instance, /, device_placement: Value = True, split_batches: Value = False,
    mixed_precision: Value = None, gradient_accumulation_steps: Value = 1, cpu: Value = False,
    dataloader_config: Value = None, deepspeed_plugin: Value = None, fsdp_plugin: Value = None, *args: Value,
    gradient_accumulation_plugin: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    plugin = gradient_accumulation_plugin
    if isinstance(plugin, Instance):
        gradient_accumulation_steps = plugin.attributes.get("num_steps", 1)
    count = world_size(run) or 1
    self.attributes.update(
        gradient_accumulation_steps=gradient_accumulation_steps, is_main_process=True, is_local_main_process=True,
        is_last_process=True, num_processes=count, process_index=0, local_process_index=0, sync_gradients=True,
        mixed_precision=mixed_precision, optimizer_step_was_skipped=False, _native_micro=0,
        device_placement=device_placement,
        _native_precision=precision_of("no" if mixed_precision is None else mixed_precision),
        _native_deepspeed=deepspeed_plugin, _native_fsdp=fsdp_plugin,
    )  # fmt: skip
    return None


def gathers(self: Instance) -> bool:
    steps = self.attributes.get("gradient_accumulation_steps")
    return isinstance(steps, int) and steps > 1


def prepare(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    own, count = self.attributes, world_size(run)
    for model in models_in(args):
        if own["_native_deepspeed"] is not None:
            deepspeed.arranged(run, model, config_in(run, own["_native_deepspeed"]), count)
        elif own["_native_fsdp"] is not None:
            arrange(run, model, fully_sharded(run, model, count))
        else:
            arrange(run, model, Arrangement("accelerate", count, buckets="copies", optional=True))
    for optimizer in args:
        if gathers(self) and isinstance(optimizer, Instance) and optimizer.cls.derives_from(OPTIMIZER):
            waits(run, self, optimizer)
    if self.attributes["device_placement"] is not False:
        move_batches(run, args)
    for loader in args:
        if isinstance(loader, Instance) and loader.cls.derives_from(DATA_LOADER):
            run.changed(loader)
            loader.attributes["device"] = run.get(self, "device")
    in_autocast(run, self)
    return args[0] if len(args) == 1 else args


def config_in(run: Runtime, plugin: Value) -> Value:
    """`DeepSpeedPlugin(zero_stage=2)`, `DeepSpeedPlugin(hf_ds_config="ds.json")`."""
    options = plugin.attributes.get("options", {}) if isinstance(plugin, Instance) else {}
    config = options.get("hf_ds_config")
    if config is not None:
        return config
    devices = {word: options.get(f"offload_{word}_device") for word in ("optimizer", "param")}
    section = {"stage": options.get("zero_stage", 2)}
    section.update({f"offload_{word}": {"device": device} for word, device in devices.items() if device is not None})
    return {"zero_optimization": section}


def waits(run: Runtime, self: Instance, optimizer: Instance) -> None:
    """The optimizer does nothing on batches whose gradients are only gathered."""

    def when_due(name: str) -> Value:
        function = optimizer.cls.find(name)

        def method(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
            due = self.attributes.get("sync_gradients") is not False
            return run.call(function, optimizer, *args, **kwargs) if due else None

        return native(name, method)

    run.changed(optimizer)
    for name in ("step", "zero_grad"):
        if optimizer.cls.find(name) is not MISSING:
            optimizer.attributes[name] = when_due(name)


def accumulate(run: Runtime, self: Instance, /, *models: Value) -> Value:
    run.changed(self)
    self.attributes["_native_micro"] += 1
    self.attributes["sync_gradients"] = not gathers(self) or self.attributes["_native_micro"] % SHOWN == 0
    return no_op(run, self)


def plugin_init(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    self.attributes.update(options=kwargs, **({"num_steps": args[0]} if args else {}))
    self.attributes.update(kwargs)
    return None


def plugin(name: str) -> Class:
    return Class(name, namespace={"__init__": native("__init__", plugin_init)}, module="accelerate.utils")


ACCELERATOR_MEMBERS = Members({
    **COMMON,
    "__init__": native("__init__", init),
    "accumulate": native("accumulate", accumulate),
    **{
        name: native(name, prepare)
        for name in ("prepare", "prepare_model", "prepare_optimizer", "prepare_data_loader", "prepare_scheduler")
    },
    **{
        name: native(name, no_op)
        for name in ("main_process_first", "local_main_process_first", "join_uneven_inputs", "profile")
    },
})  # fmt: skip
ACCELERATOR = Class("Accelerator", namespace=ACCELERATOR_MEMBERS, module="accelerate")

PLUGINS: dict[str, Value] = {
    name: plugin(name)
    for name in ("DeepSpeedPlugin", "FullyShardedDataParallelPlugin", "GradientAccumulationPlugin",
                 "DistributedDataParallelKwargs", "GradScalerKwargs", "InitProcessGroupKwargs", "ProjectConfiguration",
                 "DataLoaderConfiguration")
}  # fmt: skip


def launched_in_notebook(
    run: Runtime, /, function: Value, args: Value = (), num_processes: Value = None, *more: Value, **kwargs: Value
) -> Value:
    from flake8_cnnmem.frameworks.torch.distributed.noting import tell_world_size

    given = run.items(args)
    tell_world_size(run, num_processes)
    return run.call(function, *given) if isinstance(given, list) else given


ACCELERATE: dict[str, Value] = {
    "Accelerator": ACCELERATOR,
    **PLUGINS,
    "notebook_launcher": native("notebook_launcher", launched_in_notebook),
}
UTILITIES: dict[str, Value] = {**PLUGINS, "set_seed": native("set_seed", nothing)}
MODULES = {"accelerate": ACCELERATE, "accelerate.utils": UTILITIES}
