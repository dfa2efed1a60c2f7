"""Measures what the training programs of fixtures/programs ask of PyTorch's CUDA allocator: fixtures/truth/programs.json,
and double_backward.json for those that take gradients of gradients.

Run by hand, with a CUDA build of PyTorch and a card (a fake one that only counts will do: no value is looked at):

    python tests/oracle/measure_programs.py [PROGRAM.py...]
    python tests/oracle/measure_programs.py --one PROGRAM.py [--replace OLD NEW]... [--live N]

The first form writes the figures of all programs of the truth, or of those named, over what it holds; its other facts
are a reader's. One program a process: what one leaves behind would be in the next one's peaks. Phases are parted by
lines that begin with `# ---`, or, within a loop, by a change of the text that ends the program with them.

`--one` prints JSON: for each phase the peaks of requested, allocated and reserved bytes, the cuBLAS workspaces that are
in memory at its peak, the parameters of the models at its end. `--replace` changes the text before it runs (another
number of turns); `--live` lists who holds what at the peak.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PROGRAMS = FIXTURES / "programs"
TRUTHS = (FIXTURES / "truth" / "programs.json", FIXTURES / "truth" / "double_backward.json")
FIGURES = ("requested_peak", "allocated_peak", "reserved_peak", "workspaces", "models")

WORKSPACE = {8_519_680}
"""cuBLAS's workspace, by handle and stream, on cards before Hopper."""

ZEROS = {
    # L-BFGS would stop at once, and would never keep a direction: as for a loss that is still falling.
    "torch.optim.lbfgs": {
        "flat_grad.abs().max() <= tolerance_grad": "False",
        "d.mul(t).abs().max() <= tolerance_change": "False",
        "abs(loss - prev_loss) < tolerance_change": "False",
        "gtd > -tolerance_change": "False",
        "if ys > 1e-10:": "if True:",
    },
    # The average over all batches divides by their number, which is counted on the card.
    "torch.nn.modules.batchnorm": {"float(self.num_batches_tracked)": "max(1.0, float(self.num_batches_tracked))"},
}
"""On a card that only counts every value is zero: what PyTorch's own Python code would ask of values, and the answer."""


def answer_for_values() -> None:
    for name, answers in ZEROS.items():
        module = importlib.import_module(name)
        assert module.__file__
        text = Path(module.__file__).read_text()
        for question, answer in answers.items():
            assert question in text, question
            text = text.replace(question, answer)
        new: dict[str, Any] = {"__name__": name, "__package__": name.rpartition(".")[0]}
        exec(compile(text, module.__file__, "exec"), new)
        for word, old in vars(module).items():
            if isinstance(old, type) and old.__module__ == name:
                for method in ("step", "forward"):
                    if method in vars(old):
                        setattr(old, method, vars(new[word])[method])


def run_no_kernels() -> None:
    """Triton's kernels are programs of the card, and ask for no memory: where it is installed, they do nothing."""
    if importlib.util.find_spec("triton") is not None:
        jit = importlib.import_module("triton.runtime.jit")
        jit.JITFunction.run = lambda *args, **options: None


def phases(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for at, line in enumerate(text.split("\n")):
        if line.startswith("# ---"):
            parts.append([""] * at)
        parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def at_peak(
    events: list[dict[str, Any]], before: dict[int, tuple[int, str]]
) -> tuple[int, dict[int, tuple[int, str]], str]:
    """The peak of what is alive, the blocks that are alive then, and where it is reached."""
    alive, current = dict(before), sum(size for size, _ in before.values())
    peak, when = current, -1
    for at, event in enumerate(events):
        if event["action"] == "alloc":
            alive[event["addr"]] = (event["size"], "")
            current += event["size"]
            if current > peak:
                peak, when = current, at
        elif event["action"] == "free_completed":
            current -= alive.pop(event["addr"])[0]
    return peak, replay(events[: when + 1], dict(before)), label(events[when]) if when >= 0 else "start"


def replay(events: list[dict[str, Any]], alive: dict[int, tuple[int, str]]) -> dict[int, tuple[int, str]]:
    for event in events:
        if event["action"] == "alloc":
            alive[event["addr"]] = (event["size"], label(event))
        elif event["action"] == "free_completed":
            alive.pop(event["addr"], None)
    return alive


def label(event: dict[str, Any]) -> str:
    frames = [f for f in event.get("frames") or [] if f["filename"].endswith(".py")]
    return " < ".join(f"{Path(f['filename']).name}:{f['line']} {f['name']}" for f in frames[:4]) or "?"


def models(space: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Parameters by name, each model under its first one. In a function of its own: what is looked at is not held on to."""
    first: dict[int, str] = {}
    for name, value in space.items():
        if isinstance(value, torch.nn.Module) and any(True for _ in value.parameters()):
            first.setdefault(id(value), name)
    return {
        name: {
            "parameters": sum(p.numel() for p in space[name].parameters()),
            "trainable": sum(p.numel() for p in space[name].parameters() if p.requires_grad),
        }
        for name in first.values()
    }


def measure(path: Path, text: str, live: int) -> dict[str, Any]:
    sys.path.insert(0, str(path.parent))
    space: dict[str, Any] = {"__name__": "__main__"}
    rows, alive, seen = [], {}, 0
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(max_entries=8_000_000, stacks="python", context="all" if live else None)
    for part in phases(text):
        torch.cuda.reset_peak_memory_stats()
        exec(compile(part, str(path), "exec"), space)
        stats = torch.cuda.memory_stats()
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        events, seen = trace[seen:], len(trace)
        peak, then, where = at_peak(events, alive)
        alive = replay(events, alive)
        assert peak == stats["requested_bytes.all.peak"], (peak, stats["requested_bytes.all.peak"])
        workspaces = [size for size, _ in then.values() if size in WORKSPACE]
        row = {
            "requested_peak": peak,
            "allocated_peak": stats["allocated_bytes.all.peak"],
            "reserved_peak": stats["reserved_bytes.all.peak"],
            "workspaces": sum(workspaces),
            "left": sum(size for size, _ in alive.values()),
            "models": models(space),
        }
        if live:
            held: collections.Counter[str] = collections.Counter()
            count: collections.Counter[str] = collections.Counter()
            for size, who in then.values():
                held[who] += size
                count[who] += 1
            row["at"] = where
            row["of the backward pass"] = sorted((size for size, who in then.values() if who == "?"), reverse=True)[
                :live
            ]
            row["live"] = [f"{size:>12,} {count[who]:>4}x {who}" for who, size in held.most_common(live)]
        rows.append(row)
    return {"program": path.name, "phases": rows}


def measured(program: str, replace: list[list[str]]) -> list[dict[str, Any]]:
    """The phases of a program, from a process of its own."""
    changes = [word for old, new in replace for word in ("--replace", old, new)]
    command = [sys.executable, __file__, "--one", str(PROGRAMS / program), *changes]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return list(json.loads(output.splitlines()[-1])["phases"])


def write(path: Path, only: list[str]) -> None:
    truth = json.loads(path.read_text())
    for program in truth["programs"]:
        if only and program["program"] not in only:
            continue
        changed = [phase.get("replace") for phase in program["phases"]]
        parted = measured(program["program"], [])
        assert len(parted) == changed.count(None), program["program"]
        rest = iter(parted)
        rows = [measured(program["program"], change)[-1] if change else next(rest) for change in changed]
        for phase, row in zip(program["phases"], rows, strict=True):
            phase.update({name: row[name] for name in FIGURES})
        if "growth" in program:
            at = program["growth"]["phase"] - 1
            more = measured(program["program"], program["growth"]["replace"])
            program["growth"]["bytes"] = more[at]["requested_peak"] - rows[at]["requested_peak"]
        print(program["program"], [row["requested_peak"] for row in rows], flush=True)
    path.write_text(json.dumps(truth, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM.py")
    parser.add_argument("--one", type=Path, metavar="PROGRAM.py")
    parser.add_argument("--replace", nargs=2, action="append", default=[], metavar=("OLD", "NEW"))
    parser.add_argument("--live", type=int, default=0)
    options = parser.parse_args()
    if not options.one:
        for path in TRUTHS:
            write(path, options.programs)
        return
    text = options.one.read_text()
    for old, new in options.replace:
        assert old in text, old
        text = text.replace(old, new)
    answer_for_values()
    run_no_kernels()
    print(json.dumps(measure(options.one.resolve(), text, options.live), indent=1 if options.live else None))
    # What a fake card does at the interpreter's end is of no interest.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
