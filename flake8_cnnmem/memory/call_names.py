"""What messages call an op, and where it stands in the source."""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.graph import Call, Site


def name_of(call: Call, names: Mapping[int, str]) -> str:
    """What a `Moment` calls the op. `names` are module paths by the layer instance's id."""
    return place_of(call, names)[0]


def place_of(call: Call, names: Mapping[int, str]) -> tuple[str, Site | None]:
    """A layer by its path, at its construction; a function by the path of the module that calls it and its own name, at
    the call."""
    inside = call.within
    if inside is not None and getattr(getattr(inside.layer, "cls", None), "site", None) is None:
        for invocation in inside.ancestry():
            path = names.get(id(invocation.layer))
            if path:
                return path, invocation.layer.site or call.site
    own = call.function or call.op.kind
    path = "" if inside is None else names.get(id(inside.layer))
    return (f"{path}.{own}" if path else own), call.site
