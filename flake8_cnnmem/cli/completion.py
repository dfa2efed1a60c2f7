"""`cnnmem --print-completion SHELL`: the shell's own script, made from the argument parser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")


def add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--print-completion",
        action=Completion,
        choices=SHELLS,
        help="print a script that completes commands and options in this shell (extra: completion)",
    )


class Completion(argparse.Action):
    """Prints the script and ends."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:  # fmt: skip
        try:
            import shtab
        except ImportError:
            parser.error("--print-completion needs shtab, which is missing: pip install 'flake8-cnnmem[completion]'")
        print(shtab.complete(parser, shell=str(values)))
        parser.exit()
