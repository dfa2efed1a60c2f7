"""fire: commands that are functions, or the methods of a class."""

from __future__ import annotations

from flake8_cnnmem.packages._command_lines import fires

MODULES = {"fire": fires}
