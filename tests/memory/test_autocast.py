"""The dtypes of results under autocast, held against what PyTorch's dispatcher gives (fixtures/truth/autocast.json,
measured by tests/oracle/measure_autocast.py)."""

from __future__ import annotations

import pytest

from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.dtypes import resolve
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.framework import weights_in_memory
from flake8_cnnmem.memory.storages import Memory
from flake8_cnnmem.memory.tape import steps_of
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.source import Source
from tests.memory.evaluated import graph, truth
from tests.oracle.autocast_cases import CASES, source

TRUTH = truth("autocast")
DTYPES = TRUTH["dtypes"]
NOT_FOLLOWED = {"linalg_multi_dot", "linalg_vecdot", "pdist", "renorm"}
"""Functions of which nothing is said: a net that has one is a lower bound, with its cause."""


def given(call: str, half: str) -> str:
    """The dtype of the result by our rules."""
    model = graph(Source("net.py", source(call, half)), "Net()", (8, 8))
    memory = Memory(Timeline(RULES.alignment), 4)
    forward = Forward(memory, RULES, "float32", weights_in_memory(model, memory, "float32"), Autocast(memory, RULES))
    for tensor in model.inputs:
        forward.values[id(tensor)] = memory.new(tensor.shape, resolve(tensor.dtype, "float32"))
    (output,) = model.outputs
    forward.run(steps_of(model.calls), {id(output)})
    return forward.values[id(output)].dtype


@pytest.mark.parametrize("name", sorted(DTYPES.keys() - NOT_FOLLOWED))
def test_an_op_gives_the_dtype_that_the_dispatcher_does(name: str) -> None:
    assert {half: given(CASES[name], half) for half in ("float16", "bfloat16")} == DTYPES[name]


def test_each_op_that_autocast_knows_has_a_row() -> None:
    assert set(TRUTH["listed"]) <= set(DTYPES)
    assert set(DTYPES) == set(CASES)
