"""rich-click: click under another name."""

from __future__ import annotations

from flake8_cnnmem.packages._command_lines import clicks

MODULES = {"rich_click": clicks}
