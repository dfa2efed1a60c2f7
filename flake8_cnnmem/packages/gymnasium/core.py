"""gymnasium's environments and what is wrapped around one: what `reset` and `step` give, by the sizes of its spaces.

gym, its predecessor, gave the observation alone on `reset` and four values on `step` up to 0.25. Where the project does
not pin it, the older way counts unless the program stops on it: who imports gym, not gymnasium, has it mostly.
"""

from __future__ import annotations

import re

from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.packages.gymnasium.environments import spaces_of
from flake8_cnnmem.packages.gymnasium.spaces import NOT_KNOWN, nothing, seeing, space, value_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.settings.pins import Pin
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

MODULE = "gymnasium"
INTERFACE = "which of gym's interfaces is used"
NEWER, OLDER = "of gym 0.26 and later", "of gym before 0.26"


def older_gym(run: Runtime) -> bool:
    """Whether environments of gym have the older interface."""
    pin = run.pinned("gym")
    if pin is not None and (older := before_26(pin)) is not None:
        return older
    return run.choose(INTERFACE, (OLDER, NEWER), only_if_stopped=True) == OLDER


def before_26(pin: Pin) -> bool | None:
    """Whether a pin of gym allows none but versions before 0.26; None where it leaves that open."""
    bound = re.match(r"(===?|~=|<=?)(\d+)\.(\d+)", pin.specifier)
    if bound is None:
        return None
    version = int(bound[2]), int(bound[3])
    return version < (0, 26) or (bound[1] == "<" and version == (0, 26))


def make(module: str) -> Native:
    """`gymnasium.make(id, **options)`, and gym's."""

    def environment(run: Runtime, id: Value, **options: Value) -> Value:
        made = Instance(ENVIRONMENT, native=module)
        found = spaces_of(id, dict(options)) if isinstance(id, str) else None
        if found is None:
            named = f"the environment {id!r}" if isinstance(id, str) else "an environment"
            cause = id if isinstance(id, Unknown) else run.unknown(f"what {named} observes and takes is not known")
            made.attributes.update(observation_space=cause, action_space=cause)
        else:
            observed, actions = found
            made.attributes.update(observation_space=space(run, observed), action_space=space(run, actions))
        made.attributes["spec"] = run.unknown("what is registered of an environment is not known").as_something()
        return made

    return seeing("make", environment)


def module_of(env: Value) -> str:
    """The package that an environment was made with, through what is wrapped around it."""
    while isinstance(env, Instance) and env.native is None:
        env = env.attributes.get("env")
    return env.native if isinstance(env, Instance) and isinstance(env.native, str) else MODULE


def is_older(run: Runtime, env: Value) -> bool:
    return module_of(env) == "gym" and older_gym(run)


def reset(run: Runtime, self: Instance, *args: Value, **options: Value) -> Value:
    """`env.reset()`: (observation, info); the observation alone in older ones."""
    observed = value_of(run, run.get(self, "observation_space"))
    return observed if is_older(run, self) else (observed, told(run))


def step(run: Runtime, self: Instance, action: Value) -> Value:
    """`env.step(action)`: (observation, reward, terminated, truncated, info); without `truncated` in older ones."""
    observed = value_of(run, run.get(self, "observation_space"))
    cause = run.unknown(NOT_KNOWN).as_something()
    ends = (cause,) if is_older(run, self) else (cause, cause)
    return (observed, cause.as_number("float"), *ends, told(run))


def told(run: Runtime) -> Unknown:
    """What an environment tells beside an observation: a dict of anything."""
    return run.unknown("what an environment tells is not known").as_something()


def picture(run: Runtime, self: Instance, *args: Value, **options: Value) -> Value:
    """`env.render()`"""
    return run.unknown("what an environment shows is not known")


ENV = native_class(
    "Env",
    {
        "close": seeing("close", nothing),
        "seed": seeing("seed", nothing),
        "render": seeing("render", picture),
        "reset": seeing("reset", nothing),
        "unwrapped": Property(Native("unwrapped", lambda run, self: self)),
        "__enter__": seeing("__enter__", lambda run, self: self),
        "__exit__": seeing("__exit__", nothing),
    },
    module=MODULE,
)
ENVIRONMENT = native_class("Env", {"reset": seeing("reset", reset), "step": seeing("step", step)}, ENV, module=MODULE)
"""One that `make` gives."""


def wrap(run: Runtime, self: Instance, env: Value, *args: Value, **options: Value) -> None:
    """`Wrapper(env)`"""
    run.changed(self)
    self.attributes["env"] = env


def wrapped(run: Runtime, self: Instance, name: Value) -> Value:
    """What a wrapper does not have is the inner environment's."""
    if name == "env" or not isinstance(name, str):
        raise run.error("AttributeError", f"{self.cls.name!r} object has no attribute {name!r}")
    return run.get(run.get(self, "env"), name)


def reset_inner(run: Runtime, self: Instance, *args: Value, **options: Value) -> Value:
    return run.call(run.get(run.get(self, "env"), "reset"), *args, **options)


def step_inner(run: Runtime, self: Instance, action: Value) -> Value:
    return run.call(run.get(run.get(self, "env"), "step"), action)


def reset_observed(run: Runtime, self: Instance, *args: Value, **options: Value) -> Value:
    """What `observation` makes of the first observation."""
    given = reset_inner(run, self, *args, **options)
    if is_older(run, self):
        return run.call(run.get(self, "observation"), given)
    return given if isinstance(given, Unknown) else changed(run, self, "observation", given, 0)


def step_observed(run: Runtime, self: Instance, action: Value) -> Value:
    """What `observation` makes of each observation."""
    return changed(run, self, "observation", step_inner(run, self, action), 0)


def step_rewarded(run: Runtime, self: Instance, action: Value) -> Value:
    """What `reward` makes of each reward."""
    return changed(run, self, "reward", step_inner(run, self, action), 1)


def changed(run: Runtime, self: Instance, by: str, given: Value, at: int) -> Value:
    """The result of a step or reset with one of its values as a method of the wrapper changes it."""
    items = run.items(given)
    if isinstance(items, Unknown) or len(items) <= at:
        return given if isinstance(given, Unknown) else run.unknown(NOT_KNOWN)
    return (*items[:at], run.call(run.get(self, by), items[at]), *items[at + 1 :])


def step_acted(run: Runtime, self: Instance, action: Value) -> Value:
    """A step with what `action` makes of the action."""
    return step_inner(run, self, run.call(run.get(self, "action"), action))


def innermost(run: Runtime, self: Instance) -> Value:
    """`wrapper.unwrapped`"""
    return run.get(run.get(self, "env"), "unwrapped")


WRAPPER = native_class(
    "Wrapper",
    {
        "__init__": seeing("__init__", wrap),
        "__getattr__": seeing("__getattr__", wrapped),
        "reset": seeing("reset", reset_inner),
        "step": seeing("step", step_inner),
        "unwrapped": Property(Native("unwrapped", innermost)),
    },
    ENV,
    module=MODULE,
)


def wrapper(name: str, *bases: Class, **methods: object) -> Class:
    """A class of wrappers with these methods."""
    held: dict[str, Value] = {word: seeing(word, method) for word, method in methods.items()}
    return native_class(name, held, *(bases or (WRAPPER,)), module="gymnasium.wrappers")


OBSERVATION_WRAPPER = wrapper("ObservationWrapper", reset=reset_observed, step=step_observed)
NAMES: dict[str, Value] = {
    "Env": ENV,
    "Wrapper": WRAPPER,
    "ObservationWrapper": OBSERVATION_WRAPPER,
    "RewardWrapper": wrapper("RewardWrapper", step=step_rewarded),
    "ActionWrapper": wrapper("ActionWrapper", step=step_acted),
}
