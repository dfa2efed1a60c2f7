"""What TensorFlow 1 lent to programs beside the framework: absl's flags, and the function that runs `main`.

By tensorflow/python/platform/app.py and flags.py: `tf.app.run()` without a function runs that of the name `main` in the
module that was started.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.modules_by_name import module_named
from flake8_cnnmem.packages.absl import flags, run_app
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value


def run_main(run: Runtime, main: Value = None, argv: Value = None) -> Value:
    """`tf.app.run(main, argv)`: what `main` gives; its exit is not followed."""
    if main is None:
        started = module_named(run, "__main__")
        main = run.unknown("which module is started is not known") if started is None else run.get(started, "main")
    return run_app(run, main, argv)


app: dict[str, Value] = {"run": Native("run", run_main, propagate_unknown=False)}

MODULES: dict[str, dict[str, Value]] = {
    f"tensorflow.{prefix}{name}": members
    for name, members in (("app", app), ("flags", flags))
    for prefix in ("", "compat.v1.", "python.platform.")
} | {f"tensorflow.{prefix}app.flags": flags for prefix in ("", "compat.v1.")}
