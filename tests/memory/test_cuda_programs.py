"""Whole training programs on a card, held against what PyTorch's own CUDA code allocated and reserved for them.

The programs are those of fixtures/cuda, measured by tests/oracle/cuda_programs.py; here are those that a rule was found
with. `python tests/score_cuda_programs.py` prints all of them.
"""

from __future__ import annotations

import pytest

from tests import score_cuda_programs
from tests.score_cuda_programs import PROGRAMS, TRUTH, name_of

ROWS = {name_of(row): row for row in TRUTH["programs"]}
FOUND = {
    "adagrad_accumulated float32": "what an optimizer holds that does not step comes once, where it was made",
    "bert_mlm mixed": "a cross entropy of logits in half precision is two ops and a cast between them",
    "distil mixed": "a pool without a backward pass makes the places of its extremes all the same",
    "gpt_by_hand mixed": "a dropout's mask comes before its result, a workspace after the casts of operands",
    "hinge_gan float32": "a module holds the weight that its spectral norm has computed until it computes the next one",
    "moe float32": "a product's gradient lies as the product was made, and cuBLAS copies what has no lines",
    "nerf float32": "the sum over a part of wider rows is split otherwise",
    "pix2pix float32": "each optimizer makes its state when it first steps",
    "unetpp mixed": "autocast leaves concatenations alone on CUDA",
}
"""Rows by name, with the rule that they were found with."""
ALLOCATED, RESERVED = 0.005, 0.02


@pytest.mark.parametrize("name", FOUND)
def test_a_program_allocates_and_reserves_what_pytorch_does(name: str) -> None:
    found = score_cuda_programs.score(ROWS[name])
    assert found.status == "exact"
    assert found.allocated is not None
    assert found.reserved is not None
    assert abs(found.allocated) < ALLOCATED
    assert abs(found.reserved) < RESERVED


def test_what_a_sparse_gradient_takes_is_a_bound() -> None:
    found = score_cuda_programs.score(ROWS["skipgram float32"])
    assert found.status == "lower-bound"
    assert found.requested is not None
    assert abs(found.requested) < 0.01


def test_every_program_is_measured() -> None:
    assert {path.name for path in PROGRAMS.glob("*.py")} == {row["program"] for row in TRUTH["programs"]}
