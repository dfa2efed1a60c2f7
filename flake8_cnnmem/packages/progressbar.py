"""progressbar2: a loop with a bar is the loop."""

from __future__ import annotations

from flake8_cnnmem.packages._progress_bars import PROGRESSBAR

MODULES = {"progressbar": PROGRESSBAR}
