"""Measure what gymnasium's environments observe and take, for fixtures/truth/environments.json.

Run by hand where gymnasium is installed with ale-py, mujoco, Box2D and pygame:
`python tests/oracle/measure_environments.py > fixtures/truth/environments.json`
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import metadata

import ale_py
import gymnasium

PACKAGES = ("gymnasium", "ale-py", "mujoco", "box2d")


def said(space: gymnasium.Space) -> object:
    """A space's sizes: ["box", shape, dtype], ["one of", n], or the name of another class."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return ["one of", int(space.n)]
    if isinstance(space, gymnasium.spaces.Box):
        return ["box", list(space.shape), str(space.dtype)]
    return [type(space).__name__]


def main() -> None:
    warnings.filterwarnings("ignore")
    gymnasium.register_envs(ale_py)
    found = {}
    for name in sorted(gymnasium.registry):
        try:
            env = gymnasium.make(name, disable_env_checker=True)
        except (gymnasium.error.Error, ImportError) as error:
            print(name, type(error).__name__, error, file=sys.stderr)
            continue
        found[name] = [said(env.observation_space), said(env.action_space)]
        env.close()
    versions = {name: metadata.version(name) for name in PACKAGES}
    json.dump({"versions": versions, "environments": found}, sys.stdout, indent=None, separators=(",", ":"))


if __name__ == "__main__":
    main()
