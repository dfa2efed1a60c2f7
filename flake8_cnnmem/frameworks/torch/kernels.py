"""Which kernels attention may take: torch.nn.attention.sdpa_kernel, and the switches of torch.backends.cuda."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.frameworks.torch.autograd import regions
from flake8_cnnmem.frameworks.torch.scripting import answer
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native

BACKENDS = {
    "FLASH_ATTENTION": "flash",
    "EFFICIENT_ATTENTION": "efficient",
    "MATH": "math",
    "CUDNN_ATTENTION": "cudnn",
}
"""Names of `SDPBackend` by kernel, in the order in which `sdp_kernel` lists them."""
SWITCHES = {"flash": "flash", "mem_efficient": "efficient", "math": "math", "cudnn": "cudnn"}

BACKEND = Class("SDPBackend", namespace={"ERROR": "ERROR", **BACKENDS}, module="torch.nn.attention")


def kernel_init(run: Runtime, self: Instance, backends: Value, set_priority: Value = False) -> Value:
    """`sdpa_kernel(backends, set_priority)`: the attention kernels that are allowed within it, in their order where
    that is asked for."""
    wanted = list(backends) if isinstance(backends, (list, tuple)) else [backends]
    known = isinstance(backends, (list, tuple, str)) and all(one in BACKENDS.values() for one in wanted)
    self.attributes["kernels"] = tuple(wanted) if known else run.unknown("which attention kernels are asked for")
    self.attributes["ordered"] = set_priority is True
    return None


def older_init(
    run: Runtime, self: Instance, enable_flash: Value = True, enable_math: Value = True,
    enable_mem_efficient: Value = True, enable_cudnn: Value = True,
) -> Value:  # fmt: skip
    """`torch.backends.cuda.sdp_kernel`, by switches."""
    switches = (enable_flash, enable_mem_efficient, enable_math, enable_cudnn)
    wanted = [kernel for kernel, switch in zip(BACKENDS.values(), switches, strict=True) if switch is not False]
    return kernel_init(run, self, wanted)


def enter(run: Runtime, self: Instance) -> None:
    """From here on attention runs by the kernels of the context."""
    kernels = self.attributes.get("kernels")
    in_own_order = isinstance(kernels, tuple) and not self.attributes["ordered"]
    run.attention = in_order(kernels) if in_own_order else kernels  # type: ignore[arg-type]


def allowed(run: Runtime) -> Sequence[str]:
    """The kernels that attention may take, the preferred one first."""
    return run.attention if isinstance(run.attention, tuple) else ORDER


def in_order(kernels: Sequence[str]) -> tuple[str, ...] | None:
    """Kernels that are allowed in the framework's own order; None for all of them."""
    return tuple([one for one in ORDER if one in kernels]) if len(set(kernels)) < len(ORDER) else None


ORDER = ("cudnn", "flash", "efficient", "math")
"""The framework's own; cuDNN's comes first on cards that have it (`memory/attention.py`)."""


def switch(name: str, kernel: str) -> Native:
    """`torch.backends.cuda.enable_flash_sdp(False)` and its like, until the next one."""

    def run_switch(run: Runtime, enabled: Value) -> Value:
        if not isinstance(enabled, Unknown):
            now = [one for one in allowed(run) if one != kernel]
            run.attention = in_order([*now, kernel] if enabled else now)
        return None

    return native(f"enable_{name}_sdp", run_switch)


def state(name: str, kernel: str) -> Native:
    """`torch.backends.cuda.flash_sdp_enabled` and its like."""
    return native(f"{name}_sdp_enabled", lambda run: kernel in allowed(run))


SDPA_KERNEL = regions.region("sdpa_kernel", kernel_init, enter)
ATTENTION: dict[str, Value] = {"sdpa_kernel": SDPA_KERNEL, "SDPBackend": BACKEND}
CUDA: dict[str, Value] = {
    "sdp_kernel": regions.region("sdp_kernel", older_init, enter),
    "SDPBackend": BACKEND,
    **{f"enable_{name}_sdp": switch(name, kernel) for name, kernel in SWITCHES.items()},
    **{f"{name}_sdp_enabled": state(name, kernel) for name, kernel in SWITCHES.items()},
    "is_built": answer("is_built", True),
}
