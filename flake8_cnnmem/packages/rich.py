"""rich: a loop with a bar is the loop."""

from __future__ import annotations

from flake8_cnnmem.packages._progress_bars import RICH
from flake8_cnnmem.values import Value

MODULES: dict[str, dict[str, Value]] = {"rich": {}, "rich.progress": RICH}
