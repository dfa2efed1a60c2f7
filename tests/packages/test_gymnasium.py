"""gymnasium and gym: sizes of environments against their own (fixtures/truth/environments.json), and trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.packages.gymnasium.environments import Sizes, spaces_of
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.frameworks.torch.code import Ran

TRUTH = json.loads((Path(__file__).parents[2] / "fixtures" / "truth" / "environments.json").read_text())["environments"]
"""By name: what is observed, what an action is: ["box", shape, dtype], ["one of", n], or another kind of space."""


def said(sizes: Sizes) -> list[Any]:
    return ["one of", sizes.choices] if sizes.choices is not None else ["box", list(sizes.shape), sizes.dtype]


def test_every_environment_is_as_large_as_it_is() -> None:
    wrong = {}
    for name, truth in TRUTH.items():
        found = spaces_of(name, {})
        if found is None or [said(each) for each in found] != truth:
            wrong[name] = found
    # Its observations are three numbers beside each other.
    assert wrong == {"Blackjack-v1": None}


@pytest.mark.parametrize(
    ("name", "options", "truth"),
    [
        ("LunarLander-v3", {"continuous": True}, [["box", [8], "float32"], ["box", [2], "float32"]]),
        ("CarRacing-v3", {"continuous": False}, [["box", [96, 96, 3], "uint8"], ["one of", 5]]),
        ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}, [["one of", 64], ["one of", 4]]),
        ("CartPole-v1", {"render_mode": "human"}, [["box", [4], "float32"], ["one of", 2]]),
        ("ALE/Pong-v5", {"obs_type": "ram"}, None),
        ("FrozenLake-v1", {"desc": ["SF", "HG"]}, None),
        ("Humanoid-v5", {"exclude_current_positions_from_observation": False}, None),
        ("mine/CartPole-v1", {}, None),
        ("Maze-v0", {}, None),
        ("CartPole-v1", {"continuous": True}, None),
    ],
)
def test_options_that_change_a_size(name: str, options: dict[str, object], truth: list[Any] | None) -> None:
    found = spaces_of(name, dict(options))
    assert (None if found is None else [said(each) for each in found]) == truth


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("gym.make('CartPole-v1').observation_space.shape[0]", 4),
        ("gym.make('CartPole-v1').action_space.n", 2),
        ("gym.make('Pendulum-v1').action_space.shape", (1,)),
        ("gym.make('ALE/Breakout-v5').observation_space.shape", (210, 160, 3)),
        ("wrappers.ResizeObservation(gym.make('ALE/Breakout-v5'), (84, 84)).observation_space.shape", (84, 84, 3)),
        ("wrappers.GrayscaleObservation(gym.make('CarRacing-v3')).observation_space.shape", (96, 96)),
        ("wrappers.GrayscaleObservation(gym.make('CarRacing-v3'), keep_dim=True).reset()[0].shape", (96, 96, 1)),
        ("wrappers.FlattenObservation(gym.make('CarRacing-v3')).observation_space.shape", (27648,)),
        ("wrappers.FrameStackObservation(gym.make('CartPole-v1'), 3).step(0)[0].shape", (3, 4)),
        ("wrappers.AtariPreprocessing(gym.make('ALE/Pong-v5', frameskip=1)).reset()[0].shape", (84, 84)),
        ("wrappers.RecordEpisodeStatistics(gym.make('CartPole-v1')).action_space.n", 2),
        ("gym.vector.SyncVectorEnv([lambda: gym.make('CartPole-v1')] * 4).reset()[0].shape", (4, 4)),
        ("gym.make_vec('CartPole-v1', num_envs=3).step(None)[1].shape", (3,)),
        ("gym.make_vec('CartPole-v1', num_envs=3).single_action_space.n", 2),
        ("spaces.Box(low=0, high=255, shape=(3, 64, 64), dtype=np.uint8).shape", (3, 64, 64)),
        ("spaces.Box(np.zeros(5), np.ones(5)).sample().shape", (5,)),
        ("spaces.flatdim(spaces.Box(-1, 1, (2, 3)))", 6),
        ("gym.make('CartPole-v1').unwrapped.observation_space.shape", (4,)),
    ],
)
def test_sizes_that_programs_ask_for(expression: str, value: object) -> None:
    lines = ("import gymnasium as gym", "import numpy as np", "from gymnasium import spaces, wrappers")
    assert Ran("\n".join((*lines, f"found = {expression}\n")))["found"] == value


ACTING = """\
import {module}
import torch
from torch import nn

env = {module}.make("CartPole-v1")
net = nn.Sequential(nn.Linear(env.observation_space.shape[0], 64), nn.ReLU(), nn.Linear(64, env.action_space.n)).cuda()
optimizer = torch.optim.Adam(net.parameters())
for episode in range(100):
    {reset}
    done = False
    while not done:
        values = net(torch.from_numpy(state).float().unsqueeze(0).cuda())
        {step}
        loss = (values.max() - reward) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

NEWER = {"reset": "state, _ = env.reset()", "step": "state, reward, done, cut, _ = env.step(values.argmax().item())"}
OLDER = {"reset": "state = env.reset()", "step": "state, reward, done, _ = env.step(values.argmax().item())"}


def report_on(text: str) -> ModelReport:
    [report] = analyse(Source("train.py", text), Settings()).reports
    return report


@pytest.mark.parametrize(("module", "words"), [("gymnasium", NEWER), ("gym", NEWER), ("gym", OLDER)])
def test_an_episode_is_a_training_of_one_state_at_a_time(module: str, words: dict[str, str]) -> None:
    report = report_on(ACTING.format(module=module, **words))
    assert (report.status, report.training.batch_size.value, report.parameters) == ("exact", 1, 5 * 64 + 65 * 2)
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (4,)


def test_gymnasium_never_had_the_older_interface() -> None:
    report = report_on(ACTING.format(module="gymnasium", **OLDER))
    assert report.status != "exact"


MEMORY = """\
import random
from collections import deque

import torch
from torch import nn

net = nn.Linear(4, 2).cuda()
optimizer = torch.optim.Adam(net.parameters())
memory = deque(maxlen=10000)
state = torch.zeros(1, 4).cuda()
for step in range(2000):
    memory.append({kept})
    if len(memory) < 128:
        continue
    states, actions = zip(*random.sample(memory, 128))
    loss = net({joined}(states)){flat}.gather(1, torch.cat(actions)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("joined", "flat"), [("torch.cat", ""), ("torch.stack", ".flatten(1)")])
def test_what_is_drawn_from_a_replay_memory_is_a_batch(joined: str, flat: str) -> None:
    report = report_on(MEMORY.format(kept="(state, torch.tensor([[1]]))", joined=joined, flat=flat))
    assert report.training.batch_size.value == 128


def test_a_replay_memory_on_the_card_goes_on_to_fill() -> None:
    kept = "(torch.randn(1, 4, device='cuda'), torch.zeros(1, 1, dtype=torch.long, device='cuda'))"
    report = report_on(MEMORY.format(kept=kept, joined="torch.cat", flat=""))
    assert report.status == "lower-bound"
    assert [cause.reason for cause in report.causes] == ["how much memory holds in the end is not known"]


SCHEDULE = """\
import torch
from torch import nn

class Schedule:
    def __init__(self):
        self.products = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), 0)
        self.seen = []
    def noisy(self, x, noise, t):
        self.products = self.products.to(device=x.device)
        {kept}
        part = (self.products.to(dtype=x.dtype) ** 0.5).cpu()[t].cuda().reshape(-1, 1)
        return part * x + (1 - part) * noise

net = nn.Linear(2000, 2000).cuda()
schedule, optimizer = Schedule(), torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(4, 2000).cuda()
    noise = torch.randn_like(x)
    loss = (net(schedule.noisy(x, noise, torch.randint(0, 1000, (4,)))) - noise).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("kept", "status"),
    [
        ("", "exact"),
        ("self.last = noise", "exact"),
        ("self.seen = self.seen + [torch.randn(4, 2000).cuda()]", "lower-bound"),
    ],
)
def test_what_every_turn_gives_an_attribute_anew_does_not_grow(kept: str, status: str) -> None:
    assert report_on(SCHEDULE.format(kept=kept)).status == status
