"""Whatever graph the evaluator comes up with, the accountings answer: no size, layout or op makes them fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.graph import Call, Invocation, Mismatch, Model, Tensor, Weight
from flake8_cnnmem.memory import account
from flake8_cnnmem.training import Fact, Optimizer, Training
from flake8_cnnmem.unknown import Unknown
from tests.ops.test_any_op import OPS, arity, made

UNKNOWN = Unknown("not known here")


@st.composite
def graphs(draw: st.DrawFn, framework: str) -> Model:
    """A few ops of any kind on each other's results, weights, constants and the input; some in a checkpoint."""
    x = Tensor((BATCH, 3, 8, 8), framework=framework)
    tensors = [x, Tensor((4,), "int64", framework=framework), Weight((3, 1, 1), name="scale", framework=framework)]
    weights = [tensors[2]]
    calls: list[Call] = []
    checkpoint = Invocation(None, None, 0, checkpoint=True)
    for number in range(draw(st.integers(1, 6))):
        op: Any = draw(st.sampled_from(OPS).flatmap(made))
        inputs = [draw(st.sampled_from(tensors)) for _ in range(draw(st.integers(arity(op), 3)))]
        shapes: Any = (UNKNOWN,)
        if not any(isinstance(tensor.shape, Unknown) for tensor in inputs):
            try:
                shapes = op.outputs(*(tensor.shape for tensor in inputs))
            except Mismatch as mismatch:
                shapes = mismatch.recovered or (UNKNOWN,)
            except (TypeError, AssertionError, IndexError):
                shapes = (UNKNOWN,)
        own = [Weight(draw(st.sampled_from([(8, 3), (3,), (UNKNOWN, 2)])), framework=framework)]
        own += [tensor for tensor in inputs if isinstance(tensor, Weight)]
        call = Call(
            op, tuple(inputs), tuple(own), number,
            within=checkpoint if draw(st.booleans()) else None,
            grad=draw(st.sampled_from([True, True, False])),
            autocast=draw(st.sampled_from([None, None, "float16"])),
        )  # fmt: skip
        dtype = st.sampled_from(["float", "float", "int64", "bool", "float16"])
        call.outputs = tuple(Tensor(shape, draw(dtype), call, framework=framework) for shape in shapes)
        tensors += call.outputs
        weights += own
        calls.append(call)
    unique = tuple({id(weight): weight for weight in weights if isinstance(weight, Weight)}.values())
    outputs = tuple(draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=2)))
    return Model("any", framework, None, (x,), outputs, tuple(calls), unique)


@pytest.mark.parametrize("framework", ["torch", "keras"])
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_graph_has_an_answer(framework: str, data: st.DataObject) -> None:
    model = data.draw(graphs(framework))
    dtype = data.draw(st.sampled_from(["float32", "bfloat16", "mixed_float16"]))
    batch = data.draw(st.integers(1, 64))
    options = data.draw(st.sampled_from([(), (("momentum", 0.9),), (("global_clipnorm", 1.0),)]))
    name = data.draw(st.sampled_from(["sgd", "adam", "lbfgs", "adafactor", "muon", "rmsprop"]))
    training = Training(Fact(batch, "test"), Fact(dtype, "test"), Fact(Optimizer(name, options), "test"))
    # To make up a graph takes longer than to account for it.
    for accounting in ("framework", "cs231n"):
        estimate = account(model, training, accounting, 0)
        terms = (estimate.parameters, estimate.gradients, estimate.optimizer, estimate.activations, estimate.input)
        assert all(term >= 0 for term in terms)
        assert estimate.total == sum(terms)
        largest = estimate.largest_batch(estimate.total)
        assert largest >= batch
