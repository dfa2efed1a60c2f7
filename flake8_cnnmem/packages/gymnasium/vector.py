"""gymnasium.vector: several environments that take their steps side by side."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.gymnasium.core import ENV, is_older, make, told
from flake8_cnnmem.packages.gymnasium.spaces import NOT_KNOWN, like, seeing, value_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


def of_functions(run: Runtime, self: Instance, env_fns: Value, *args: Value, **options: Value) -> None:
    """`SyncVectorEnv([make_first, make_second, ...])`: the first stands for all."""
    functions = run.items(env_fns)
    if isinstance(functions, Unknown) or not functions:
        cause = functions if isinstance(functions, Unknown) else run.unknown(NOT_KNOWN)
        take(run, self, cause, cause)
    else:
        take(run, self, run.call(functions[0]), len(functions))


def take(run: Runtime, self: Instance, env: Value, count: Value) -> None:
    """Becomes so many of an environment."""
    run.changed(self)
    observed, actions = run.get(env, "observation_space"), run.get(env, "action_space")
    self.attributes.update(
        env=env,
        num_envs=count,
        single_observation_space=observed,
        single_action_space=actions,
        observation_space=side_by_side(run, observed, count),
        action_space=side_by_side(run, actions, count),
    )


def side_by_side(run: Runtime, space: Value, count: Value) -> Value:
    """The space of so many values of a space: an array with an axis more in front."""
    shape = run.get(space, "shape") if isinstance(space, Instance) else space
    if not isinstance(shape, tuple):
        return shape if isinstance(shape, Unknown) else run.unknown(NOT_KNOWN)
    return like(run, space, (count, *shape))


def reset(run: Runtime, self: Instance, *args: Value, **options: Value) -> Value:
    """`envs.reset()`: (observations, infos)"""
    observed = value_of(run, run.get(self, "observation_space"))
    return observed if is_older(run, self) else (observed, told(run))


def step(run: Runtime, self: Instance, actions: Value) -> Value:
    """`envs.step(actions)`: observations, rewards of 64 bits, and what has ended, (environments, ...) each."""
    observed = value_of(run, run.get(self, "observation_space"))
    count = self.attributes["num_envs"]
    shape = count if isinstance(count, Unknown) else (count,)
    ends = tuple(Tensor(shape, "bool", framework="numpy") for _ in range(1 if is_older(run, self) else 2))
    return (observed, Tensor(shape, "float64", framework="numpy"), *ends, told(run))


VECTOR = native_class(
    "VectorEnv",
    {"__init__": seeing("__init__", of_functions), "reset": seeing("reset", reset), "step": seeing("step", step)},
    ENV,
    module="gymnasium.vector",
)


def make_several(module: str) -> Native:
    """`gymnasium.make_vec(id, num_envs=1, ...)`, and gym's `vector.make`."""

    def several(run: Runtime, id: Value, num_envs: Value = 1, *args: Value, **options: Value) -> Value:
        words = {name: value for name, value in options.items() if name not in ("vectorization_mode", "asynchronous")}
        made = Instance(VECTOR)
        take(run, made, run.call(make(module), id, **words), num_envs)
        return made

    return seeing("make_vec", several)


NAMES: dict[str, Value] = {
    "VectorEnv": VECTOR,
    **{name: native_class(name, {}, VECTOR, module="gymnasium.vector") for name in ("SyncVectorEnv", "AsyncVectorEnv")},
}
