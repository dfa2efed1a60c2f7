"""What the environments of gymnasium observe and take: sizes by name.

Measured with gymnasium 1.4.0, ale-py 0.12.1, mujoco 4.0.0 and Box2D 2.3.10 (`tests/oracle/measure_environments.py`);
versions that these no longer make are gym's documentation's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NAMED = re.compile(r"(?:(?P<folder>[\w.-]+)/)?(?P<name>\w+?)(?P<frames>NoFrameskip|Deterministic)?-v(?P<version>\d+)")


class Sizes(NamedTuple):
    """A space: the shape and dtype of a box, or how many numbers there are to choose from."""

    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    choices: int | None = None


def numbers(*shape: int, dtype: str = "float32") -> Sizes:
    return Sizes(shape, dtype)


def one_of(choices: int) -> Sizes:
    return Sizes((), "int64", choices)


SMALL = {
    "CartPole": (numbers(4), one_of(2)),
    "MountainCar": (numbers(2), one_of(3)),
    "MountainCarContinuous": (numbers(2), numbers(1)),
    "Acrobot": (numbers(6), one_of(3)),
    "Pendulum": (numbers(3), numbers(1)),
    "LunarLander": (numbers(8), one_of(4)),
    "LunarLanderContinuous": (numbers(8), numbers(2)),
    "BipedalWalker": (numbers(24), numbers(4)),
    "BipedalWalkerHardcore": (numbers(24), numbers(4)),
    "CarRacing": (numbers(96, 96, 3, dtype="uint8"), numbers(3)),
    "FrozenLake": (one_of(16), one_of(4)),
    "FrozenLake8x8": (one_of(64), one_of(4)),
    "Taxi": (one_of(500), one_of(6)),
    "CliffWalking": (one_of(48), one_of(4)),
    "CliffWalkingSlippery": (one_of(48), one_of(4)),
}
"""Environments whose sizes are those of every version, by their name without it: (observations, actions)."""

CONTINUOUS = {"LunarLander": (one_of(4), numbers(2)), "CarRacing": (one_of(5), numbers(3))}
"""The actions of those that may be told `continuous`: without it, with it."""

MUJOCO = {
    "Ant": ((111, 111, 27, 105), 8),
    "HalfCheetah": ((17,) * 4, 6),
    "Hopper": ((11,) * 4, 3),
    "Humanoid": ((376, 376, 376, 348), 17),
    "HumanoidStandup": ((376, 376, 376, 348), 17),
    "InvertedDoublePendulum": ((11, 11, 11, 9), 1),
    "InvertedPendulum": ((4,) * 4, 1),
    "Pusher": ((23,) * 4, 7),
    "Reacher": ((11, 11, 11, 10), 2),
    "Swimmer": ((8,) * 4, 2),
    "Walker2d": ((17,) * 4, 6),
}
"""Values that are observed in version 2, 3, 4 and 5, of 64 bits, and those that an action has."""

ATARI_ACTIONS = {
    3: "Backgammon Freeway Skiing",
    4: "Atlantis Atlantis2 Blackjack Breakout Casino Kaboom",
    5: "Frogger Pacman Surround Tetris VideoCheckers",
    6: "AirRaid BasicMath Bowling Carnival DemonAttack Galaxian KingKong NameThisGame Pong Pooyan Qbert SirLancelot "
    "SpaceInvaders UpNDown",
    7: "Assault",
    8: "Gopher Phoenix Tutankham",
    9: "Asterix BeamRider CrazyClimber Enduro Koolaid LostLuggage MsPacman VideoPinball",
    10: "Amidar MrDo Othello TicTacToe3D TimePilot VideoChess WizardOfWor",
    12: "Turmoil",
    14: "Asteroids KeystoneKapers KungFuMaster",
    16: "JourneyEscape",
    18: "Adventure Alien BankHeist BattleZone Berzerk Boxing Centipede ChopperCommand Crossbow Darkchambers Defender "
    "DonkeyKong DoubleDunk Earthworld ElevatorAction Entombed Et FishingDerby FlagCapture Frostbite Gravitar Hangman "
    "HauntedHouse Hero HumanCannonball IceHockey Jamesbond Kangaroo Klax Krull LaserGates MarioBros MiniatureGolf "
    "MontezumaRevenge Pitfall Pitfall2 PrivateEye Riverraid RoadRunner Robotank Seaquest Solaris SpaceWar StarGunner "
    "Superman Tennis Trondead Venture VideoCube WordZapper YarsRevenge Zaxxon",
}
"""Games by the number of actions that they know, as `PongNoFrameskip-v4` and `ALE/Pong-v5` have them by default."""

ATARI_ROWS = {
    214: "Carnival",
    220: "Pooyan",
    230: "JourneyEscape",
    250: "Adventure AirRaid KeystoneKapers KingKong Klax LaserGates MrDo Pacman SirLancelot SpaceWar",
}
"""Games whose picture has other than 210 rows."""

HARMLESS = frozenset((
    "render_mode", "max_episode_steps", "disable_env_checker", "autoreset", "new_step_api", "apply_api_compatibility",
    "is_slippery", "natural", "sab", "gravity", "enable_wind", "wind_power", "turbulence_power", "g", "goal_velocity",
    "hardcore", "lap_complete_percent", "domain_randomize", "verbose", "frameskip", "repeat_action_probability",
    "sutton_barto_reward", "render_fps",
))  # fmt: skip
"""What `make` may be given without a size being another one."""


def spaces_of(name: str, options: dict[str, object]) -> tuple[Sizes, Sizes] | None:
    """(observations, actions) of an environment by its name; None where they are not known."""
    found = NAMED.fullmatch(name)
    if found is None:
        return None
    title, version = found["name"], int(found["version"])
    others = {word: value for word, value in options.items() if word not in HARMLESS}
    if not found["folder"] and not found["frames"]:
        if title in SMALL:
            return chosen(title, *SMALL[title], others)
        if title in MUJOCO and 2 <= version <= 5 and not others:
            values, actions = MUJOCO[title]
            return numbers(values[version - 2], dtype="float64"), numbers(actions)
    if others or not (found["folder"] == "ALE" or (found["folder"] is None and version in (0, 4))):
        return None
    actions = next((count for count, titles in ATARI_ACTIONS.items() if title in titles.split()), 0)
    rows = next((count for count, titles in ATARI_ROWS.items() if title in titles.split()), 210)
    return (numbers(rows, 160, 3, dtype="uint8"), one_of(actions)) if actions else None


def chosen(title: str, observed: Sizes, actions: Sizes, options: dict[str, object]) -> tuple[Sizes, Sizes] | None:
    """The sizes with the options that change them."""
    if title in CONTINUOUS and isinstance(options.get("continuous"), bool):
        actions = CONTINUOUS[title][options.pop("continuous") is True]
    if title == "FrozenLake" and options.get("map_name") in ("4x4", "8x8"):
        observed = one_of(64 if options.pop("map_name") == "8x8" else 16)
    return None if options else (observed, actions)
