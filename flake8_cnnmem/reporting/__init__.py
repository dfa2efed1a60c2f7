"""What the `cnnmem` command prints: tables for people, JSON, SARIF and annotations for programs, a page for browsers.

`FORMATS` are the forms of a report on models, `FINDINGS` those of a list of findings. A form is one module of this
folder, loaded when somebody asks for it: `render(reports, settings)` and `render_findings(findings)`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flake8_cnnmem.finding import Finding
    from flake8_cnnmem.results import ModelReport
    from flake8_cnnmem.settings.options import Settings


class MissingExtra(Exception):
    """A form needs a package that is not installed; the message names the extra that brings it."""


def _report(module: str) -> Callable[[Sequence[ModelReport], Settings], str]:
    def render(reports: Sequence[ModelReport], settings: Settings) -> str:
        text: str = importlib.import_module(f"{__name__}.{module}").render(reports, settings)
        return text

    return render


def _json(reports: Sequence[ModelReport], settings: Settings) -> str:
    from flake8_cnnmem.reporting import as_json

    return as_json.render(reports)


def _findings(module: str, function: str = "render_findings") -> Callable[[Sequence[Finding]], str]:
    def render(findings: Sequence[Finding]) -> str:
        text: str = getattr(importlib.import_module(f"{__name__}.{module}"), function)(findings)
        return text

    return render


FORMATS: dict[str, Callable[[Sequence[ModelReport], Settings], str]] = {
    "table": _report("table"),
    "json": _json,
    "markdown": _report("markdown"),
    "html": _report("html"),
    "sarif": _report("sarif"),
    "github": _report("github"),
}
"""Each gives the whole text, without the last line's end. `html` raises MissingExtra where its library is missing."""

FINDINGS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "text": _findings("findings", "as_text"),
    "json": _findings("findings", "as_json"),
    "markdown": _findings("findings", "as_markdown"),
    "sarif": _findings("sarif"),
    "github": _findings("github"),
}
"""Findings as flake8 prints them, and in the forms that programs, code scanning and workflows read; where a line stands
for a finding, an empty list is an empty text."""
