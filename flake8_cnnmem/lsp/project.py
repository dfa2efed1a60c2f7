"""What the server is told by who starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flake8_cnnmem.finding import Finding
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source


class BadSettings(Exception):
    """The configuration cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Project:
    """The project in the working directory, as `cnnmem check` sees it."""

    configure: Callable[[Mapping[str, object]], None]
    """Take the options that the editor sets, by name: they go before the project's own. Raises BadSettings."""
    settings: Callable[[], Settings]
    """The options as they stand now. Raises BadSettings."""
    findings: Callable[[Source, FileReport, Settings], Sequence[Finding]]
    """What is to be reported of a file: neither configuration nor comments silence it. Raises BadSettings."""
