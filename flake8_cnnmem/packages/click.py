"""click: commands whose options are decorators."""

from __future__ import annotations

from flake8_cnnmem.packages._command_lines import clicks

MODULES = {"click": clicks}
