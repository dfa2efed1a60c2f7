"""What is in memory while a model trains itself (`fit`) and is not its own: other models that the program still holds,
and the state of the optimizers that they were fitted with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.loop_turns import around
from flake8_cnnmem.evaluate.trace import Event, Trace
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.graph import Resident, Weight
from flake8_cnnmem.models.residents import built_at
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.values import Instance


def beside_fits(trace: Trace, root: Root) -> tuple[Resident, ...]:
    """What lies beside the models that a root's fits train, at the last of those that were looked at. Variables of
    Keras lie on the device from when they are made until nothing holds them."""
    parts = [part.value for part in root.parts or (root,) if part.value is not None]
    own = {id(part) for part in parts}
    fits = [event for event in trace.events if event.kind == "fit"]
    seen = (event for event in reversed(fits) if event.held is not None and id(event.subject) in own)
    last = next((event for event in seen if is_of(root, event)), None)
    framework = frameworks.of_layer(root.value)
    if last is None or last.held is None or framework is None:
        return ()
    counted = {id(weight) for part in parts for weight in framework.weights(part)}
    found: list[Resident] = []
    layers = [each for each in last.held.layers if frameworks.of_layer(each[1]) is framework and id(each[1]) not in own]
    then = last.held.weights
    for path, layer in sorted(layers, key=lambda each: -len(then.get(id(each[1]), ()))):
        there = [weight for weight in framework.weights(layer) if id(weight) in then.get(id(layer), ())]
        new = tuple(weight for weight in there if id(weight) not in counted)
        if new:
            counted.update(map(id, new))
            found.append(Resident(f"{path}: weights", built_at(trace, layer), new))
        found += states_of(path, layer, framework.fits(layer), there, last, fits)
    return tuple(found)


def is_of(root: Root, event: Event) -> bool:
    """Whether an event is one of the fits that a root stands for."""
    return root.fit is None or event.site is root.fit.site


def states_of(
    path: str, layer: Instance, own: Sequence[Fit], there: Sequence[Weight], last: Event, fits: Sequence[Event]
) -> Iterator[Resident]:
    """What the optimizer of another model keeps, if it was fitted before: in an earlier turn of the same loop, too."""
    loops = {id(turn.loop) for turn in around(last.turn)}
    events = [event for event in fits if event.subject is layer]
    made = [
        fit for event, fit in zip(events, own, strict=False)
        if event.number < last.number or any(id(turn.loop) in loops for turn in around(event.turn))
    ]  # fmt: skip
    if not made or made[-1].trainable is None:
        return
    optimizer = frameworks.optimizer_of(made[-1].optimizer)
    updated = tuple(weight for weight in there if id(weight) in made[-1].trainable)
    if optimizer is not None and updated:
        yield Resident(f"{path}: optimizer state", made[-1].compiled_site, optimizer=optimizer, updated=updated)
