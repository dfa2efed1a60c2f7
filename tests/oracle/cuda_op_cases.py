"""Single ops whose CUDA kernels are others than the CPU's, for cuda_ops.py: as torch_op_cases.py has them."""

from __future__ import annotations

CASES: list[tuple[str, str]] = []
