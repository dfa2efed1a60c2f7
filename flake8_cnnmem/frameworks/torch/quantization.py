"""torch.ao.quantization's stand-ins, which do nothing while a model is trained in floating point."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.joining import cat
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value


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


QUANTIZATION: dict[str, Value] = {"QuantStub": stub("QuantStub"), "DeQuantStub": stub("DeQuantStub")}
QUANTIZED: dict[str, Value] = {"FloatFunctional": FLOAT_FUNCTIONAL, "QFunctional": FLOAT_FUNCTIONAL}
