"""`torch.hub`: models of a folder whose `hubconf.py` makes them (pytorch.org/docs/stable/hub.html)."""

from __future__ import annotations

import os
from typing import Any

from flake8_cnnmem.frameworks.torch import scripting
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Value, native

CONFIGURATION = "hubconf.py"


def module_of(run: Any, folder: Value, source: Value) -> Value:
    """The module `hubconf` of a folder. What it imports is looked up in that folder first, as `torch.hub` has it."""
    for value in (folder, source):
        if isinstance(value, Unknown):
            return value
    importer = getattr(run, "importer", None)
    if source != "local" or importer is None:
        return run.unknown("a model is downloaded")
    script = os.path.dirname(os.path.abspath(run.trace.path)) if run.trace.path else os.getcwd()
    for base in (os.getcwd(), script):
        place = os.path.normpath(os.path.join(base, str(folder)))
        path = os.path.join(place, CONFIGURATION)
        if importer.files.is_file(path):
            if place not in importer.search_path:
                importer.search_path.insert(0, place)
            found = importer.load_file(path, "hubconf", False)
            return found if found is not None else run.unknown(f"{CONFIGURATION} is no Python")
    return run.unknown(f"there is no {CONFIGURATION} in {str(folder)[:80]}")


def load(
    run: Runtime, repo_or_dir: Value, model: Value = None, *args: Value, source: Value = "github", **kwargs: Value
) -> Value:
    """A model by the name of the function that makes it, called with the other arguments."""
    module = module_of(run, repo_or_dir, source)
    if isinstance(module, Unknown) or isinstance(model, Unknown):
        return module if isinstance(module, Unknown) else model
    made = run.find(module, str(model))
    if made is MISSING:
        raise run.error("RuntimeError", f"Cannot find callable {model} in hubconf")
    own = {word: value for word, value in kwargs.items() if word not in OF_LOADING}
    return run.call(made, *args, **own)


OF_LOADING = frozenset(("trust_repo", "force_reload", "verbose", "skip_validation"))
"""Arguments of `torch.hub.load` itself; all others go to the function."""

HUB: dict[str, Value] = {
    "load_state_dict_from_url": native("load_state_dict_from_url", scripting.load),
    "load": native("load", load),
    "get_dir": scripting.unknown("get_dir", "where downloads are kept is not known"),
}
