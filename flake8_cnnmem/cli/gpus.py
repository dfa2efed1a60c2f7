"""`cnnmem gpus [FILTER]`: the known GPUs and their memory."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import flake8_cnnmem
from flake8_cnnmem.cli.ending import FITS, Unusable

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.memory.gpus import Gpu


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "gpus",
        help="the known GPUs and their memory",
        description="The known GPUs, and the memory that the driver reports of each.",
    )
    command.set_defaults(command=run)
    command.add_argument(
        "filter", nargs="?", default="", metavar="FILTER", help="a part of a name (A100), or 2xA100-80GB"
    )
    command.add_argument("--format", choices=("table", "json"), default="table", help="table (the default) or json")


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.reporting.as_json import SCHEMA
    from flake8_cnnmem.reporting.columns import in_columns

    count, gpus = found(options.filter)
    if not gpus:
        from flake8_cnnmem.memory.gpus import nearest, normalise

        near = nearest(normalise(options.filter))
        meant = f": did you mean {near[0]}?" if near else "; `cnnmem gpus` lists them"
        raise Unusable(f"no known GPU is called {options.filter!r}{meant}")
    if options.format == "json":
        listed = [document(gpu, count) for gpu in gpus]
        print(json.dumps({"cnnmem": flake8_cnnmem.__version__, "schema": SCHEMA, "gpus": listed}, indent=2))
        return FITS
    rows = [cells(gpu, count) for gpu in gpus]
    print(in_columns(rows, "l" + "r" * (len(rows[0]) - 1)))
    return FITS


def found(text: str) -> tuple[int, Sequence[Gpu]]:
    """How many of each are asked for, and the GPUs whose name or alias has the text in it."""
    from flake8_cnnmem.memory.gpus import GPUS, SEVERAL, normalise

    several = SEVERAL.fullmatch(text.strip())
    count, name = (int(several[1]), several[2]) if several is not None else (1, text)
    word = normalise(name)
    names = {gpu: [normalise(each) for each in (gpu.name, *gpu.aliases)] for gpu in GPUS}
    exact = [gpu for gpu in GPUS if word in names[gpu]]
    return count, exact or [gpu for gpu in GPUS if any(word in each for each in names[gpu])]


def cells(gpu: Gpu, count: int) -> tuple[str, ...]:
    row = (gpu.name, f"{gpu.mib} MiB", f"{gpu.mib / 1024:.1f} GiB")
    return row if count == 1 else (f"{count}x{gpu.name}", f"{count} x {row[1]}", f"{count * gpu.mib / 1024:.1f} GiB")


def document(gpu: Gpu, count: int) -> dict[str, object]:
    """`seen`: where the figure is known from."""
    return {"name": gpu.name, "mib": gpu.mib, "count": count, "aliases": list(gpu.aliases), "seen": gpu.seen}
