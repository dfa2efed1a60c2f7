"""torch.dtype, torch.device and the other small values that code hands to tensors: one object for each."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.on_meta import enter_device, leave_device
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

FLOATS = ("float", "float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2")
COMPLEX = ("complex64", "complex128", "complex32")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
SIZES = {
    "float": 4, "float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "complex32": 4, "complex64": 8, "complex128": 16,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1,
}  # fmt: skip
"""Bytes of one value; "float" as the default dtype."""

ALIASES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip

LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float64": 1.7976931348623157e308}
EPSILON = {"float16": 0.0009765625, "bfloat16": 0.0078125, "float64": 2.220446049250313e-16}
TINY = {"float16": 6.103515625e-05, "bfloat16": 1.1754943508222875e-38, "float64": 2.2250738585072014e-308}


def _name(run: Runtime, self: Instance) -> Value:
    return f"torch.{'float32' if self.native == 'float' else self.native}"


def _equal(run: Runtime, self: Instance, other: Value) -> Value:
    return isinstance(other, Instance) and _plain(other.native) == _plain(self.native)


def _different(run: Runtime, self: Instance, other: Value) -> Value:
    return not _equal(run, self, other)


def _plain(name: str) -> str:
    return "float32" if name == "float" else name


DTYPE = Class(
    "dtype",
    namespace={
        "__repr__": Native("__repr__", _name),
        "__str__": Native("__str__", _name),
        "__eq__": Native("__eq__", _equal),
        "__ne__": Native("__ne__", _different),
        "__hash__": Native("__hash__", lambda run, self: hash(_plain(self.native))),
        "is_floating_point": Property(Native("is_floating_point", lambda run, self: self.native in FLOATS)),
        "is_complex": Property(Native("is_complex", lambda run, self: self.native in COMPLEX)),
        "is_signed": Property(
            Native("is_signed", lambda run, self: not self.native.startswith("uint") and self.native != "bool")
        ),
        "itemsize": Property(Native("itemsize", lambda run, self: SIZES[self.native])),
    },
    module="torch",
    by_native=True,
)

DTYPES = {name: Instance(DTYPE, native=name) for name in SIZES}
"""By `Tensor.dtype`. "float" is the dtype that the model trains in: it prints and compares as torch.float32,
but a cast to it is none."""

LEGACY = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8",
    "ByteTensor": "uint8", "BoolTensor": "bool",
}  # fmt: skip
"""torch.FloatTensor and its like: constructors, and names for `x.type("torch.FloatTensor")`."""

ON_CARD = "torch.cuda"
"""The module whose types of these names lie on the card: `torch.cuda.FloatTensor`."""


def place_of(kind: Value) -> bool | None:
    """Whether one of the older types lies on the card; None of what is none of them."""
    named = f"{kind.module}.{kind.name}" if isinstance(kind, Class) else kind
    if not isinstance(named, str):
        return None
    module, _, word = named.rpartition(".")
    return module == ON_CARD if word in LEGACY and module in ("torch", ON_CARD) else None


def dtype_named(name: str) -> Instance | None:
    """The dtype object that `torch.<name>` is."""
    name = ALIASES.get(name, name)
    return DTYPES.get(name)


def dtype_of(value: Value, default: str = "float") -> str:
    """The `Tensor.dtype` that a dtype argument stands for; `default` for None and what is not known."""
    if isinstance(value, Instance) and value.cls is DTYPE:
        return str(value.native)
    if isinstance(value, Class):
        return LEGACY.get(value.name, {"float": default, "int": "int64", "bool": "bool"}.get(value.name, default))
    if isinstance(value, str):
        word = value.removeprefix("torch.").removeprefix("cuda.")
        return LEGACY.get(word, word if word in SIZES else default)
    return default


def dtype_made(run: Runtime, value: Value, default: str = "float") -> str:
    """As `dtype_of`, of what is made anew: without a dtype it has the one that the program has set."""
    found = dtype_of(value, default)
    if value is not None or found != "float":
        return found
    own = run.data(DEFAULT).get("dtype", found)
    return own if isinstance(own, str) else found


DEFAULT = "default dtype"
"""Scratch of the run: under "dtype" what `torch.set_default_dtype` has set."""


def dtype_from(tensor: Tensor) -> Instance:
    """`tensor.dtype`. Where that is left open it notes whose it is."""
    if tensor.dtype != "float":
        return DTYPES.get(tensor.dtype, DTYPES["float"])
    return Instance(DTYPE, {SOURCE: tensor}, native="float")


SOURCE = "_native_source"


def source_of(dtype: Value) -> Tensor | None:
    """The tensor that a dtype argument was read off, where that leaves it open."""
    found = dtype.attributes.get(SOURCE) if isinstance(dtype, Instance) and dtype.cls is DTYPE else None
    return found if isinstance(found, Tensor) else None


def is_dtype(value: Value) -> bool:
    """Whether a value is a dtype of torch."""
    return isinstance(value, Instance) and value.cls is DTYPE


def promote(left: str, right: str) -> str:
    """The dtype of an operation on tensors of two dtypes: torch's promotion, "float" below the other floats."""
    if left == right:
        return left
    for family in (COMPLEX, FLOATS, INTEGERS):
        if left in family or right in family:
            both = [name for name in (left, right) if name in family]
            if len(both) == 1:
                return both[0]
            return max(both, key=lambda name: (SIZES[name], name != "float"))
    return left


def is_floating(dtype: str) -> bool:
    """Whether a dtype has a fraction ("float" is the default one)."""
    return dtype in FLOATS


def kind(dtype: str) -> int:
    """Bool below whole numbers below floats below complex numbers."""
    if dtype == "bool":
        return 0
    if dtype.startswith(("int", "uint")):
        return 1
    return 3 if dtype.startswith("complex") else 2


LAYOUT = Class(
    "layout",
    namespace={
        "__repr__": Native("__repr__", _name),
        "__str__": Native("__str__", _name),
        "__hash__": Native("__hash__", lambda run, self: hash(self.native)),
    },
    module="torch",
    by_native=True,
)
LAYOUTS = {
    name: Instance(LAYOUT, native=name)
    for name in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
}
"""`torch.strided` and its like. Tensors of the others are not followed."""


MISSPELT = ("gpu", "cuda", "cpu")
"""Names of no device of torch's, in whatever letters, but for the two that are written in small ones. Those of other
makers' devices are not known."""


def _device_init(run: Runtime, self: Instance, type: Value = "cuda", index: Value = None) -> None:
    kind = type
    if isinstance(type, Instance) and type.cls is DEVICE:
        kind, index = type.attributes.get("type"), type.attributes.get("index")
    if isinstance(kind, str) and ":" in kind:
        kind, _, number = kind.partition(":")
        index = int(number) if number.isdigit() else index
    if isinstance(kind, int):
        kind, index = "cuda", kind
    if isinstance(kind, str) and kind.lower() in MISSPELT and kind not in ("cpu", "cuda"):
        raise run.error("RuntimeError", f"Expected one of cpu, cuda, ... device type at start of device string: {kind}")
    run.changed(self)
    self.attributes["type"] = kind
    self.attributes["index"] = index


def _device_name(run: Runtime, self: Instance) -> Value:
    kind, index = self.attributes.get("type"), self.attributes.get("index")
    if isinstance(kind, Unknown):
        return kind
    return str(kind) if index is None else f"{kind}:{index}"


def _device_equal(run: Runtime, self: Instance, other: Value) -> Value:
    return isinstance(other, Instance) and other.attributes.get("type") == self.attributes.get("type")


DEVICE = Class(
    "device",
    namespace={
        "__init__": Native("__init__", _device_init, propagate_unknown=False),
        "__str__": Native("__str__", _device_name),
        "__repr__": Native("__repr__", _device_name),
        "__eq__": Native("__eq__", _device_equal),
        "__ne__": Native("__ne__", lambda run, self, other: not _device_equal(run, self, other)),
        "__hash__": Native("__hash__", lambda run, self: hash(str(self.attributes.get("type")))),
        "__enter__": Native("__enter__", enter_device),
        "__exit__": Native("__exit__", leave_device, propagate_unknown=False),
    },
    module="torch",
)

GPU = Instance(DEVICE, {"type": "cuda", "index": 0})
"""Where every tensor is: the memory that is estimated is a GPU's."""


def _finfo_init(run: Runtime, self: Instance, type: Value = None) -> None:
    name = _plain(dtype_of(type))
    largest = LARGEST.get(name, 3.4028234663852886e38)
    self.attributes.update(
        bits=SIZES.get(name, 4) * 8,
        eps=EPSILON.get(name, 1.1920928955078125e-07),
        max=largest,
        min=-largest,
        tiny=TINY.get(name, 1.1754943508222875e-38),
        smallest_normal=TINY.get(name, 1.1754943508222875e-38),
        dtype=name,
    )


def _iinfo_init(run: Runtime, self: Instance, type: Value) -> None:
    name = dtype_of(type, "int64")
    bits = SIZES.get(name, 8) * 8
    unsigned = name.startswith("uint")
    self.attributes.update(
        bits=bits,
        max=2**bits - 1 if unsigned else 2 ** (bits - 1) - 1,
        min=0 if unsigned else -(2 ** (bits - 1)),
        dtype=name,
    )


FINFO = Class("finfo", namespace={"__init__": Native("__init__", _finfo_init, propagate_unknown=False)}, module="torch")
IINFO = Class("iinfo", namespace={"__init__": Native("__init__", _iinfo_init, propagate_unknown=False)}, module="torch")


def _self(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return self


GENERATOR = Class(
    "Generator",
    namespace={
        "__init__": Native("__init__", lambda run, self, device=None: None, propagate_unknown=False),
        "manual_seed": Native("manual_seed", _self, propagate_unknown=False),
        "seed": Native("seed", lambda run, self: 0),
    },
    module="torch",
)


REAL = {"complex32": "float16", "complex128": "float64", "complex64": "float"}
"""By complex dtype that of its parts."""


def real_dtype(value: Value) -> str:
    """The dtype of a tensor's real part, magnitude or angle."""
    dtype = value.dtype if isinstance(value, Tensor) else "float"
    return REAL.get(dtype, dtype)
