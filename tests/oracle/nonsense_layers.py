"""Ask PyTorch and Keras what they say to the rows of nonsense_cases.py.

    python tests/oracle/nonsense_layers.py

writes fixtures/truth/nonsense_layers.json: for each row the parameters of the layer where the framework builds it and
calls it, else null. PyTorch's layers are built and called on the CPU; the memory of the process is bounded, so that a
layer too large to be held is refused as well.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.oracle.nonsense_cases import ROWS, written  # noqa: E402

TRUTH = ROOT / "fixtures" / "truth" / "nonsense_layers.json"
SECONDS = 20
MEMORY = 12 * 2**30


def ran_too_long(*_: object) -> None:
    raise TimeoutError


def parameters(framework: str, text: str) -> int | None:
    scope: dict[str, Any] = {}
    signal.alarm(SECONDS)
    try:
        exec(text, scope)
        net = scope["net"]
        if framework == "torch":
            return sum(weight.numel() for weight in net.parameters())
        # An output that cannot be held is as little a model as a layer that cannot be built.
        import numpy

        net(numpy.zeros((1, *net.input_shape[1:]), "float32"))
        return int(net.count_params())
    except Exception:
        return None
    finally:
        signal.alarm(0)


def main() -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, ran_too_long)
    said: dict[str, dict[str, int | None]] = {"torch": {}, "keras": {}}
    for framework, layer, shape in ROWS:
        said[framework][f"{layer} on {shape}"] = parameters(framework, written(framework, layer, shape))
    TRUTH.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
