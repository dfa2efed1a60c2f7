"""Models that one step trains together as one model, with the step that the code makes where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.evidence import rounds_of, seen_through
from flake8_cnnmem.graph import Model, calls_behind
from flake8_cnnmem.memory.actions import Step
from flake8_cnnmem.models.build import Built
from flake8_cnnmem.models.outcome import doubts
from flake8_cnnmem.models.root import Root, unknown_children
from flake8_cnnmem.models.steps import step_of
from flake8_cnnmem.models.together import inside_of
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

Part = tuple[Root, Model, Training]


@dataclass(frozen=True, slots=True)
class Whole:
    """All that one step trains: a single model, or several as one. `parts` is empty for a single model."""

    model: Model
    step: Step | None = None
    parts: tuple[Part, ...] = ()


def joined(
    root: Root, built: Built, training: Training, others: Sequence[tuple[Root, Built | None, Training]]
) -> Whole:
    """The model of a root with those of the roots that are trained in the same step.

    Where the code's own step is not known, a step of several PyTorch models is a lower bound: what passes from one to
    another is not counted. Keras runs the update of each model as a program of its own.
    """
    if not others:
        return by_its_parts(root, built, training) if called_in_parts(root) else Whole(built.model)
    parts: list[Part] = [(root, built.model, training)]
    parts += [(part, its.model, how) for part, its, how in others if its is not None]
    parts.sort(key=lambda part: (part[0].site.line, part[0].site.column))
    step = step_of(root.run, root.parts, training.batch_size.value)
    causes = [cause for _, model, _ in parts for cause in model.causes] if step is None else []
    causes += [cause for part, its, _ in others if its is None for cause in part.causes]
    if step is None and not all(is_fitted(part) for part, _, _ in parts):
        names = " and ".join(part.name for part, _, _ in parts)
        causes.append(
            Unknown(f"what the step that trains {names} hands from one to another", root.site.path, root.site.line)
        )
    return Whole(union(root, parts, causes), step, tuple(parts))


def called_in_parts(root: Root) -> bool:
    """Whether a training step calls layers of a model by themselves, beside the model or instead of it (a Lightning
    module's own step)."""
    rounds = rounds_of(root.run.trace.events)
    inside = inside_of(root) if rounds else set()
    for each in rounds:
        called = [seen_through(call.instance) for call in each.calls]
        if any(id(model) in inside and model is not root.value and is_trainable(model) for model in called):
            return True
    return False


def is_trainable(layer: Value) -> bool:
    framework = frameworks.of_layer(layer)
    return framework is not None and isinstance(layer, Instance) and bool(framework.weights(layer))


def by_its_parts(root: Root, built: Built, training: Training) -> Whole:
    """A model whose step is not one call of it: the step that the code makes, or a lower bound."""
    step = step_of(root.run, [root], training.batch_size.value)
    if step is not None:
        return Whole(built.model if built.model.calls else run_by(built.model, step), step)
    cause = Unknown(f"what the step that trains {root.name} does", root.site.path, root.site.line)
    return Whole(replace(built.model, causes=(*built.model.causes, cause)))


def run_by(model: Model, step: Step) -> Model:
    """What the step runs of a model without a forward pass: a Lightning module whose own step calls its layers."""
    losses = tuple(action.loss for action in step.actions if action.loss is not None)
    calls = calls_behind(losses)
    causes = [*doubts(calls), *(weight.shape for weight in model.weights if isinstance(weight.shape, Unknown))]
    causes += [child for _, child in unknown_children(model.root)]
    return replace(model, inputs=step.inputs, outputs=losses, calls=calls, causes=tuple(dict.fromkeys(causes)))


def is_fitted(root: Root) -> bool:
    """Whether the framework trains a model by itself, when the code calls `fit`."""
    framework = frameworks.of_layer(root.value)
    return framework is not None and root.value is not None and bool(framework.fits(root.value))


def union(root: Root, parts: Sequence[Part], causes: Sequence[Unknown]) -> Model:
    """One model of all parts: every call, every weight once, layers by their part's name and their path in it."""
    models = [model for _, model, _ in parts]
    paths: dict[int, str] = {}
    for part, model, _ in parts:
        for key, path in model.paths.items():
            paths.setdefault(key, f"{part.name}.{path}" if path else part.name)
    calls = {call.number: call for model in models for call in model.calls}
    return replace(
        models[0],
        name=" + ".join(part.name for part, _, _ in parts),
        root=root.value,
        inputs=tuple(tensor for model in models for tensor in model.inputs),
        outputs=tuple(tensor for model in models for tensor in model.outputs),
        calls=tuple(calls[number] for number in sorted(calls)),
        weights=tuple({id(weight): weight for model in models for weight in model.weights}.values()),
        paths=paths,
        causes=tuple(dict.fromkeys(causes)),
        site=root.site,
        trained=frozenset().union(*(model.trained for model in models)),
    )
