"""The line with which `cnnmem check` ends: how many models there are, and how they stand to their limits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from flake8_cnnmem import units
from flake8_cnnmem.findings import FileFindings, Standing
from flake8_cnnmem.settings.options import Settings

WHY = "cnnmem check --extend-select CNM3 says why"
HOW = "cnnmem init shows some"

NAMED = 3
"""Files without a limit that are named."""


def closing(files: Sequence[FileFindings], settings: Settings) -> str:
    """`5 models in 3 files: 2 fit, 1 is over its limit, 1 at least 3.1 GiB, 1 not estimated; no limit for a.py`."""
    models = on_their_own([model for file in files for model in file.models])
    if not models:
        return f"no model in {counted(len(files), 'file')}{unseen(files)}"
    inside = len({model.path for model in models})
    text = f"{counted(len(models), 'model')} in {counted(inside, 'file')}: {', '.join(groups(models))}"
    unlimited = sorted({os.path.relpath(model.path) for model in models if model.limit is None and model.total})
    if not any(model.limit for model in models) and settings.gpu_limit is None and not settings.per_file_limits:
        return f"{text}; no limit is set ({HOW}){unseen(files)}"
    if unlimited:
        more = len(unlimited) - NAMED
        text += f"; no limit for {', '.join(unlimited[:NAMED])}{f' and {more} more' if more > 0 else ''}"
    return f"{text}{unseen(files)}"


def unseen(files: Sequence[FileFindings]) -> str:
    """`; 2 files may have models that were not found (the first: ...)`; empty where none may."""
    causes = [file.missing for file in files if file.missing is not None]
    if not causes:
        return ""
    first = f"{os.path.relpath(causes[0].path)}:{causes[0].line}: {causes[0].reason}"
    return f"; {counted(len(causes), 'file')} may have models that were not found ({first})"


def on_their_own(models: Sequence[Standing]) -> list[Standing]:
    """The models without those that one of the trainings trains, which stand there for it."""
    trained = {place for model in models if model.training for place in model.made_of}

    def is_part(model: Standing) -> bool:
        path, first, last = model.defined_at
        return not model.training and any((path, line) in trained for line in range(first, last + 1))

    return [model for model in models if not is_part(model)]


def groups(models: Iterable[Standing]) -> list[str]:
    """Each model is in one group."""
    fit = over = unknown = exact = wrong = 0
    bounds: dict[str, list[int]] = {"upper-bound": [], "lower-bound": []}
    for model in models:
        if model.wrong:
            wrong += 1
        elif model.total is None:
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
        found.append(f"{exact} exact")
    if wrong:
        found.append(f"{wrong} with sizes that do not fit together")
    for status, sizes in bounds.items():
        if sizes:
            word, most = "at least" if status == "lower-bound" else "at most", units.show(max(sizes))
            found.append(f"1 {word} {most}" if len(sizes) == 1 else f"{len(sizes)} bounds, the largest {word} {most}")
    if unknown:
        found.append(f"{unknown} not estimated ({WHY})")
    return found


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
