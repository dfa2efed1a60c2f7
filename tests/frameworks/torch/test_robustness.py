"""Whatever arguments layers and functions are given, nothing but the program's own exceptions comes out."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from flake8_cnnmem.dims import BATCH, Batch
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.frameworks.torch import registry
from flake8_cnnmem.frameworks.torch.nn import layer
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Raised
from tests.frameworks.torch.code import HEAD, Ran

ODD: dict[str, Any] = {
    "unknown": Unknown("odd"),
    "zero": 0,
    "negative": -3,
    "huge": 10**30,
    "float": 2.5,
    "none": None,
    "text": "odd",
    "batch": Batch(2),
    "pair": (2, 3),
    "long tuple": (1, 2, 3, 4, 5, 6, 7),
    "tensor": Tensor((2, 3)),
    "true": True,
}

INPUTS = [Tensor((BATCH, 8, 12, 12)), Tensor((BATCH, 8)), Tensor(()), Tensor(Unknown("odd")), Unknown("odd")]


OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def plain(name: str) -> Any:
    """An ordinary value for a parameter without a default."""
    if name in ("unflattened_size", "output_size", "cutoffs"):
        return (2, 4)
    if name in ("module", "encoder_layer", "decoder_layer"):
        return Unknown("a layer")
    return 4


def call_with(run: Interpreter, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return run.call(function, *args, **kwargs)
    except (Raised, Exhausted):
        return None


@pytest.mark.parametrize("name", sorted(layer.STUBS))
def test_a_layer_takes_any_argument(name: str) -> None:
    parameters = layer.STUBS[name]().parameters.values()
    ordinary = {p.name: plain(p.name) for p in parameters if p.default is p.empty and p.kind not in OPEN}
    for parameter in parameters:
        if parameter.kind in OPEN:
            continue
        for odd in ODD.values():
            run = Interpreter([], strict=True)
            made = call_with(run, layer.LAYERS[name], [], {**ordinary, parameter.name: odd})
            if isinstance(made, Instance):
                for value in INPUTS:
                    call_with(run, made, [value], {})


@pytest.mark.parametrize("dotted", sorted(registry.DEFINED))
def test_a_function_takes_any_argument(dotted: str) -> None:
    place, _, name = dotted.partition(".")
    native = registry.PLACES[place][name]
    signature = registry.signature(dotted)
    assert signature is not None
    parameters = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    inputs = INPUTS if parameters else []
    for value in inputs[:4]:
        run = Interpreter([], strict=True)
        ordinary = [value, *(plain(p.name) for p in parameters[1:] if p.default is p.empty)]
        call_with(run, native, ordinary, {})
        for parameter in parameters[1:]:
            for odd in ODD.values():
                given = {p.name: plain(p.name) for p in parameters[1:] if p.default is p.empty}
                call_with(run, native, [value], {**given, parameter.name: odd})
    if place != "tensor":
        run = Interpreter([], strict=True)
        for odd in ODD.values():
            call_with(run, native, [odd] * max(1, len([p for p in parameters if p.default is p.empty])), {})


RECEIVERS = [
    "nn.Module()", "nn.Sequential(nn.Linear(2, 3))", "nn.ModuleList([nn.Linear(2, 3)])",
    "nn.ModuleDict({'a': nn.Linear(2, 3)})", "nn.ParameterList([nn.Parameter(torch.zeros(3))])",
    "nn.ParameterDict({'a': nn.Parameter(torch.zeros(3))})", "nn.DataParallel(nn.Linear(2, 3))",
    "nn.Conv2d(3, 4, 3)", "nn.BatchNorm2d(3)", "nn.LSTM(3, 4)", "nn.MultiheadAttention(4, 2)", "nn.LazyLinear(4)",
    "torch.optim.Adam(nn.Linear(2, 3).parameters())",
    "torch.optim.lr_scheduler.StepLR(torch.optim.Adam(nn.Linear(2, 3).parameters()), 2)",
    "torch.utils.data.DataLoader([1, 2, 3], batch_size=2)", "torch.distributions.Normal(0.0, 1.0)",
    "torch.cuda.amp.GradScaler()",
]  # fmt: skip


@pytest.mark.parametrize("made", RECEIVERS)
def test_a_method_takes_any_argument(made: str) -> None:
    ran = Ran(f"{HEAD}m = {made}\n")
    names = {name for cls in ran["m"].cls.mro for name, held in cls.namespace.items() if isinstance(held, Native)}
    for name in sorted(names - {"__new__"}):
        ran = Ran(f"{HEAD}m = {made}\n")
        for odd in ODD.values():
            for args in ([odd], [odd, odd], ["odd", odd], [odd, 2, None]):
                call_with(ran.run, ran.run.get(ran["m"], name), args, {})


LAYERS = f"{HEAD}at = torch.argmax(torch.randn(3))\nm = nn.ModuleList([nn.Linear(2, 3), nn.ReLU()])\n"


@pytest.mark.parametrize(
    "code",
    [
        "y = [1, 2][at]",
        "y = (1, 2)[at]",
        "y = [1, 2][at:][0]",
        "y = m[at]",
        "y = nn.Sequential(nn.ReLU(), nn.ReLU())[at]",
        "y = nn.ParameterList([nn.Parameter(torch.zeros(2))])[at]",
        "m[at] = nn.Linear(2, 4)\ny = m[0]",
        "del m[at]\ny = m[0]",
        "m.insert(at, nn.Linear(2, 4))\ny = m[0]",
        "m.pop(at)\ny = m[0]",
        "import unheard\nm.set_submodule(unheard.name, nn.Linear(2, 4))\ny = m[0]",
    ],
)
def test_what_stands_at_an_unknown_place_is_unknown(code: str) -> None:
    assert isinstance(Ran(LAYERS + code)["y"], Unknown)
