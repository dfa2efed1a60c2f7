"""What training leaves in the trace beside its events: who asks for a gradient, and what the program still holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.drawn_ahead import inside_sources
from flake8_cnnmem.evaluate.gathering import is_some_size, items_of, joined_names
from flake8_cnnmem.evaluate.loop_turns import InReach, Loop, Retained, Turn, around
from flake8_cnnmem.evaluate.trace import Event, Filled
from flake8_cnnmem.frameworks.framework import IN_CHARGE, LOADED_STATES
from flake8_cnnmem.graph import FOREVER, Site, Tensor, Weight
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MOST_LOOKED_AT = 4096
"""Values that are looked at for what a program holds, those of containers after the names that lead to them."""

HOW_DEEP = 6

T = TypeVar("T")


def held_by(optimizer: Value) -> frozenset[int]:
    """The weights, by id, that an optimizer updates and that ask for a gradient now."""
    if not isinstance(optimizer, Instance):
        return frozenset()
    weights = frameworks.updated_by(optimizer) or ()
    return frozenset(id(weight) for weight in weights if weight.trainable and not weight.buffer)


def asking(layer: Instance) -> frozenset[int]:
    """The weights of a layer, by id, that ask for a gradient now."""
    return frozenset(id(weight) for weight in weights_of(layer) if weight.trainable and not weight.buffer)


def weights_of(layer: Instance) -> list[Weight]:
    """The weights of a layer of a framework that declares inputs; of others none are counted here."""
    framework = frameworks.of_layer(layer)
    return framework.weights(layer) if framework is not None and framework.declares_inputs else []


def declares_inputs(layer: Instance) -> bool:
    """Whether its framework says of a layer what it takes when it is made: its weights are there then."""
    framework = frameworks.of_layer(layer)
    return framework is not None and framework.declares_inputs


def reached_from(loss: Tensor) -> frozenset[int]:
    """The weights, by id, that a loss depends on by ops that leave a graph, and that ask for a gradient now."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting: list[Tensor] = [loss]
    while waiting:
        tensor = waiting.pop()
        call = tensor.call
        if isinstance(tensor, Weight) and tensor.trainable and not tensor.buffer:
            found.add(id(tensor))
        if tensor.trained_as is not None:
            found.add(id(tensor.trained_as))
        if call is not None and id(call) not in seen and call.grad and not call.op.cuts_gradient:
            seen.add(id(call))
            waiting += (*call.weights, *call.inputs)
    return frozenset(found)


def learns(event: Event) -> bool:
    """Whether an event is one of training, or a call of a model that keeps what its backward pass would read."""
    return event.kind in ("backward", "step") or (event.call is not None and event.call.grad)


def names_in_sight(frame: Frame | None) -> Iterator[tuple[str, Value]]:
    """The variables of the frames that are running, from the innermost outwards, and of the modules around them."""
    seen: set[int] = set()
    while frame is not None:
        for variables in (frame.variables, frame.module.variables):
            if id(variables) not in seen:
                seen.add(id(variables))
                yield from list(variables.items())
        frame = frame.called_from or frame.caller


Owners: TypeAlias = "tuple[tuple[str, Filled], ...]"
"""The containers and attributes that a path leads through, from the outermost on, each with the path to it."""


def within_reach(named: Iterable[tuple[str, Value]]) -> Iterator[tuple[str, Value, Owners]]:
    """Tensors and objects that names lead to, through containers and through attributes of objects, each once, with the
    path that leads there (`self.teacher`). What layers have of their own kind is theirs: of their attributes only the
    others are looked at."""
    left, seen = MOST_LOOKED_AT, set()
    level: list[tuple[str, Value, Owners]] = [(path, value, ()) for path, value in named]
    for _ in range(HOW_DEEP):
        inner: list[tuple[str, Value, Owners]] = []
        for path, value, owners in level:
            value = owner(value.receiver if type(value) is Bound else value)
            if isinstance(value, (list, tuple, dict, deque)):
                if id(value) not in seen:
                    seen.add(id(value))
                    items = value.items() if isinstance(value, dict) else enumerate(value)
                    through = (*owners, (path, id(value)))
                    inner += [(f"{path}[{key!r}]", item, through) for key, item in list(items)[-MOST_LOOKED_AT:]]
            elif isinstance(value, (Instance, Tensor)) and id(value) not in seen:
                seen.add(id(value))
                left -= 1
                yield path, value, owners
                if isinstance(value, Instance):
                    own = list(value.attributes.items())
                    if frameworks.is_layer(value):
                        own = [(word, item) for word, item in own if holds_results(word, item)]
                    inner += [
                        (f"{path}.{word}", item, (*owners, (f"{path}.{word}", (id(value), word)))) for word, item in own
                    ]
                    if value.payload is not None:
                        inner.append((path, value.payload, owners))
            if left <= 0:
                return
        level = inner


def gathered_tensors(named: Iterable[tuple[str, Value]]) -> Iterator[tuple[str, Tensor, str]]:
    """The tensors in the lists and tuples that names lead to, and in those in them, each with its list's name and its
    place."""
    for path, value in named:
        if isinstance(value, (list, tuple, deque)):
            for at, item in enumerate(islice(value, max(0, len(value) - MOST_LOOKED_AT), None)):
                held = item.payload if isinstance(item, Instance) else item
                if isinstance(item, Tensor):
                    yield path, item, str(at)
                elif isinstance(held, (list, tuple)):
                    for place, inner in enumerate(held[:MOST_LOOKED_AT]):
                        if isinstance(inner, Tensor):
                            yield path, inner, f"{at}][{place}"


def with_containers(named: Iterable[tuple[str, Value]]) -> list[tuple[str, Value]]:
    """What names lead to, and the lists and deques that are attributes of plain objects among it (a replay memory)."""
    found = list(named)
    for path, value in found[:]:
        if type(value) is Instance and not frameworks.is_layer(value) and frameworks.updated_by(value) is None:
            attributes = value.attributes.items()
            found += [(f"{path}.{word}", item) for word, item in attributes if isinstance(item, (list, deque))]
    return found


def held_now(run: Interpreter) -> InReach:
    """The layers, optimizers and tensors that the program can reach at this moment."""
    found = InReach()
    sources = [source for turn in around(run.trace.turn) for source in turn.loop.sources]
    named = [*told_apart(names_in_sight(run.frame)), *run.data(IN_CHARGE).items(), *inside_sources(sources)]
    inside = {id(tensor): f"{path}[{at}]" for path, tensor, at in gathered_tensors(with_containers(named))}
    for path, value, _ in within_reach(named):
        if isinstance(value, Tensor):
            # A name may be given another one: what lies in a container is told by that.
            found.tensors.append((inside.get(id(value), path), value))
        elif not isinstance(value, Instance):
            continue
        elif frameworks.is_layer(value):
            found.layers.append((path, value))
            framework = frameworks.of_layer(value)
            weights = framework.weights(value) if framework is not None else ()
            found.weights[id(value)] = frozenset(map(id, weights))
        elif frameworks.updated_by(value) is not None:
            found.optimizers.append((path, value))
    states = run.data(LOADED_STATES)
    found.loaded = [
        (path, value) for path, value in one_deep(named)
        if type(value) is Unknown and (value.loaded == "file" or (value.loaded and id(value) in states))
    ]  # fmt: skip
    return found


def told_apart(named: Iterable[tuple[str, Value]]) -> Iterator[tuple[str, Value]]:
    """Names with what they lead to: one of a function around the running one, or of the module, that an inner variable
    hides is told as that."""
    inner: dict[str, Value] = {}
    for word, value in named:
        hidden = inner.setdefault(word, value) is not value and isinstance(value, (Tensor, list, tuple, dict))
        yield f"{word} (of the outer scope)" if hidden else word, value


def one_deep(named: Iterable[tuple[str, Value]]) -> Iterator[tuple[str, Value]]:
    """What names lead to; of objects of the program's own their attributes, of containers a few items."""
    for path, value in named:
        if type(value) is Instance and not frameworks.is_layer(value):
            yield from ((f"{path}.{word}", item) for word, item in value.attributes.items())
            continue
        yield path, value
        if isinstance(value, (list, tuple)):
            yield from ((path, item) for item in value[:HOW_DEEP])


def add_later(loop: Loop, found: InReach) -> None:
    """Models and loose weights that the program holds in a later turn of a loop, by names that led to none in its first
    two, lie beside its step (a copy that the tenth turn makes). The last turn that is looked at tells."""
    assert loop.held is not None
    assert loop.held_again is not None
    first, second = loop.early = loop.early or (loop.held, loop.held_again)
    there = {id(value) for _, value in (*found.layers, *found.tensors)}
    # Containers that only grow: what they held first is still there.
    known = {path.partition("[")[0] for each in loop.early for path, value in (*each.layers, *each.tensors)
             if "[" not in path or id(value) not in there}  # fmt: skip
    layers = [(path, layer) for path, layer in found.layers if path.partition("[")[0] not in known]
    loose = [(path, tensor) for path, tensor in found.tensors
             if isinstance(tensor, Weight) and path.partition("[")[0] not in known]  # fmt: skip
    weights = {**first.weights, **{id(layer): found.weights[id(layer)] for _, layer in layers}}
    loop.held = InReach([*first.layers, *new_to(first.layers, layers)], first.optimizers,
                        [*first.tensors, *new_to(first.tensors, loose)], weights, first.loaded)  # fmt: skip
    loop.held_again = replace(second, tensors=[*second.tensors, *new_to(second.tensors, loose)])


def new_to(before: Iterable[tuple[str, T]], found: Iterable[tuple[str, T]]) -> list[tuple[str, T]]:
    """Those of what is found that were not there before."""
    known = {id(value) for _, value in before}
    return [(path, value) for path, value in found if id(value) not in known]


def models_in(found: InReach) -> int:
    """How many models, loose weights and other tensors in containers there are in what the program holds."""
    inside = sum(isinstance(tensor, Weight) or ("[" in path and is_some_size(tensor)) for path, tensor in found.tensors)
    return len(found.layers) + inside


def note_one_more(run: Interpreter, loop: Loop) -> None:
    """A loop has ended that keeps models: note whether its last turn has left more of them than its step has found."""
    loop.one_more = models_in(held_now(run)) > loop.models


PERHAPS_FILLED = "containers with models on one side"
"""Scratch of the run: by id a container that has got copies of models on one side of a test that is not known, with
why nobody knows the answer."""


def perhaps_held(run: Interpreter) -> tuple[str, Unknown] | None:
    """A name or attribute that leads to a copy of a model or of its weights on one side of a test that is not known,
    and to nothing on the other: the best model so far, or a container with more of them."""
    filled = run.data(PERHAPS_FILLED)
    for path, value in names_in_sight(run.frame):
        for inner, item in one_deep([(path, value)]):
            if type(item) is Unknown and item.instead is not None and holds_weights(item.instead):
                return inner, item
            if filled and filled.get(id(item), (None,))[0] is item and item is not None:
                return inner, filled[id(item)][1]
    return None


def holds_weights(value: Value) -> bool:
    """Whether a value is a layer with weights, or a container with weights in it."""
    if isinstance(value, Instance):
        return frameworks.is_layer(value) and bool(weights_of(value))
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(item, Weight) for item in items)


def held_at_step(run: Interpreter) -> InReach:
    """What the program holds at an optimizer's step that no loop is around: the tensors that names lead to live on."""
    found = held_now(run)
    for _, tensor in found.tensors:
        if not isinstance(tensor, Weight):
            tensor.held = FOREVER
    return found


def models_put_by(run: Interpreter, turn: Turn, results: bool = False) -> int:
    """How many models and loose weights the containers hold that a turn has put something into; with `results` other
    tensors on the device as well, single numbers and small ones left out, but for what the turns of a loop inside of it
    have put there: that is counted by those."""
    filled = run.trace.filled
    inner = {each.turn for each in run.trace.events_of(turn) if each.turn is not None and each.turn is not turn}
    found = 0
    # What a variable leads to as well is told by that.
    inside = {id(item) for held, before in turn.filled.values() for item in islice(items_of(held), before, None)}
    optimizers: tuple[str, ...] = ()
    for path, value, owners in within_reach(names_in_sight(run.frame)):
        if isinstance(value, Instance) and frameworks.updated_by(value) is not None:
            # What an optimizer keeps for its weights is its state.
            optimizers = (*optimizers, f"{path}.")
        model = frameworks.is_layer(value) or isinstance(value, Weight)
        if (model or (results and is_some_size(value))) and not path.startswith(optimizers):
            numbers = [filled[key][0] for _, key in owners if type(key) is int and key in filled]
            put = any(at >= turn.first and (model or not within_any(at, inner)) for at in numbers)
            found += put or (id(value) in inside and frameworks.is_layer(value))
    return found


def within_any(number: int, turns: Iterable[Turn]) -> bool:
    """Whether an op of this number ran in one of these turns."""
    return any(turn.first <= number <= turn.last for turn in turns)


def leaves_results(run: Interpreter, turn: Turn, variables: Mapping[str, Value] = MappingProxyType({})) -> bool:
    """Whether a turn that calls models has put more results of some size into containers (the predictions of an
    evaluation), or joined them to a variable, those of a loop inside of it left out: the next turn finds them in
    memory."""
    events = run.trace.events[turn.events[0] :]
    if not any(event.kind == "call" and event.turn is turn for event in events):
        return False
    joined = joined_names(run, turn.loop) if variables else ()
    return any(is_some_size(variables.get(word)) for word in joined) or any(
        is_some_size(tensor)
        for container, before in turn.filled.values()
        for item in islice(items_of(container), before, None)
        for tensor in (
            item.values() if isinstance(item, dict) else item if isinstance(item, (tuple, list)) else (item,)
        )
    )


def holds_results(word: str, item: Value) -> bool:
    """Whether an attribute of a layer may hold what ops have given, or is an optimizer of its own: it is no layer or
    weight."""
    if type(item) is Instance:
        return not frameworks.is_layer(item) and frameworks.updated_by(item) is not None
    return (isinstance(item, (list, tuple, dict, deque)) or type(item) is Tensor) and not word.startswith("_")


def mark_held(run: Interpreter, turn: Turn, others: Iterable[tuple[str, Value]] = ()) -> None:
    """At the end of a turn: note of the tensors that names still lead to that they live on, and of what is held by none
    (`others`). Whoever gives a name another tensor later notes when."""
    filled, began = run.trace.filled, turn.loop.began
    named = [*others, *names_in_sight(run.frame)]
    gathered = data_in_containers(run, turn, named)
    for path, value, owners in within_reach(named):
        if not isinstance(value, Tensor) or isinstance(value, Weight):
            continue
        value.held = FOREVER
        if value.call is not None and value.call.number <= began:
            turn.older.append((variable_of(path, owners), value.call.number))
            continue
        if (value.call is not None or value.born >= began) and all(type(key) is int for _, key in owners):
            turn.named.setdefault(variable_of(path, owners), []).append(value)
        # The outermost that the turn has put something into: what is in there comes and goes with it. A variable
        # may have been given a container that is made anew.
        filling = ((owner, *filled[key]) for owner, key in owners if key in filled)
        known = next(((own, site) for own, number, site in filling if number >= turn.first), gathered.get(id(value)))
        if value.call is not None or (known is not None and value.moved and value.born >= began):
            # Of leaves those that a turn may have put into a container: a name may be given another one.
            what, site = known or (variable_of(path, owners), None)
            limited = any(key in run.trace.limited for _, key in owners)
            replaced = bool(owners) and type(owners[-1][1]) is not int and known == (path, site)
            turn.kept.append(Retained(what, value, bool(owners) or known is not None, site, limited, replaced))
            if known is not None:
                run.trace.gathered.setdefault(turn.loop.statement, set()).add(what)


def data_in_containers(
    run: Interpreter, turn: Turn, named: Sequence[tuple[str, Value]]
) -> dict[int, tuple[str, Site | None]]:
    """The leaves, by id, in lists that the turn has put something into, each with the list's name and the statement
    that does: a variable may lead to one as well."""
    holders: dict[str, Value] = {}
    inside = with_containers(named)
    for path, value in inside:
        holders.setdefault(path, value)
    found: dict[int, tuple[str, Site | None]] = {}
    for path, tensor, _ in gathered_tensors(inside):
        number, site = run.trace.filled.get(id(holders[path]), (-1, None))
        if number >= turn.first and tensor.call is None:
            found[id(tensor)] = path, site
    return found


def variable_of(path: str, owners: Owners) -> str:
    """The container that a path leads through first, or all of the path where it leads through none."""
    return owners[0][0] if owners and type(owners[0][1]) is int else path
