"""What the code lets go of at once goes in the order in which it was made, wherever it lies in the analysis' memory."""

from __future__ import annotations

import random
from types import SimpleNamespace

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.memory.held import Held


def made(number: int) -> Tensor:
    return Tensor((1,), call=SimpleNamespace(number=number))  # type: ignore[arg-type]


def test_ties_go_in_the_order_of_making() -> None:
    tensors = [made(number) for number in range(50)]
    for seed in range(3):
        held = Held()
        for tensor in random.Random(seed).sample(tensors, len(tensors)):
            held.put(tensor, 7)
        assert not held.any_before(7)
        assert list(held.before(8)) == [id(tensor) for tensor in tensors]
        assert not held.any_before(9)


def test_results_of_one_call_go_in_the_order_of_putting_and_what_is_held_longer_stays() -> None:
    first, second, later = made(1), made(1), made(0)
    held = Held()
    for tensor, until in ((later, 5), (first, 3), (second, 3)):
        held.put(tensor, until)
    assert list(held.before(4)) == [id(first), id(second)]
    assert list(held.before(6)) == [id(later)]
