"""Models that compare all samples of a batch with each other: what they need grows with its square."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.memory import account
from flake8_cnnmem.source import Source
from tests.memory.evaluated import graph, training_of

HEAD = "import keras\nfrom keras import layers, ops\n"

PAIRS = f"""{HEAD}
class Pairs(layers.Layer):
    def call(self, x):
        return ops.sum(ops.exp(ops.expand_dims(x, 2) - ops.expand_dims(ops.transpose(x), 0)), axis=2)
i = keras.Input((64,))
net = keras.Model(i, layers.Dense(2)(Pairs()(layers.Dense(32)(i))))
"""


def needed(batch: int) -> Any:
    return account(graph(Source("pairs.py", PAIRS), "net", (64,)), training_of({"batch_size": batch}), "framework", 0)


def test_it_is_a_number_at_a_batch_size() -> None:
    estimates = {batch: needed(batch) for batch in (64, 128, 256)}
    assert all(estimate.left_out == () for estimate in estimates.values())
    # Of (N, 32, N) floats one is kept, and the gradient of it is made anew.
    pairs = {batch: 4 * 32 * batch * batch for batch in estimates}
    for batch, estimate in estimates.items():
        assert pairs[batch] <= estimate.saved < 1.5 * pairs[batch]


@pytest.mark.parametrize("batch", [1, 32, 100])
@pytest.mark.parametrize("limit", [2**20, 2**25, 2**28])
def test_one_more_does_not_fit(batch: int, limit: int) -> None:
    largest = needed(batch).largest_batch(limit)
    assert largest
    assert needed(largest).total <= limit < needed(largest + 1).total
