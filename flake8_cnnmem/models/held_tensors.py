"""Tensors that the program holds while a training's step runs and that are not the step's own: what was there before
it, what a turn has put on the device for a later one, and the graphs behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.loop_turns import Loop
from flake8_cnnmem.evaluate.trace import Event, Trace
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.evidence.growth import with_gradient
from flake8_cnnmem.evidence.phases import held_by
from flake8_cnnmem.graph import FOREVER, Tensor, Weight, calls_behind, lies_on_device
from flake8_cnnmem.memory.leaves import memory_of, storage_of
from flake8_cnnmem.models.left_by_turns import asked_for
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def given_by(loop: Loop | None) -> set[str]:
    """The variables that every turn of a loop gives a value."""
    if loop is None or not isinstance(loop.site, StatementSite):
        return set()
    found: set[str] = set()
    waiting = list(ast.iter_child_nodes(loop.site.statement))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, NOT_EVERY_TURN):
            waiting += ast.iter_child_nodes(node)
    return found


NOT_EVERY_TURN = (ast.If, ast.Try, ast.While, ast.Match, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)


def tensors_left(trace: Trace, phase: Phase) -> Iterator[tuple[str, Tensor]]:
    """Tensors that were there before the loop, are still held in its step, and are not its own."""
    assert phase.held is not None
    turns = phase.loop.turns if phase.loop is not None else []
    began = beginning(phase)
    read = read_by(phase)
    last = phase.passes[-1].last
    # What the loop gives another value in every turn is its own, as it was left by the turn before.
    given = given_by(phase.loop)
    # What turns put into a container is counted by what each of them leaves: the turn that stands for later ones finds
    # what those before it have put there.
    if phase.loop is not None and phase.loop.repeated:
        given |= trace.gathered.get(phase.loop.statement, set())
    own = {kept.what for turn in turns for kept in turn.kept} | given
    # What an optimizer keeps for its parameters is counted as its state.
    states = tuple(f"{path}.state[" for path, _ in phase.held.optimizers)
    for path, tensor in phase.held.tensors:
        if (
            path in own
            or path.startswith(states)
            or path.partition("[")[0] in given
            or id(tensor) in read
            # Its name or its place in a container was given another value by a turn that was followed (an average).
            or began < tensor.held <= last
            or isinstance(tensor, Weight)
        ):
            continue
        if made_by(tensor) > began or is_symbolic(tensor):
            # The step makes it itself: what an optimizer of the program's own keeps is counted with that.
            continue
        yield path, tensor


def beginning(phase: Phase) -> int:
    """The number of ops before a phase's loop, or before that which it goes on with."""
    followed = phase.loop.follows if phase.loop is not None else None
    turns = followed.turns if followed is not None and followed.turns else []
    turns = turns or (phase.loop.turns if phase.loop is not None else [])
    return turns[0].first if turns else phase.passes[0].first


def read_by(phase: Phase) -> set[int]:
    """The tensors, by id, that the ops of a step read and make, and those that they are views of as a whole."""
    calls = (call for each in phase.passes for call, _ in each.calls)
    # A tensor of no model may be read as a layer's weight (a table that rows are looked up in).
    found = {id(tensor): tensor for call in calls for tensor in (*call.inputs, *call.weights, *call.outputs)}
    wholes = ((tensor, storage_of(tensor)) for tensor in found.values() if tensor.call is not None)
    # The replay takes a whole in whose parts were read off it before the step (the rows that a loop goes through).
    first = phase.passes[0].first
    # What was there before is the same memory under the name of each view that was taken before it was written into.
    there = (tensor for tensor in found.values() if tensor.call is not None and made_by(tensor) <= first)
    before = {id(memory_of(tensor)) for tensor in there}
    read = found.keys() | {id(whole) for part, whole in wholes if as_large(part, whole) or made_by(part) <= first}
    return read | before


def made_by(tensor: Tensor) -> int:
    """The number of the op that made a tensor; of a leaf how many there were when it was."""
    return tensor.call.number if tensor.call is not None else tensor.born


def as_large(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have as many values for certain."""
    if isinstance(one.shape, Unknown) or isinstance(other.shape, Unknown):
        return False
    return dims.product(one.shape) == dims.product(other.shape)


def given_ahead(trace: Trace, phase: Phase, places: bool, told: set[int]) -> Iterator[tuple[str, Tensor]]:
    """What a turn of a loop has put on the device, or made there without a gradient, and neither it nor the next one
    reads: data for a later turn (a prefetcher's), gradients that a name holds. As the second turn finds it. Where a
    backward pass follows, the gradients of the turn before have made room for new ones by then. Not what is told
    already (ids): what was put ahead before the first turn."""
    turns, again = (phase.loop.turns[:2], phase.loop.held_again) if phase.loop is not None else ([], None)
    if again is None or len(turns) < 2 or phase.loop is None or phase.loop.repeated or not places:
        return
    calls = [call for turn in turns for call, _ in trace.calls_of(turn)]
    read = told | {id(storage_of(tensor)) for call in calls for tensor in (*call.inputs, *call.outputs)}
    gathered = trace.gathered.get(phase.loop.statement, set())
    goes_back = any(event.kind == "backward" for event in phase.events)
    replaced = asked_for(trace, phase.loop) if goes_back else {}
    states = tuple(f"{path}.state[" for path, _ in again.optimizers)
    for path, tensor in again.tensors:
        whole = storage_of(tensor)
        if path.startswith(states):
            # Counted as what the optimizer keeps.
            continue
        if (
            made_by(tensor) > phase.loop.began
            and id(whole) not in read
            and id(tensor) not in replaced
            and not isinstance(tensor, Weight)
            and not isinstance(tensor.shape, Unknown)
            and ("[" not in path or path.partition("[")[0] not in gathered)
            and lies_on_device(tensor)
            and not has_graph(tensor)
        ):
            read.add(id(whole))
            yield path, replace(whole)


def unsized_beside(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Why more lies beside a phase than is counted: the program holds a tensor on the device of which it is not known
    how large it is (made of a picture in a file, or a whole data set of which a step takes some rows)."""
    if phase.held is None:
        return
    for path, tensor in (*tensors_left(trace, phase), *taken_from(phase)):
        shape = tensor.shape
        cause = shape if isinstance(shape, Unknown) else dims.first_unknown(shape)
        if cause is not None and lies_on_device(tensor):
            what = f"how large {path.partition('[')[0]} is, which is held beside the step, is not known: {cause.reason}"
            yield Unknown(what, cause.path, cause.line)
            return


def taken_from(phase: Phase) -> Iterator[tuple[str, Tensor]]:
    """Tensors that the program holds, which were there before the loop whose step reads them."""
    assert phase.held is not None
    read, began, last = read_by(phase), beginning(phase), phase.passes[-1].last
    for path, tensor in phase.held.tensors:
        there = id(tensor) in read and made_by(tensor) <= began and not began < tensor.held <= last
        if there and not isinstance(tensor, Weight) and not is_symbolic(tensor):
            yield path, tensor


def is_symbolic(tensor: Tensor) -> bool:
    """Whether a tensor is a place in a model's graph, and no values (Keras' `Input` and what is computed from it)."""
    leaves = (each for call in calls_behind([tensor]) for each in call.inputs if each.call is None)
    return tensor.symbolic or any(leaf.symbolic for leaf in leaves)


def graphs_beside(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Why more lies beside a phase than is counted: what the program holds of earlier results with the graph that leads
    to them, through which no backward pass has gone. The tensors are counted, and not what their graphs keep."""
    held = [(path, tensor) for path, tensor in tensors_left(trace, phase) if has_graph(tensor)] if phase.held else []
    if not held:
        return
    first = phase.passes[0].first
    losses = [end for event in trace.events if event.number <= first for end in ends_of(event)]
    gone = {call.number for call in calls_behind([loss for loss in losses if isinstance(loss, Tensor)])}
    for event in trace.events:
        loss = event.subject if event.kind == "derived" and event.number <= first else None
        # A pass over the gradients of a loss goes through what the loss is made of.
        if isinstance(loss, Tensor) and loss.call is not None and gone.issuperset(
            call.number for call in calls_behind([loss]) if call is not loss.call
        ):  # fmt: skip
            gone.add(loss.call.number)
    trained = [each for optimizer in phase.optimizers for each in held_by(optimizer)]
    places = any(isinstance(each, Weight) and each.moved_at(phase.stepped) for each in trained)
    for path, tensor in held:
        host = was_on_the_host(tensor) or (places and not lies_on_device(tensor))
        if tensor.call is not None and tensor.call.number not in gone and not host:
            site = tensor.call.site
            place = (site.path, site.line) if site is not None else ("", 0)
            yield Unknown(f"what the graph behind {path.partition('[')[0]} keeps", *place)
            return


def ends_of(event: Event) -> Iterator[Value]:
    """What an event goes back from, through a graph that is let go of on the way to the weights."""
    if event.kind not in ("backward", "gradient") or event.options.get("retain_graph") is True:
        return
    given = event.options.get("given", ())
    pairs = given if isinstance(given, tuple) else ()
    if event.kind == "backward" or all(isinstance(each, Weight) for each, _ in pairs):
        beside = event.options.get("beside", ())
        yield event.subject
        yield from (end for end, _ in (beside if isinstance(beside, tuple) else ()))


def graphs_of_some_turns(trace: Trace, phase: Phase) -> Iterator[Unknown]:
    """Why more lies beside later turns of a phase than is counted: a turn that does something now and then has left a
    name with a graph through which no backward pass has gone, until that is done again."""
    loop = phase.loop
    if loop is None or loop.length == 1:
        return
    given = given_by(loop)
    for turn in loop.turns:
        left = [kept for kept in turn.kept if not kept.inside and kept.what.isidentifier() and kept.what not in given]
        left = [kept for kept in left if turn.first < made_by(kept.tensor) <= turn.last and has_graph(kept.tensor)]
        if not left:
            continue
        losses = [event.subject for event in trace.events_of(turn) if event.kind == "backward"]
        gone = {call.number for call in calls_behind([loss for loss in losses if isinstance(loss, Tensor)])}
        for kept in left:
            if kept.tensor.call is not None and kept.tensor.call.number not in gone:
                site = kept.site or kept.tensor.call.site
                place = (site.path, site.line) if site is not None else ("", 0)
                yield Unknown(f"what the graph behind {kept.what} keeps until it is made again", *place)
                return


def left_now_and_then(phase: Phase, places: bool) -> Iterator[tuple[Tensor, int]]:
    """What a turn that does something now and then leaves by names that other turns give no value, and that those
    behind it find in memory until it is done again: what an evaluation every so many steps has gathered, its last
    batch. Each as a tensor of its own, with the number of the op until which the turn that is told holds it: where that
    makes another one, until then, of what is gathered anew until it looks. Of a leaf the next one stands there from
    its first reader on."""
    loop, told = phase.loop, phase.passes[-1]
    if loop is None or loop.length == 1 or loop.repeated or len(loop.turns) < 2 or not places:
        return
    given = given_by(loop)
    made: dict[str, list[Tensor]] = {}
    now_and_then: set[str] = set()
    before: dict[str, list[Tensor]] = {}
    for turn in loop.turns:
        for name in before.keys() | turn.named.keys():
            same = list(map(id, turn.named.get(name, ()))) == list(map(id, before.get(name, ())))
            begun = name not in before and turn is not loop.turns[0]
            if begun or (same and name.isidentifier()):
                now_and_then.add(name)
        made.update(turn.named)
        before = turn.named
    looks = [event.number for event in told.events if event.call is not None and not event.call.grad]
    steps = [event.number for event in told.events if event.kind == "step"]
    look = min((number for number in looks if steps and number >= steps[-1]), default=FOREVER)
    read, anew = read_by(phase), begun_anew(loop)
    readers: dict[int, int] = {}
    for call, _ in told.calls:
        for tensor in call.inputs:
            readers.setdefault(id(tensor), call.number - 1)
    seen: set[int] = set()
    for name in sorted(now_and_then - given):
        for tensor in made[name]:
            whole = storage_of(tensor)
            own = told.first < made_by(tensor) <= told.last
            if id(whole) in seen or (id(whole) in read and not own) or not lies_on_device(tensor):
                continue
            if isinstance(whole.shape, Unknown) or not dims.known(whole.shape) or (own and look == FOREVER):
                continue
            seen.add(id(whole))
            until = (
                look
                if name in anew
                else max(look, made_by(tensor), readers.get(id(tensor), 0) if tensor.call is None else 0)
            )
            yield replace(whole, call=None), until if own else FOREVER


def begun_anew(loop: Loop) -> set[str]:
    """The variables that a loop's body gives an empty container."""
    found: set[str] = set()
    body = ast.walk(loop.site.statement) if isinstance(loop.site, StatementSite) else ()
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                found.update(
                    place.id for place, value in pairs
                    if isinstance(place, ast.Name) and isinstance(value, (ast.List, ast.Dict))
                )  # fmt: skip
    return found


def was_on_the_host(tensor: Tensor) -> bool:
    """Whether a tensor was computed before the program moved its weights to the device: what its graph keeps stays
    behind."""
    weights = [weight for call in calls_behind([tensor]) for weight in call.weights]
    return any(weight.moved for weight in weights) and not lies_on_device(tensor)


def has_graph(tensor: Tensor) -> bool:
    """Whether a gradient would go back from a tensor to weights."""
    if tensor.call is None or not frameworks.named(tensor.framework).keeps_graphs:
        return False
    read = (each for call in with_gradient([tensor]) for each in (*call.weights, *call.inputs))
    return any(isinstance(each, Weight) and each.trainable and not each.buffer for each in read)
