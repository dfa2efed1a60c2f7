"""What whole training projects do around their loops, and what is told of their trainings: how many there are, and of
each the batch, the optimizer and the parameters, as a reader finds them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """\
import copy, inspect, json
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(600, 10), torch.zeros(600, dtype=torch.long))
options = json.load(open("options.json"))
"""

STEP = """\
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

LOOP = "for x, y in DataLoader(data, 20):\n" + STEP
NET = "net = nn.Sequential(nn.Linear(10, 5))\n"


def told(text: str) -> list[ModelReport]:
    """The trainings of a program."""
    return [each for each in analyse(Source("train.py", HEAD + text), Settings()).reports if each.kind == "training"]


def facts(text: str) -> list[tuple[int | None, str, int | None]]:
    """Of each training its batch, its optimizer and its parameters."""
    return [
        (each.training.batch_size.value, each.training.optimizer.value.name, each.parameters) for each in told(text)
    ]


OPTIMIZERS = {
    "options that are not known": "torch.optim.AdamW(net.parameters(), **options)",
    "some that are not known before one that is": "torch.optim.AdamW(net.parameters(), **options, lr=0.1)",
    "one that is asked for by name": (
        "torch.optim.AdamW(net.parameters(), "
        "**(dict(fused=True) if 'fused' in inspect.signature(torch.optim.AdamW).parameters else {}))"
    ),
}


@pytest.mark.parametrize("made", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_an_optimizer_is_one_whatever_options_it_is_handed(made: str) -> None:
    (found,) = told(NET + f"optimizer = {made}\n" + LOOP)
    assert (found.training.optimizer.value.name, found.training.batch_size.value, found.parameters) == ("adamw", 20, 55)
    assert found.status == ("exact" if "fused" in made else "lower-bound")
    assert [each.reason for each in found.causes] == (
        [] if "fused" in made else ["the amsgrad of AdamW is not known: what a file holds is not known"]
    )


def test_a_momentum_that_is_not_known_is_no_exact_state() -> None:
    (found,) = told(NET + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1, **options)\n" + LOOP)
    assert found.status == "lower-bound"
    known = "torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=options['decay'])"
    (found,) = told(NET + f"optimizer = {known}\n" + LOOP)
    assert found.status == "exact"


def test_a_loader_has_its_batch_whatever_else_it_is_handed() -> None:
    text = NET + "optimizer = torch.optim.Adam(net.parameters())\n" + LOOP.replace("20)", "batch_size=20, **options)")
    assert facts(text) == [(20, "adam", 55)]


def test_a_scaled_step_of_an_optimizer_that_is_not_known_is_one() -> None:
    text = NET + "optimizer = options['make'](net)\nscaler = torch.amp.GradScaler()\n" + LOOP
    text = text.replace("loss.backward()", "scaler.scale(loss).backward()")
    text = text.replace("optimizer.step()", "scaler.step(optimizer)")
    (found,) = analyse(Source("train.py", HEAD + text), Settings()).reports
    assert (found.status, found.training.optimizer.value.name) == ("lower-bound", "unknown")


DEVICES = {
    "torch.cuda.device_count() >= i + 1": "exact",
    "torch.cuda.device_count() > i": "exact",
    "torch.cuda.device_count() > i + 1": "lower-bound",
}


@pytest.mark.parametrize(("asked", "status"), DEVICES.items(), ids=DEVICES)
def test_how_many_gpus_there_are_matters_where_several_do_something_else(asked: str, status: str) -> None:
    text = (
        f"def gpu(i=0):\n    return torch.device('cuda') if {asked} else torch.device('cpu')\n"
        + NET.replace("\n", ".to(gpu())\n")
        + "optimizer = torch.optim.Adam(net.parameters())\n"
        + LOOP.replace("net(x), y", "net(x.to(gpu())), y.to(gpu())")
    )
    assert [each.status for each in told(text)] == [status]


def test_a_graph_on_the_host_is_not_on_the_card() -> None:
    """A model that is never moved was tried on an example, beside one that is moved and trains."""
    text = (
        "net = nn.Sequential(nn.Linear(10, 500), nn.Linear(500, 5))\nexample = net(torch.randn(4, 10))\n"
        + NET.replace("\n", ".cuda()\n")
        + "optimizer = torch.optim.Adam(net.parameters())\n"
        + LOOP.replace("net(x), y", "net(x.cuda()), y.cuda()")
    )
    assert [(each.status, each.causes) for each in told(text)] == [("exact", ())]
    (kept,) = told(text.replace("4, 10))", "4, 10).cuda())").replace("500, 5))", "500, 5)).cuda()"))
    assert kept.status == "lower-bound"


def test_what_every_third_turn_does_is_of_the_same_training_in_later_epochs() -> None:
    """The epochs behind the first ones are gone through in one turn, which does not get so far."""
    text = (
        "critic, net = nn.Linear(10, 3), nn.Linear(10, 5)\n"
        "first, optimizer = torch.optim.Adam(critic.parameters()), torch.optim.Adam(net.parameters())\n"
        "seen = {'critic': []}\n"
        "for epoch in range(40):\n"
        "    for i, (x, y) in enumerate(DataLoader(data, 20)):\n"
        "        first.zero_grad()\n"
        "        part = critic(x).mean()\n"
        "        part.backward()\n"
        "        first.step()\n"
        "        seen['critic'].append(part.item())\n"
        "        if (i + 1) % 3 == 0:\n" + STEP.replace("    ", " " * 12)
        + "    torch.save(net.state_dict(), f'{epoch}.pt')\n"
    )  # fmt: skip
    assert facts(text) == [(20, "adam", 88)]


CLIENT = """\
class Client:
    def train(self, net, batches):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            for x, y in batches:
                net.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                optimizer.step()
        return net.state_dict()


net = nn.Linear(10, 5)
batches = [(torch.zeros(20, 10), torch.zeros(20, dtype=torch.long))] * 4
rows = {client: [client] for client in range(50)}
for rounds in range(10):
    states = []
    for client in np.random.choice(range(50), 8, replace=False):
        own = rows[client]
        states.append(copy.deepcopy(Client().train(copy.deepcopy(net), batches)))
    mean = copy.deepcopy(states[0])
    for key in mean.keys():
        for each in range(1, len(states)):
            mean[key] += states[each][key]
        mean[key] = torch.div(mean[key], len(states))
    net.load_state_dict(mean)
"""


def test_clients_that_are_trained_alike_are_one_training() -> None:
    """A copy of a state asks for no gradient: averaging leaves no graph. A number that an array gives is a key by its
    value, which may be there."""
    (found,) = told(CLIENT)
    assert (found.status, found.training.batch_size.value, found.parameters, found.causes) == ("exact", 20, 55, ())


def test_tensors_of_no_model_are_trained_beside_models() -> None:
    by_hand = (
        "w = torch.randn(10, 300) * 0.1\nw.requires_grad = True\n"
        "for x, y in DataLoader(data, 20):\n"
        "    nn.functional.cross_entropy(x @ w, y).backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        w.grad.zero_()\n"
    )
    model = NET + "optimizer = torch.optim.Adam(net.parameters())\n" + LOOP
    first, second = told(by_hand + model)
    assert (first.status, second.parameters) == ("unresolved", 55)
    assert [each.status for each in told(by_hand.replace("300", "5") + model)] == ["exact"]


CLASSES = {
    "len(set(labels))": None,
    "len({int(each) for each in labels})": None,
    "len({each: 1 for each in labels})": None,
    "len(set(labels.shape))": 11,
}


@pytest.mark.parametrize(("count", "parameters"), CLASSES.items(), ids=CLASSES)
def test_labels_of_an_array_are_told_apart_by_their_values(count: str, parameters: int | None) -> None:
    text = f"labels = np.random.randint(0, 4, 1000)\nnet = nn.Linear(10, {count})\n"
    (found,) = told(text + "optimizer = torch.optim.Adam(net.parameters())\n" + LOOP)
    assert (found.parameters == parameters) if parameters else found.status != "exact"


LAUNCHED = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=20)
parser.add_argument("--FLAG", action="store_true")
args = parser.parse_args()
if args.FLAG:
    net = nn.Linear(10, 5)
else:
    raise NotImplementedError("only distributed training is supported")
"""


@pytest.mark.parametrize("flag", ["distributed", "use_ddp"])
def test_a_program_that_refuses_one_process_is_followed_as_it_is_launched(flag: str) -> None:
    optimizer = "optimizer = torch.optim.Adam(net.parameters())\n"
    text = LAUNCHED.replace("FLAG", flag) + optimizer + LOOP.replace("20)", "args.batch)")
    assert facts(text) == [(20, "adam", 55)]


def test_gradients_are_there_after_a_backward_pass_of_what_is_not_known() -> None:
    """How often a line's letters are gone through is not known, nor whether the loss is a tensor at all: weights are
    updated by hand from what it leaves."""
    text = (
        "net = nn.Sequential(nn.Linear(10, 5))\n"
        "for turn in range(1000):\n"
        "    net.zero_grad()\n    loss = 0\n"
        "    for i in range(options['letters']):\n        loss += net(torch.zeros(1, 10)).sum()\n"
        "    loss.backward()\n"
        "    for p in net.parameters():\n        p.data.add_(p.grad.data, alpha=-0.1)\n"
    )
    assert facts(text) == [(1, "sgd", 55)]
    assert [each.status for each in told(text)] == ["lower-bound"]


def test_the_input_is_what_a_model_takes_first_however_a_batch_names_it() -> None:
    text = (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.words = nn.Embedding(100, 5)\n"
        "    def forward(self, ids, mask=None, labels=None):\n"
        "        return nn.functional.cross_entropy((self.words(ids) * mask.unsqueeze(-1)).sum(1), labels)\n"
        "class Texts(torch.utils.data.Dataset):\n"
        "    def __len__(self):\n        return 600\n"
        "    def __getitem__(self, i):\n"
        "        ids = torch.zeros(32, dtype=torch.long)\n"
        "        return {'labels': torch.tensor(1), 'mask': torch.ones(32), 'ids': ids}\n"
        "net = Net()\noptimizer = torch.optim.Adam(net.parameters())\n"
        "for batch in DataLoader(Texts(), 20):\n"
        "    optimizer.zero_grad()\n    net(**batch).backward()\n    optimizer.step()\n"
    )
    (found,) = told(text)
    assert found.training.input_shape is not None
    assert (found.status, found.training.input_shape.value, found.training.batch_size.value) == ("exact", (32,), 20)


def test_how_many_samples_of_a_data_set_a_list_takes_is_not_known() -> None:
    """One sample stands for all of a data set: a list of those of two classes has no length, and its loader the batch
    that it is told."""
    text = (
        "from torchvision import datasets, transforms\n"
        "whole = datasets.CIFAR10('d', transform=transforms.ToTensor())\n"
        "two = [(image, {0: 0, 2: 1}[label]) for image, label in whole if label in [0, 2]]\n"
        "net = nn.Sequential(nn.Flatten(), nn.Linear(3072, WIDTH))\n"
        "optimizer = torch.optim.Adam(net.parameters())\n"
    )
    loop = LOOP.replace("data, 20", "two, 20")
    assert facts(text.replace("WIDTH", "2") + loop) == [(20, "adam", 6146)]
    assert [each.status for each in told(text.replace("WIDTH", "len(two)") + loop)] == ["lower-bound"]
