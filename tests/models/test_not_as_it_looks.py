"""Programs whose steps take other memory than their first turns, their layers or their names tell: a bound with its
cause. That PyTorch's CUDA code takes more in each of them (or less, where parts lie on the host) was measured."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """\
import copy
from collections import deque
import torch
from torch import nn
from torch.nn.utils import prune

net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 128)).to("cuda")
opt = torch.optim.Adam(net.parameters())
x = torch.randn(256, 64, device="cuda")
"""

STEP = """\
for step in range(6):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
"""

OTHERWISE = {
    "a queue that is not full": (
        "bank = deque(maxlen=3)\n" + STEP.replace("    net(x).mean().backward()\n", """\
    z = net(x)
    (z @ torch.cat([*bank, z.detach()]).t()).logsumexp(1).mean().backward()
    bank.append(z.detach())
"""),
        "lower-bound",
        "what is computed beside the model grows",
    ),
    "a batch that grows": (
        "held = []\n" + STEP.replace("    net(x)", """\
    held.append(torch.randn(256, 64, device="cuda"))
    if len(held) > 5:
        held.pop(0)
    net(torch.cat(held))"""),
        "lower-bound",
        "what the model is given in later turns of a loop is not known",
    ),
    "data that is kept, of which any is read": (
        "import random\nheld = []\n" + STEP.replace("    net(x)", """\
    new = torch.randn(256, 64, device="cuda")
    held.append(new)
    net(random.choice(list(held)))"""),
        "lower-bound",
        "how much held holds in the end is not known",
    ),
    "optimizers that take turns": (
        "opts = [torch.optim.Adam([each]) for each in net.parameters()]\n"
        + STEP.replace("    opt.step", "    opts[step % len(opts)].step"),
        "lower-bound",
        "opts[2] is not seen to step",
    ),
    "a copy of the optimizer's state": (
        STEP + "saved = copy.deepcopy(opt.state_dict())\n" + STEP,
        "lower-bound",
        "what a copy of an optimizer's state takes",
    ),
    "a buffer that trains": (
        'net.register_buffer("scale", torch.ones(128, device="cuda"))\nnet.scale.requires_grad_()\n'
        + STEP.replace("net(x)", "(net(x) * net.scale)"),
        "lower-bound",
        "what a buffer needs that asks for a gradient",
    ),
    "a mask in a hook": (
        'prune.custom_from_mask(net[0], "weight", torch.ones(512, 64, device="cuda"))\n' + STEP,
        "lower-bound",
        "the mask that a pruning is given stays in its hook",
    ),
    "a head on the host": (
        "head = nn.Linear(128, 10)\nopt.add_param_group({'params': head.parameters()})\n"
        + STEP.replace("net(x)", "head(net(x).cpu())"),
        "lower-bound",
        "a part of the model is not moved to the device",
    ),
    "an embedding on the host": (
        "net = nn.Sequential(nn.Embedding(500, 64), net)\nopt = torch.optim.Adam(net.parameters())\n"
        "ids = torch.randint(0, 500, (256,))\n" + STEP.replace("net(x)", 'net[1](net[0](ids).to("cuda"))'),
        "upper-bound",
        "a part of the model is not moved to the device",
    ),
    "weights in the storage of others": (
        "other = copy.deepcopy(net)\nother[0].weight.data = net[0].weight.data\n"
        + STEP.replace("net(x)", "(net(x) - other(x).detach())"),
        "upper-bound",
        "weights that lie in the storage of others",
    ),
    "copies in float32 that train": (
        "net.half()\nmaster = [each.detach().clone().float().requires_grad_() for each in net.parameters()]\n"
        "opt = torch.optim.Adam(master)\n" + STEP.replace("(x)", "(x.half())").replace("    opt.step()", """\
    for ours, theirs in zip(master, net.parameters()):
        ours.grad = theirs.grad.float()
    opt.step()
    for ours, theirs in zip(master, net.parameters()):
        theirs.data.copy_(ours.data)"""),
        "lower-bound",
        "what is trained are tensors that belong to no model",
    ),
    "an optimizer made for what nobody knows": (
        "import somewhere\nopt = torch.optim.Adam(somewhere.Wrapped(net).parameters())\n" + STEP,
        "lower-bound",
        "which parameters the optimizer was made for is not known: the source of 'somewhere' is not found",
    ),
    "an optimizer made anew in every step": (
        "x = torch.randn(9000, 64, device='cuda')\n"
        + STEP.replace("    opt.zero_grad()", "    opt = torch.optim.Adam(net.parameters())\n    opt.zero_grad()"),
        "upper-bound",
        "an optimizer is made anew in every step",
    ),
    "a copy left by the last turn": (
        "x, kept, opt = x[:8], [], torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + STEP
        + "    kept.append(copy.deepcopy(net))\n",
        "lower-bound",
        "what is in memory while kept is copied anew",
    ),
    "copies of more turns than are followed": (
        "kept = []\n" + STEP.replace("range(6)", "range(600)") + "    kept.append(copy.deepcopy(net))\n",
        "lower-bound",
        "how many models a loop keeps is not known",
    ),
    "a copy in turns that a value tells": (
        "kept = []\n" + STEP + "    if net(x).mean() > 0:\n        kept.append(copy.deepcopy(net))\n",
        "lower-bound",
        "whether kept is in memory beside the step is not known",
    ),
    "parameters that the model is called with": (
        "own = {name: nn.Parameter(torch.randn_like(each)) for name, each in net.named_parameters()}\n"
        "opt = torch.optim.Adam(own.values())\n" + STEP.replace("net(x)", "torch.func.functional_call(net, own, (x,))"),
        "lower-bound",
        "what is trained are tensors that belong to no model",
    ),
}  # fmt: skip

ALIKE = {
    "a queue that is full": "bank = deque([torch.randn(256, 128, device='cuda') for _ in range(3)], maxlen=3)\n"
    + STEP.replace("    net(x).mean().backward()\n", """\
    z = net(x)
    (z @ torch.cat(list(bank)).t()).logsumexp(1).mean().backward()
    bank.append(z.detach())
"""),
    "a temperature that trains": "scale = torch.zeros(1, device='cuda', requires_grad=True)\n"
    "opt = torch.optim.Adam([*net.parameters(), scale])\n" + STEP.replace("net(x)", "(net(x) * scale)"),
    "a copy in a turn that a number tells": "kept = []\n" + STEP.replace("range(6)", "range(600)")
    + "    if step in (200, 300):\n        kept.append(copy.deepcopy(net))\n",
    "optimizers that all step": "opts = [torch.optim.Adam([each]) for each in net.parameters()]\n"
    + STEP.replace("    opt.step()", "    for each in opts:\n        each.step()"),
    "a mask on the host": (
        'net.cpu()\nprune.custom_from_mask(net[0], "weight", torch.ones(512, 64))\nnet.to("cuda")\n'
        "opt = torch.optim.Adam(net.parameters())\n" + STEP
    ),
    "layers made on the device": "net = nn.Sequential(nn.Linear(64, 9, device='cuda'), nn.Linear(9, 9).cuda())\n"
    "opt = torch.optim.Adam(net.parameters())\n" + STEP,
    "a parameter made on the device": "net[0].weight = nn.Parameter(torch.randn(512, 64, device='cuda'))\n"
    "opt = torch.optim.Adam(net.parameters())\n" + STEP,
}  # fmt: skip


@pytest.mark.parametrize(("body", "status", "cause"), OTHERWISE.values(), ids=OTHERWISE)
def test_what_is_not_counted_is_said(body: str, status: str, cause: str) -> None:
    found = list(analyse(Source("case.py", HEAD + body), Settings()).reports)
    told = [each for each in found if any(one.reason.startswith(cause) for one in each.causes)]
    assert told, [(each.status, [one.reason for one in each.causes]) for each in found]
    assert told[-1].status == status


@pytest.mark.parametrize("body", ALIKE.values(), ids=ALIKE)
def test_what_is_counted_stays_exact(body: str) -> None:
    found = list(analyse(Source("case.py", HEAD + body), Settings()).reports)
    assert [each.status for each in found if each.kind == "training"] == ["exact"], [each.causes for each in found]
