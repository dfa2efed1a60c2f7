"""Compare the ops of `flake8_cnnmem.ops` with PyTorch and Keras on random arguments. Run by hand:

    python tests/oracle/check_ops.py [--framework torch|keras] [--rounds N] [--seed N]

Needs the frameworks (the optional extra `oracle`); Keras runs on TensorFlow. For each case the framework's
own output shapes are compared with the op's three times: with plain numbers, with the leading axis as the
batch, and with one size made Unknown (known sizes must then still be right). Prints one line for each
difference, and a count for each kind of op. Where the framework refuses and the op does not, the case is
counted as "missed" (the op may be silent); the other way round is an error.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from check_ops_keras import keras_cases
from check_ops_torch import torch_cases

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.unknown import Unknown


@dataclass
class Case:
    """`run` gives the framework's output shapes (raising what it raises), `weights` those of its parameters."""

    op: Op
    inputs: tuple[Shape, ...]
    run: Callable[[], tuple[tuple[int, ...], ...]]
    weights: Callable[[], list[tuple[int, ...]]] | None = None
    batched: bool = True


def ours(op: Op, inputs: tuple[Shape, ...]) -> tuple[Any, ...] | None:
    """The op's outputs, None where it finds them wrong."""
    try:
        return op.outputs(*inputs)
    except Mismatch:
        return None


def agrees(found: tuple[Any, ...], truth: tuple[tuple[int, ...], ...], batch: int, strict: bool) -> bool:
    """Whether the shapes are the framework's; not `strict`: where known."""
    if len(found) != len(truth):
        # Of an axis whose size is not known, the number of parts that are asked for is believed.
        return not strict
    for shape, real in zip(found, truth, strict=True):
        if isinstance(shape, Unknown):
            if strict:
                return False
            continue
        if len(shape) != len(real):
            return False
        for size, number in zip(shape, real, strict=True):
            if isinstance(size, Unknown):
                if strict:
                    return False
            elif (size.multiple * batch if isinstance(size, Batch) else size) != number:
                return False
    return True


def check(case: Case, rng: random.Random, counts: Counter[str]) -> Iterator[str]:
    """The differences of one case."""
    name = type(case.op).__name__
    counts[name] += 1
    try:
        truth: tuple[tuple[int, ...], ...] | None = case.run()
        if any(0 in shape for shape in truth) and not any(0 in shape for shape in case.inputs):
            truth, refusal = None, "an output of size 0"  # CNM202, even where a framework goes on with nothing
    except Exception as error:  # whatever a framework raises is its refusal
        truth, refusal = None, str(error)[:160]
    found = ours(case.op, case.inputs)
    if truth is None:
        counts[f"{name} refused"] += 1
        if found is not None:
            counts[f"{name} missed"] += 1
            if counts[f"{name} missed"] <= 3:
                yield f"  missed  {case.op} {case.inputs}: {found}; {refusal!r}"
        return
    if found is None:
        try:
            case.op.outputs(*case.inputs)
        except Mismatch as mismatch:
            yield f"ALARM   {case.op} {case.inputs}: {mismatch.problem.what}; truth {truth}"
        return
    if not agrees(found, truth, 0, strict=True):
        yield f"WRONG   {case.op} {case.inputs}: {found}; truth {truth}"
        return
    if case.weights is not None:
        mine = [spec.shape for spec in case.op.weights(*case.inputs).values()]
        if mine != case.weights():
            yield f"WEIGHTS {case.op} {case.inputs}: {mine}; truth {case.weights()}"
    if not case.batched or not case.inputs[0] or case.inputs[0][0] in (0, 1):
        return
    batch = case.inputs[0][0]
    assert isinstance(batch, int)
    target = getattr(case.op, "target", None) or getattr(case.op, "sizes", None)
    if isinstance(target, tuple) and target[0] not in (-1, batch):
        return  # a reshape to another number of rows than the batch's is taken to mean the batch
    symbolic = tuple((Batch(1), *shape[1:]) if shape and shape[0] == batch else shape for shape in case.inputs)
    found = ours(case.op, symbolic)
    if found is None:
        counts[f"{name} batch alarm"] += 1
        if counts[f"{name} batch alarm"] <= 2:
            yield f"  alarm with N {case.op} {symbolic}; truth {truth}"
    elif not agrees(found, truth, batch, strict=False):
        yield f"WRONG N {case.op} {symbolic}: {found}; truth {truth}"
    which = rng.randrange(len(case.inputs))
    shape = case.inputs[which]
    if shape:
        at = rng.randrange(len(shape))
        blank = (*shape[:at], Unknown("?"), *shape[at + 1 :])
        inputs = (*case.inputs[:which], blank, *case.inputs[which + 1 :])
        found = ours(case.op, inputs)
        if found is None or not agrees(found, truth, 0, strict=False):
            yield f"WRONG ? {case.op} {inputs}: {found}; truth {truth}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=["torch", "keras"], default="torch")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    make = torch_cases if arguments.framework == "torch" else keras_cases
    counts: Counter[str] = Counter()
    wrong = 0
    for _ in range(arguments.rounds):
        for parts in make(rng):
            for line in check(Case(*parts), rng, counts):
                wrong += not line.startswith(" ")
                print(line)
    for name in sorted(counts):
        print(f"{counts[name]:8} {name}")
    print(f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
