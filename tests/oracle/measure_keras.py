"""Run the cases of `keras_cases.py` with the real Keras and write down what they make.

    python tests/oracle/measure_keras.py [--all] [--verbose]

Cases that the file already has are measured again only with --all; --verbose prints what Keras says of those that
it refuses. With keras, tf_keras and tensorflow installed it writes fixtures/truth/keras_layers.json, against which
tests/frameworks/keras/test_truth.py holds our own answers.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "keras_layers.json"


def shapes(value: Any) -> Any:
    """Nested tensors as a flat list of shapes, None for open sizes."""
    if isinstance(value, (list, tuple)):
        return [shape for item in value for shape in shapes(item)]
    if isinstance(value, dict):
        return [shape for key in sorted(value) for shape in shapes(value[key])]
    return [list(value.shape)]


def measured(code: str) -> dict[str, Any]:
    import keras

    keras.backend.clear_session()
    if "tf_keras" in code:
        import tf_keras

        tf_keras.backend.clear_session()
    names: dict[str, Any] = {}
    try:
        exec(code, names)
    except Exception as error:  # whatever Keras says of wrong sizes
        if "--verbose" in sys.argv:
            print(code, error, sep="\n")
        return {"code": code, "error": type(error).__name__}
    found: dict[str, Any] = {"code": code}
    if "y" in names:
        found["shapes"] = shapes(names["y"])
    if "m" in names:
        model = names["m"]
        trained = {id(weight) for weight in model.trainable_weights}
        found["weights"] = sorted([list(weight.shape), id(weight) in trained] for weight in model.weights)
    if "r" in names:
        found["result"] = repr(names["r"])
    return found


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    import keras
    import keras2_written
    import keras3_written
    import keras_cases
    import tf_keras

    written = [*keras3_written.KERAS_3, *keras2_written.KERAS_2]
    known = {} if "--all" in sys.argv else {case["code"]: case for case in json.loads(TRUTH.read_text())["cases"]}
    codes = [*keras_cases.random_cases(1, 5), *written]
    results = [known.get(code) or measured(code) for code in codes]
    head = {
        "about": "Cases of Keras code: shapes of y, weights of m ([shape, trainable]), repr of r; error where Keras "
        "refuses. Measured by tests/oracle/measure_keras.py.",
        "keras": keras.__version__,
        "tf_keras": tf_keras.__version__,
        "backend": keras.config.backend(),
    }
    lines = ",\n".join(f"    {json.dumps(result)}" for result in results)
    TRUTH.write_text(f'{json.dumps(head, indent=2)[:-2]},\n  "cases": [\n{lines}\n  ]\n}}\n')
    errors = sum("error" in result for result in results)
    print(f"{len(results)} cases, {errors} of which Keras refuses")
    return 0


if __name__ == "__main__":
    sys.exit(main())
