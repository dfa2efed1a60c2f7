"""tqdm: a loop with a bar is the loop."""

from __future__ import annotations

from flake8_cnnmem.packages._progress_bars import names

MODULES = dict.fromkeys(("tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.autonotebook", "tqdm.std", "tqdm.rich"), names)
