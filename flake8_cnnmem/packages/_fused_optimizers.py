"""Optimizers of one fused kernel from packages that are built with CUDA: apex.optimizers and deepspeed.ops.

By apex's Python source (apex/optimizers/fused_*.py): the states of the plain kinds, FusedAdam's in float32 whatever the
parameter is, FusedSGD's momentum with a momentum of 0 as well; one number that says whether something overflowed.
DeepSpeed's FusedAdam is apex' (deepspeed/ops/adam/fused_adam.py). What its own code keeps on the host is not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_cnnmem.frameworks.torch.optim.kernel_state import Options, declare, like
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.values import Class, Value

ADAM: dict[str, Value] = {
    "lr": 1e-3, "bias_correction": True, "betas": (0.9, 0.999), "eps": 1e-8, "adam_w_mode": True, "weight_decay": 0.0,
    "amsgrad": False, "set_grad_none": True,
}  # fmt: skip
LAMB: dict[str, Value] = {
    "lr": 1e-3, "bias_correction": True, "betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0.01, "amsgrad": False,
    "adam_w_mode": True, "grad_averaging": True, "set_grad_none": True, "max_grad_norm": 1.0, "use_nvlamb": False,
}  # fmt: skip
SGD: dict[str, Value] = {
    "lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "wd_after_momentum": False,
}  # fmt: skip


def averages(weight: Weight, options: Options) -> Mapping[str, Tensor]:
    return {"exp_avg": like(weight, "float32"), "exp_avg_sq": like(weight, "float32")}


def own_averages(weight: Weight, options: Options) -> Mapping[str, Tensor]:
    return {"exp_avg": like(weight), "exp_avg_sq": like(weight)}


def momentum(weight: Weight, options: Options) -> Mapping[str, Tensor]:
    return {"momentum_buffer": like(weight)}


def overflowed(weights: Sequence[Weight], options: Options) -> Sequence[Tensor]:
    return (Tensor((1,), "int32"),)


def both(module: str) -> dict[str, Class]:
    return {
        "FusedAdam": declare("FusedAdam", module, ADAM, averages, overflowed),
        "FusedLAMB": declare("FusedLAMB", module, LAMB, own_averages, overflowed),
        "FusedSGD": declare("FusedSGD", module, SGD, momentum, overflowed),
    }


APEX = both("apex.optimizers")
DEEPSPEED = {"FusedAdam": declare("FusedAdam", "deepspeed.ops.adam", ADAM, averages, overflowed)}
