"""`cnnmem gpus`: the known GPUs and their memory."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import FITS

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands


def add(commands: Commands) -> None:
    command = commands.add_parser("gpus", help="the known GPUs and their memory", description="The known GPUs.")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    from tabulate import tabulate

    from flake8_cnnmem.memory.gpus import GPUS

    rows = [(gpu.name, f"{gpu.mib} MiB", f"{gpu.mib / 1024:.1f} GiB") for gpu in GPUS]
    print(tabulate(rows, tablefmt="plain", disable_numparse=True, colalign=("left", "right", "right")))
    return FITS
