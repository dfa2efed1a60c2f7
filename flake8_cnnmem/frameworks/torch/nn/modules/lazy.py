"""torch.nn's lazy layers: the sizes that come from the input are filled in at the first call."""

from __future__ import annotations

import inspect
from functools import cache

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import tensor_of
from flake8_cnnmem.frameworks.torch.nn.layer import LAYERS, STUBS, nothing
from flake8_cnnmem.frameworks.torch.nn.modules import conv, linear, normalization
from flake8_cnnmem.frameworks.torch.nn.modules.module import stored
from flake8_cnnmem.frameworks.torch.nn.parameter import NOT_CALLED
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

CHANNELS = ("in_channels", 1)
FEATURES = ("num_features", 1)
WIDTH = ("in_features", -1)

LAZY = {
    **{f"LazyConv{rank}d": (f"Conv{rank}d", CHANNELS) for rank in (1, 2, 3)},
    **{f"LazyConvTranspose{rank}d": (f"ConvTranspose{rank}d", CHANNELS) for rank in (1, 2, 3)},
    **{f"LazyBatchNorm{rank}d": (f"BatchNorm{rank}d", FEATURES) for rank in (1, 2, 3)},
    **{f"LazyInstanceNorm{rank}d": (f"InstanceNorm{rank}d", FEATURES) for rank in (1, 2, 3)},
    "LazyLinear": ("Linear", WIDTH),
}
"""By name: the class that the layer becomes, and its argument that an axis of the input fills."""


DECLARING = conv, linear, normalization
"""Their layers are in LAYERS once they are imported."""


def given_size(value: Value, axis: int) -> Size:
    """The size of an axis of what a lazy layer is first called with."""
    tensor = tensor_of(value)
    if isinstance(tensor, Unknown):
        return tensor
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    return tensor.shape[axis] if -len(tensor.shape) <= axis < len(tensor.shape) else NOT_CALLED


def refill(self: Instance, final: Class, made: Instance) -> None:
    """Give the weights, which stay the same objects, the shapes of those of a layer of known sizes."""
    for store in ("_parameters", "_buffers"):
        for name, wanted in stored(made, store).items():
            own = stored(self, store).get(name)
            if isinstance(own, Weight) and isinstance(wanted, Weight):
                own.shape = wanted.shape
    self.cls = final if self.cls.site is None else self.cls


def _declare(name: str) -> None:
    final_name, (argument, axis) = LAZY[name]
    final = LAYERS[final_name]

    @cache
    def signature() -> inspect.Signature:
        own = [
            parameter.replace(default=True) if word in ("affine", "track_running_stats") else parameter
            for word, parameter in STUBS[final_name]().parameters.items()
            if word != argument
        ]
        return inspect.Signature(own)

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        given = signature().bind(*args, **kwargs)
        given.apply_defaults()
        bound = given.arguments
        run.call(final.namespace["__init__"], self, **{argument: NOT_CALLED}, **bound)
        self.attributes[argument] = 0
        self.native = bound
        return None

    def forward(run: Runtime, self: Instance, input: Value, *args: Value, **kwargs: Value) -> Value:
        size = given_size(input, axis)
        if isinstance(self.native, dict) and not isinstance(size, Unknown):
            made = run.construct(final, **{argument: size}, **self.native)
            run.changed(self)
            self.native = None
            self.attributes[argument] = size
            if isinstance(made, Instance):
                refill(self, final, made)
        return run.call(final.namespace["forward"], self, input, *args, **kwargs)

    LAYERS[name] = Class(
        name,
        (final,),
        {
            "__init__": Native("__init__", init, propagate_unknown=False),
            "forward": Native("forward", forward, propagate_unknown=False),
            "initialize_parameters": Native("initialize_parameters", nothing, propagate_unknown=False),
        },
        module=final.module,
    )
    STUBS[name] = signature


for _name in LAZY:
    _declare(_name)


def _not_followed(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown(f"{self.cls.name} is a lazy layer of its own, whose first call is not followed")


LAZY_MIXIN = Class(
    "LazyModuleMixin",
    (),
    {"__call__": Native("__call__", _not_followed, propagate_unknown=False)},
    module="torch.nn.modules.lazy",
)
"""What lazy layers that a program writes itself derive from."""
