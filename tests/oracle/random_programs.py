"""Writes random training programs, to be held against what PyTorch's own CUDA code asks for.

The most productive search there is for an "exact" that is wrong. By hand, in two environments that need know nothing of
each other:

    python tests/oracle/random_programs.py FIRST LAST FOLDER
    python tests/oracle/measure_random_programs.py FOLDER        # a CUDA build of PyTorch and a card
    python tests/score_random_programs.py FOLDER

The first makes a program for each number, the same one each time; the second writes FOLDER/truth.json; the third prints
each exact figure that is off.

Recurrent layers are left out: what cuDNN reserves for them is cuDNN's. To find what is off in a program, cut it down
while it stays off, then let `torch.cuda.memory._record_memory_history(stacks="all")` say which kernel asks for what; the
rule that comes of it gets a phase in fixtures/kernels.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import random_families  # noqa: F401
import random_operations  # noqa: F401
import random_writes  # noqa: F401
from random_blocks import IMAGE, SEQUENCE, Net


def network(net: Net) -> str:
    """The class of a network; its first statement says what a sample is."""
    chance = net.chance
    kind = net.one("image", "image", "sequence", "tokens")
    if kind == "image":
        net.shape = (net.number_of(3, 8), net.number_of(16, 24, 32), net.number_of(16, 32))
    elif kind == "sequence":
        net.shape = (net.number_of(16, 64, 100), net.number_of(32, 64, 96))
    else:
        net.shape = (net.number_of(16, 64), net.number_of(32, 64, 128))
        net.add(f"x = {net.module(f'nn.Embedding({net.number_of(100, 1000)}, {net.shape[1]})')}(x)")
        if net.flip():
            net.add(f"x = x + {net.parameter(1, *net.shape)}")
    first = (net.shape[0],) if kind == "tokens" else net.shape
    for _ in range(net.number_of(2, 4, 6, 9)):
        chance.choice(IMAGE if len(net.shape) == 3 else SEQUENCE)(net)
        if min(net.shape) < 2:
            break
    if len(net.shape) == 3:
        net.add(net.one("x = x.mean((2, 3))", "x = F.adaptive_avg_pool2d(x, 1).flatten(1)", "x = x.flatten(2).mean(-1)",
                        "x = x.amax((2, 3))"))  # fmt: skip
    else:
        net.add(net.one("x = x.mean(1)", "x = x[:, 0]", "x = x.max(1).values", "x = x[:, -1]"))
    width = net.shape[0] if len(net.shape) == 3 else net.shape[1]
    net.add(f"return {net.module(f'nn.Linear({width}, 10)')}(x)")
    return ", ".join(map(str, first)) + ("; tokens" if kind == "tokens" else "")


LOSSES = (
    ("F.cross_entropy({}, y)", "classes"), ("F.cross_entropy({}, y)", "classes"), ("{}.mean()", ""),
    ("F.cross_entropy({}, y, label_smoothing=0.1)", "classes"), ("F.mse_loss({}, y)", "values"),
    ("F.smooth_l1_loss({}, y)", "values"), ("F.binary_cross_entropy_with_logits({}, y)", "values"),
    ("F.kl_div({}.log_softmax(-1), y, reduction='batchmean')", "values"), ("({} - y).abs().mean()", "values"),
    ("nn.HuberLoss()({}, y)", "values"), ("F.multi_margin_loss({}, y)", "classes"), ("F.l1_loss({}, y)", "values"),
    ("F.nll_loss({}.log_softmax(-1), y)", "classes"), ("F.cross_entropy({}, y.softmax(-1))", "values"),
    ("F.cross_entropy({}, y, weight=torch.ones(10, device='cuda'))", "classes"), ("F.cross_entropy({}, y, reduction='sum')", "classes"),
    ("F.cross_entropy({}, y, reduction='none').mean()", "classes"), ("F.cross_entropy({}, y, ignore_index=0)", "classes"),
    ("F.binary_cross_entropy(torch.sigmoid({}.float()).float(), y)", "whole"), ("F.gaussian_nll_loss({}, y, torch.ones_like(y))", "values"),
    ("F.binary_cross_entropy_with_logits({}, y, pos_weight=torch.ones(10, device='cuda'))", "values"),
    ("F.binary_cross_entropy_with_logits({}, y, weight=torch.ones(10, device='cuda'))", "values"),
    ("F.kl_div({}.log_softmax(-1), y.log_softmax(-1), log_target=True, reduction='sum')", "values"),
    ("F.kl_div({}.log_softmax(-1), y, reduction='none').sum()", "values"), ("F.smooth_l1_loss({}, y, beta=0.5, reduction='sum')", "values"),
    ("F.huber_loss({}, y, reduction='none').mean()", "values"), ("F.hinge_embedding_loss({}, y)", "values"),
    ("F.triplet_margin_loss({}, y, y)", "values"), ("F.margin_ranking_loss({}, y, y)", "values"), ("{}.norm()", ""),
    ("F.multilabel_soft_margin_loss({}, y)", "values"), ("F.poisson_nll_loss({}, y, full=True)", "values"),
    ("(1 - F.cosine_similarity({}, y)).mean()", "values"), ("torch.cdist({}, y).mean()", "values"), ("{}.logsumexp(-1).sum()", ""),
    ("nn.CrossEntropyLoss(label_smoothing=0.1, reduction='sum')({}, y)", "classes"), ("torch.sqrt(F.mse_loss({}, y))", "values"),
    ("F.nll_loss(F.log_softmax({}, -1), y, reduction='sum')", "classes"), ("F.mse_loss({}, y, reduction='sum')", "values"),
    ("F.l1_loss({}, y, reduction='none').mean(-1).sum()", "values"), ("torch.log(torch.cosh({} - y)).mean()", "values"),
    ("(({}.softmax(-1) * y).sum(-1) + 1).log().neg().mean()", "values"), ("F.pairwise_distance({}, y).mean()", "values"),
    ("F.soft_margin_loss({}, y)", "values"), ("F.cosine_embedding_loss({}, y, y[:, 0])", "values"),
    ("(F.mse_loss({}, y, reduction='none') * y).sum()", "values"), ("F.poisson_nll_loss({}, y)", "values"),
)  # fmt: skip
OPTIMIZERS = (
    "SGD({}, lr=0.1)", "SGD({}, lr=0.1, momentum=0.9)", "SGD({}, lr=0.1, momentum=0.9, foreach=False)", "AdamW({})",
    "Adam({}, fused=True)", "Adam({}, foreach=False)", "AdamW({}, weight_decay=0.1, amsgrad=True)", "RMSprop({})",
    "Adagrad({})", "NAdam({})", "SGD({}, lr=0.1, fused=True)", "Adam({}, capturable=True)", "RAdam({})", "Adamax({})",
    "AdamW({}, fused=True, amsgrad=True)", "Adadelta({})", "Rprop({})", "ASGD({})", "RMSprop({}, momentum=0.9, centered=True)",
    "SGD({}, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)", "Adafactor({})",
    "Adam({}, weight_decay=0.1, maximize=True)", "Adagrad({}, foreach=False)", "Adagrad({}, fused=True)", "NAdam({}, decoupled_weight_decay=True)",
    "RMSprop({}, foreach=False)", "RMSprop({}, momentum=0.9, weight_decay=1e-4)", "Adadelta({}, foreach=False)",
    "Adamax({}, foreach=False)", "ASGD({}, foreach=False)", "Rprop({}, foreach=False)", "NAdam({}, foreach=False)", "Adafactor({}, foreach=False)",
    "SGD({}, lr=0.1, weight_decay=1e-4, dampening=0.1, momentum=0.9)", "Adam({}, amsgrad=True, foreach=False)", "AdamW({}, foreach=True)",
    "SGD([p for p in {} if p.ndim > 1], lr=0.1, momentum=0.9)", "AdamW({}, capturable=True, amsgrad=True)", "RMSprop({}, capturable=True)",
)  # fmt: skip


def training(net: Net, sample: str) -> list[str]:
    """The statements of a training of the network over samples of this shape."""
    shape, _, tokens = sample.partition("; ")
    half = net.one("", "", "float16", "bfloat16")
    inner = net.chance.random() < 0.15
    last = not tokens and shape.count(",") == 2 and net.chance.random() < 0.25
    loss, target = net.chance.choice(LOSSES)
    scaled, clipped = half == "float16" and net.flip(), net.chance.random() < 0.25
    turns = net.number_of(1, 1, 1, 2)
    batch = net.number_of(4, 6, 8, 16)
    made = f"torch.zeros({batch}, {shape}, dtype=torch.long, device='cuda')" if tokens else ""
    whole = not half and not tokens and net.chance.random() < 0.1 and target != "whole"
    target = "values" if target == "whole" else target
    lines = [f"net = Net().cuda(){'.bfloat16()' if whole else ''}{'.to(memory_format=torch.channels_last)' if last else ''}",
             f"optimizer = torch.optim.{net.chance.choice(OPTIMIZERS).format('net.parameters()')}",
             *(["scaler = torch.amp.GradScaler('cuda')"] if scaled else []),
             "for step in range(4):"]  # fmt: skip
    made = made or f"torch.randn({batch}, {shape}, device='cuda')"
    body = [
        f"x = {made}" + (".bfloat16()" if whole else "") + (".to(memory_format=torch.channels_last)" if last else "")
    ]
    if target:
        body.append(f"y = torch.{'zeros' if target == 'classes' else 'rand'}({batch}{', 10' if target == 'values' else ''}"
                    f"{', dtype=torch.long' if target == 'classes' else ''}, device='cuda')" + (".bfloat16()" if whole and target == "values" else ""))  # fmt: skip
    first = turns == 1 and net.flip()
    body += ["optimizer.zero_grad()"] if first else []
    forward = f"loss = {loss.format('net(x)')}" + (f" / {turns}" if turns > 1 else "")
    if inner:
        # The loss outside of the region that computes the result.
        result, forward = "out = net(x)", f"loss = {loss.format('out')}" + (f" / {turns}" if turns > 1 else "")
        body += (
            [f"with torch.autocast('cuda', dtype=torch.{half}):", f"    {result}", forward]
            if half
            else [result, forward]
        )
    else:
        body += [f"with torch.autocast('cuda', dtype=torch.{half}):", f"    {forward}"] if half else [forward]
    body.append("scaler.scale(loss).backward()" if scaled else "loss.backward()")
    update = ["scaler.unscale_(optimizer)"] if scaled and clipped else []
    update += [net.one("torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
                       "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=False)",
                       "torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)")] if clipped else []  # fmt: skip
    update += ["scaler.step(optimizer)", "scaler.update()"] if scaled else ["optimizer.step()"]
    update += [] if first else [net.one("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)")]
    if turns > 1:
        body += [f"if (step + 1) % {turns} == 0:", *(f"    {line}" for line in update)]
    else:
        body += update
    return [*lines, *(f"    {line}" for line in body)]


OWN = """\
class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        gate = torch.sigmoid(x)
        ctx.save_for_backward(x, gate)
        return x * gate

    @staticmethod
    def backward(ctx, grad):
        x, gate = ctx.saved_tensors
        return grad * gate * (1 + x * (1 - gate))


"""


def program(number: int) -> str:
    """The text of the program of this number."""
    net = Net(random.Random(number))
    sample = network(net)
    inner = "\n        "
    lines = "\n".join(training(net, sample))
    return f"""\
import torch
from torch import nn
from torch.nn import functional as F


{OWN if any(".apply(x)" in step for step in net.steps) else ""}class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {inner.join(net.made)}

    def forward(self, x):
        {inner.join(net.steps)}


{lines}
"""


def main() -> None:
    first, last, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, last):
        (folder / f"program_{number}.py").write_text(program(number))


if __name__ == "__main__":
    main()
