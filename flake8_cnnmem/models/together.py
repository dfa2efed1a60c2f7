"""Models that one training step trains together: generator and discriminator, teacher and student."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence import rounds_of, sample_shape, seen_through
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.models.root import Root, assigned_name


def trained_models(run: Interpreter) -> set[int]:
    """Models, by id, that are called in a training loop, or fitted."""
    found = {id(seen_through(call.instance)) for each in rounds_of(run.trace.events) for call in each.calls}
    for made in run.trace.layers.values():
        framework = frameworks.of_layer(made.instance)
        if framework is not None and framework.fits(made.instance):
            found.add(id(made.instance))
    return found


def together(run: Interpreter, roots: list[Root]) -> list[Root]:
    """Those that take part in one and the same training step as one: the first of them that is trained, with parts."""
    groups = [[*inner, root] for root in roots if (inner := fitted_inside(run, root))]
    for each in rounds_of(run.trace.events):
        called = {id(seen_through(call.instance)) for call in each.calls}
        taking = [root for root in roots if called & inside_of(root)]
        if len(taking) < 2:
            continue
        shared = [group for group in groups if any(root in group for root in taking)]
        for group in shared:
            groups.remove(group)
        groups.append([root for root in roots if root in taking or any(root in group for group in shared)])
    taken = [root for group in groups for root in group]
    result = [root for root in roots if root not in taken]
    for group in groups:
        first = leading(run, group)
        tell_apart(group)
        first.parts = tuple(sorted(group, key=lambda root: (root.site.line, root.site.column)))
        result.append(first)
    return result


def tell_apart(group: Sequence[Root]) -> None:
    """Parts of one class go by the names that the code gives them."""
    names = [root.name for root in group]
    for root in group:
        if names.count(root.name) > 1:
            root.name = assigned_name(root.site) or root.name


def fitted_inside(run: Interpreter, root: Root) -> list[Root]:
    """Parts of a fitted model that are fitted themselves: the discriminator inside of "combined"."""
    framework = frameworks.of_layer(root.value)
    if framework is None or root.value is None or not framework.fits(root.value):
        return []
    inside = inside_of(root)
    found = []
    for made in run.trace.layers.values():
        part, site = made.instance, made.site
        if part is not root.value and id(part) in inside and site is not None and framework.fits(part):
            name = assigned_name(site) or framework.paths(root.value).get(id(part)) or part.cls.name
            found.append(Root(name, f"{root.target}.{name}", part, site, site, run))
    return found


def leading(run: Interpreter, group: Sequence[Root]) -> Root:
    """The model that a step's facts are told of: of those that have weights to train, the one that is called with a
    gradient on what the loader gives; else the first that is called so."""
    called = []
    for each in rounds_of(run.trace.events):
        samples = [sample_shape(run, loader) for loader in each.loaders]
        for call in each.calls:
            model = id(seen_through(call.instance))
            root = next((root for root in group if model in inside_of(root) and is_trained(root)), None)
            if root is not None and call.grad:
                first = next((value.shape for value in call.args if isinstance(value, Tensor)), None)
                called.append((isinstance(first, tuple) and first[1:] in samples, root))
    return next((root for given, root in called if given), called[0][1] if called else group[0])


def is_trained(root: Root) -> bool:
    framework = frameworks.of_layer(root.value)
    if framework is None or root.value is None:
        return False
    return any(weight.trainable and not weight.buffer for weight in framework.weights(root.value))


def inside_of(root: Root) -> set[int]:
    """A root's model and its layers, by id."""
    framework = frameworks.of_layer(root.value)
    return set() if framework is None or root.value is None else {*framework.paths(root.value), id(root.value)}
