"""`cnnmem explain CODE`: a check's page, in Markdown."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import FITS, Unusable

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "explain",
        help="what a code means",
        description="A check's page: what it means, an example, how to mend it, how to silence it.",
    )
    command.set_defaults(command=run)
    command.add_argument("codes", nargs="*", metavar="CODE", help="CNM101, ...; all of them in a line each if none")


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem import checks
    from flake8_cnnmem.report.pages import NoSuchCode, page

    if not options.codes:
        print("\n".join(page(check.code).splitlines()[0].removeprefix("# ") for check in checks.every()))
        return FITS
    try:
        print("\n\n".join(page(code) for code in options.codes))
    except NoSuchCode as error:
        raise Unusable(str(error)) from None
    return FITS
