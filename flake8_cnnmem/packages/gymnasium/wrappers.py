"""gymnasium.wrappers: those that leave the sizes of what is observed as they are, and those that change them."""

from __future__ import annotations

from flake8_cnnmem.packages.gymnasium import spaces
from flake8_cnnmem.packages.gymnasium.core import OBSERVATION_WRAPPER, wrap, wrapper
from flake8_cnnmem.packages.gymnasium.spaces import NOT_KNOWN, like, value_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value

UNCHANGED = (
    "Autoreset", "AutoResetWrapper", "ClipAction", "ClipReward", "HumanRendering", "Monitor", "NormalizeReward",
    "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics", "RecordVideo", "RenderCollection", "RepeatAction",
    "RescaleAction", "StickyAction", "TimeLimit", "TransformReward",
)  # fmt: skip


def given(run: Runtime, self: Instance, observation: Value) -> Value:
    """A value of the space that the wrapper says its observations are of."""
    return value_of(run, run.get(self, "observation_space"))


def reshaped(run: Runtime, self: Instance, env: Value, shape: Value, dtype: Value = None) -> None:
    """Wraps an environment whose observations are of this shape from here on."""
    wrap(run, self, env)
    inner = run.get(env, "observation_space")
    self.attributes["observation_space"] = like(run, inner, shape) if dtype is None else spaces.box(run, shape, dtype)


def shape_of(run: Runtime, env: Value) -> tuple[Value, ...] | Unknown:
    """The shape of an environment's observations."""
    shape = run.get(run.get(env, "observation_space"), "shape")
    return shape if isinstance(shape, tuple) else run.unknown(NOT_KNOWN)


def normalized(run: Runtime, self: Instance, env: Value, *args: Value, **options: Value) -> None:
    """`NormalizeObservation(env)`: float32."""
    reshaped(run, self, env, shape_of(run, env), "float32")


def flattened(run: Runtime, self: Instance, env: Value) -> None:
    """`FlattenObservation(env)`"""
    reshaped(run, self, env, (spaces.flat(run, run.get(env, "observation_space")),))


def grey(run: Runtime, self: Instance, env: Value, keep_dim: Value = False) -> None:
    """`GrayscaleObservation(env, keep_dim=False)`: (H, W, 3) -> (H, W), or (H, W, 1)."""
    shape = shape_of(run, env)
    kept = run.truth(keep_dim)
    cause = next((each for each in (shape, kept) if isinstance(each, Unknown)), None)
    if cause is None and isinstance(shape, tuple):
        reshaped(run, self, env, (*shape[:2], 1) if kept else shape[:2])
    else:
        reshaped(run, self, env, cause)


def resized(run: Runtime, self: Instance, env: Value, shape: Value) -> None:
    """`ResizeObservation(env, shape)`: rows and columns, or one number for both."""
    before = shape_of(run, env)
    sides = (shape, shape) if isinstance(shape, int) else tuple(shape) if isinstance(shape, (list, tuple)) else None
    if sides is None or isinstance(before, Unknown):
        reshaped(run, self, env, shape if isinstance(shape, Unknown) else run.unknown(NOT_KNOWN))
    else:
        reshaped(run, self, env, (*sides, *before[2:]))


def stacked(run: Runtime, self: Instance, env: Value, count: Value, *args: Value, **options: Value) -> None:
    """`FrameStackObservation(env, stack_size)`, `FrameStack(env, num_stack)`: so many of the last observations."""
    shape = shape_of(run, env)
    reshaped(run, self, env, shape if isinstance(shape, Unknown) else (count, *shape))


def stack_size(run: Runtime, self: Instance, env: Value, stack_size: Value, *args: Value, **options: Value) -> None:
    stacked(run, self, env, stack_size)


def num_stack(run: Runtime, self: Instance, env: Value, num_stack: Value, *args: Value, **options: Value) -> None:
    stacked(run, self, env, num_stack)


def atari(
    run: Runtime, self: Instance, env: Value, noop_max: Value = 30, frame_skip: Value = 4, screen_size: Value = 84,
    terminal_on_life_loss: Value = False, grayscale_obs: Value = True, grayscale_newaxis: Value = False,
    scale_obs: Value = False,
) -> None:  # fmt: skip
    """`AtariPreprocessing(env, screen_size=84, grayscale_obs=True, ...)`: a square picture, grey or in colours."""
    options = [run.truth(each) for each in (grayscale_obs, grayscale_newaxis, scale_obs)]
    cause = next((each for each in options if isinstance(each, Unknown)), None)
    channels = () if options[0] and not options[1] else (1,) if options[0] else (3,)
    sides = screen_size if isinstance(screen_size, (list, tuple)) else (screen_size, screen_size)
    shape: Value = (*sides, *channels) if cause is None else cause
    reshaped(run, self, env, shape, "float32" if options[2] is True else "uint8")


def transformed(
    run: Runtime, self: Instance, env: Value, func: Value = None, observation_space: Value = None, *, f: Value = None
) -> None:  # fmt: skip
    """`TransformObservation(env, func, observation_space)`"""
    wrap(run, self, env)
    self.attributes["func"] = f if func is None else func
    if observation_space is not None:
        self.attributes["observation_space"] = observation_space


def through(run: Runtime, self: Instance, observation: Value) -> Value:
    """What the function makes of an observation."""
    return run.call(self.attributes["func"], observation)


OBSERVING = {"observation": given}
NAMES: dict[str, Value] = {
    **{name: wrapper(name) for name in UNCHANGED},
    "TransformObservation": wrapper(
        "TransformObservation", OBSERVATION_WRAPPER, __init__=transformed, observation=through
    ),
    **{
        name: wrapper(name, OBSERVATION_WRAPPER, __init__=make, **OBSERVING)
        for name, make in {
            "NormalizeObservation": normalized, "FlattenObservation": flattened, "GrayscaleObservation": grey,
            "GrayScaleObservation": grey, "ResizeObservation": resized, "FrameStack": num_stack,
            "FrameStackObservation": stack_size, "AtariPreprocessing": atari,
        }.items()
    },
}  # fmt: skip


def find(name: str) -> Value:
    """A wrapper by its name; what is not followed, by its name."""
    if name in NAMES or name.startswith("__"):
        return NAMES.get(name, MISSING)
    return Unknown(f"gymnasium.wrappers.{name} is not followed") if name[:1].isupper() else MISSING
