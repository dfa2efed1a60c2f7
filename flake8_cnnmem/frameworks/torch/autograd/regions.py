"""Regions of code: no_grad, autocast and their like, as context managers and as decorators; checkpointing."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.autograd.inference import enter_inference, in_inference, leave_inference
from flake8_cnnmem.frameworks.torch.dtypes import dtype_of
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, is_callable

Change = Callable[[Runtime, Instance], None]


def region(
    name: str, init: Callable[..., Value], enter: Change, leave: Callable[[Runtime], None] | None = None
) -> Class:
    """A context manager that changes the run between `__enter__` and `__exit__`, and wraps functions in it."""
    members = Members()

    def start(run: Runtime, self: Instance) -> Value:
        self.attributes["before"] = (*self.attributes.get("before", ()), run.modes)
        enter(run, self)
        return self

    def end(run: Runtime, self: Instance, *exception: Value) -> Value:
        *outer, run.modes = self.attributes.get("before") or [run.modes]
        self.attributes["before"] = tuple(outer)
        if leave is not None:
            leave(run)
        return None

    def wrap(run: Runtime, self: Instance, function: Value) -> Value:
        def wrapped(run: Runtime, *args: Value, **kwargs: Value) -> Value:
            start(run, self)
            try:
                given = run.call(function, *args, **kwargs)
            finally:
                end(run, self)
            return resumed(run, self, given) if isinstance(given, Generator) else given

        def resumed(run: Runtime, self: Instance, generator: Iterator[Value]) -> Iterator[Value]:
            """A generator function's body runs later: it, too, and it alone, is in the region."""
            while True:
                start(run, self)
                try:
                    given = next(generator)
                except StopIteration:
                    return
                finally:
                    end(run, self)
                yield given

        if isinstance(function, Class):
            return function
        return Native(getattr(function, "name", name), wrapped, propagate_unknown=False)

    members["__init__"] = Native("__init__", init, propagate_unknown=False)
    members["__enter__"] = Native("__enter__", start, propagate_unknown=False)
    members["__exit__"] = Native("__exit__", end, propagate_unknown=False)
    members["__call__"] = Native("__call__", wrap, propagate_unknown=False)
    return Class(name, namespace=members, module="torch")


def without_grad(run: Runtime, self: Instance) -> None:
    """From here on no gradients are recorded."""
    run.grad_enabled = False


def with_grad(run: Runtime, self: Instance) -> None:
    """From here on gradients are recorded."""
    run.grad_enabled = not in_inference(run)
    computes_again(run)


def computes_again(run: Runtime) -> None:
    """Within a backward pass of the code's own this is a graph beside those that go back: it is not counted."""
    if run.data(OWN_BACKWARD):
        note_cause(run, None, "own backward", "a backward pass of its own computes again what it goes back through")


OWN_BACKWARD = "backward passes of the code's own that run"
"""The key of the run's data that is filled while one is followed."""


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


def unchanged(run: Runtime, self: Instance) -> None:
    """A context that changes nothing."""
    return


NO_GRAD = region("no_grad", nothing, without_grad)
ENABLE_GRAD = region("enable_grad", nothing, with_grad)


def decorating(cls: Class) -> Native:
    """`@torch.no_grad` without parentheses gets the function itself."""

    def make(run: Runtime, made: Class, function: Value = None) -> Value:
        instance = Instance(cls)
        if function is None or not is_callable(function):
            return instance
        wrap = cls.namespace["__call__"].function
        return wrap(run, instance, function)

    return Native("__new__", make, propagate_unknown=False)


NO_GRAD.namespace["__new__"] = decorating(NO_GRAD)
ENABLE_GRAD.namespace["__new__"] = decorating(ENABLE_GRAD)


def inference_init(run: Runtime, self: Instance, mode: Value = True) -> Value:
    """`torch.inference_mode(mode)`: keeps whether it is on."""
    self.attributes["mode"] = mode
    return None


def inference(run: Runtime, self: Instance) -> None:
    """From here on no gradients are recorded; they are if the mode is False, also within no_grad."""
    enter_inference(run, self.attributes.get("mode") is not False)


INFERENCE_MODE = region("inference_mode", inference_init, inference, leave_inference)


def set_grad_init(run: Runtime, self: Instance, mode: Value) -> Value:
    """`torch.set_grad_enabled(False)` works at once, and is undone only as a context manager."""
    self.attributes["before"] = (run.modes,)
    self.attributes["mode"] = mode
    set_grad(run, self)
    return None


def set_grad(run: Runtime, self: Instance) -> None:
    """From here on gradients are recorded, or not, by the mode; one that is not known changes nothing, and within a
    model is a cause."""
    mode = self.attributes.get("mode")
    if not isinstance(mode, Unknown):
        run.grad_enabled = mode is not False and mode != 0 and not in_inference(run)
        if run.grad_enabled:
            computes_again(run)
    elif run.invocation is not None and run.grad_enabled:
        note_cause(run, None, "gradients on or off", mode.reason, upper=True)


def set_grad_enter(run: Runtime, self: Instance) -> Value:
    """`with torch.set_grad_enabled(mode)`: gradients are on or off within it."""
    set_grad(run, self)
    return self


SET_GRAD_ENABLED = region("set_grad_enabled", set_grad_init, set_grad)


def decorated(run: Runtime, self: Instance, function: Value) -> Value:
    """`@torch.set_grad_enabled(False)`: as it was before for the code behind the function."""
    SET_GRAD_ENABLED.namespace["__exit__"].function(run, self)
    return WRAP(run, self, function)


WRAP = SET_GRAD_ENABLED.namespace["__call__"].function
SET_GRAD_ENABLED.namespace["__call__"] = Native("__call__", decorated, propagate_unknown=False)
SET_GRAD_ENABLED.namespace["__enter__"] = Native("__enter__", set_grad_enter, propagate_unknown=False)


def autocast_init(
    run: Runtime, self: Instance, device_type: Value = "cuda", dtype: Value = None, enabled: Value = True,
    cache_enabled: Value = None,
) -> Value:  # fmt: skip
    """`torch.autocast(device_type, dtype, enabled)`: keeps its dtype, float16 where none is said, and whether it is
    on."""
    self.attributes.update(device_type=device_type, fast_dtype=dtype_of(dtype, "float16"), enabled=enabled)
    self.attributes["caches"] = cache_enabled
    return None


def device_autocast_init(
    run: Runtime, self: Instance, enabled: Value = True, dtype: Value = None, cache_enabled: Value = True
) -> Value:
    """`torch.cuda.amp.autocast(enabled, dtype)`: as `autocast` on CUDA."""
    return autocast_init(run, self, "cuda", dtype, enabled, cache_enabled)


def autocast(run: Runtime, self: Instance) -> None:
    """From here on ops run in the context's dtype, or in their own where it is not enabled. One for the CPU changes
    nothing of what runs on the GPU, whose memory is estimated."""
    enabled, outer = self.attributes.get("enabled"), run.autocast
    device = self.attributes.get("device_type")
    if isinstance(device, str) and device.partition(":")[0] == "cpu":
        return
    if not isinstance(enabled, Unknown):
        run.autocast = self.attributes["fast_dtype"] if enabled is not False and enabled != 0 else None
    if outer is None and not run.cast_region:
        run.cast_region = run.next_number()
    if self.attributes.get("caches") is not None:
        run.caches_casts = self.attributes["caches"] is not False


AUTOCAST = region("autocast", autocast_init, autocast)
DEVICE_AUTOCAST = region("autocast", device_autocast_init, autocast)
"""torch.cuda.amp.autocast, which takes no device."""


def offload(run: Runtime, self: Instance) -> None:
    """From here on what is kept for the backward pass goes to the host."""
    run.offloading = True


SAVE_ON_CPU = region("save_on_cpu", nothing, offload)
"""torch.autograd.graph.save_on_cpu: what the backward pass will read waits in the host's memory."""


def pack_otherwise(run: Runtime, self: Instance) -> None:
    """Enter `saved_tensors_hooks(pack, unpack)`: what they keep is a cause."""
    note_cause(run, None, "saved tensors", "what hooks keep in the place of saved tensors is not followed")


SAVED_TENSORS_HOOKS = region("saved_tensors_hooks", nothing, pack_otherwise)
"""torch.autograd.graph.saved_tensors_hooks: the program packs what the backward pass will read."""

NO_OP = region("no_op", nothing, unchanged)
"""Any context that changes no shape: profilers, anomaly detection, streams."""


def checkpoint(
    run: Runtime, function: Value, *args: Value, use_reentrant: Value = None, context_fn: Value = None,
    determinism_check: Value = "default", debug: Value = False, early_stop: Value = True,
    preserve_rng_state: Value = True, **kwargs: Value,
) -> Value:  # fmt: skip
    """Call a function in a region that keeps only its inputs. Where it is not told otherwise, it is reentrant, and
    takes no named arguments (torch/utils/checkpoint.py)."""
    if kwargs and (use_reentrant is None or use_reentrant is True):
        raise run.error("ValueError", "Unexpected keyword arguments: " + ",".join(kwargs))
    with run.enter(None, checkpoint=True, reentrant=args if use_reentrant is not False else None):
        return run.call(function, *args, **kwargs)


def checkpoint_sequential(
    run: Runtime, functions: Value, segments: Value, input: Value, use_reentrant: Value = None, **kwargs: Value
) -> Value:
    """Segments of a Sequential, all but the last one checkpointed. A layer that it holds twice is run once: they are
    its children."""
    layers = run.items(functions)
    if isinstance(layers, Unknown):
        return layers
    if isinstance(functions, Instance):
        layers = list({id(layer): layer for layer in layers}.values())
    if not isinstance(segments, int) or segments < 1:
        return segments if isinstance(segments, Unknown) else run.unknown("the number of segments is not known")
    each = max(1, len(layers) // segments)
    edges = [at * each for at in range(segments)] if len(layers) >= segments else list(range(len(layers)))
    last = edges[-1] if edges else 0
    for start in edges[:-1]:
        with run.enter(None, checkpoint=True, reentrant=(input,) if use_reentrant is not False else None):
            input = through(run, layers[start : start + each], input)
    return through(run, layers[last:], input)


def offloaded(run: Runtime, function: Value, *args: Value, **kwargs: Value) -> Value:
    """Call a function with what it keeps in the host's memory."""
    outer, run.offloading = run.offloading, True
    try:
        return run.call(function, *args, **kwargs)
    finally:
        run.offloading = outer


def through(run: Runtime, layers: list[Value], input: Value) -> Value:
    """The input through all layers, one after the other."""
    for layer in layers:
        input = run.call(layer, input)
    return input


def is_grad_enabled(run: Runtime) -> Value:
    """`torch.is_grad_enabled()`: whether ops are recorded here."""
    return run.grad_enabled


def is_autocast_enabled(run: Runtime, device_type: Value = None) -> Value:
    """`torch.is_autocast_enabled()`: whether the code is in a region of autocast."""
    return run.autocast is not None


def autocast_dtype(run: Runtime, *args: Any) -> Value:
    """`torch.get_autocast_dtype()`; float16 outside of any."""
    from flake8_cnnmem.frameworks.torch.dtypes import DTYPES

    return DTYPES[run.autocast or "float16"]


def custom_fwd(run: Runtime, fwd: Value = None, **options: Value) -> Value:
    """A decorator that only sets the autocast state: with arguments it gives the decorator."""
    if fwd is None:
        return Native("custom_fwd", lambda run, fwd: fwd, propagate_unknown=False)
    return fwd
