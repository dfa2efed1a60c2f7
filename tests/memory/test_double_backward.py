"""Gradients of gradients: what a backward pass keeps whose graph is kept, op by op, held against PyTorch; what
gradients without a graph leave behind; in which order two graphs are gone back through."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem import analysis
from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.frameworks.rules import OpRule
from flake8_cnnmem.frameworks.torch.autograd.nodes import nodes_of
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.memory.engine_order import in_order
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.plan import Plan
from flake8_cnnmem.memory.storages import Form, Storage, Value
from flake8_cnnmem.memory.tape import TapeNode
from flake8_cnnmem.ops import Elementwise, Linear, Matmul
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.memory.evaluated import truth

TRUTH = truth("double_backward")

CLOSE = 0.001
SUMS = ("F.softmax(h, 1)", "F.log_softmax(h, 1)", "h.norm(dim=1)")
"""Ops whose formulas make sums over the channels beside, which are small and not counted."""


def trained(source: str) -> ModelReport:
    """The only training of a program."""
    report = analysis.analyse(Source("program.py", source), Settings())
    (found,) = report.reports
    return found


@pytest.mark.parametrize("case", TRUTH["ops"], ids=lambda case: case["apply"])
def test_the_gradient_of_an_ops_gradient_takes_what_it_takes(case: dict[str, Any]) -> None:
    found = trained(TRUTH["source"].replace("{}", case["apply"]))
    wanted = case["requested_peak"] - case["workspaces"]
    assert found.estimate is not None
    if "unknown" in case:
        assert found.status == "lower-bound"
        assert found.causes[0].reason.startswith("what the gradient of the gradient of")
    else:
        assert found.status == "exact"
        assert found.estimate.total == pytest.approx(wanted, rel=0.01 if case["apply"] in SUMS else CLOSE)


STEP = """
import torch
import torch.utils.checkpoint
from torch import nn

net = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 8, 3, padding=1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x = torch.rand(32, 3, 32, 32, device="cuda")
    {}
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("lines", "requested"),
    [
        (["pass"], 25603144),
        (["z = x.clone().requires_grad_()", "slope = torch.autograd.grad(net(z).sum(), z)[0]"], 26396744),
        (["first, second = torch.autograd.grad(net(x).sum(), [net[0].weight, net[2].weight])"], 25654088),
        (["z = x.clone().requires_grad_()", "net(z).sum().backward()"], 26389576),
        (["z = x.clone().requires_grad_()", "net(z).sum().backward()", "z.grad = None"], 26003528),
    ],
    ids=[
        "neither", "a gradient of its own", "gradients of weights that are not theirs", "a leaf that has a gradient",
        "a leaf whose gradient was let go",
    ],
)  # fmt: skip
def test_gradients_without_a_graph_leave_themselves_and_nothing_else(lines: list[str], requested: int) -> None:
    """`requested` is what PyTorch asks for."""
    found = trained(STEP.format("\n    ".join(lines)))
    assert found.status == "exact"
    assert found.estimate is not None
    assert found.estimate.total == pytest.approx(requested, abs=4096)


@pytest.mark.parametrize(
    ("forward", "cause"),
    [
        ('with torch.autocast("cuda"):\n        y = net(z)', "a gradient with a graph under autocast"),
        (
            "y = torch.utils.checkpoint.checkpoint(net, z, use_reentrant=False)",
            "a gradient with a graph through a function that is run again",
        ),
    ],
    ids=["autocast", "a checkpoint"],
)
def test_where_the_second_graph_is_not_known_the_figure_is_a_lower_bound(forward: str, cause: str) -> None:
    lines = [
        "z = x.clone().requires_grad_()",
        forward,
        "slope = torch.autograd.grad(y.sum(), z, create_graph=True)[0]",
        "optimizer.zero_grad()",
        "slope.pow(2).mean().backward()",
    ]
    found = trained(STEP.format("\n    ".join(lines)))
    assert found.status == "lower-bound"
    assert [each.reason for each in found.causes] == [cause]


# The queue of a backward pass.


def node(name: str, number: int, gives: int, asks: list[int], derives: bool) -> TapeNode:
    call = Call(Elementwise(name), (), (), number, function=name, derives=derives)
    form = Form(0, (), (), (), "float32")
    value = Value(Storage(Line(), "temporaries", 0), form)
    return TapeNode(call, Plan(OpRule()), [(key, value) for key in asks], [(gives, value)], [], number=number)


def test_of_two_graphs_the_thread_that_makes_more_nodes_goes_first() -> None:
    forward = node("forward", 1, gives=1, asks=[0], derives=False)
    head = node("head", 2, gives=2, asks=[1], derives=False)
    slope = node("slope", 1, gives=3, asks=[1], derives=True)
    loss = node("loss", 3, gives=4, asks=[2, 3], derives=False)
    tape = [forward, head, slope, loss]

    def order(program: int, passes: int, first: bool = False) -> list[str]:
        return [entry.label.function for entry in reversed(in_order(tape, program, passes, first))]

    assert order(9, 3) == ["loss", "head", "slope", "forward"]
    assert order(3, 9) == ["loss", "slope", "head", "forward"]
    # In a program's first step each node has its own number.
    assert order(3, 9, first=True) == ["loss", "head", "slope", "forward"]


def test_a_tape_without_a_second_graph_is_taken_from_its_end() -> None:
    tape = [node("a", 1, 1, [0], False), node("b", 2, 2, [0], False)]
    assert in_order(tape, 0, 0) == tape


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (Call(Linear(4), (Tensor((BATCH, 3)),), (), 1), 2),
        (Call(Linear(4), (Tensor((BATCH, 7, 3)),), (), 1), 4),
        (Call(Matmul(), (Tensor((2, 3)), Tensor((3, 2))), (), 1), 1),
        (Call(Matmul(), (Tensor((2, 3)), Tensor((3, 2))), (), 1, derives=True), 2),
        (Call(Elementwise("relu"), (Tensor((2, 3)),), (), 1), 1),
    ],
    ids=["a layer on a matrix", "a layer on more axes", "a product", "a product of a backward pass", "an activation"],
)
def test_an_op_makes_so_many_nodes(call: Call, count: int) -> None:
    assert nodes_of(call) == count
