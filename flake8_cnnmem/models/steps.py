"""The training step that the code makes itself, where every call of it was followed."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.trace import Event
from flake8_cnnmem.evidence import Round, rounds_of, seen_through
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.memory.actions import Action, Step, followed, for_any_batch
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.together import inside_of
from flake8_cnnmem.values import Instance


def step_of(run: Interpreter, roots: Sequence[Root], batch: int) -> Step | None:
    """The step that trains these models, at any batch size; None where it is not known, or not only them.

    `batch` is the batch size that the code states, at which its shapes stand.
    """
    inside = set().union(*(inside_of(root) for root in roots))
    mine = [each for each in rounds_of(run.trace.events) if calls_only(each, inside)]
    whole = max(mine, key=lambda each: len(each.optimizers), default=None)
    if whole is None or {id(one) for each in mine for one in each.optimizers} != {id(one) for one in whole.optimizers}:
        return None
    framework = frameworks.of_layer(roots[0].value)
    if framework is None or not framework.declares_inputs:
        # A Keras program's step is a graph that the framework makes.
        return None
    actions = [action for event in whole.events if (action := action_of(event, framework)) is not None]
    own = [weight for root in roots if root.value is not None for weight in framework.weights(root.value)]
    training = frozenset(id(weight) for weight in own if weight.trainable and not weight.buffer)
    return for_any_batch(actions, batch) if followed(actions, training) else None


def calls_only(each: Round, inside: set[int]) -> bool:
    """Whether a round calls these models, and no others that have weights of their own."""
    called = [seen_through(call.instance) for call in each.calls]
    if not any(id(model) in inside for model in called):
        return False
    others = [model for model in called if id(model) not in inside]
    for model in others:
        framework = frameworks.of_layer(model)
        if framework is not None and isinstance(model, Instance) and framework.weights(model):
            return False
    return True


def action_of(event: Event, framework: Framework) -> Action | None:
    """What the replay makes of an event; None for what it does not ask about."""
    subject = event.subject
    if event.kind == "backward":
        return Action("backward", loss=subject if isinstance(subject, Tensor) else None)
    if event.kind not in ("step", "zero_grad") or not isinstance(subject, Instance):
        return None
    model = seen_through(subject)
    if isinstance(model, Instance) and framework.is_layer(model):
        return Action(event.kind, weights=frozenset(id(weight) for weight in framework.weights(model)))
    held = frozenset(id(weight) for weight in framework.updated_by(subject) or ())
    return Action(event.kind, optimizer=framework.optimizer_of(subject), weights=held)
