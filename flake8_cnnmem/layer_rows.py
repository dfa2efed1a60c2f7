"""The layer table: which calls make one row, what the row is called, and where in the source it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Call, Invocation, Model, Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.dtypes import half_of, size_of
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.memory.volumes import volumes
from flake8_cnnmem.models.inputs import drops_of
from flake8_cnnmem.ops import AttentionInputs, Bilinear, Recurrent, RecurrentCell
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.results import Drop, Row
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance


@dataclass(slots=True)
class Group:
    """The calls behind one row."""

    invocation: Invocation | None
    """The layer call that makes the row; None for a function that is called outside of all."""
    calls: list[Call] = field(default_factory=list)

    @property
    def layer(self) -> Instance | None:
        return self.invocation.layer if self.invocation is not None else None


@dataclass(frozen=True, slots=True)
class Cut:
    """Which layers are rows: those of a framework's own choice, or what lies at most so deep."""

    framework: Framework
    depth: int | None = None
    """Levels below the model; None: as deep as they go."""
    nested: bool = False
    """Whether nested models are taken apart also where the framework shows each as one row."""

    def row(self, call: Call, model: Model) -> Invocation | None:
        """The layer call whose row a call belongs to; None for a function that is called outside of all."""
        if not self.nested:
            return row_invocation(call, model, self.framework)
        inwards = layers_around(call, model)[::-1]
        if self.framework.outermost_rows:
            # A layer of the framework's own is one row whatever it is made of.
            leaf = next((each for each in inwards if not self.opens(each.layer)), None)
        else:
            leaf = row_invocation(call, model, self.framework)
        above = inwards if leaf is None else inwards[: inwards.index(leaf)]
        return above[self.depth - 1] if self.depth is not None and self.depth <= len(above) else leaf

    def opens(self, layer: Instance) -> bool:
        own = layer.cls.site is None and not self.framework.is_model(layer)
        return not own and bool(self.framework.children(layer))


def layers_around(call: Call, model: Model) -> list[Invocation]:
    """The calls of layers inside the model that a call runs in, innermost first."""
    return [each for each in call.ancestry() if isinstance(each.layer, Instance) and each.layer is not model.root]


def groups_of(model: Model, cut: Cut | None = None) -> list[Group]:
    cut = Cut(frameworks.named(model.framework)) if cut is None else cut
    groups: dict[int, Group] = {}
    for call in model.calls:
        invocation = cut.row(call, model)
        key = call.number if invocation is None else invocation.number
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(invocation)
        group.calls.append(call)
    return list(groups.values())


def row_invocation(call: Call, model: Model, framework: Framework) -> Invocation | None:
    """The layer call whose row a call belongs to: the outermost inside the model, or the leaf module, as the framework
    has it; None for a function that is called outside of both."""
    layers = layers_around(call, model)
    if not layers:
        return None
    if framework.outermost_rows:
        return layers[-1]
    innermost = layers[0]
    leaf = innermost.layer.cls.site is None or not framework.children(innermost.layer)
    return innermost if leaf else None


def rows_of(model: Model, training: Training, depth: int | None = None, nested: bool = False) -> tuple[Row, ...]:
    """One row a layer call, in call order. Views outside of layers are no rows. `nested`: as deep as `Cut` has it, not
    as the framework shows a model."""
    framework = frameworks.named(model.framework)
    cut = Cut(framework, depth, nested)
    written: dict[int, int] = {}
    for volume in volumes(model):
        values = dims.per_sample(volume.values)
        written[volume.call.number] = values if isinstance(values, int) else 0
    dtype = training.dtype.value
    width = size_of(half_of(dtype) or dtype)
    # A layer that was called on no tensor is listed, but is no part of the model.
    held = {id(weight) for weight in model.weights if not weight.buffer}
    rows: list[Row] = []
    for group in groups_of(model, cut):
        last, layer = group.calls[-1], group.layer
        if layer is None and last.op.kind in ("view", "identity"):
            continue
        parameters = 0
        if layer is not None:
            for weight in framework.weights(layer):  # those of all that lies inside it
                if id(weight) in held:
                    held.remove(id(weight))
                    total = dims.product(weight.shape) if not isinstance(weight.shape, Unknown) else 0
                    parameters += total if isinstance(total, int) else 0
        activations = sum([written.get(call.number, 0) for call in group.calls])
        shape = last.outputs[0].shape if last.outputs else ()
        shape = next((each.gives for each in last.ancestry() if each.layer is layer and each.gives), shape)
        site = site_of(layer, last)
        outwards = [each.layer for each in layers_around(last, model)]
        rows.append(
            Row(
                named(model, last, group.invocation),
                layer.cls.name if layer is not None else last.function,
                0 if site is None else site.line,
                () if isinstance(shape, Unknown) else tuple(dims.drop_batch(shape)),
                parameters,
                activations,
                activations * width * training.batch_size.value,
                "" if site is None else site.path,
                # How many levels below the model.
                depth=len(outwards) + 1 if layer is None else len(outwards) - outwards.index(layer),
            )
        )
    return tuple(rows)


def with_kept(rows: tuple[Row, ...], estimate: Estimate) -> tuple[Row, ...]:
    """The rows with what each keeps for the backward pass, where a step was replayed.

    What an op keeps inside a layer that is one row is that row's; a layer that is called again has shown at its first
    call what it keeps.
    """
    ops = estimate.kept_by
    if not ops:
        return rows
    names = {row.name for row in rows}
    kept: dict[str, int] = {}
    for op, size in ops:
        name = op
        while name and name not in names:
            name = name.rpartition(".")[0]
        kept[name] = kept.get(name, 0) + size
    return tuple(replace(row, kept=kept.pop(row.name, 0)) for row in rows)


def name_of(model: Model, call: Call) -> str:
    """The name of the row that a call belongs to, as the framework shows a model."""
    return named(model, call, row_invocation(call, model, frameworks.named(model.framework)))


def named(model: Model, call: Call, invocation: Invocation | None) -> str:
    """The layer's path in the model ("layer1.0.conv1"); for a function the path of the module that calls it."""
    if invocation is not None:
        return model.paths.get(id(invocation.layer)) or invocation.layer.cls.name
    owner = call.within
    path = model.paths.get(id(owner.layer), "") if owner is not None else ""
    return f"{path}.{call.function}" if path else call.function


def site_of(layer: Instance | None, call: Call) -> Site | None:
    """Where the layer is constructed, for a function where it is called."""
    if layer is not None and layer.site is not None:
        return layer.site
    return call.site


def place(call: Call, path: str, model: Model, at_layer: bool = False) -> Site:
    """Where in the analysed file a call's problem is reported: at the framework's layer that declares another size
    (`at_layer`: at any of its layers), else at the call; in another file's code, at the nearest call in this one. Where
    only the order of the input's axes is wrong, it is the call that has to change."""
    sites: list[Site | None] = []
    declares = at_layer or declared_by_layer(call)
    for invocation in call.ancestry():
        layer = invocation.layer if isinstance(invocation.layer, Instance) else None
        if declares and invocation is call.within and layer is not None and layer.cls.site is None:
            sites.append(layer.site)
        if invocation is call.within:
            sites.append(call.site)
        sites.append(invocation.site)
    if call.within is None:
        sites.append(call.site)
    found = next((site for site in sites if site is not None and site.path == path), None)
    fallback = found or model.site or call.site
    assert fallback is not None
    return fallback


def declared_by_layer(call: Call) -> bool:
    """Whether what a call's layer declares is what does not fit, and not one of several inputs to another, nor the
    order of an input's axes."""
    problem = call.problem
    if problem is None or problem.elsewhere is not None or isinstance(call.op, Refused):
        # What is refused is what is handed over.
        return False
    several = (
        isinstance(call.op, (AttentionInputs, Bilinear, Recurrent, RecurrentCell)) and problem.declared is not None
    )
    return len(call.inputs) == 1 or several


def drops(model: Model, path: str) -> Iterator[Drop]:
    """CNM203: rows and columns that a pool or stride leaves over."""
    for call in model.calls:
        shape = call.inputs[0].shape if call.inputs else ()
        if isinstance(shape, Unknown):
            continue
        for axis, count in drops_of(call):
            size = shape[axis]
            if isinstance(size, int):
                site = place(call, path, model, at_layer=True)
                last = getattr(call.op, "channels_last", False)
                yield Drop(name_of(model, call), site, axis_name(axis, len(shape) - last), size, count)


def axis_name(axis: int, rank: int) -> str:
    """What people call an axis of a map; `rank` leaves a last axis of channels out."""
    return {-1: "columns", -2: "rows", -3: "slices"}.get(axis - rank, f"axis {axis}")
