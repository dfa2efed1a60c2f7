"""Runs the programs of data_cases.py in the frameworks and writes what they give to fixtures/truth/data.json.

python tests/oracle/measure_data.py torch|keras     torch needs torchvision, einops and Pillow; keras needs tensorflow
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import data_cases

TRUTH = Path(__file__).parents[2] / "fixtures" / "truth" / "data.json"


def shapes(value: Any) -> list[Any]:
    """Each tensor as [dtype, *shape], nested ones in a flat list; plain numbers as they are."""
    if isinstance(value, dict):
        return [each for item in value.values() for each in shapes(item)]
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in shapes(item)]
    dtype = getattr(value.dtype, "name", str(value.dtype)).removeprefix("torch.")
    return [[dtype, *(int(size) for size in value.shape)]]


def run(head: str, code: str) -> list[Any]:
    names: dict[str, Any] = {"__name__": "case"}
    exec(head + code, names)
    return shapes(names["result"])


def main() -> None:
    truth = json.loads(TRUTH.read_text()) if TRUTH.exists() else {}
    if sys.argv[1] == "torch":
        import torchvision_ops  # noqa: F401  (declares the operators, before torchvision is imported)

        groups = {
            "loaders": data_cases.LOADERS,
            "transforms": data_cases.TRANSFORMS,
            "distributions": data_cases.DISTRIBUTIONS,
            "einops": data_cases.EINOPS,
        }
        for group, cases in groups.items():
            truth[group] = {name: run(data_cases.HEAD, code) for name, code in cases.items()}
    else:
        truth["pipelines"] = {name: run(data_cases.KERAS_HEAD, code) for name, code in data_cases.PIPELINES.items()}
    TRUTH.write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
