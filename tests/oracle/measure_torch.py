"""Write down what PyTorch gives for the cases of torch_cases.py: shapes, dtypes, plain results, parameters.

Run by hand with PyTorch installed:

    python tests/oracle/measure_torch.py

writes fixtures/truth/torch_layers.json, against which tests/frameworks/torch/test_truth.py holds the interpreter.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "torch_layers.json"


def shapes(value: Any) -> Any:
    """Nested tensors as a flat list of [dtype, *shape]; anything else as it is."""
    import torch

    if isinstance(value, torch.Tensor):
        return [[str(value.dtype).removeprefix("torch."), *value.shape]]
    if isinstance(value, (list, tuple)) and any(isinstance(item, (torch.Tensor, list, tuple)) for item in value):
        return [shape for item in value for shape in listed(shapes(item))]
    return list(value) if isinstance(value, tuple) else value


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def measure(code: str) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    names: dict[str, Any] = {}
    found: dict[str, Any] = {"code": code}
    try:
        exec(code, names)  # our own cases only
    except Exception as error:
        return {**found, "error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    found["y"] = shapes(names["y"])
    module = names.get("m")
    if isinstance(module, torch.nn.Module):
        found["parameters"] = [[name, list(p.shape), p.requires_grad] for name, p in module.named_parameters()]
        found["buffers"] = [[name, list(b.shape)] for name, b in module.named_buffers()]
    return found


def main() -> None:
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    import torch

    from tests.oracle.torch_cases import cases

    measured = [measure(code) for code in cases()]
    for case in measured:
        if "error" in case:
            print("refused:", case["code"].splitlines()[-2:], case["error"])
    TRUTH.write_text(
        json.dumps({"torch": torch.__version__, "cases": measured}, indent=None).replace('{"code"', '\n{"code"') + "\n"
    )


if __name__ == "__main__":
    main()
