"""DeepSpeed: ZeRO's stages, read from its JSON.

What a stage holds is that of "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models" (Rajbhandari and
others 2020, figure 1): stage 1 divides the optimizer's state (with the float32 copies of parameters in half precision),
stage 2 gradients too, stage 3 parameters too. Defaults are those of deepspeed/runtime/zero/config.py.
"""

from __future__ import annotations

import json
from typing import Any, cast

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange, note_cause
from flake8_cnnmem.frameworks.torch.autograd.backward import backward_of
from flake8_cnnmem.frameworks.torch.autograd.regions import checkpoint
from flake8_cnnmem.frameworks.torch.distributed.noting import count_of, world_size
from flake8_cnnmem.frameworks.torch.distributed.prepared import nothing
from flake8_cnnmem.frameworks.torch.distributed.wrappers import NO_OP_CALL, wrapper
from flake8_cnnmem.frameworks.torch.dtypes import GPU
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, set_attribute, stored, walk
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZERS
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER
from flake8_cnnmem.packages._fused_optimizers import DEEPSPEED
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value, native

BUCKET = 500_000_000
"""Elements of the buffer that gradients are reduced in, by default."""

NOT_COUNTED = "what DeepSpeed holds for a moment while it gathers, updates and sends is not counted"

UPDATES = {
    "adam": "Adam", "adamw": "AdamW", "onebitadam": "Adam", "zerooneadam": "Adam", "cpuadam": "AdamW", "sgd": "SGD",
    "adagrad": "Adagrad", "fusedadam": "AdamW", "deepspeedcpuadam": "AdamW",
}  # fmt: skip
"""`optimizer.type` by the optimizer of torch that holds the same state."""

OPTIONS = ("lr", "betas", "eps", "weight_decay", "momentum", "amsgrad")


def config_of(stage: Value, offload: bool = False, options: dict[str, Value] | None = None) -> dict[str, Value]:
    """The config that a strategy of Lightning or a plugin of accelerate makes of its own options."""
    given = options or {}
    section: dict[str, Value] = {"stage": stage}
    for name, word in (("optimizer", "offload_optimizer"), ("param", "offload_parameters")):
        if given.get(word) is True or (offload and (name == "optimizer" or stage == 3)):
            section[f"offload_{name}"] = {"device": "cpu"}
    return {"zero_optimization": {**section, "reduce_bucket_size": 200_000_000}}


def read(run: Runtime, config: Value) -> dict[str, Any] | Unknown:
    """The settings: a dict, or a JSON file of the project."""
    if isinstance(config, str):
        text = run.text_of(config)
        if isinstance(text, Unknown):
            return run.unknown(f"the DeepSpeed config {config} is no file of the project")
        try:
            config = json.loads(text)
        except (ValueError, RecursionError):
            return run.unknown(f"the DeepSpeed config {config} is no JSON")
    if isinstance(config, Unknown):
        return config
    return config if isinstance(config, dict) else run.unknown("the DeepSpeed config is not known")


def section(settings: dict[str, Any], name: str) -> dict[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def is_enabled(settings: dict[str, Any], name: str) -> bool:
    # "auto", as Hugging Face's Trainer fills it in, is decided elsewhere.
    return section(settings, name).get("enabled") is True


def arranged(run: Runtime, model: Instance, config: Value, devices: int | None) -> dict[str, Any]:
    """Note what a config makes of a model's training; the settings."""
    settings = read(run, config)
    if isinstance(settings, Unknown):
        note_cause(run, model, "DeepSpeed", settings.reason)
        return {}
    zero = section(settings, "zero_optimization")
    stage = zero.get("stage", 0)
    half = next((dtype for word, dtype in (("fp16", "half"), ("bf16", "bfloat16"), ("bfloat16", "bfloat16"))
                 if is_enabled(settings, word)), None)  # fmt: skip
    if half is not None and is_module(model):
        run.call(run.get(model, half))
    if not isinstance(stage, int) or isinstance(stage, bool) or not 0 <= stage <= 3:
        note_cause(run, model, "DeepSpeed", "the stage of ZeRO is not known")
        return settings
    elsewhere = {
        term
        for word, term in (("offload_optimizer", "optimizer"), ("offload_param", "parameters"))
        if section(zero, word).get("device") in ("cpu", "nvme")
    }
    if zero.get("cpu_offload") is True:
        elsewhere.add("optimizer")
    if stage in (1, 2) and zero.get("contiguous_gradients") is not False:
        elements = zero.get("reduce_bucket_size", BUCKET)
        twice = 2 if zero.get("overlap_comm") is True else 1
        bucket = int(elements) * twice * (2 if half else 4) if isinstance(elements, (int, float)) else 0
    else:
        bucket = 0
    if stage:
        # Parameters that are divided are gathered for each module by itself.
        held = (
            [frozenset(id(w) for w in stored(each, "_parameters").values()) for _, each in walk(model)]
            if stage == 3 and is_module(model)
            else []
        )
        arrange(run, model, Arrangement(
            f"ZeRO stage {stage}", devices, stage, elsewhere=frozenset(elsewhere), master=True,
            units=tuple(unit for unit in held if unit), bucket=bucket, causes=(run.unknown(NOT_COUNTED),),
        ))  # fmt: skip
    else:
        causes = (run.unknown(NOT_COUNTED),)
        arrange(run, model, Arrangement("DeepSpeed", master=half is not None, causes=causes))
    return settings


# The engine


def step(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """The optimizer's step and, as DeepSpeed does, the clearing of gradients after it."""
    optimizer = self.attributes.get("optimizer")
    if isinstance(optimizer, Instance):
        run.call(run.get(optimizer, "step"))
        run.call(run.get(optimizer, "zero_grad"))
    return None


def backward(run: Runtime, self: Instance, /, loss: Value, *args: Value, **kwargs: Value) -> Value:
    backward_of(run, loss)
    return loss


MEMBERS: dict[str, Value] = {
    "step": native("step", step), "backward": native("backward", backward), "no_sync": NO_OP_CALL,
    "local_rank": 0, "global_rank": 0, "device": GPU, "global_steps": 0,
    **{name: native(name, nothing) for name in ("save_checkpoint", "load_checkpoint", "save_16bit_model",
                                               "allreduce_gradients", "set_train_batch_size")},
    "is_gradient_accumulation_boundary": native("is_gradient_accumulation_boundary", lambda run, self: True),
    **{name: native(name, lambda run, self, name=name: self.attributes.get("batches", {}).get(name)) for name in (
        "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")},
}  # fmt: skip


def engine_init(run: Runtime, self: Instance, module: Value, optimizer: Value = None) -> None:
    set_attribute(run, self, "module", module)
    self.attributes["optimizer"] = optimizer


ENGINE = wrapper("DeepSpeedEngine", "deepspeed", engine_init, MEMBERS)


def initialize(
    run: Runtime, /, args: Value = None, model: Value = None, optimizer: Value = None, model_parameters: Value = None,
    training_data: Value = None, lr_scheduler: Value = None, distributed_port: Value = None, mpu: Value = None,
    dist_init_required: Value = None, collate_fn: Value = None, config: Value = None, config_params: Value = None,
    mesh_param: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    """The engine, the optimizer, a loader of the training data, the scheduler."""
    given = config if config is not None else config_params
    if given is None and isinstance(args, Instance):
        given = run.find(args, "deepspeed_config")
    # What is no model is refused where its weights are asked for.
    settings = arranged(run, cast("Instance", model), given, world_size(run))
    if optimizer is None:
        optimizer = made_optimizer(run, model, model_parameters, section(settings, "optimizer"))
    engine = run.construct(ENGINE, model, optimizer)
    size = settings.get("train_micro_batch_size_per_gpu")
    if isinstance(engine, Instance):
        engine.attributes["batches"] = settings
    if size is None and count_of(settings.get("train_batch_size")) is not None:
        steps = count_of(settings.get("gradient_accumulation_steps")) or 1
        size = settings["train_batch_size"] // steps // (world_size(run) or 1)
    loader = None
    if training_data is not None:
        loader = run.construct(DATA_LOADER, training_data, batch_size=size, collate_fn=collate_fn)
    return engine, optimizer, loader, lr_scheduler


def made_optimizer(run: Runtime, model: Value, parameters: Value, told: dict[str, Any]) -> Value:
    name = UPDATES.get(str(told.get("type", "")).lower().replace("_", ""))
    if name is None or not isinstance(model, Instance):
        return run.unknown("the optimizer of DeepSpeed is not known")
    params = run.call(run.get(model, "parameters")) if parameters is None else parameters
    options = {word: value for word, value in section(told, "params").items() if word in OPTIONS and value != "auto"}
    if isinstance(options.get("betas"), list):
        options["betas"] = tuple(options["betas"])
    if name in ("Adam", "AdamW") and section(told, "params").get("torch_adam") is not True:
        # deepspeed/ops/adam/fused_adam.py updates in place, all parameters in one kernel.
        options["fused"] = True
    return run.construct(OPTIMIZERS[name], params, **options)


def add_arguments(run: Runtime, /, parser: Value, *args: Value) -> Value:
    run.call(run.get(parser, "add_argument"), "--deepspeed", default=False, action="store_true")
    run.call(run.get(parser, "add_argument"), "--deepspeed_config", default=None, type=None)
    return parser


CHECKPOINTING: dict[str, Value] = {
    "checkpoint": native("checkpoint", checkpoint),
    "configure": native("configure", nothing),
}

MODULES: dict[str, dict[str, Value]] = {
    "deepspeed": {
        "initialize": native("initialize", initialize),
        "init_distributed": native("init_distributed", nothing),
        "add_config_arguments": native("add_config_arguments", add_arguments),
        "DeepSpeedEngine": ENGINE,
    },
    "deepspeed.zero": {"Init": NO_OP_CALL, "GatheredParameters": NO_OP_CALL},
    "deepspeed.checkpointing": CHECKPOINTING,
    "deepspeed.ops.adam": {**DEEPSPEED},
    "deepspeed.runtime.activation_checkpointing.checkpointing": CHECKPOINTING,
}
