"""CNM203: a window that takes what is left over, too: `ceil_mode=True` of PyTorch's pools, `padding="same"` of Keras'
pools and convolutions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem import frameworks
from flake8_cnnmem.checks import cnm203
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import Edit, with_keyword

CODE = cnm203.CODE


def candidates(source: Source, report: FileReport) -> Iterator[tuple[Finding, str, tuple[Edit, ...]]]:
    lines = source.text.split("\n")
    for model in report.reports:
        if model.model is None:
            continue
        findings = {(each.line, each.column): each for each in cnm203.check(model, Settings())}
        last = frameworks.named(model.framework).channels_last
        for drop in model.drops:
            site = drop.site
            node = site.node if isinstance(site, StatementSite) and site.path == source.path else None
            if isinstance(node, ast.Call) and (last or "pool" in called(node).lower()):
                name, value = ("padding", '"same"') if last else ("ceil_mode", "True")
                edit = with_keyword(node, lines, name, value)
                yield findings[site.line, site.column], f"add {name}={value}", (edit,)


def called(call: ast.Call) -> str:
    """`MaxPool2d` of `nn.MaxPool2d(2)`."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
