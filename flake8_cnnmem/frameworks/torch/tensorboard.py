"""TensorBoard's writers: what they are given goes to files, and nothing of it stays."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A method that writes a log, which gives None."""
    return None


def other(run: Runtime, self: Instance, name: Value) -> Value:
    """Any other method of a writer. AttributeError for names with two underscores."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return Native(str(name), nothing, propagate_unknown=False)


WRITES = (
    "add_scalar",
    "add_scalars",
    "add_image",
    "add_images",
    "add_figure",
    "add_histogram",
    "add_text",
    "flush",
    "close",
)
"""The methods that programs hand on by themselves (`weakref.finalize(owner, SummaryWriter.close, writer)`)."""

WRITER = Class(
    "SummaryWriter",
    namespace={
        "__init__": Native("__init__", nothing, propagate_unknown=False),
        "__getattr__": Native("__getattr__", other, propagate_unknown=False),
        "__enter__": Native("__enter__", lambda run, self: self, propagate_unknown=False),
        "__exit__": Native("__exit__", nothing, propagate_unknown=False),
        "log_dir": "runs",
        **{name: Native(name, nothing, propagate_unknown=False) for name in WRITES},
    },
    module="torch.utils.tensorboard",
)

CONTENTS: dict[str, dict[str, Value]] = {
    name: {"SummaryWriter": WRITER, "FileWriter": WRITER}
    for name in ("torch.utils.tensorboard", "torch.utils.tensorboard.writer")
}
