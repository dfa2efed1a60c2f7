"""The flake8 adapter: options in, (line, column, text, type) out; nothing else.

A file that mentions no supported framework costs a search of its text. libcst and the evaluator are imported when
the first file with a model comes.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from typing import ClassVar

from flake8.options.manager import OptionManager

import flake8_cnnmem
from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.findings import findings_of
from flake8_cnnmem.running.gc_tuning import not_looked_through_at_exit
from flake8_cnnmem.settings import configuration
from flake8_cnnmem.settings.options import OPTIONS, BadValue, Settings
from flake8_cnnmem.source import Source, mentions_framework, shared
from flake8_cnnmem.text import nbqa


class Plugin:
    """flake8 makes one for each file. The options stand on the class, where every worker process has them."""

    name = "flake8-cnnmem"
    version = flake8_cnnmem.__version__

    settings: ClassVar[Settings] = Settings()
    codes: ClassVar[frozenset[str]] = frozenset(check.code for check in checks.every() if check.default)

    def __init__(self, tree: ast.Module, filename: str, lines: Sequence[str]) -> None:
        self.tree = tree
        self.filename = filename
        self.lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        for option in OPTIONS:
            manager.add_option(
                f"--cnnmem-{option.name}",
                action=configuration.AddsUp if option.adds_up else "store",
                type=configuration.typed(option.parse),
                default=None,
                metavar=option.metavar,
                parse_from_config=True,
                help=option.help.replace("%", "%%"),
            )
        manager.extend_default_ignore([check.code for check in checks.every() if not check.default])

    @classmethod
    def parse_options(cls, manager: OptionManager, options: argparse.Namespace, args: list[str]) -> None:
        from flake8.style_guide import Decision, DecisionEngine

        values = {option.field: getattr(options, f"cnnmem_{option.field}") for option in OPTIONS}
        try:
            first = said_first(options)
            configuration.check_names(first.config, first.append_config, first.isolated)
            if not first.isolated and all(value is None for value in values.values()):
                # flake8 has no section in pyproject.toml: what the other command reads there holds here, too.
                values |= configuration.from_table()
            else:
                values = configuration.resolve(values, first.config, first.append_config, first.isolated)
            configuration.check_stubs(values)
        except BadValue as error:
            manager.parser.error(str(error))
        cls.settings = Settings.of(values)
        # flake8 filters what it is given; what nobody wants to see need not be worked out.
        engine = DecisionEngine(options)
        cls.codes = frozenset(
            check.code for check in checks.every() if engine.decision_for(check.code) is Decision.Selected
        )

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        # An exception that leaves this generator costs the user the results of all plugins.
        for finding in self.findings():
            yield max(int(finding.line), 1), max(finding.column, 1) - 1, f"{finding.code} {finding.message}", type(self)

    def findings(self) -> list[Finding]:
        """What is to be reported of this file, in order of place."""
        text = "".join(self.lines)
        if not self.codes:
            return []
        cells = nbqa.cells_of(text)
        # The tree is flake8's, for all its plugins: lines that know their cell need one of their own.
        if cells is not None:
            source = Source(self.filename, text, None, cells)
        else:
            # Of what names no framework hardly a file is ever asked for again.
            source = (shared if mentions_framework(text) else Source)(self.filename, text, self.tree)
        if not source.may_hold_models():
            return []
        not_looked_through_at_exit()
        return list(findings_of(source, self.settings, self.codes, standings=False).findings)


def said_first(options: argparse.Namespace) -> argparse.Namespace:
    """Which configuration flake8 was told to read: it takes that from its arguments before it loads plugins, and hands
    them the rest with these left at their defaults."""
    from flake8.main.options import stage1_arg_parser

    if "flake8" not in sys.argv[0]:
        return options
    return stage1_arg_parser().parse_known_args(sys.argv[1:])[0]
