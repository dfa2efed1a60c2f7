"""The line with which `cnnmem check` ends: how many models there are, and how they stand to their limits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from flake8_cnnmem import units
from flake8_cnnmem.findings import Answer, Standing
from flake8_cnnmem.settings.options import Settings

WHY = "cnnmem check --extend-select CNM3 says why"

NAMED = 3
"""Files without a limit that are named."""


def closing(files: Sequence[Answer], settings: Settings) -> str:
    """`5 models in 3 files: 2 fit, 1 is over its limit, 1 at least 3.1 GiB, 1 not estimated; no limit for a.py`."""
    models = [model for file in files for model in file.models]
    if not models:
        return f"no model in {counted(len(files), 'file')}"
    inside = len({model.path for model in models})
    text = f"{counted(len(models), 'model')} in {counted(inside, 'file')}: {', '.join(groups(models))}"
    unlimited = sorted({os.path.relpath(model.path) for model in models if model.limit is None and model.total})
    if not any(model.limit for model in models) and settings.gpu_limit is None and not settings.per_file_limits:
        return f"{text}; no limit is set"
    if unlimited:
        more = len(unlimited) - NAMED
        text += f"; no limit for {', '.join(unlimited[:NAMED])}{f' and {more} more' if more > 0 else ''}"
    return text


def groups(models: Iterable[Standing]) -> list[str]:
    """Each model is in one group."""
    fit = over = unknown = exact = 0
    bounds: dict[str, list[int]] = {"upper-bound": [], "lower-bound": []}
    for model in models:
        if model.total is None:
            unknown += 1
        elif model.fits is False:
            over += 1
        elif model.status in bounds and not model.fits:
            bounds[model.status].append(model.total)
        elif model.fits:
            fit += 1
        else:
            exact += 1
    found = []
    if fit:
        found.append(f"{fit} {'fits' if fit == 1 else 'fit'}")
    if over:
        found.append(f"{over} {'is over its limit' if over == 1 else 'are over their limits'}")
    if exact:
        found.append(f"{exact} without a limit")
    for status, sizes in bounds.items():
        if sizes:
            most = f"{'up to ' if len(sizes) > 1 else ''}{units.show(max(sizes))}"
            found.append(f"{len(sizes)} {'at least' if status == 'lower-bound' else 'at most'} {most}")
    if unknown:
        found.append(f"{unknown} not estimated ({WHY})")
    return found


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
