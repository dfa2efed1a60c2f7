"""What nobody asks for is not counted: the bytes of a model, where no finding depends on them."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem import checks, memory
from flake8_cnnmem.findings import WITHOUT_FIGURES, findings_of
from flake8_cnnmem.settings.options import Settings, parse_limit
from flake8_cnnmem.source import Source

HEAD = "from torch import nn\n\n\nclass Net(nn.Sequential):\n    def __init__(self):\n"
FITS = HEAD + "        super().__init__(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3))\n"
WRONG = HEAD + "        super().__init__(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(16, 8, 3))\n"
TRAINS = FITS + (
    "\n\nimport torch\n\nnet = Net()\nopt = torch.optim.SGD(net.parameters(), 0.1)\nfor _ in range(3):\n"
    "    loss = net(torch.randn(4, 3, 8, 8)).mean()\n    loss.backward()\n    opt.step()\n"
)
DEFAULT = frozenset(check.code for check in checks.every() if check.default)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The models whose bytes are counted."""
    found: list[object] = []
    account: Any = memory.account

    def noted(model: object, *rest: object, **named: object) -> object:
        found.append(model)
        return account(model, *rest, **named)

    monkeypatch.setattr(memory, "account", noted)
    return found


@pytest.mark.parametrize(
    ("text", "limit", "codes", "times"),
    [
        (FITS, None, DEFAULT, 0),
        (WRONG, None, DEFAULT, 0),
        (FITS, "8GiB", DEFAULT, 1),
        # CNM302 tells the figure.
        (FITS, None, DEFAULT | {"CNM302"}, 1),
        # What a loop keeps is told by its bytes.
        (TRAINS, None, DEFAULT, 1),
    ],
)
def test_bytes_are_counted_where_a_finding_may_depend_on_them(
    counted: list[object], text: str, limit: str | None, codes: frozenset[str], times: int
) -> None:
    settings = Settings(cache_dir="", gpu_limit=parse_limit(limit or "none"))
    asked = findings_of(Source("net.py", text), settings, codes, standings=False).findings
    assert len(counted) == times
    assert asked == findings_of(Source("net.py", text), settings, codes).findings
    assert bool(asked) == (text is WRONG) or "CNM302" in codes


def test_every_default_code_may_do_without() -> None:
    assert DEFAULT <= WITHOUT_FIGURES
