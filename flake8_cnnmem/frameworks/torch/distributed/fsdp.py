"""Fully sharded training: FullyShardedDataParallel, `fully_shard`, and what they are told with.

Parameters, gradients and optimizer state are divided among the devices. A unit (a module that is wrapped or sharded by
itself) is gathered for the time in which its parameters are used. By torch/distributed/fsdp of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange, note_cause
from flake8_cnnmem.frameworks.torch.distributed.noting import world_size
from flake8_cnnmem.frameworks.torch.distributed.wrappers import NO_OP_CALL, wrapper
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of, is_dtype
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, set_attribute, walk, weights_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native

NOT_COUNTED = (
    "the buffers in which FSDP gathers and scatters are counted as the largest unit's parameters and gradients"
)

STRATEGIES = {"FULL_SHARD": 3, "SHARD_GRAD_OP": 2, "NO_SHARD": 0, "HYBRID_SHARD": 3, "_HYBRID_SHARD_ZERO2": 2}
"""`ShardingStrategy` by how much of the training is divided."""


def nothing(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    """A function that gives None."""
    return None


def weights_in(module: Instance) -> frozenset[int]:
    """The identities of a module's parameters, those below it as well."""
    return frozenset(id(weight) for weight in weights_of(module) if not weight.buffer)


def fully_sharded(
    run: Runtime,
    model: Instance,
    devices: int | None,
    offload: bool = False,
    stage: int = 3,
    units: Iterable[Value] | None = None,
) -> Arrangement:
    """`units`: the modules that are gathered by themselves; the whole model where there are none."""
    inner = [weights_in(each) for each in units or () if is_module(each)]
    held = [unit for unit in inner if unit]
    # What no unit inside holds is gathered with the model itself.
    rest = weights_in(model).difference(*held) if is_module(model) else frozenset()
    return Arrangement(
        "FSDP" if stage == 3 else "FSDP that divides no parameters", devices, stage,
        elsewhere=frozenset(("optimizer", "parameters", "gradients")) if offload else frozenset(),
        units=tuple(unit for unit in (*held, rest) if unit), causes=(run.unknown(NOT_COUNTED),) if stage else (),
    )  # fmt: skip


# Options


def keep(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A constructor that keeps its arguments as attributes."""
    self.attributes.update(args=args, **kwargs)
    return None


def option(name: str) -> Class:
    """A class of options that keeps its arguments."""
    return Class(name, namespace={"__init__": native("__init__", keep)}, module="torch.distributed.fsdp")


CPU_OFFLOAD, MIXED_PRECISION = option("CPUOffload"), option("MixedPrecision")
OFFLOAD_POLICY, PRECISION_POLICY = option("CPUOffloadPolicy"), option("MixedPrecisionPolicy")
MODULE_WRAP_POLICY, CUSTOM_POLICY = option("ModuleWrapPolicy"), option("CustomPolicy")


def offloads(run: Runtime, value: Value) -> bool:
    """Whether an offload option has parameters on the host."""
    if not isinstance(value, Instance):
        return run.truth(value) is True if isinstance(value, bool) else False
    if value.cls is OFFLOAD_POLICY:
        return True
    given = value.attributes.get("args") or (value.attributes.get("offload_params"),)
    return value.cls is CPU_OFFLOAD and given[0] is True


def parameters_in(run: Runtime, model: Value, policy: Value) -> None:
    """Mixed precision of FSDP gathers parameters in another dtype: what is computed with is not known to be it."""
    dtype = policy.attributes.get("param_dtype") if isinstance(policy, Instance) else None
    if dtype is None and isinstance(policy, Instance) and policy.attributes.get("args"):
        dtype = policy.attributes["args"][0]
    if is_dtype(dtype):
        run.autocast = dtype_of(dtype)
        note_cause(run, model, "mixed precision of FSDP",
                   f"mixed precision of FSDP in {dtype_of(dtype)} is counted as autocast in that dtype")  # fmt: skip


def units_by(run: Runtime, model: Instance, policy: Value) -> list[Instance]:
    """The modules that a policy wraps by themselves: those of some classes, or of at least so many parameters."""
    words = policy.attributes if isinstance(policy, Instance) else {}
    partial = getattr(policy, "keywords", None) or words.get("keywords")
    options = partial if isinstance(partial, dict) else {}
    classes = options.get("transformer_layer_cls", (words.get("args") or (None,))[0] if words else None)
    classes = words.get("module_classes", classes)
    items = run.items(classes) if isinstance(classes, (set, frozenset, list, tuple)) else []
    wanted = [each for each in items if isinstance(each, Class)] if isinstance(items, list) else []
    return [module for path, module in walk(model) if path and any(module.cls.derives_from(each) for each in wanted)]


# The wrapper and the function


def sharded_wrapper(
    run: Runtime, self: Instance, module: Value, process_group: Value = None, sharding_strategy: Value = None,
    cpu_offload: Value = None, auto_wrap_policy: Value = None, backward_prefetch: Value = None,
    mixed_precision: Value = None, ignored_modules: Value = None, param_init_fn: Value = None,
    device_id: Value = None, sync_module_states: Value = False, forward_prefetch: Value = False,
    limit_all_gathers: Value = True, use_orig_params: Value = False, ignored_states: Value = None,
    device_mesh: Value = None,
) -> None:  # fmt: skip
    """`FullyShardedDataParallel(module, ...)`: the module in the units that its wrap policy makes."""
    set_attribute(run, self, "module", module)
    if not isinstance(module, Instance):
        return
    stage = STRATEGIES.get(sharding_strategy, 3) if isinstance(sharding_strategy, str) else 3
    units = units_by(run, module, auto_wrap_policy) if auto_wrap_policy is not None else []
    arrange(run, module, fully_sharded(run, module, world_size(run), offloads(run, cpu_offload), stage, units))
    parameters_in(run, module, mixed_precision)


FULLY_SHARDED = wrapper("FullyShardedDataParallel", "torch.distributed.fsdp", sharded_wrapper, {
    "no_sync": NO_OP_CALL, "summon_full_params": NO_OP_CALL, "clip_grad_norm_": native("clip_grad_norm_", nothing),
    "state_dict_type": NO_OP_CALL, "set_state_dict_type": native("set_state_dict_type", nothing),
})  # fmt: skip


def fully_shard(
    run: Runtime, /, module: Value, *, mesh: Value = None, reshard_after_forward: Value = None,
    shard_placement_fn: Value = None, mp_policy: Value = None, offload_policy: Value = None,
    ignored_params: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    """Each module that it is called on is a unit, without those inside that it was called on before."""
    for each in module if isinstance(module, (list, tuple)) else [module]:
        if not is_module(each):
            continue
        sharded = run.data("sharded units")
        inside = [held for _, held in walk(each) if id(held) in sharded and held is not each]
        stage = 2 if reshard_after_forward is False else 3
        arrange(run, each, fully_sharded(run, each, world_size(run), offloads(run, offload_policy), stage, inside))
        run.changed(sharded)
        sharded[id(each)] = each
        parameters_in(run, each, mp_policy)
    return module


SHARDING = Class("ShardingStrategy", namespace={word: word for word in STRATEGIES}, module="torch.distributed.fsdp")

FSDP: dict[str, Value] = {
    "FullyShardedDataParallel": FULLY_SHARDED,
    "fully_shard": native("fully_shard", fully_shard),
    "ShardingStrategy": SHARDING,
    "CPUOffload": CPU_OFFLOAD,
    "MixedPrecision": MIXED_PRECISION,
    "CPUOffloadPolicy": OFFLOAD_POLICY,
    "MixedPrecisionPolicy": PRECISION_POLICY,
    "BackwardPrefetch": Class(
        "BackwardPrefetch", namespace={"BACKWARD_PRE": 1, "BACKWARD_POST": 2}, module="torch.distributed.fsdp"
    ),
    "StateDictType": Class(
        "StateDictType",
        namespace={word: word for word in ("FULL_STATE_DICT", "LOCAL_STATE_DICT", "SHARDED_STATE_DICT")},
        module="torch.distributed.fsdp",
    ),
    "FullStateDictConfig": option("FullStateDictConfig"),
    "FSDPModule": Class("FSDPModule", module="torch.distributed.fsdp"),
}  # fmt: skip
WRAP: dict[str, Value] = {
    "ModuleWrapPolicy": MODULE_WRAP_POLICY,
    "CustomPolicy": CUSTOM_POLICY,
    **{
        name: native(name, lambda run, *args, **kwargs: True)
        for name in ("size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "always_wrap_policy",
                     "lambda_auto_wrap_policy")
    },
    "wrap": native("wrap", lambda run, module, **kwargs: module),
    "enable_wrap": NO_OP_CALL,
}  # fmt: skip
