"""Programs that are made by chance: models with hooks, exceptions, checkpoints, computed and frozen weights, and slips.

    python tests/generated.py [COUNT] [SEED]

makes so many of them (2000 unless said otherwise; an hour is some 60,000), asks PyTorch itself what each is, and prints
those of which we say something else; the exit status is 1 if there are any. What CI asks is in test_generated.py.

A program is a chain of steps, each of which knows the shape that it is given, so that most of them run; some are given
a size that is not right. `written` is the same for a seed on every machine. By hand the models are edited besides, by
tests/generated_edits.py.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.generated_edits import HEAD as EDITING  # noqa: E402
from tests.generated_edits import edits  # noqa: E402

BATCH = 3
HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.utils.checkpoint import checkpoint


"""
SLIP = 0.04
"""How often a step is declared for another width than it is given."""


@dataclass
class Writer:
    """A program on its way: what `__init__` and `forward` do so far, and the shape of `x`, without the batch."""

    rng: random.Random
    shape: tuple[int, ...]
    made: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    count: int = 0

    @property
    def width(self) -> int:
        """The channels, or features, that the next layer is declared for: rarely not those that it is given."""
        own = self.shape[0]
        return own + 1 if self.rng.random() < SLIP else own

    def layer(self, construction: str) -> str:
        self.count += 1
        self.made.append(f"self.m{self.count} = {construction}")
        return f"self.m{self.count}"

    def run(self, *lines: str) -> None:
        self.runs += lines


def side(size: int, kernel: int, stride: int, padding: int) -> int:
    return (size + 2 * padding - kernel) // stride + 1


def conv(w: Writer, same: bool = False) -> str:
    """A convolution's construction; `same` for one that keeps the shape."""
    kernel = w.rng.choice([1, 3])
    stride = 1 if same else w.rng.choice([1, 1, 2])
    padding = kernel // 2 if same else w.rng.choice([0, 1]) if kernel == 3 else 0
    filters = w.shape[0] if same else w.rng.choice([4, 6, 8])
    mode = w.rng.choice(["zeros", "zeros", "circular", "reflect", "replicate"]) if padding else "zeros"
    bias = w.rng.random() < 0.7
    text = f"nn.Conv2d({w.width}, {filters}, {kernel}, {stride}, {padding}, padding_mode={mode!r}, bias={bias})"
    sides = tuple(max(1, side(each, kernel, stride, padding)) for each in w.shape[1:])
    w.shape = (filters, *sides)
    return text


def computed(w: Writer, layer: str) -> str:
    """A layer whose weight is normed, pruned, or plain."""
    return w.rng.choice([
        f"parametrizations.weight_norm({layer})", f"parametrizations.spectral_norm({layer})",
        f"nn.utils.weight_norm({layer})", f"nn.utils.spectral_norm({layer})",
        f"prune.l1_unstructured({layer}, 'weight', 0.5)", layer,
    ])  # fmt: skip


def convolve(w: Writer) -> None:
    w.run(f"x = {w.layer(computed(w, conv(w)))}(x)")


def activate(w: Writer) -> None:
    w.run(w.rng.choice([
        "x = F.relu(x)", "x = torch.tanh(x)", "x = F.gelu(x)", "x = x.sigmoid() * x", "x = F.leaky_relu(x, 0.1)",
        "x = x.clamp(min=0)", "x = x * 2 + 1", "x = F.silu(x)", "x = x.abs().sqrt()",
    ]))  # fmt: skip


def normalise(w: Writer) -> None:
    affine = w.rng.random() < 0.7
    kind = w.rng.choice(["BatchNorm2d", "InstanceNorm2d"]) if len(w.shape) == 3 else "BatchNorm1d"
    norm = w.layer(f"nn.{kind}({w.width}, affine={affine})")
    w.run(f"x = {norm}(x)")


def pool(w: Writer) -> None:
    if min(w.shape[1:]) >= 2:
        w.run(f"x = F.{w.rng.choice(['max', 'avg'])}_pool2d(x, 2)")
        w.shape = (w.shape[0], *(each // 2 for each in w.shape[1:]))


def residual(w: Writer) -> None:
    text = conv(w, same=True) if len(w.shape) == 3 else f"nn.Linear({w.width}, {w.shape[0]})"
    layer = w.layer(computed(w, text))
    w.run(w.rng.choice([f"x = x + {layer}(x)", f"x = x * {layer}(x)", f"x = {layer}(x) + x.detach()",
                        f"x = torch.maximum(x, {layer}(x))"]))  # fmt: skip


def join(w: Writer) -> None:
    before = w.shape[0]
    layer = w.layer(conv(w, same=True) if len(w.shape) == 3 else f"nn.Linear({w.width}, {before})")
    w.run(f"x = torch.cat([x, {layer}(x)], 1)")
    w.shape = (2 * before, *w.shape[1:])


def split(w: Writer) -> None:
    if w.shape[0] % 2 == 0:
        w.run("a, b = x.chunk(2, 1)", w.rng.choice(["x = a * torch.sigmoid(b)", "x = a - b", "x = b"]))
        w.shape = (w.shape[0] // 2, *w.shape[1:])


def recompute(w: Writer) -> None:
    inner = conv(w, same=True) if len(w.shape) == 3 else f"nn.Linear({w.width}, {w.shape[0]})"
    layer = w.layer(f"nn.Sequential({inner}, nn.ReLU())")
    w.run(f"x = checkpoint({layer}, x, use_reentrant={w.rng.random() < 0.5})")


def hook(w: Writer) -> None:
    layer = w.layer(conv(w, same=True) if len(w.shape) == 3 else f"nn.Linear({w.width}, {w.shape[0]})")
    w.run(f"x = {layer}(x)")
    name = layer.removeprefix("self.")
    w.after.append(w.rng.choice([
        f"model.{name}.register_forward_hook(lambda m, i, o: o * 2)",
        f"model.{name}.register_forward_hook(lambda m, i, o: torch.relu(o))",
        f"model.{name}.register_forward_hook(lambda m, i, o: None)",
        f"model.{name}.register_forward_pre_hook(lambda m, i: (i[0] + 1,))",
        f"model.{name}.register_forward_pre_hook(lambda m, i: (torch.tanh(i[0]),))",
    ]))  # fmt: skip


def fall_back(w: Writer) -> None:
    """The error of a size is the program's own branch, or does not come."""
    given = w.shape[-1]
    bad = w.layer(f"nn.Linear({given + w.rng.choice([0, 1])}, {given})")
    caught = w.rng.choice(["RuntimeError", "Exception", "(ValueError, RuntimeError)"])
    w.run("try:", f"    x = x + {bad}(x)", f"except {caught}:", "    x = x * 3")


def without_gradient(w: Writer) -> None:
    layer = w.layer(conv(w, same=True) if len(w.shape) == 3 else f"nn.Linear({w.width}, {w.shape[0]})")
    w.run("with torch.no_grad():", f"    y = {layer}(x)", w.rng.choice(["x = x + y", "x = x * y", "x = x.relu() - y"]))


def freeze(w: Writer) -> None:
    if w.count:
        at = w.rng.randint(1, w.count)
        w.after.append(f"for p in model.m{at}.parameters():\n    p.requires_grad = False")


def flatten(w: Writer) -> None:
    total = w.shape[0] * w.shape[1] * w.shape[2]
    w.run(w.rng.choice(["x = x.flatten(1)", "x = x.view(x.size(0), -1)", f"x = x.reshape(-1, {total})"]))
    w.shape = (total,)


def connect(w: Writer) -> None:
    features = w.rng.choice([5, 8, 12])
    w.run(f"x = {w.layer(computed(w, f'nn.Linear({w.width}, {features})'))}(x)")
    w.shape = (features,)


Step = Callable[[Writer], None]
ANYWHERE: tuple[Step, ...] = (activate, activate, normalise, residual, join, split, recompute, hook, fall_back,
                              without_gradient, freeze)  # fmt: skip
ON_IMAGES: tuple[Step, ...] = (*ANYWHERE, convolve, convolve, convolve, pool)
ON_ROWS: tuple[Step, ...] = (*ANYWHERE, connect, connect)


def written(seed: int, edited: bool = False) -> str:
    """A program: a class, the model, what is done to it, and its call on a batch."""
    rng = random.Random(seed)
    start = (3, rng.choice([8, 9, 12]), rng.choice([8, 10]))
    w = Writer(rng, start)
    convolve(w)
    for _ in range(rng.randint(1, 5)):
        rng.choice(ON_IMAGES)(w)
    flatten(w)
    connect(w)
    for _ in range(rng.randint(0, 4)):
        rng.choice(ON_ROWS)(w)
    within, behind = edits(seed) if edited else ([], [])
    made = "\n".join(f"        {line}" for line in (*w.made, *within))
    runs = "\n".join(f"        {line}" for line in w.runs)
    after = "\n".join((*w.after, *behind))
    sizes = ", ".join(map(str, (BATCH, *start)))
    body = f"        super().__init__()\n{made}\n\n    def forward(self, x):\n{runs}\n        return x"
    end = f"model = Net()\n{after}\nx = torch.randn({sizes})\ny = model(x)\n"
    return f"{EDITING if edited else ''}{HEAD}class Net(nn.Module):\n    def __init__(self):\n{body}\n\n\n{end}"


def asked(text: str) -> dict[str, Any]:
    """What PyTorch says of a program: its figures, or what it raises. Needs torch."""
    import gc
    import warnings
    import weakref

    import torch

    class Kept:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor.detach()

    alive: weakref.WeakSet[Kept] = weakref.WeakSet()

    def pack(tensor: Any) -> Kept:
        kept = Kept(tensor)
        alive.add(kept)
        return kept

    scope: dict[str, Any] = {"__name__": "__main__"}
    try:
        with warnings.catch_warnings(), torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
            warnings.simplefilter("ignore")
            exec(compile(text, "generated.py", "exec"), scope)
    except Exception as error:
        return {"raises": type(error).__name__}
    gc.collect()
    model = scope["model"]
    own = {each.untyped_storage()._cdata for each in (*model.parameters(), *model.buffers())}
    storages = {kept.tensor.untyped_storage()._cdata: kept.tensor.untyped_storage().nbytes() for kept in list(alive)}
    return {
        "parameters": sum(each.numel() for each in model.parameters()),
        "trainable": sum(each.numel() for each in model.parameters() if each.requires_grad),
        "saved": sum(size for key, size in storages.items() if key not in own),
        "output": list(scope["y"].shape),
    }


def said(text: str) -> dict[str, Any]:
    """What we say of it: the same figures where they are called exact, with the findings. PyTorch is asked on the CPU:
    what it keeps is told by that build's rules."""
    from flake8_cnnmem import checks
    from flake8_cnnmem.analysis import analyse
    from flake8_cnnmem.frameworks.torch.reference import REFERENCE
    from flake8_cnnmem.memory import framework
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import Source
    from flake8_cnnmem.training import Fact

    settings = Settings(batch_size=Fact(BATCH, "option"))
    answer = analyse(Source("generated.py", text), settings)
    found = [f"{each.line}: {each.message}" for each in checks.run(answer, settings, ["CNM201", "CNM202"])]
    report = next((each for each in answer.reports if each.name == "Net"), None)
    if report is None:
        return {"found": found, "status": "not made", "causes": []}
    told: dict[str, Any] = {"found": found, "status": report.status, "causes": [each.reason for each in report.causes]}
    if report.status == "exact" and report.estimate is not None and report.model is not None:
        [output] = report.model.outputs
        assert isinstance(output.shape, tuple)
        told["parameters"], told["trainable"] = report.parameters, report.trainable
        told["saved"] = framework.estimate(report.model, report.training, 0, REFERENCE).saved
        told["output"] = [BATCH, *output.shape[1:]]
    return told


def differs(truth: dict[str, Any], told: dict[str, Any]) -> str:
    """What is wrong with what we say, or ""."""
    if "raises" in truth:
        return "" if told["found"] or told["status"] != "exact" else f"exact, but it raises {truth['raises']}"
    if told["found"]:
        return f"it runs, but is accused: {told['found']}"
    if told["status"] != "exact":
        return ""
    return "; ".join(f"{word} {told[word]}, not {truth[word]}" for word in truth if told[word] != truth[word])


def main() -> int:
    from tests.generated_language import search

    count, first = (int(text) for text in (*sys.argv[1:3], *("2000", "0")[len(sys.argv[1:3]) :]))
    return search(lambda seed: written(seed, edited=True), count, first)


if __name__ == "__main__":
    sys.exit(main())
