"""The standard library as natives. What is not modelled is there all the same, and everything in it is unknown."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from flake8_cnnmem.evaluate.builtins.files import OPEN
from flake8_cnnmem.evaluate.stdlib.modules import Fresh
from flake8_cnnmem.values import MISSING, Namespace, Value

ROOMS = {
    "math": "math", "cmath": "math", "operator": "operator", "itertools": "itertools", "functools": "functools",
    "collections": "collections", "copy": "copy", "typing": "typing", "typing_extensions": "typing",
    "types": "types", "abc": "types", "dataclasses": "dataclasses", "enum": "enum", "os": "os", "posixpath": "os",
    "glob": "os",
    "sys": "sys", "warnings": "no_ops", "logging": "no_ops", "gc": "no_ops", "traceback": "no_ops", "atexit": "no_ops",
    "time": "no_ops", "random": "randomness", "pprint": "no_ops", "signal": "no_ops", "faulthandler": "no_ops",
    "contextlib": "contextlib", "argparse": "argparse", "re": "text", "string": "text", "textwrap": "text",
    "fnmatch": "text",
    "json": "data", "tomllib": "data", "configparser": "data", "pickle": "text", "pathlib": "pathlib",
    "inspect": "inspect", "importlib": "modules_by_name", "importlib_metadata": "modules_by_name",
    "pkgutil": "modules_by_name", "runpy": "modules_by_name", "pydoc": "modules_by_name",
    "numbers": "numbers", "statistics": "statistics", "bisect": "statistics", "heapq": "statistics",
    "platform": "sys", "ast": "syntax", "contextvars": "context_vars",
    "distutils": "versions", "weakref": "copy", "threading": "threads", "multiprocessing": "pools",
    "concurrent": "pools",
}  # fmt: skip
"""The module here that models each top-level module of the library."""

NOT_FOLLOWED = (
    sys.stdlib_module_names - set(ROOMS) - {"test", "this", "antigravity", "idlelib", "turtledemo", "__main__"}
)
"""Modules whose every name is unknown."""

SUBMODULES = frozenset((
    "logging.handlers", "logging.config", "importlib.abc", "json.decoder", "json.encoder", "xml.etree",
    "xml.etree.ElementTree", "xml.etree.cElementTree", "xml.dom", "xml.dom.minidom", "xml.sax", "urllib.request",
    "urllib.parse", "urllib.error", "urllib.robotparser", "http.client", "http.server", "http.cookiejar",
    "http.cookies",
    "email.mime", "email.mime.text", "email.mime.multipart", "email.utils", "html.parser",
    "multiprocessing.managers", "multiprocessing.shared_memory", "multiprocessing.connection",
    "multiprocessing.spawn", "multiprocessing.queues", "multiprocessing.synchronize", "multiprocessing.sharedctypes",
    "multiprocessing.context", "multiprocessing.reduction", "unittest.mock", "unittest.case", "ctypes.util",
    "distutils", "distutils.util", "distutils.core", "distutils.command", "distutils.spawn",
    "distutils.dir_util",
    "distutils.sysconfig", "asyncio.subprocess", "curses.ascii", "dbm.gnu", "wsgiref.simple_server", "xmlrpc.client",
    "xmlrpc.server", "tkinter.ttk", "tkinter.messagebox", "tkinter.filedialog", "tkinter.font", "encodings.utf_8",
))  # fmt: skip
"""Submodules that are not modelled. What is no module must not be taken for one, so they are listed."""


def find_module(dotted: str) -> Namespace | None:
    """The native module of this dotted name, or None. A new one each time: the caller keeps it for an evaluation."""
    top = dotted.partition(".")[0]
    room = ROOMS.get(top)
    if room is not None:
        names = tables(room).get(dotted)
        if names is not None:
            return Namespace(dotted, lookup_in(names))
    return not_followed(dotted) if dotted in SUBMODULES or dotted in NOT_FOLLOWED else None


@cache
def tables(room: str) -> Mapping[str, Mapping[str, Value]]:
    """The modules that one of ours models, by dotted name."""
    found: Any = importlib.import_module(f"{__name__}.{room}")
    modules: Mapping[str, Mapping[str, Value]] = found.MODULES
    return modules


def lookup_in(names: Mapping[str, Value]) -> Callable[[str], Value]:
    """A module's names as a function from a name to a value, or MISSING; what is made afresh for a run is made once."""
    made: dict[str, Value] = {}

    def lookup(name: str) -> Value:
        found = names.get(name, MISSING)
        if isinstance(found, Fresh):
            if name not in made:
                made[name] = found.make()
            return made[name]
        return found

    return lookup


OPENING = frozenset(("io", "codecs"))
"""Modules of which one name is known alone: `open`, which is the built-in one, or takes what that takes."""


def not_followed(dotted: str) -> Namespace:
    """A module that exists, and of which no name is known, or `open` alone."""
    return Namespace(dotted, lambda name: OPEN if name == "open" and dotted in OPENING else MISSING)
