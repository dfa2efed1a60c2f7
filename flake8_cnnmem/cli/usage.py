"""The command's argument parser: what is wrong comes first, with the nearest word that is right; usage comes after."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import NoReturn

from flake8_cnnmem.cli.ending import UNUSABLE
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.settings.options import hint


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(UNUSABLE, f"{self.prog}: error: {one_line(meant(message))}\n{self.format_usage()}")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End with the arguments that nothing is known of."""
        options = [option for action in self._actions for option in action.option_strings]
        word = next((word for word in unknown if word.startswith("-")), unknown[0])
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint(word.partition('=')[0], options)}")


def meant(message: str) -> str:
    """argparse's message on a choice that there is not, with the nearest one."""
    found = re.search(r"invalid choice: (['\"])(.*)\1 \(choose from (.*)\)$", message, re.DOTALL)
    if found is None:
        return message
    known = re.findall(r"[\w.-]+", found[3])
    return f"{message}{hint(found[2], known)}"


def near_path(path: str) -> str:
    """The same for a path that there is not, with the names beside it."""
    folder, name = os.path.split(path)
    try:
        beside = os.listdir(folder or os.curdir)
    except OSError:
        return ""
    return hint(path, [os.path.join(folder, each) for each in beside]) if name else ""
