"""`strategy=` and `devices=` of Lightning's Trainer and of Fabric: what they say of how a model's training is arranged.

By lightning/pytorch/strategies (2.6) and its registry of names: "ddp_...", "fsdp...", "deepspeed_stage_N[_offload]".
"""

from __future__ import annotations

import re
from typing import Any

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange, note_cause
from flake8_cnnmem.frameworks.torch.distributed.fsdp import fully_sharded
from flake8_cnnmem.frameworks.torch.distributed.noting import count_of, world_size
from flake8_cnnmem.frameworks.torch.distributed.wrappers import gathered_in
from flake8_cnnmem.packages import deepspeed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

STRATEGIES = {
    "DDPStrategy": "ddp", "DDPSpawnStrategy": "ddp", "DDPShardedStrategy": "ddp_sharded", "DDP2Strategy": "ddp",
    "DDPPlugin": "ddp", "FSDPStrategy": "fsdp", "DDPFullyShardedNativeStrategy": "fsdp",
    "DDPFullyShardedStrategy": "fsdp", "DeepSpeedStrategy": "deepspeed", "DeepSpeedPlugin": "deepspeed",
    "DataParallelStrategy": "dp", "ModelParallelStrategy": "model_parallel", "SingleDeviceStrategy": "single_device",
}  # fmt: skip
"""By class the name that a strategy is registered under."""


def strategy_init(run: Runtime, /, self: Instance, *args: Value, **kwargs: Value) -> Value:
    self.attributes["options"] = kwargs
    return None


STRATEGY = Class(
    "Strategy",
    namespace={"__init__": Native("__init__", strategy_init, propagate_unknown=False),
               "num_processes": 1, "global_rank": 0,
               "local_rank": 0, "is_global_zero": True},
    module="lightning.pytorch.strategies",
)  # fmt: skip
PARALLEL = Class("ParallelStrategy", (STRATEGY,), {}, module="lightning.pytorch.strategies")
CLASSES: dict[str, Any] = {
    "Strategy": STRATEGY,
    "ParallelStrategy": PARALLEL,
    **{
        name: Class(
            name, (STRATEGY if kind == "single_device" else PARALLEL,), {}, module="lightning.pytorch.strategies"
        )
        for name, kind in STRATEGIES.items()
    },
}


def strategy_for(strategy: Value, devices: int | None) -> Value:
    """What `trainer.strategy` is: the object that was given, or that a name stands for."""
    if isinstance(strategy, Instance):
        made = strategy
    else:
        name, _ = name_of(strategy, devices)
        known = next((cls for cls, kind in STRATEGIES.items() if name.startswith(kind)), None)
        if known is None:
            return strategy
        made = Instance(CLASSES[known], {"options": {}})
    made.attributes["num_processes"] = devices or 1
    return made


def devices_in(options: dict[str, Value]) -> int | None:
    """How many devices a trainer is told to train on, over all nodes; None where it is not said."""
    found = [count_of(options.get(word)) for word in ("devices", "gpus", "num_processes")]
    each = next((count for count in found if count is not None), None)
    nodes = count_of(options.get("num_nodes")) or 1
    return None if each is None else each * nodes


def name_of(strategy: Value, devices: int | None) -> tuple[str, dict[str, Value]]:
    """A strategy by its registered name, with its options. Several devices alone are DDP."""
    if isinstance(strategy, Instance):
        given = strategy.attributes.get("options")
        known = next((STRATEGIES[cls.name] for cls in strategy.cls.mro if cls.name in STRATEGIES), "")
        return known, given if isinstance(given, dict) else {}
    if strategy in (None, "auto"):
        return ("ddp" if devices is not None and devices > 1 else "single_device"), {}
    return (strategy, {}) if isinstance(strategy, str) else ("", {})


def arranged_by(run: Runtime, model: Instance, strategy: Value, devices: int | None) -> None:
    """Note what a strategy makes of a model's training."""
    name, options = name_of(strategy, devices)
    count = devices if devices is not None else world_size(run)
    if name.startswith("ddp"):
        if name.startswith("ddp_sharded"):
            arrange(run, model, Arrangement("sharded DDP", count, 2))
        elif count != 1 or isinstance(strategy, Instance):
            arrange(run, model, Arrangement("DDP", buckets=gathered_in(run, options.get("gradient_as_bucket_view"))))
    elif name.startswith("fsdp"):
        arrange(
            run, model, fully_sharded(run, model, count, "cpu_offload" in name or options.get("cpu_offload") is True)
        )
    elif name.startswith("deepspeed"):
        stage = re.search(r"stage_(\d)", name)
        config = options.get("config")
        if not isinstance(config, (dict, str, Instance)):
            config = deepspeed.config_of(
                int(stage[1]) if stage else options.get("stage", 2), "offload" in name, options
            )
        deepspeed.arranged(run, model, config, count)
    elif name == "dp":
        arrange(run, model, Arrangement("DP", count, buckets="replica", divides_batch=True))
    elif name != "single_device":
        shown = f"strategy {strategy!r}" if isinstance(strategy, str) else "the strategy of a trainer"
        reason = f"what {shown} holds on a device is not known"
        if isinstance(strategy, Unknown):
            reason = strategy.reason
        note_cause(run, model, "strategy", reason)
