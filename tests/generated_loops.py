"""Programs that train, made by chance: what trains, what the optimizer holds, what the loop draws, and what it keeps.

    python tests/generated_loops.py [COUNT] [SEED]

makes so many of them (500 unless said otherwise), asks PyTorch itself what each does, and prints those of which we say
something else; the exit status is 1 if there are any. What CI asks is in test_generated_loops.py.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WIDTH = 256
"""Features of a sample: a batch of them is more than what is not worth telling."""
MUCH = 8192
"""Bytes that a turn leaves with its graph and that have to be told."""

OPTIMIZERS = (
    "SGD({p}, lr=0.1)", "SGD({p}, lr=0.1, momentum=0.9)", "SGD({p}, lr=0.1, momentum=0.9, nesterov=True)", "Adam({p})",
    "Adam({p}, amsgrad=True)", "AdamW({p}, lr=1e-3)", "RMSprop({p})", "RMSprop({p}, centered=True, momentum=0.5)",
    "Adagrad({p})", "Adadelta({p})", "Adamax({p})", "NAdam({p})", "RAdam({p})", "Rprop({p})", "ASGD({p})",
)  # fmt: skip

KEPT_IN_TRAINING = (
    "", "", "losses.append(loss.item())", "losses.append(loss.detach())", "losses.append(loss)",
    "losses.append(float(loss))", "total += loss.item()", "total = total + loss", "total += loss.detach()",
    "outputs.append(out.detach().cpu())", "outputs.append(out)", "last = out", "best = max(best, loss.item())",
    "history[step] = loss", "history['last'] = out", "model.seen = out", "extra.append(model.head(hidden))",
    "extra.append(model.head(hidden).detach())", "outputs = [out]", "outputs.append(out.argmax(1))",
)  # fmt: skip

KEPT_IN_EVALUATION = (
    "outputs.append(out)", "outputs.append(out.detach())", "total += F.cross_entropy(out, y)",
    "total += F.cross_entropy(out, y).item()", "right += (out.argmax(1) == y).sum()", "outputs.append(out.argmax(1))",
    "outputs.append(out.softmax(1).tolist())", "history[step] = out.mean()", "last = out", "outputs[-1:] = [out]",
    "scores.append(F.softmax(out, -1).max(1).values)",
)  # fmt: skip


def model_of(rng: random.Random) -> str:
    hidden = rng.choice([24, 40, 48])
    act = rng.choice(["torch.relu", "torch.tanh", "F.gelu", "torch.sigmoid"])
    norm = rng.random() < 0.4
    body = [f"nn.Linear({WIDTH}, {hidden})", *([f"nn.BatchNorm1d({hidden})"] if norm else [])]
    return f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential({", ".join(body)})
        self.head = nn.Linear({hidden}, 10, bias={rng.random() < 0.8})

    def features(self, x):
        return {act}(self.body(x))

    def forward(self, x):
        return self.head(self.features(x))
"""


def parameters_of(rng: random.Random) -> tuple[list[str], str]:
    """Statements before the optimizer is made, and what it is given."""
    freeze = rng.choice(["", "", "for p in model.body.parameters():\n    p.requires_grad = False",
                         "model.head.requires_grad_(False)", "model.body[0].bias.requires_grad = False"])  # fmt: skip
    given = rng.choice([
        "model.parameters()", "model.parameters()", "model.head.parameters()", "list(model.body.parameters())",
        "[p for p in model.parameters() if p.requires_grad]", "filter(lambda p: p.requires_grad, model.parameters())",
        "[{'params': model.body.parameters()}, {'params': model.head.parameters(), 'lr': 0.01}]",
        "[p for n, p in model.named_parameters() if not n.endswith('bias')]",
        "[{'params': [p for p in model.parameters() if p.ndim > 1]}, {'params': [model.head.weight][:0]}]",
    ])  # fmt: skip
    return [freeze] if freeze else [], given


def indented(lines: list[str], depth: int) -> str:
    return "\n".join("    " * depth + part for line in lines for part in line.split("\n"))


def training(rng: random.Random) -> tuple[list[str], bool]:
    """The body of a loop over `loader`; whether it needs `hidden`."""
    kept = rng.choice(KEPT_IN_TRAINING)
    needs = "hidden" in kept
    forward = ["hidden = model.features(x)", "out = model.head(hidden)"] if needs else ["out = model(x)"]
    loss = rng.choice(["F.cross_entropy(out, y)", "nn.CrossEntropyLoss()(out, y)", "F.nll_loss(out.log_softmax(1), y)",
                       "F.cross_entropy(out, y) + 0.1 * out.pow(2).mean()"])  # fmt: skip
    clip = rng.choice(["", "", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"])
    every = rng.choice([1, 1, 1, 2])
    back = ["loss.backward()", clip, "optimizer.step()"]
    clear = ["optimizer.zero_grad()"]
    if every == 2:
        back = ["(loss / 2).backward()", "if step % 2 == 1:\n    optimizer.step()\n    optimizer.zero_grad()"]
        clear = []
    place = rng.random()
    keeps = [kept] if kept else []
    lines = [*clear, *forward, f"loss = {loss}", *(keeps if place < 0.3 else []), *back,
             *(keeps if place >= 0.3 else [])]  # fmt: skip
    return [line for line in lines if line], needs


def evaluation(rng: random.Random) -> list[str]:
    quiet = rng.choice(["with torch.no_grad():", "with torch.inference_mode():", "", "", "with torch.enable_grad():"])
    body = ["out = model(x)", rng.choice(KEPT_IN_EVALUATION)]
    if not quiet:
        return body
    return [f"{quiet}\n" + "\n".join(f"    {line}" for line in body)]


def written(seed: int) -> str:
    rng = random.Random(seed)
    batch = rng.choice([12, 16, 20])
    samples = batch * 4 + rng.choice([0, 0, 5])
    before, given = parameters_of(rng)
    optimizer = rng.choice(OPTIMIZERS).format(p=given)
    body, _ = training(rng)
    names = "losses, outputs, extra, scores, history = [], [], [], [], {}\ntotal = best = right = 0\nlast = None"
    data = f"TensorDataset(torch.randn({samples}, {WIDTH}), torch.randint(0, 10, ({samples},)))"
    loader = f"DataLoader({data}, batch_size={batch}, shuffle={rng.random() < 0.5}, drop_last=True)"
    parts = ["import torch", "import torch.nn.functional as F", "from torch import nn",
             "from torch.utils.data import DataLoader, TensorDataset", "", "", model_of(rng), ""]  # fmt: skip
    made = ["model = Net()", *before, f"optimizer = torch.optim.{optimizer}", f"loader = {loader}"]
    evaluates = evaluation(rng) if rng.random() < 0.5 else []
    if rng.random() < 0.5:
        loop = ["def train(model, loader, optimizer):", indented([names, "model.train()"], 1),
                "    for step, (x, y) in enumerate(loader):", indented(body, 2),
                "    return losses, outputs, extra"]  # fmt: skip
        parts += [*loop, "", "", *made, "kept = train(model, loader, optimizer)"]
    else:
        parts += [*made, names, "for step, (x, y) in enumerate(loader):", indented(body, 1)]
    if evaluates:
        parts += [names, "model.eval()", f"tests = DataLoader({data}, batch_size={batch}, drop_last=True)",
                  "for step, (x, y) in enumerate(tests):", indented(evaluates, 1)]  # fmt: skip
    return "\n".join(parts) + "\n"


def asked(text: str) -> dict[str, Any]:
    """What PyTorch says of a program: its figures, or what it raises. Needs torch."""
    import warnings
    import weakref
    from unittest import mock

    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)

    class Kept:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor.detach()

    alive: weakref.WeakSet[Kept] = weakref.WeakSet()
    weights: set[int] = set()

    def pack(tensor: Any) -> Kept:
        kept = Kept(tensor)
        alive.add(kept)
        return kept

    def held() -> int:
        storages = {each.tensor.untyped_storage()._cdata: each.tensor.untyped_storage().nbytes() for each in alive}
        return sum(size for key, size in storages.items() if key not in weights)

    batches: list[int] = []
    growths: list[int] = []
    plain = DataLoader.__iter__

    def watched(self: Any) -> Any:
        after = []
        for batch in plain(self):
            batches.append(len(batch[0]))
            weights.update(p.untyped_storage()._cdata for p in scope["model"].parameters())
            yield batch
            after.append(held())
        growths.append(after[-1] - after[-2])

    scope: dict[str, Any] = {"__name__": "__main__"}
    try:
        with (
            warnings.catch_warnings(),
            mock.patch.object(DataLoader, "__iter__", watched),
            torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor),
        ):
            warnings.simplefilter("ignore")
            exec(compile(text, "generated_loops.py", "exec"), scope)
    except Exception as error:
        return {"raises": type(error).__name__}
    optimizer, model = scope["optimizer"], scope["model"]
    owned = [p for group in optimizer.param_groups for p in group["params"]]
    state = [value for entry in optimizer.state.values() for value in entry.values() if isinstance(value, torch.Tensor)]
    return {
        "batch": batches[0],
        "parameters": sum(p.numel() for p in model.parameters()),
        "trainable": sum(p.numel() for p in owned if p.requires_grad),
        "state": sum(tensor.nbytes for tensor in state if tensor.numel() > 1),
        "growth": max(growths),
    }


def said(text: str) -> dict[str, Any]:
    """What we say of it: the same figures where they are called exact, with the lines of what grows."""
    from flake8_cnnmem import checks
    from flake8_cnnmem.analysis import analyse
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import Source

    answer = analyse(Source("generated_loops.py", text), Settings())
    found = list(checks.run(answer, Settings(), ["CNM102", "CNM201", "CNM202"]))
    reports = [report for report in answer.reports if report.kind == "training"]
    told: dict[str, Any] = {
        "grows": sorted({each.line for each in found if each.code == "CNM102"}),
        "found": [each.message for each in found if each.code != "CNM102"],
        "status": reports[0].status if len(reports) == 1 else f"{len(reports)} trainings",
        "causes": [cause.reason for report in reports for cause in report.causes],
    }
    if told["status"] == "exact":
        [report] = reports
        told |= {"batch": report.training.batch_size.value, "parameters": report.parameters}
        told |= {"trainable": report.trainable, "state": state_of(report)}
    return told


def state_of(report: Any) -> int:
    """Bytes of the optimizer's state, in tensors of more than one value."""
    from flake8_cnnmem.frameworks.torch.optim.states import STATES as TORCH
    from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
    from flake8_cnnmem.memory.optimizer_step import Stepping
    from flake8_cnnmem.memory.storages import Memory
    from flake8_cnnmem.memory.timeline import Timeline

    model, memory = report.model, Memory(Timeline(RULES.alignment), 1)
    trained = [w for w in model.weights if id(w) in model.trained and (model.updated is None or id(w) in model.updated)]
    values = {id(weight): memory.new(weight.shape, "float32", use="parameters") for weight in trained}
    for weight in trained:
        values[id(weight)].weight = weight
    Stepping(report.training.optimizer.value, TORCH).state(memory, "float32", values)
    for beside in model.beside:
        # What an optimizer keeps for parameters that it does not change.
        others = {id(weight): memory.new(weight.shape, "float32", use="parameters") for weight in beside.updated}
        if beside.optimizer is not None:
            Stepping(beside.optimizer, TORCH).state(memory, "float32", others)
    lots = [memory.timeline.lots[event] for event in memory.timeline.events if event > 0]
    return sum(line.fixed for line, use in lots if use == "optimizer" and line.fixed > 8)


def differs(truth: dict[str, Any], told: dict[str, Any]) -> str:
    """What is wrong with what we say, or ""."""
    if "raises" in truth:
        return f"exact, but it raises {truth['raises']}" if told["status"] == "exact" else ""
    if told["found"]:
        return f"it runs, but is accused: {told['found']}"
    wrong = []
    if truth["growth"] >= MUCH and not told["grows"]:
        wrong.append(f"{truth['growth']} bytes more with every turn are not told")
    if truth["growth"] <= 0 and told["grows"]:
        wrong.append(f"nothing grows, but lines {told['grows']} are accused")
    if told["status"] == "exact":
        words = ("batch", "parameters", "trainable", "state")
        wrong += [f"{word} {told[word]}, not {truth[word]}" for word in words if told[word] != truth[word]]
    return "; ".join(wrong)


def main() -> int:
    count, first = (int(text) for text in (*sys.argv[1:3], *("500", "0")[len(sys.argv[1:3]) :]))
    wrong = exact = grows = 0
    for seed in range(first, first + count):
        text = written(seed)
        truth, told = asked(text), said(text)
        exact += told["status"] == "exact"
        grows += truth.get("growth", 0) >= MUCH
        message = differs(truth, told)
        if message:
            wrong += 1
            print(f"seed {seed}: {message}", flush=True)
    print(f"{count} programs, {exact} exact, {grows} grow, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
