"""torch.ao.quantization: its stand-ins do nothing while a model is trained in floating point; what prepares a model for
integers puts observers and fake quantizers into it, in place or in a copy (torch/ao/quantization/quantize.py)."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.copying import deep_copy
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.joining import cat
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, is_module
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native


def stub(name: str) -> Class:
    """A module that gives its input on (`QuantStub`, `DeQuantStub`)."""

    def forward(run: Runtime, self: Instance, x: Value) -> Value:
        return apply(run, Elementwise("identity"), x, function=name)

    def init(run: Runtime, self: Instance, qconfig: Value = None) -> Value:
        return init_module(run, self)

    members = {
        "__init__": Native("__init__", init, propagate_unknown=False),
        "forward": Native("forward", forward, propagate_unknown=False),
    }
    return Class(name, (MODULE,), dict(members), module="torch.ao.quantization.stubs")


FLOAT_MEMBERS = Members()
FLOAT_FUNCTIONAL = Class("FloatFunctional", (MODULE,), FLOAT_MEMBERS, module="torch.ao.nn.quantized")


@FLOAT_MEMBERS.method("add", "add_scalar")
def add(run: Runtime, self: Instance, x: Value, y: Value) -> Value:
    """`FloatFunctional.add`: x + y"""
    return binary(run, "+", x, y)


@FLOAT_MEMBERS.method("mul", "mul_scalar")
def mul(run: Runtime, self: Instance, x: Value, y: Value) -> Value:
    """`FloatFunctional.mul`: x * y"""
    return binary(run, "*", x, y)


@FLOAT_MEMBERS.method("add_relu")
def add_relu(run: Runtime, self: Instance, x: Value, y: Value) -> Value:
    """`FloatFunctional.add_relu`: relu(x + y)"""
    return unary(run, "relu", binary(run, "+", x, y))


@FLOAT_MEMBERS.method("cat")
def cat_(run: Runtime, self: Instance, x: Value, dim: Size = 0) -> Value:
    """`FloatFunctional.cat(x, dim)`: as `torch.cat`."""
    return cat(run, x, dim)


@FLOAT_MEMBERS.method("matmul")
def matmul_(run: Runtime, self: Instance, x: Value, y: Value) -> Value:
    """`FloatFunctional.matmul`: x @ y"""
    return matmul(run, x, y)


def prepared(run: Runtime, model: Value, inplace: Value, function: str) -> Value:
    """The model itself with `inplace`, else a copy of it, of which it is not known what `function` puts into it."""
    if not is_module(model) or isinstance(inplace, Unknown):
        return run.unknown(f"what {function} gives is not followed")
    found = model if run.truth(inplace) is True else deep_copy(model)
    note_cause(run, found, function, f"what {function} puts into the model, or takes from it, is not followed")
    return found


def prepare_qat(run: Runtime, /, model: Value, mapping: Value = None, inplace: Value = False) -> Value:
    """Fake quantizers before and behind each layer that has a configuration."""
    return prepared(run, model, inplace, "prepare_qat")


def observing(function: str) -> Callable[..., Value]:
    """A function of `(model, inplace, ...)`."""

    def prepare(run: Runtime, /, model: Value, inplace: Value = False, *args: Value, **options: Value) -> Value:
        return prepared(run, model, inplace, function)

    return prepare


def fuse_modules(
    run: Runtime, /, model: Value, modules_to_fuse: Value, inplace: Value = False, *args: Value, **options: Value
) -> Value:
    """Convolutions with the normalisation behind them as one, whose parameters are others."""
    return prepared(run, model, inplace, "fuse_modules")


def fuse_modules_qat(
    run: Runtime, /, model: Value, modules_to_fuse: Value, inplace: Value = False, *args: Value, **options: Value
) -> Value:
    """Layers that follow each other as one module that calls them in turn: what they compute stays until the model is
    prepared."""
    if not is_module(model) or isinstance(inplace, Unknown):
        return run.unknown("what fuse_modules_qat gives is not followed")
    return model if run.truth(inplace) is True else deep_copy(model)


def convert(
    run: Runtime, /, module: Value, mapping: Value = None, inplace: Value = False, *args: Value, **options: Value
) -> Value:
    """Modules that compute with integers, where another model is not asked for; such a copy is not followed."""
    if run.truth(inplace) is not True:
        return run.unknown("a model that computes with integers is not followed")
    return prepared(run, module, inplace, "convert")


QUANTIZATION: dict[str, Value] = {
    "QuantStub": stub("QuantStub"),
    "DeQuantStub": stub("DeQuantStub"),
    "prepare_qat": native("prepare_qat", prepare_qat),
    "prepare": native("prepare", observing("prepare")),
    "fuse_modules": native("fuse_modules", fuse_modules),
    "fuse_modules_qat": native("fuse_modules_qat", fuse_modules_qat),
    "convert": native("convert", convert),
}
QUANTIZED: dict[str, Value] = {"FloatFunctional": FLOAT_FUNCTIONAL, "QFunctional": FLOAT_FUNCTIONAL}
