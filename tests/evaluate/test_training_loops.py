"""Training loops: what one round does is followed, and the rest is taken to be like it without being run."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8), torch.zeros(64, dtype=torch.long)), batch_size=4)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def step(images, labels):
    loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
"""


def ran(code: str) -> tuple[dict[str, Any], Interpreter]:
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("train.py", HEAD + code), lazy=False)
    run.run_module(module)
    assert run.failures == []
    return module.variables, run


def steps(run: Interpreter) -> int:
    return sum(event.kind == "step" for event in run.trace.events)


REPEATING = {
    "epochs over a loader": (
        "for epoch in range(1000):\n    for images, labels in loader:\n        step(images, labels)"
    ),
    "epochs with a progress bar": (
        """
from tqdm import tqdm
for epoch in tqdm(range(1000)):
    for images, labels in tqdm(loader):
        step(images, labels)
"""
    ),
    "a while loop with a counter": (
        """
done = 0
while done < 100000:
    for images, labels in loader:
        step(images, labels)
        done += 1
"""
    ),
    "an endless loop that is left": (
        """
done = 0
while True:
    step(*next(iter(loader)))
    done += 1
    if done >= 50000:
        break
"""
    ),
    "batches cut by hand": (
        """
images, labels = torch.zeros(64000, 3, 8, 8), torch.zeros(64000, dtype=torch.long)
for epoch in range(300):
    for at in range(0, len(images), 4):
        step(images[at:at + 4], labels[at:at + 4])
"""
    ),
    "an iterator that starts again": (
        """
batches = iter(loader)
for at in range(100000):
    try:
        images, labels = next(batches)
    except StopIteration:
        batches = iter(loader)
        images, labels = next(batches)
    step(images, labels)
"""
    ),
}


@pytest.mark.parametrize("code", REPEATING.values(), ids=REPEATING)
def test_a_loop_that_only_trains_runs_a_few_rounds(code: str) -> None:
    _, run = ran(code)
    assert 1 <= steps(run) <= 5
    fed = next(call.args[0] for call in run.trace.root_calls if call.instance.cls.name == "Sequential")
    assert isinstance(fed, Tensor)
    assert fed.shape == (4, 3, 8, 8)
    assert run.budget.steps > 3_900_000


KEPT = {
    "a short list is gone through": (
        "seen = []\nfor word in ['train', 'val']:\n    step(*next(iter(loader)))\n    seen.append(word)",
        "seen",
        ["train", "val"],
    ),
    "a loop that trains nothing runs to its end": (
        "seen = 0\nfor at in range(500):\n    seen += at",
        "seen",
        124750,
    ),
    "rounds of other sizes are run": (
        """
sizes = []
for size in [8, 16, 24, 32, 40]:
    step(torch.zeros(4, 3, size, size), torch.zeros(4, dtype=torch.long))
    sizes.append(size)
""",
        "sizes",
        [8, 16, 24, 32, 40],
    ),
    "rounds that build are run": (
        """
nets = []
for width in range(1, 7):
    layer = nn.Linear(3, width)
    layer(torch.zeros(2, 3)).sum().backward()
    nets.append(width)
""",
        "nets",
        [1, 2, 3, 4, 5, 6],
    ),
    "a model is kept through its training": (
        "for epoch in range(100):\n    step(*next(iter(loader)))\nkind = type(net).__name__",
        "kind",
        "Sequential",
    ),
}


@pytest.mark.parametrize(("code", "name", "expected"), KEPT.values(), ids=KEPT)
def test_other_loops_are_run_as_they_stand(code: str, name: str, expected: Any) -> None:
    variables, _ = ran(code)
    assert variables[name] == expected


UNKNOWN_AFTER = {
    "a counter": (
        "done = 0\nfor epoch in range(100):\n    step(*next(iter(loader)))\n    done += 1",
        "done",
    ),
    "the loop's own variable": (
        "for epoch in range(100):\n    step(*next(iter(loader)))",
        "epoch",
    ),
    "what depends on the round": (
        "for epoch in range(100):\n    step(*next(iter(loader)))\n    late = epoch > 50",
        "late",
    ),
}


@pytest.mark.parametrize(("code", "name"), UNKNOWN_AFTER.values(), ids=UNKNOWN_AFTER)
def test_what_counts_rounds_is_not_known_after_a_loop_that_was_cut_short(code: str, name: str) -> None:
    variables, _ = ran(code)
    assert isinstance(variables[name], Unknown)


def test_a_change_in_a_later_epoch_is_seen() -> None:
    code = """
for parameter in net[0].parameters():
    parameter.requires_grad = False
for epoch in range(100):
    if epoch == 10:
        for parameter in net.parameters():
            parameter.requires_grad = True
    step(*next(iter(loader)))
trained = all(parameter.requires_grad for parameter in net.parameters())
"""
    assert ran(code)[0]["trained"] is True


GRAD = {
    "switched off on a line of its own": (
        "torch.set_grad_enabled(False)\n",
        "torch.is_grad_enabled()",
        False,
    ),
    "and on again": (
        "torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\n",
        "torch.is_grad_enabled()",
        True,
    ),
    "only within a block": (
        "with torch.no_grad():\n    pass\n",
        "torch.is_grad_enabled()",
        True,
    ),
    "undone after a block that raises": (
        "try:\n    with torch.no_grad():\n        raise ValueError\nexcept ValueError:\n    pass\n",
        "torch.is_grad_enabled()",
        True,
    ),
}


@pytest.mark.parametrize(("code", "expression", "expected"), GRAD.values(), ids=GRAD)
def test_gradients_are_on_and_off_as_the_lines_before_say(code: str, expression: str, expected: bool) -> None:
    assert ran(f"{code}result = {expression}")[0]["result"] is expected


LONG = {
    "what a long loop fills keeps its shape": (
        """
import numpy as np
clips = np.zeros((1200, 15, 80, 80))
for i in range(1200):
    for j in range(np.random.randint(3, 8)):
        for t in range(15):
            x = np.random.randint(20, 60) + t
            for k in range(40):
                clips[i, t, x:x + 2, x:x + 2] += k * 1 + k * 2 + k * 3
clips = clips[:, :, 20:60, 20:60]
found = clips.shape
""",
        "(1200, 15, 40, 40)",
    ),
    "what comes of its last rounds is not known": (
        """
import numpy as np
seen, last = 1, 0
for i in range(100_000):
    a = np.random.rand(3) * 2 + 1 - 1
    last = i
    if i > 50_000:
        seen = 2
found = (seen, last)
""",
        "(?, ?)",
    ),
    "what changes by way of another is not known either": (
        """
import numpy as np
first, second = 1, 1
for i in range(100_000):
    a = np.random.rand(3) * 2 + 1 - 1
    first = second
    if i > 50_000:
        second = 2
found = (first, second)
""",
        "(?, ?)",
    ),
}


@pytest.mark.parametrize(("code", "expected"), LONG.values(), ids=LONG)
def test_a_loop_that_is_too_long(code: str, expected: str) -> None:
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("data.py", code), lazy=False)
    run.run_module(module)
    assert run.failures == []
    found = module.variables["found"]
    assert isinstance(found, tuple)
    assert f"({', '.join('?' if isinstance(size, Unknown) else str(size) for size in found)})" == expected
