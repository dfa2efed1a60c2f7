"""gymnasium: environments for reinforcement learning, by the sizes of what they observe and take.

Nothing of an environment runs: no observation, reward or end of an episode is known, only how large each is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flake8_cnnmem.evaluate.stdlib.modules import ignored
from flake8_cnnmem.packages.gymnasium import core, spaces, vector, wrappers
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Value


def modules(top: str) -> dict[str, Mapping[str, Value] | Callable[[str], Value]]:
    """The package, under its own name or its predecessor's."""

    def rest(name: str) -> Value:
        return MISSING if name.startswith("__") else Unknown(f"{top}'s {name} is not followed")

    return {
        top: {
            **core.NAMES,
            "make": core.make(top),
            "make_vec": vector.make_several(top),
            "Space": spaces.SPACE,
            "register": ignored("register"),
            "register_envs": ignored("register_envs"),
        },
        f"{top}.spaces": spaces.NAMES,
        f"{top}.spaces.utils": {"flatdim": spaces.NAMES["flatdim"]},
        f"{top}.wrappers": wrappers.find,
        f"{top}.wrappers.*": wrappers.find,
        f"{top}.vector": {**vector.NAMES, "make": vector.make_several(top)},
        f"{top}.core": core.NAMES,
        f"{top}.envs.*": rest,
        f"{top}.utils.*": rest,
    }


MODULES = modules("gymnasium")
