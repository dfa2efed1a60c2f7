"""What no rule says is a cause and a lower bound, never a default."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.frameworks.keras import stubs
from flake8_cnnmem.frameworks.rules import OpRule, Saved, table
from flake8_cnnmem.frameworks.torch.nn import layer
from flake8_cnnmem.graph import Tensor, WeightSpec
from flake8_cnnmem.memory import framework
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.ops import Linear
from flake8_cnnmem.ops.base import Plain
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance
from tests.memory.sketch import Sketch, training

CAUSE = Unknown("what wavelet keeps for its backward pass is not known")


def estimate(kind: str, framework_name: str, behind_weights: bool = True) -> Estimate:
    net = Sketch(3, 8, 8, framework=framework_name)
    x = net.unary(kind, net.conv(net.input, 4) if behind_weights else net.input)
    return framework.estimate(net.model(net.linear(net.flatten(x), 10)), training(), 0)


@pytest.mark.parametrize("name", ["torch", "keras"])
def test_an_op_without_a_row_leaves_a_cause(name: str) -> None:
    assert estimate("wavelet", name).left_out == (CAUSE,)
    assert estimate("tanh", name).left_out == ()


@pytest.mark.parametrize("name", ["torch", "keras"])
def test_an_op_without_a_row_is_counted_by_its_result_alone(name: str) -> None:
    assert (estimate("wavelet", name).saved or 0) <= (estimate("tanh", name).saved or 0)


def test_nothing_is_left_out_where_no_gradient_comes_by() -> None:
    assert estimate("wavelet", "torch", behind_weights=False).left_out == ()


def test_two_rows_for_a_kind_are_an_error() -> None:
    with pytest.raises(ValueError, match="'tanh'"):
        table([("tanh", OpRule((Saved("y"),)))], [("exp", OpRule()), ("tanh", OpRule((Saved("x"),)))])


def test_a_layer_without_a_call_of_its_own_runs_on_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer, "LAYERS", {})
    monkeypatch.setattr(layer, "STUBS", {})

    @layer.layer("linear")
    def Projection(features: int) -> Linear:
        return Linear(features, 5)

    run = Interpreter([], strict=True)
    made = run.construct(Projection, 3)
    assert isinstance(made, Instance)
    result = run.call(made, Tensor((2, 5)))
    assert isinstance(result, Tensor)
    assert result.call is not None
    assert result.shape == (2, 3)
    assert [weight.shape for weight in result.call.weights] == [(3, 5), (3,)]


def test_a_keras_layer_of_a_new_op_runs_on_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stubs, "LAYERS", {})

    @dataclass(frozen=True, slots=True)
    class Gain(Plain):
        kind = "wavelet"

        def outputs(self, *inputs: Shape) -> tuple[Shape]:
            return (inputs[0],)

        def weights(self, *inputs: Shape) -> dict[str, WeightSpec]:
            return {"gain": WeightSpec((inputs[0][-1],)), "offset": WeightSpec((1,))} if inputs else {}

    @stubs.layer()
    def Gained() -> Gain:
        return Gain()

    run = Interpreter([], strict=True)
    result = run.call(run.construct(Gained), Tensor((2, 5), framework="keras"))
    assert isinstance(result, Tensor)
    assert result.call is not None
    assert [weight.shape for weight in result.call.weights] == [(5,), (1,)]


@pytest.mark.parametrize(
    "call",
    [
        "torch.einsum('bc,bd,be->bcde', x, x, x)",
        "torch.addcdiv(x, x, x)",
        "torch.xlogy(x, x)",
        "torch.ldexp(x, x)",
        "torch.fmax(x, x)",
        "torch.fmin(x, x)",
        "torch.addcmul(x, x, x[:1])",
        "x.norm(p=3, dim=1)",
    ],
)
def test_what_is_not_measured_in_full_is_a_bound(call: str) -> None:
    text = PROGRAM.replace("CALL", call)
    (report,) = analyse(Source("train.py", text), Settings()).reports
    assert report.status == "lower-bound"


PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(8, 8)
    def forward(self, x):
        x = self.enter(x)
        return CALL
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(4, 8, device="cuda")).mean().backward()
    optimizer.step()
"""
