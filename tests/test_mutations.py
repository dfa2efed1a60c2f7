"""The fixtures with a statement deleted, repeated or moved, a literal changed, a name changed: nothing breaks.

    python tests/test_mutations.py [COUNT] [SEED]

runs more of them (1500 unless said otherwise) than the few here, prints what breaks, with the seed of each, and exits
with 1 if anything does; `CNNMEM_MUTATIONS=COUNT` has pytest run so many.
"""

from __future__ import annotations

import ast
import copy
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from flake8_cnnmem import checks  # noqa: E402
from flake8_cnnmem.analysis import FileReport, analyse  # noqa: E402
from flake8_cnnmem.reporting import as_json, table  # noqa: E402
from flake8_cnnmem.results import ModelReport  # noqa: E402
from flake8_cnnmem.settings.options import OPTIONS, Settings  # noqa: E402
from flake8_cnnmem.source import Source  # noqa: E402
from tests import pace  # noqa: E402

FILES = sorted(
    path for folder in ("models/torch", "models/keras", "bugs", "scripts")
    for path in (ROOT / "fixtures" / folder).glob("*.py")
)  # fmt: skip
FEW = 60
SECONDS = 6.0
"""Processor time of one file, beside other processes."""

ABSURD = 10**13
LITERALS = (0, 1, -1, 2, 3, 7, 64, 2.5, 10**30, None, True, "", "text", (), (3, 3), float("inf"))


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements of a program."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def a_block(tree: ast.Module, rng: random.Random, least: int = 1) -> list[ast.stmt] | None:
    found = [block for block in blocks(tree) if len(block) >= least]
    return rng.choice(found) if found else None


def delete(tree: ast.Module, rng: random.Random) -> None:
    block = a_block(tree, rng)
    if block is not None:
        del block[rng.randrange(len(block))]
        if not block:
            block.append(ast.Pass())


def swap(tree: ast.Module, rng: random.Random) -> None:
    block = a_block(tree, rng, least=2)
    if block is not None:
        one, other = rng.sample(range(len(block)), 2)
        block[one], block[other] = block[other], block[one]


def duplicate(tree: ast.Module, rng: random.Random) -> None:
    block = a_block(tree, rng)
    if block is not None:
        block.insert(rng.randrange(len(block) + 1), copy.deepcopy(rng.choice(block)))


def change_literal(tree: ast.Module, rng: random.Random) -> None:
    # A text within an f-string can be nothing else.
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in within]
    if found:
        # ast.unparse writes an infinity as 1e309, and a tuple's value as the tuple.
        rng.choice(found).value = rng.choice(LITERALS)  # type: ignore[assignment]


def rename(tree: ast.Module, rng: random.Random) -> None:
    """One use of a name, or one definition, under another name of the program."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    if names and (not attributes or rng.random() < 0.5):
        rng.choice(names).id = rng.choice([*(node.id for node in names), "unheard"])
    elif attributes:
        rng.choice(attributes).attr = rng.choice([*(node.attr for node in attributes), "unheard"])


def drop_argument(tree: ast.Module, rng: random.Random) -> None:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    if calls:
        call = rng.choice(calls)
        del call.args[rng.randrange(len(call.args))]


CHANGES: tuple[Callable[[ast.Module, random.Random], None], ...] = (
    delete, delete, swap, duplicate, change_literal, change_literal, rename, drop_argument,
)  # fmt: skip


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def mutant(seed: int) -> tuple[Path, str]:
    """A fixture and its text after one to three changes."""
    rng = random.Random(seed)
    path = rng.choice(FILES)
    tree = copy.deepcopy(parsed(path))
    for _ in range(rng.randint(1, 3)):
        rng.choice(CHANGES)(tree, rng)
    return path, ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def wrong_with(model: ModelReport) -> str:
    """What a report must not say, or ""."""
    if model.status == "unresolved":
        # Of one with wrong sizes the layers are there, and with them their parameters.
        bare = model.estimate is None and (model.parameters is None or bool(model.problems))
        return "" if model.causes and bare else "unresolved without a cause, or with figures"
    if model.parameters is None and model.status == "lower-bound" and model.kind == "training":
        # Of a training whose model is not known the batch alone is counted.
        return "" if model.causes and model.estimate is not None and not model.fits else "a bound without a cause"
    if model.parameters is None or model.trainable is None or model.activations is None or model.estimate is None:
        return "figures are missing"
    if bool(model.causes) is (model.status == "exact"):
        return f"{model.status} with the causes {model.causes}"
    endless = any("beyond any memory" in cause.reason for cause in model.causes)
    if not 0 <= model.trainable <= model.parameters or (model.parameters >= ABSURD and not endless):
        return f"{model.trainable} of {model.parameters} parameters are trained"
    if sum(row.parameters for row in model.rows) > model.parameters or any(row.parameters < 0 for row in model.rows):
        return "the rows have more parameters than the model"
    if model.activations < 0 or model.estimate.total < 0 or any(row.bytes < 0 for row in model.rows):
        return "less than nothing is held"
    if model.fits and model.status != "exact":
        return "a lower bound is said to fit"
    return ""


[LIMIT] = [option for option in OPTIONS if option.name == "gpu-limit"]


def reported(path: Path, text: str) -> FileReport:
    """The whole way of one text, checks and reports included."""
    settings = Settings.of({"gpu_limit": LIMIT.parse("T4")})
    report = analyse(Source(str(path), text), settings)
    checks.run(report, settings, {check.code for check in checks.every()})
    table.render(report.reports, settings)
    as_json.render(report.reports)
    return report


def broken(seed: int) -> str:
    """What goes wrong with one mutant, or ""."""
    path, text = mutant(seed)
    began = time.process_time()
    try:
        report = reported(path, text)
    except Exception as error:
        return f"{path.name}: " + "".join(traceback.format_exception(error)[-4:])
    took = time.process_time() - began
    if pace.beyond(took, SECONDS):
        return f"{path.name}: takes {took:.1f} s"
    found = [f"{path.name}: {model.name}: {wrong}" for model in report.reports if (wrong := wrong_with(model))]
    return "; ".join(found)


def test_a_changed_fixture_breaks_nothing() -> None:
    count = int(os.environ.get("CNNMEM_MUTATIONS", FEW))
    assert {seed: wrong for seed in range(count) if (wrong := broken(seed))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import keras\nclass M(keras.Model):\n    def __init__(self):\n        super(M, keras).__init__()\nm = M()\n",
        "import keras\nclass M(keras.Model):\n    def __init__(self):\n        super(M, 3).__init__()\nm = M()\n",
        "import keras\nx = keras.Input((8,))\nkeras.layers.Dense(4)()\nm = keras.Model(x, keras.layers.Dense(3)(x))\n",
    ],
    ids=["super of a module", "super of a number", "a layer called on nothing"],
)
def test_what_a_mutation_once_broke(text: str) -> None:
    assert [wrong for model in reported(Path("net.py"), text).reports if (wrong := wrong_with(model))] == []


def main() -> int:
    os.environ["CNNMEM_STRICT"] = "1"
    count, first = (int(text) for text in (*sys.argv[1:3], *("1500", "0")[len(sys.argv[1:3]) :]))
    wrong = 0
    for seed in range(first, first + count):
        message = broken(seed)
        if message:
            wrong += 1
            print(f"seed {seed}: {message}", flush=True)
    print(f"{count} mutations, {wrong} broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
