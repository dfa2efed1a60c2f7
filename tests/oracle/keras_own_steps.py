"""Measure the steps that programs of fixtures/fits write themselves for `fit`, on TensorFlow in graph mode without XLA:
fixtures/truth/keras_own_steps.json.

    python tests/oracle/keras_own_steps.py [PROGRAM.py...]

As tests/oracle/keras_steps.py, but the program runs as it stands: each call of `fit` is stopped after a few steps, of
which the last are traced. Data sets that would be downloaded are zeros of their shapes.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
sys.path.insert(0, str(Path(__file__).parent))

import keras
import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]
import tensorflow_trace as traces
from keras_fits import FIXTURES, Enough, zeros

TARGET = FIXTURES / "truth" / "keras_own_steps.json"
PROGRAMS = ("variational.py", "distiller.py", "own_losses.py", "noise_predictor.py")
WARM, RUNS = 2, 4
FULL = 0.6
"""An epoch's last batch may have fewer samples: runs that need less than this part of the highest are left out."""
ABOUT = (
    "What a step of each fit whose step or loss the code writes needs in some programs of fixtures/fits needs, by TensorFlow's own allocator in graph mode without"
    " XLA (tests/oracle/keras_own_steps.py): line of the fit; bytes of all variables that the program holds, optimizer"
    " state included; of several runs, these, the batch and the highest sum of live tensors."
)


def variables() -> int:
    """Bytes of all variables that are there."""
    gc.collect()
    found = {id(each.handle): each for each in gc.get_objects() if isinstance(each, tf.Variable)}
    return sum(traces.rounded(each.numpy().nbytes) for each in found.values())


def measuring(original: Callable[..., Any], found: list[dict[str, Any]], script: str) -> Callable[..., Any]:
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != script:
            frame = frame.f_back
        peaks: list[int] = []
        make = self.make_train_function
        taken = 0

        def traced(force: bool = False) -> None:
            self.jit_compile = False
            make(force)
            step = self.train_function

            def run(batches: Any) -> Any:
                nonlocal taken
                taken += 1
                if taken <= WARM:
                    return step(batches)
                results: list[Any] = []
                events = traces.trace(lambda: results.append(step(batches)))
                peaks.append(traces.replay(events, lambda event: False).peak)
                if len(peaks) == RUNS:
                    raise Enough
                return results[0]

            self.train_function = run

        self.make_train_function = traced
        with contextlib.suppress(Enough):
            original(self, *args, **{**kwargs, "verbose": 0})
        self.make_train_function, self.train_function = make, None
        if all(word not in vars(type(self)) for word in ("train_step", "compute_loss")):
            return
        held = variables()
        found.append(
            {
                "line": frame.f_lineno,
                "variables": held,
                "peak_bytes": sorted(held + peak for peak in peaks if peak > FULL * max(peaks)),
            }
        )

    return fit


def one(path: Path) -> list[dict[str, Any]]:
    """The fits of a program, in this process."""
    os.chdir(tempfile.mkdtemp())
    for name in ("mnist", "fashion_mnist"):
        getattr(keras.datasets, name).load_data = zeros((600, 28, 28), (600,))
    found: list[dict[str, Any]] = []
    keras.Model.fit = measuring(keras.Model.fit, found, str(path))
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    return found


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(Path(sys.argv[2]))))
        return
    content = json.loads(TARGET.read_text()) if TARGET.exists() else {"about": ABOUT, "programs": {}}
    for name in sys.argv[1:] or PROGRAMS:
        # A process each: what one leaves behind would be in the next one's variables.
        command = [sys.executable, __file__, "--one", str((FIXTURES / "fits" / name).resolve())]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        content["programs"][name] = json.loads(output.splitlines()[-1])
        print(name, content["programs"][name], flush=True)
    TARGET.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
