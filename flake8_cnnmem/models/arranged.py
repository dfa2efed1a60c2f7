"""How the training of models is arranged, as the code that was run says it, with what nobody says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.arrangement import ARRANGEMENTS, EVERY, Arrangement, joined
from flake8_cnnmem.models.join import Whole
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.unknown import Unknown


def arranged(whole: Whole, roots: Sequence[Root], devices: int | None) -> Whole:
    """The models of a training with what was noted of any part of them. `devices`: how many somebody says there are."""
    found = joined([each for root in roots for each in noted_of(root)])
    if found is None:
        return whole
    found = found.on(devices)
    causes = list(found.causes)
    if found.shared and found.devices is None and not found.optional:
        site = roots[0].site
        causes.append(Unknown(
            f"how many devices share {found.name} is not said (cnnmem-devices): one was counted", site.path, site.line
        ))  # fmt: skip
    model = replace(whole.model, arrangement=found, causes=tuple(dict.fromkeys((*whole.model.causes, *causes))))
    return replace(whole, model=model)


def noted_of(root: Root) -> list[Arrangement]:
    """In the order in which the code arranges the model and its parts."""
    framework = frameworks.of_layer(root.value)
    if framework is None or root.value is None:
        return []
    inside = {EVERY, id(root.value), *framework.paths(root.value)}
    known = root.run.data(ARRANGEMENTS)
    return [each for key, held in known.items() if key in inside for each in held.noted]
