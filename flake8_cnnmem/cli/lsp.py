"""`cnnmem lsp`: a language server on standard input and output, which an editor starts for itself."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import FITS, Unusable
from flake8_cnnmem.cli.options import add_settings, settings_of
from flake8_cnnmem.settings.options import OPTIONS, BadValue

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.finding import Finding
    from flake8_cnnmem.lsp.project import Project
    from flake8_cnnmem.results import FileReport
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import Source


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "lsp",
        help="a language server for editors",
        description="A language server on standard input and output: shapes, parameters and bytes behind the lines of "
        "a file that is being written, findings with their fixes. Needs the extra 'lsp'.",
        epilog="Configured as 'cnnmem check' is. Editors start it for themselves.",
    )
    command.set_defaults(command=run)
    add_settings(command)
    command.add_argument("--stdio", action="store_true", help="what editors' clients add; there is no other way")


def run(options: argparse.Namespace) -> int:
    try:
        from flake8_cnnmem.lsp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Unusable("the language server needs pygls: pip install 'flake8-cnnmem[lsp]'") from None
    serve(project_of(options))
    return FITS


def project_of(options: argparse.Namespace) -> Project:
    """The project in the working directory, with these options of the command line over its own."""
    from flake8_cnnmem.lsp.project import BadSettings, Project

    def configure(given: Mapping[str, object]) -> None:
        by_name = {option.name: option for option in OPTIONS}
        for name, value in given.items():
            option = by_name.get(name)
            if option is None:
                raise BadSettings(f"{name} is no option: {', '.join(by_name)}")
            try:
                setattr(options, option.field, option.parse(str(value)))
            except BadValue as error:
                raise BadSettings(f"{name}: {error}") from None

    def settings() -> Settings:
        try:
            return settings_of(options)
        except Unusable as error:
            raise BadSettings(str(error)) from None

    def findings(source: Source, report: FileReport, settings: Settings) -> Sequence[Finding]:
        from flake8_cnnmem import checks
        from flake8_cnnmem.cli.check import selection_of
        from flake8_cnnmem.cli.linting import shown

        try:
            selection = selection_of(options)
        except BadValue as error:
            raise BadSettings(str(error)) from None
        if not selection.files([source.path]):
            return ()
        found = checks.grouped(checks.run(report, settings, selection.codes()))
        return shown(source, [each for each in found if each.path == source.path], selection)

    return Project(configure, settings, findings)
