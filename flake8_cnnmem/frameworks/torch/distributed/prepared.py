"""What wraps the parts of a user's own training loop and gives them back: what accelerate and Fabric have in common."""

from __future__ import annotations

from collections.abc import Iterator

from flake8_cnnmem.frameworks.torch.autograd.backward import backward_of
from flake8_cnnmem.frameworks.torch.autograd.regions import AUTOCAST, NO_OP
from flake8_cnnmem.frameworks.torch.distributed.precision import Precision
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER, MOVES
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value, is_callable, native


def nothing(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


def first(run: Runtime, self: Instance, /, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A method that gives its first argument."""
    return value


def no_op(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A method that gives a context which does nothing."""
    return Instance(NO_OP)


def models_in(values: tuple[Value, ...]) -> Iterator[Instance]:
    """The modules among arguments."""
    return (value for value in values if is_module(value))


def move_batches(run: Runtime, values: tuple[Value, ...]) -> None:
    """Loaders that are prepared move what they give to the device."""
    for value in values:
        if isinstance(value, Instance) and value.cls.derives_from(DATA_LOADER):
            run.changed(value)
            value.attributes[MOVES] = True


def precision_of(self: Instance) -> Precision:
    """The precision that a trainer was made with."""
    found = self.attributes.get("_native_precision")
    return found if isinstance(found, Precision) else Precision()


def in_autocast(run: Runtime, self: Instance) -> None:
    """A model that is prepared runs in autocast from then on, where mixed precision is asked for."""
    run.autocast = precision_of(self).autocast or run.autocast


def backward(run: Runtime, self: Instance, /, loss: Value, *args: Value, **kwargs: Value) -> Value:
    """By the loss's own method, which tells what it starts from."""
    options = {word: value for word, value in kwargs.items() if word in ("retain_graph", "create_graph", "inputs")}
    return backward_of(run, loss, **options)


def autocast(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A context in which the trainer's precision is in force."""
    mixed = precision_of(self).autocast
    return Instance(NO_OP) if mixed is None else Instance(AUTOCAST, {"fast_dtype": mixed, "enabled": True})


def launched(run: Runtime, self: Instance, /, function: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`fabric.launch(main)` runs the function with Fabric itself."""
    return run.call(function, self, *args, **kwargs) if is_callable(function) else None


def other(run: Runtime, self: Instance, name: Value) -> Value:
    """Any other attribute of a trainer, which is not known. AttributeError for names with two underscores."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of {self.cls.name} is not known")


COMMON: dict[str, Value] = {
    "backward": native("backward", backward),
    "autocast": native("autocast", autocast),
    "no_backward_sync": native("no_backward_sync", no_op),
    "no_sync": native("no_sync", no_op),
    "__getattr__": native("__getattr__", other),
    "launch": native("launch", launched),
    **{
        name: native(name, first)
        for name in ("unwrap_model", "gather", "gather_for_metrics", "reduce", "pad_across_processes", "to_device",
                     "all_gather", "broadcast", "all_reduce")
    },
    **{
        name: native(name, nothing)
        for name in ("print", "wait_for_everyone", "clip_grad_norm_", "clip_grad_value_", "clip_gradients", "save",
                     "save_state", "load_state", "save_model", "log", "log_dict", "init_trackers", "end_training",
                     "free_memory", "register_for_checkpointing", "barrier", "seed_everything", "call", "load",
                     "on_local_main_process", "on_main_process")
    },
}  # fmt: skip
