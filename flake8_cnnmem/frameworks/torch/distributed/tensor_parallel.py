"""Tensor parallelism: layers whose weights are divided among the devices (torch/distributed/tensor/parallel)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Value, native

WHOLE = "which share of its parameters and results one device has is not followed: all of them were counted"


def parallelize_module(
    run: Runtime, /, module: Value, device_mesh: Value = None, parallelize_plan: Value = None, *,
    src_data_rank: Value = 0,
) -> Value:  # fmt: skip
    """The module itself, whose parameters are divided as the plan says. One without a plan stays as it is."""
    if is_module(module) and parallelize_plan is not None:
        note_cause(run, module, "tensor parallelism", WHOLE)
    return module


SHARDED = {
    "DTensor": Class(
        "DTensor",
        module="torch.distributed.tensor",
        unknown_base=Unknown("a tensor on several devices is not followed"),
    )
}
"""A class that libraries ask about: what a program makes of it is not followed."""

PARALLEL: dict[str, Value] = {"parallelize_module": native("parallelize_module", parallelize_module)}
