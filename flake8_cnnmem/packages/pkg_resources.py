"""pkg_resources of setuptools: where the files of a package lie. What is installed is not looked at."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.stdlib.modules import unfollowed
from flake8_cnnmem.evaluate.stdlib.modules_by_name import resource
from flake8_cnnmem.evaluate.stdlib.versions import parse
from flake8_cnnmem.values import Native, Value

UNFOLLOWED = (
    *("get_distribution", "require", "iter_entry_points", "resource_exists", "resource_listdir"),
    *("resource_stream", "resource_string"),
)

MODULES: dict[str, dict[str, Value]] = {
    "pkg_resources": {
        "resource_filename": Native("resource_filename", resource),
        "parse_version": Native("parse_version", parse, propagate_unknown=False),
        "DistributionNotFound": EXCEPTIONS["ModuleNotFoundError"],
        **{name: unfollowed(f"pkg_resources.{name}") for name in UNFOLLOWED},
    }
}
