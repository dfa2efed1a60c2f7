"""The command `cnnmem`: arguments in, a report out. One file a command, each with

    add(commands)     puts the command and its arguments into the parser
    run(options)      does it, and gives the exit status

Nothing heavy is imported before a command needs it: the parser knows all commands at each start.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import flake8_cnnmem
from flake8_cnnmem.cli.ending import FITS, UNUSABLE, Unusable
from flake8_cnnmem.finding import one_line

COMMANDS = ("report", "diff", "check", "init", "explain", "gpus", "cache", "sources")
"""In the order of `cnnmem --help`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `cnnmem` and gives its exit status: 0 all fit or there is no limit, 1 one exceeds it, 2 unusable."""
    # A name that the terminal's encoding does not have is no reason to fail.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = parser().parse_args(arguments)
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # `cnnmem gpus | head`: whoever read has seen enough. Python must not flush into the closed pipe on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FITS
    except Unusable as error:
        print(f"cnnmem: error: {one_line(str(error))}", file=sys.stderr)
        return UNUSABLE
    return status


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; `options.command` is the function of the one that was named."""
    whole = argparse.ArgumentParser(
        prog="cnnmem", description="GPU memory of training a neural network, read from its source code."
    )
    whole.add_argument("--version", action="version", version=f"cnnmem {flake8_cnnmem.__version__}")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"{__name__}.{name}").add(commands)
    return whole
