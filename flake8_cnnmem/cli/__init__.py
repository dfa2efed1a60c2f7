"""The command `cnnmem`: arguments in, a report out. One file a command, each with

    add(commands)     puts the command and its arguments into the parser
    run(options)      does it, and gives the exit status

Nothing heavy is imported before a command needs it, and of the commands only the one that is named.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence

import flake8_cnnmem
from flake8_cnnmem.cli.completion import add_completion
from flake8_cnnmem.cli.ending import FITS, INTERRUPTED, UNUSABLE, Unusable
from flake8_cnnmem.cli.usage import Parser
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.reporting.progress import clear
from flake8_cnnmem.running.gc_tuning import not_looked_through_at_exit

COMMANDS = ("report", "diff", "check", "fix", "init", "explain", "gpus", "lsp", "cache", "sources")
"""In the order of `cnnmem --help`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `cnnmem` and gives its exit status: 0 all fit or there is no limit, 1 one exceeds it, 2 unusable."""
    # A name that the terminal's encoding does not have is no reason to fail.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    own_process = arguments is None
    arguments = sys.argv[1:] if arguments is None else arguments
    not_looked_through_at_exit()
    try:
        options, unknown = parser(arguments[:1]).parse_known_args(arguments)
        if unknown:
            options.parser.refuse(unknown)
        status: int = options.command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        if own_process:
            # Pressed twice it ends no less quietly.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        clear()
        # Imported by whoever has started some.
        multiprocessing = sys.modules.get("multiprocessing")
        for process in multiprocessing.active_children() if multiprocessing is not None else ():
            process.terminate()
        return INTERRUPTED
    except BrokenPipeError:
        # `cnnmem gpus | head`: whoever read has seen enough. Python must not flush into the closed pipe on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FITS
    except Unusable as error:
        print(f"cnnmem: error: {one_line(str(error))}", file=sys.stderr)
        return UNUSABLE
    return status


def parser(named: Sequence[str] = ()) -> Parser:
    """The parser of all commands, or of the one that is named alone; `options.command` is that one's function, and
    `options.parser` its own."""
    whole = Parser(prog="cnnmem", description="GPU memory of training a neural network, read from its source code.")
    whole.add_argument("--version", action="version", version=f"cnnmem {flake8_cnnmem.__version__}")
    add_completion(whole)
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    for name in [name for name in COMMANDS if name in named] or COMMANDS:
        importlib.import_module(f"{__name__}.{name}").add(commands)
    for command in commands.choices.values():
        command.set_defaults(parser=command)
    return whole
