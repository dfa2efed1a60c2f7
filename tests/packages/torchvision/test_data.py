"""Loaders, transforms and pipelines give what the frameworks themselves give (fixtures/truth/data.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran, size
from tests.oracle import data_cases

TRUTH: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "fixtures" / "truth" / "data.json").read_text()
)
HEADS = {
    "loaders": (data_cases.HEAD, data_cases.LOADERS),
    "transforms": (data_cases.HEAD, data_cases.TRANSFORMS),
    "distributions": (data_cases.HEAD, data_cases.DISTRIBUTIONS),
    "einops": (data_cases.HEAD, data_cases.EINOPS),
    "pipelines": (data_cases.KERAS_HEAD, data_cases.PIPELINES),
}
CASES = [(group, name) for group, (_, cases) in HEADS.items() for name in cases]


def flat(value: Any) -> list[Any]:
    """Each tensor as [dtype, *shape]; the dtype that a model trains in as the default one."""
    if isinstance(value, Tensor):
        dtype = "float32" if value.dtype == "float" else value.dtype
        assert not isinstance(value.shape, Unknown), value.shape
        return [[dtype, *(size(each) for each in value.shape)]]
    assert isinstance(value, (list, tuple)), value
    return [each for item in value for each in flat(item)]


@pytest.mark.parametrize(("group", "name"), CASES, ids=[f"{group}: {name}" for group, name in CASES])
def test_data_has_the_shapes_that_the_framework_gives_it(group: str, name: str) -> None:
    head, cases = HEADS[group]
    ran = Ran(head + cases[name])
    assert ran.failures == []
    assert flat(ran["result"]) == TRUTH[group][name]
