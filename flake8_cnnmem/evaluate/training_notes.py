"""What is noted of a training for those who look for models and steps: layers that are made and called, events, and
the turns of loops that stand for many."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.budget import FEW_STEPS, LAYER_STEPS
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.loop_turns import Loop, Turn, around
from flake8_cnnmem.evaluate.repeated_turns import RepeatedTurns
from flake8_cnnmem.evaluate.trace import MOST_EVENTS, Event, MadeLayer, RootCall
from flake8_cnnmem.evaluate.training_state import (
    add_later,
    asking,
    held_at_step,
    held_by,
    held_now,
    learns,
    models_in,
    perhaps_held,
    reached_from,
)
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.supported import TRAINING
from flake8_cnnmem.values import MISSING, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

MANY_MICRO_STEPS = 16
"""Turns that gather gradients before the loop is given up waiting for an optimizer's step."""

MANY_PASSED = 64
"""Turns that are left by `continue` before a loop over data is given up waiting for another one."""

TOO_MANY_PASSED = (
    f"the first {MANY_PASSED} turns of a loop over data are passed over: those after them are not followed"
)

OF_MODELS = frozenset(("call", "backward", "gradient", "step", "fit"))
"""The events of a turn that something was computed in."""


def made_layer(run: Interpreter, instance: Instance) -> None:
    """A layer's construction begins."""
    run.spend(LAYER_STEPS)
    run.layers_made += 1
    made = MadeLayer(instance, run.layers_made, run.site, run.trace.entered, began=run.numbered)
    run.trace.layers[id(instance)] = made


FITS_SEEN = 3
"""Of so many fits of a model it is looked what the program holds: the next ones find what the second one finds."""


CALLS_SEEN = 16
"""At so many calls of models that no loop is around it is looked what the program holds."""


def finished_layer(run: Interpreter, instance: Instance) -> None:
    """A layer's construction has ended."""
    made = run.trace.layers.get(id(instance))
    if made is not None:
        made.last = run.layers_made


def note(run: Interpreter, kind: str, subject: Value, **options: Value) -> None:
    """Note an event of the training (a step, a backward pass, a loop's start) with its site."""
    # Counted among the ops: what the code lets go of before it is gone by then.
    event = Event(kind, subject, run.site, run.next_number(), options=options, cast_region=run.cast_region)
    if kind == "step":
        event.trainable = held_by(subject)
        look_around(run)
        if run.trace.turn is None:
            event.held = held_at_step(run)
    elif kind == "fit":
        seen = run.data("fits looked at")
        seen[id(subject)] = seen.get(id(subject), 0) + 1
        event.held = held_now(run) if seen[id(subject)] <= FITS_SEEN else None
    elif kind == "backward" and isinstance(subject, Tensor):
        event.trainable = reached_from(subject)
    add_event(run, event)


def joins_step(run: Interpreter, optimizer: Instance) -> None:
    """What an optimizer updates now belongs to the step that it last made."""
    last = next((event for event in reversed(run.trace.events) if event.subject is optimizer), None)
    if last is not None:
        last.trainable = held_by(optimizer)


def look_around(run: Interpreter, innermost: bool = False) -> None:
    """What the program holds at the first call of a model or optimizer step of each loop that is running, in its first
    turns with one."""
    running = around(run.trace.turn)
    waiting = [turn.loop for turn in (islice(running, 1) if innermost else running) if waits(turn.loop)]
    if waiting:
        found = held_now(run)
        perhaps = perhaps_held(run)
        for loop in waiting:
            if perhaps is not None:
                run.trace.perhaps_held.setdefault(loop.statement, perhaps)
            loop.looked, loop.models = len(loop.turns), models_in(found)
            if loop.held is None:
                loop.held = found
            elif loop.held_again is None:
                loop.held_again = found
            else:
                add_later(loop, found)


def note_perhaps_held(run: Interpreter, rest: Loop) -> None:
    """At the end of a turn that stands for the rest of a loop: what it has perhaps left for the next one, told of the
    loop and of those in it."""
    perhaps = perhaps_held(run)
    if perhaps is not None:
        inner = [
            event.turn.loop for turn in rest.turns for event in run.trace.events_of(turn) if event.turn is not None
        ]
        for loop in (rest, *inner):
            run.trace.perhaps_held.setdefault(loop.statement, perhaps)


def waits(loop: Loop) -> bool:
    """Whether it is still to be seen what the program holds in a turn of a loop."""
    return loop.held is None or loop.looked < len(loop.turns) <= loop.most_looked_at


def note_batch(run: Interpreter, size: Value) -> None:
    """A function that nobody can follow is told a batch size."""
    run.data("told batches").setdefault(id(run.site), (size, run.site))


def called_layer(run: Interpreter, layer: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """A layer is called from outside any layer."""
    if run.making_data or is_probe(run, layer):
        return
    # A forward pass may put its results in the place of what the list held.
    args = tuple(list(arg) if type(arg) is list else arg for arg in args)
    call = RootCall(layer, args, as_taken(layer, kwargs), run.site, run.grad_enabled, run.autocast)
    run.trace.root_calls.append(call)
    event = Event("call", layer, run.site, run.numbered, call)
    if run.grad_enabled and not run.trace.on_trial:
        event.trainable = asking(layer)
    if run.trace.turn is None and len(seen := run.data("calls looked at")) < CALLS_SEEN:
        seen[len(seen)] = True
        event.held = held_now(run)
    add_event(run, event)
    look_around(run, innermost=True)


def as_taken(layer: Instance, kwargs: dict[str, Value]) -> dict[str, Value]:
    """Arguments in the order in which the forward pass of a model takes them: `net(**batch)` may name its labels
    first."""
    forward = layer.cls.find("forward") if len(kwargs) > 1 else MISSING
    while isinstance(forward, Function) and isinstance(inner := forward.attributes.get("__wrapped__"), Function):
        forward = inner
    if not isinstance(forward, Function):
        return kwargs
    order = {word: at for at, word in enumerate((*forward.parameters.positional, *forward.parameters.keywords))}
    return dict(sorted(kwargs.items(), key=lambda each: order.get(each[0], len(order))))


def outside_layers(run: Interpreter) -> bool:
    """Whether no layer is running: a stretch that is checkpointed is none."""
    inside = run.invocation
    return inside is None or all(each.layer is None and each.checkpoint for each in inside.ancestry())


def is_probe(run: Interpreter, layer: Instance) -> bool:
    """Whether a layer is called while it is being constructed, to see what its parts give: such a call is made with
    whatever is at hand and says nothing of what the finished model is fed with. Keras builds layers that way."""
    made, framework = run.trace.layers.get(id(layer)), frameworks.of_layer(layer)
    return made is not None and not made.last and framework is not None and framework.declares_inputs


def add_event(run: Interpreter, event: Event) -> None:
    """Put an event into the trace, with the turn of the loop that it is in; no more than MOST_EVENTS."""
    trace = run.trace
    if len(trace.events) < MOST_EVENTS:
        event.turn, event.doubt = trace.turn, trace.doubt()
        trace.events.append(event)


def repeated(run: Interpreter, site: Site | None = None) -> RepeatedTurns:
    """The turns of a loop that stand for many, for natives that loop themselves."""
    return RepeatedTurns(run, site or run.site)


class DrawnAgain:
    """A test for streams: whether what has happened since then is a turn of a loop that learns, or that keeps what
    its models give with their graphs. Its second turn finds in memory what the first one has left. A turn in which no
    model was called and that was left by `continue` stands for none of those to come; of `length` there are no more
    than that, where it is known, and where these are few each is drawn as long as no model was called. Where the last
    item is `shorter` and the turn's text asks for sizes, that one is drawn behind those that stand for all."""

    __slots__ = ("drawn", "ends", "learned", "length", "passing", "run", "shorter", "started", "steps")

    def __init__(self, run: Interpreter, length: int | None = None) -> None:
        self.run = run
        self.started = len(run.trace.events)
        self.steps = run.budget.steps
        self.length = length
        self.drawn = self.learned = 0
        self.passing = True
        """Whether no turn so far has called a model."""
        self.shorter = self.ends = False

    def __call__(self) -> bool:
        """Whether there is another turn."""
        if self.ends:
            return False
        more = self.stands_for_others()
        self.ends = not more and self.asks_at_last()
        ended = self.run.trace.ended
        if self.ends and ended is not None:
            ended.loop.ends = True
        return more or self.ends

    def asks_at_last(self) -> bool:
        """Whether there is a last item that was not drawn, for which a test of the turn that has ended may answer
        otherwise."""
        trace = self.run.trace
        waits = self.shorter and self.learned > 0 and not self.ends and not trace.repeating and not trace.skipping
        if not waits or self.length is None or self.drawn >= self.length:
            return False
        site = trace.ended.loop.site if trace.ended is not None else None
        return isinstance(site, StatementSite) and asks_for_sizes(site.statement)

    def stands_for_others(self) -> bool:
        """Whether there is another turn among those that stand for all."""
        run = self.run
        self.drawn += 1
        if run.trace.skipping:
            return self.drawn != self.length
        new = run.trace.events[self.started :]
        if run.trace.repeating:
            return False
        if not any(event.kind in OF_MODELS for event in new):
            turn = run.trace.ended
            passed = turn is not None and turn.passed and turn.events[0] >= self.started
            return self.drawn != self.length and (self.are_few() or (passed and self.waits()))
        was_last = self.passing and 1 < self.drawn == self.length
        self.passing = False
        learned = any(learns(event) for event in new)
        if was_last or not (learned or leaves_more(run, self.started)):
            return False
        self.learned += 1
        stepped = any(event.kind == "step" for event in new)
        gathers = not stepped and (any(event.kind == "backward" for event in new) or waits_for_a_count(run))
        return self.learned == 1 or (learned and gathers and self.drawn < MANY_MICRO_STEPS)

    def passes_on(self) -> bool:
        """Whether no model was called since the first item, in no turn that stands for others."""
        new = self.run.trace.events[self.started :]
        called = any(event.kind in OF_MODELS for event in new)
        return self.passing and not called and not self.run.trace.repeating

    def are_few(self) -> bool:
        """Whether the items are gone through one by one where no model is called: there are few, and they take few
        steps."""
        if self.length is None or self.length > MANY_PASSED or self.run.trace.repeating:
            return False
        spent = self.steps - self.run.budget.steps
        return spent * (self.length - self.drawn) < FEW_STEPS * self.drawn

    def waits(self) -> bool:
        """Whether a turn is waited for that is not passed; where the loop may train, that it is no longer is told."""
        if self.drawn < MANY_PASSED:
            return True
        if may_train(self.run.trace.ended):
            note_cause(self.run, None, "turns passed over", TOO_MANY_PASSED)
        return False


def asks_for_sizes(statement: ast.AST) -> bool:
    """Whether a test within a loop compares the size of what a turn is given or makes: `if len(x) < 32`,
    `if x.size(0) != batch`. How long the loader is says nothing of a batch."""
    own = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    tests = (node.test for node in ast.walk(statement) if isinstance(node, (ast.If, ast.IfExp)))
    compared = (each for test in tests for each in ast.walk(test) if isinstance(each, ast.Compare))
    sized = (sized_by(node) for each in compared for node in ast.walk(each))
    return any(
        isinstance(name, ast.Name) and name.id in own for what in sized if what is not None for name in ast.walk(what)
    )


def sized_by(node: ast.AST) -> ast.AST | None:
    """What an expression is the size of: `len(x)`, `x.size(0)`, `x.shape`; None for any other."""
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    if isinstance(called, ast.Name) and called.id == "len" and node.args:
        return node.args[0]
    return called.value if isinstance(called, ast.Attribute) and called.attr == "size" else None


def drawn_again(run: Interpreter, length: int | None = None) -> DrawnAgain:
    """A test for streams, of so many items where that is known: whether a loop over one needs another turn."""
    return DrawnAgain(run, length)


def may_train(turn: Turn | None) -> bool:
    """Whether the text of a turn's loop has a call that trains a model in some framework."""
    site = turn.loop.site if turn is not None else None
    return isinstance(site, StatementSite) and any(word in ast.unparse(site.statement) for word in TRAINING)


def leaves_more(run: Interpreter, started: int) -> bool:
    """Whether the turn that has ended, begun behind so many events, has put results of models into containers."""
    turn = run.trace.ended
    return turn is not None and turn.leaves and turn.events[0] >= started


def waits_for_a_count(run: Interpreter) -> bool:
    """Whether the turn of a loop that has ended has asked for the rest of a count: something is done every so many
    turns."""
    return run.trace.ended is not None and bool(run.trace.ended.counts)
