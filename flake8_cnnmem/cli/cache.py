"""`cnnmem cache clear|info`: the findings that are kept from run to run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import FITS, Unusable
from flake8_cnnmem.cli.options import settings_of

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "cache",
        help="what is kept from run to run",
        description="The cache of this project's findings: what it holds (info, the default), or an empty one (clear).",
    )
    command.set_defaults(command=run)
    command.add_argument("what", nargs="?", choices=("info", "clear"), default="info")


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem import units
    from flake8_cnnmem.findings import store_of

    store = store_of(settings_of(options))
    if store is None:
        raise Unusable("there is no cache: it is turned off, its folder is somebody else's, or the user has no key")
    if options.what == "clear":
        store.shrink(0)
    entries = list(store.entries())
    print(f"{store.folder}: {len(entries)} entries, {units.show(sum(size for _, size, _ in entries))}")
    return FITS
