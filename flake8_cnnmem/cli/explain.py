"""`cnnmem explain CODE|TOPIC`: a check's page, or one of the manual, in Markdown."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import FITS, Unusable

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands

SCHEMA = "json-schema"


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "explain",
        help="what a code means, and the manual",
        description="A check's page: what it means, an example, how to mend it, how to silence it; or a page of the "
        "manual. json-schema prints the JSON Schema of --format json.",
    )
    command.set_defaults(command=run)
    command.add_argument(
        "codes", nargs="*", metavar="CODE|TOPIC", help="CNM101, configuration, ...; all of them in a line each if none"
    )


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem import checks, manual
    from flake8_cnnmem.reporting.pages import NoSuchCode, page

    topics = manual.topics()
    if not options.codes:
        print("\n".join(page(check.code).splitlines()[0].removeprefix("# ") for check in checks.every()))
        print("\n".join(f"{topic}: {title}" for topic, title in topics.items()))
        print(f"{SCHEMA}: The JSON Schema of --format json")
        return FITS
    try:
        words = [word.strip() for word in options.codes]
        pages = [manual.page(word.lower()) if word.lower() in (*topics, SCHEMA) else page(word) for word in words]
    except NoSuchCode as error:
        raise Unusable(f"{error}; or a page of the manual: {', '.join((*topics, SCHEMA))}") from None
    print("\n\n".join(text.rstrip("\n") for text in pages))
    return FITS
