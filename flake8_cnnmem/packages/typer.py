"""typer: commands whose options are parameters."""

from __future__ import annotations

from flake8_cnnmem.packages._command_lines import typers

MODULES = {"typer": typers}
