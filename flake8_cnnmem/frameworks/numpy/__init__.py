"""numpy: its arrays are tensors of their own framework, computed here as far as model code needs it.

Shapes are followed, values while an array has few. Scalars are plain Python numbers. What is not here is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.frameworks.numpy import dtypes, indexing, linear_algebra, members, random
from flake8_cnnmem.frameworks.numpy.arithmetic import operate
from flake8_cnnmem.frameworks.numpy.functions import FUNCTIONS
from flake8_cnnmem.frameworks.rules import Lowered, Rules
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Namespace, Value

CONSTANTS: dict[str, Value] = {
    "pi": math.pi, "e": math.e, "inf": math.inf, "Inf": math.inf, "nan": math.nan, "NaN": math.nan, "newaxis": None,
    "ndarray": members.NDARRAY, "dtype": dtypes.DTYPE, "generic": dtypes.GENERIC, "number": dtypes.NUMBER,
    "integer": dtypes.INTEGER, "floating": dtypes.FLOATING, "inexact": dtypes.INEXACT, "signedinteger": dtypes.SIGNED,
    "unsignedinteger": dtypes.UNSIGNED, "complexfloating": dtypes.COMPLEX_FLOATING, "euler_gamma": 0.5772156649015329,
    "matrix": members.NDARRAY, "__version__": "2.0.0",
}  # fmt: skip

PLAIN_NAMES = {
    "int": "int64",
    "float": "float64",
    "bool": "bool",
    "complex": "complex128",
    "object": "object",
    "str": "str",
}
"""Names that older versions had for Python's own types."""

MODULES: dict[str, dict[str, Value]] = {
    "numpy": {
        **{name: dtypes.SCALARS[kind] for name, kind in {**dtypes.ALIASES, **PLAIN_NAMES}.items() if len(name) > 2},
        **dtypes.SCALARS, **FUNCTIONS, **CONSTANTS,
    },
    "numpy.random": random.FUNCTIONS,
    "numpy.linalg": linear_algebra.LINALG,
    "numpy.fft": linear_algebra.FFT,
}  # fmt: skip

NOT_FOLLOWED = ("testing", "ma", "lib", "typing", "core", "polynomial", "ctypeslib", "char",
"emath", "rec",
                "exceptions", "matlib", "version")  # fmt: skip


def find_module(dotted: str) -> Namespace | None:
    """`numpy`, `numpy.random`; of numpy's other submodules nothing is known."""
    names = MODULES.get(dotted)
    if names is not None:
        return Namespace(dotted, lookup_in(names))
    second = dotted.split(".")[1]
    return Namespace(dotted, lambda name: MISSING) if second in NOT_FOLLOWED else None


def lookup_in(names: dict[str, Value]) -> Callable[[str], Value]:
    """A table as a function from a name to its value or MISSING."""
    return lambda name: names.get(name, MISSING)


def length(run: Runtime, tensor: Tensor) -> Size:
    """`len(array)`: the size of the first axis. TypeError for an array without axes."""
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    if not tensor.shape:
        raise TypeError("len() of unsized object")
    return tensor.shape[0]


def never(value: Value) -> bool:
    """No value is a layer of numpy's."""
    return False


def not_called(run: Runtime, root: Instance, inputs: Sequence[Value]) -> Value:
    """NumPy has no models that could be called: an unknown."""
    return run.unknown("numpy has no models")


FRAMEWORK = Framework(
    name="numpy",
    alignment=1,
    channels_last=True,
    get=members.get,
    set=members.set_attribute,
    type_of=lambda tensor: members.NDARRAY,
    operate=operate,
    index=indexing.index,
    set_index=indexing.set_index,
    iterate=indexing.iterate,
    length=length,
    is_layer=never,
    weights=lambda root: [],
    children=lambda layer: [],
    paths=lambda root: {},
    call_root=not_called,
    is_model=never,
    own_inputs=lambda root: None,
    lower=lambda model: Lowered(model, Rules("numpy", 1, {})),
    rules=lambda: Rules("numpy", 1, {}),
    equal_by_value=True,
    computes="",
    device={},
    versions={},
    class_targets=lambda shape: shape,
    outermost_rows=False,
    checkpoints=None,
    optimizers_own=True,
    declares_inputs=False,
)
