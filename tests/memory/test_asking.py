"""Which weights ask for a gradient is a model's own matter: accounting for one leaves them to others as they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake8_cnnmem.graph import Model, Resident, Weight
from flake8_cnnmem.memory import account
from tests.memory.sketch import Sketch, training


def two_layers() -> Model:
    net = Sketch(8)
    return net.model(net.linear(net.linear(net.input, 512), 4))


def test_a_model_says_what_asks_for_a_gradient_in_it() -> None:
    model = two_layers()
    first, *others = model.weights
    beside, handed, buffer = Weight((2,)), Weight((3,)), Weight((1,), buffer=True)
    assert model.asking((*model.weights, buffer)) == list(model.weights)
    known = replace(model, trained=frozenset((id(first),)), beside=(Resident("other", weights=(beside,)),))
    assert known.asking((*others, first, beside, handed, buffer)) == [first, handed]


@pytest.mark.parametrize("accounting", ["framework", "cs231n"])
def test_accounting_for_a_model_leaves_its_weights_as_they_are(accounting: str) -> None:
    model = two_layers()
    whole = account(model, training(optimizer="adam"), accounting, 0)
    last = frozenset(id(weight) for weight in model.weights[2:])
    part = account(replace(model, trained=last), training(optimizer="adam"), accounting, 0)
    assert part.optimizer < whole.optimizer
    assert all(weight.trainable for weight in model.weights)
    assert account(model, training(optimizer="adam"), accounting, 0).total == whole.total
