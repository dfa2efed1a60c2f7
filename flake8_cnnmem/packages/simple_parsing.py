"""simple_parsing: argparse with dataclasses."""

from __future__ import annotations

from flake8_cnnmem.packages._settings_classes import FILES, SIMPLE_PARSER

MODULES = {"simple_parsing": {"ArgumentParser": SIMPLE_PARSER, "parse": FILES["parse"]}}
