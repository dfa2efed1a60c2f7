"""Decorators that check types when a function is called leave it as it is."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted

PROGRAMS = {
    "beartype": "from beartype import beartype\n@beartype\ndef f(x: int) -> int:\n    return x + 1\nresult = f(1)",
    "beartype with options": (
        "from beartype import BeartypeConf, beartype\n@beartype(conf=BeartypeConf())\nclass A:\n"
        "    def f(self, x): return x + 1\nresult = A().f(1)"
    ),
    "a shape that is checked": (
        "from beartype import beartype\nfrom beartype.typing import Optional\nfrom jaxtyping import Float, jaxtyped\n"
        "@jaxtyped(typechecker=beartype)\ndef f(x: Float[object, 'b n'], y: Optional[int] = None):\n    return x + 1\n"
        "result = f(1)"
    ),
    "typeguard": "import typeguard\n@typeguard.typechecked\ndef f(x: int):\n    return x + 1\nresult = f(1)",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_decorated(program: str) -> None:
    assert interpreted(program) == 2
