"""What the tests of ops share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Mismatch, Op


@pytest.fixture
def mismatch() -> Callable[..., Mismatch]:
    """The mismatch that an op finds in its inputs."""

    def find(op: Op, *inputs: Shape) -> Mismatch:
        with pytest.raises(Mismatch) as caught:
            op.outputs(*inputs)
        return caught.value

    return find
