"""packaging: versions and their order."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.stdlib.modules import unfollowed
from flake8_cnnmem.evaluate.stdlib.versions import VERSION, parse
from flake8_cnnmem.values import Native, Value

MODULES: dict[str, dict[str, Value]] = {
    "packaging": {},
    "packaging.version": {
        "Version": VERSION,
        "parse": Native("parse", parse, propagate_unknown=False),
        "InvalidVersion": EXCEPTIONS["ValueError"],
    },
    "packaging.specifiers": {
        name: unfollowed(f"packaging.specifiers.{name}") for name in ("Specifier", "SpecifierSet")
    },
    "packaging.requirements": {"Requirement": unfollowed("packaging.requirements.Requirement")},
}
