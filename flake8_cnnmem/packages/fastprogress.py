"""fastprogress: a loop with a bar is the loop."""

from __future__ import annotations

from flake8_cnnmem.packages._progress_bars import FASTPROGRESS

MODULES = {"fastprogress": FASTPROGRESS, "fastprogress.fastprogress": FASTPROGRESS}
