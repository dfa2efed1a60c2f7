"""Recurrent layers. The figures marked torch and keras are those of PyTorch 2.13 and Keras 3.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape, product
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import ConvRecurrent, Recurrent, RecurrentCell
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")


def keras(cell: str, hidden: int, sequences: bool = False, state: bool = False, reset_after: bool = False) -> Recurrent:
    return Recurrent(
        cell, hidden, two_biases=reset_after, return_sequences=sequences, return_state=state, stacked=False
    )


SHAPES: dict[str, tuple[Op, Shape, tuple[Shape, ...]]] = {
    "torch: LSTM": (Recurrent("lstm", 20, 10), (N, 7, 10), ((N, 7, 20), (1, N, 20), (1, N, 20))),
    "torch: time first, two layers, both ways, projected": (
        Recurrent("lstm", 20, 10, 2, True, batch_first=False, projection=5),
        (7, 3, 10),
        ((7, 3, 10), (4, 3, 5), (4, 3, 20)),
    ),
    "torch: GRU both ways": (Recurrent("gru", 20, 10, 1, True), (N, 7, 10), ((N, 7, 40), (2, N, 20))),
    "torch: unbatched": (Recurrent("rnn", 20, 10), (7, 10), ((7, 20), (1, 20))),
    "keras: the last step": (keras("lstm", 20), (N, 7, 10), ((N, 20),)),
    "keras: the sequence": (keras("gru", 20, True), (N, 7, 10), ((N, 7, 20),)),
    "keras: LSTM with its states": (keras("lstm", 20, False, True), (N, 7, 10), ((N, 20), (N, 20), (N, 20))),
    "keras: GRU with its state": (keras("gru", 20, True, True), (N, 7, 10), ((N, 7, 20), (N, 20))),
    "an unknown length": (keras("lstm", 20, True), (N, U, 10), ((N, U, 20),)),
    "an unknown width": (Recurrent("gru", U, 10), (N, 7, 10), ((N, 7, U), (1, N, U))),
    "both ways or not is unknown": (Recurrent("rnn", 20, 10, 1, U, return_state=False), (N, 7, 10), ((N, 7, U),)),
    "torch: one step of an LSTM": (RecurrentCell("lstm", 20, 10), (N, 10), ((N, 20), (N, 20))),
    "torch: one step of a GRU": (RecurrentCell("gru", 20, 10), (N, 10), ((N, 20),)),
    "keras: ConvLSTM, the last frame": (ConvRecurrent(4, (3, 3)), (N, 5, 8, 8, 3), ((N, 6, 6, 4),)),
    "keras: ConvLSTM, all frames and states": (
        ConvRecurrent(4, (3, 3), padding="same", return_sequences=True, return_state=True),
        (N, 5, 8, 8, 3),
        ((N, 5, 8, 8, 4), (N, 8, 8, 4), (N, 8, 8, 4)),
    ),
    "keras: ConvLSTM, channels first": (
        ConvRecurrent(4, (3, 3), channels_last=False),
        (N, 5, 3, 8, 8),
        ((N, 4, 6, 6),),
    ),
}


@pytest.mark.parametrize(("op", "shape", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_shape(op: Op, shape: Shape, expected: tuple[Shape, ...]) -> None:
    assert op.outputs(shape) == expected


PARAMETERS: dict[str, tuple[Op, Shape, int]] = {
    "keras: GRU, reset after": (keras("gru", 4, reset_after=True), (N, 3, 5), 132),
    "keras: GRU, reset before": (keras("gru", 4), (N, 3, 5), 120),
    "keras: LSTM": (keras("lstm", 4), (N, 3, 5), 160),
    "keras: ConvLSTM": (ConvRecurrent(4, (3, 3)), (N, 3, 8, 8, 5), 1312),
    "torch: LSTM has two biases": (Recurrent("lstm", 4, 5), (N, 3, 5), 176),
    "no bias": (Recurrent("gru", 4, 5, bias=False), (N, 3, 5), 108),
}


@pytest.mark.parametrize(("op", "shape", "expected"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_number_of_parameters(op: Op, shape: Shape, expected: int) -> None:
    numbers = [product(spec.shape) for spec in op.weights(shape).values()]
    assert sum(number for number in numbers if isinstance(number, int)) == expected


def test_weights_are_those_of_torch_in_its_order() -> None:
    specs = Recurrent("lstm", 20, 10, 2, True, projection=5).weights()
    one = {"weight_ih": (80, 10), "weight_hh": (80, 5), "bias_ih": (80,), "bias_hh": (80,), "weight_hr": (5, 20)}
    expected = [
        (f"{name}_{at}", shape) for at in ("l0", "l0_reverse", "l1", "l1_reverse") for name, shape in one.items()
    ]
    assert [(name, spec.shape) for name, spec in specs.items()] == expected


def test_weights_of_a_step() -> None:
    specs = RecurrentCell("gru", 20, 10).weights()
    assert {name: spec.shape for name, spec in specs.items()} == {
        "weight_ih": (60, 10),
        "weight_hh": (60, 20),
        "bias_ih": (60,),
        "bias_hh": (60,),
    }


PROBLEMS: dict[str, tuple[Op, Shape, str]] = {
    "another width": (Recurrent("lstm", 20, 28), (N, 7, 32), "takes 28 features, but is given 32"),
    "a step of another width": (RecurrentCell("lstm", 20, 28), (N, 32), "takes 28 features, but is given 32"),
    "one step where a sequence is taken": (
        keras("lstm", 20),
        (N, 3, 7, 10),
        "takes an input of 3 axes (N, T, features), but is given (N, 3, 7, 10)",
    ),
    "a projection that is no smaller": (
        Recurrent("lstm", 20, 10, projection=20),
        (N, 7, 10),
        "projects to 20, which must be less than its hidden size of 20",
    ),
    "frames of other channels": (
        ConvRecurrent(4, (3, 3), 3),
        (N, 5, 8, 8, 1),
        "takes 3 channels, but is given 1",
    ),
    "frames without time": (
        ConvRecurrent(4, (3, 3)),
        (N, 8, 8, 1),
        "takes an input of 5 axes with a time axis, but is given (N, 8, 8, 1)",
    ),
}


@pytest.mark.parametrize(("op", "shape", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, what: str) -> None:
    problem = mismatch(op, shape).problem
    assert (problem.code, problem.what) == ("CNM201", what)


def test_a_wrong_width_goes_on_as_declared(mismatch: Callable[..., Mismatch]) -> None:
    found = mismatch(Recurrent("gru", 20, 28), (N, 7, 32))
    assert found.recovered == ((N, 7, 20), (1, N, 20))
    assert (found.problem.given, found.problem.declared) == (32, 28)
