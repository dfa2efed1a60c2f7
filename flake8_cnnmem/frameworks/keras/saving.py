"""Models that a program writes to files or describes as text: what is written is noted, to be read back by the same
program (`loading`)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.model_state import Compilation, compilation_of
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.tracking import all_weights
from flake8_cnnmem.frameworks.keras.trainable import trainable_ids
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

FILES = "_files"
"""Where a model keeps what was written of it: among its attributes, as a branch that may not be taken may write it."""


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A model as it was when it was written."""

    model: Instance
    path: str
    number: int
    """How many were written before: a file holds what was written to it last."""
    weights: frozenset[int]
    """Ids of its weights then."""
    trainable: frozenset[int]
    """Ids of those whose flags let them train."""
    compilation: Compilation | Unknown | None

    @property
    def is_unchanged(self) -> bool:
        """Whether the model still has the same weights and flags."""
        weights = frozenset(id(weight) for weight in all_weights(self.model))
        return weights == self.weights and frozenset(trainable_ids(self.model)) == self.trainable


def as_it_is(run: Runtime, model: Instance, path: str = "") -> Saved:
    """What of a model is written now."""
    session = session_of(run)
    session.written += 1
    weights = frozenset(id(weight) for weight in all_weights(model))
    trainable = frozenset(trainable_ids(model))
    return Saved(model, path, session.written, weights, trainable, compilation_of(model))


def save(run: Runtime, self: Instance, filepath: Value = None, *args: Value, **kwargs: Value) -> None:
    """`model.save(filepath)`."""
    if not isinstance(filepath, str):
        return
    before = self.attributes.get(FILES, ())
    run.changed(self)
    saved = as_it_is(run, self, filepath)
    kept = [each for each in before if each.path != filepath] if isinstance(before, tuple) else []
    self.attributes[FILES] = (*kept, saved)
    session_of(run).saved[id(self)] = self


def save_model(run: Runtime, model: Value, filepath: Value = None, *args: Value, **kwargs: Value) -> None:
    """`keras.models.save_model(model, filepath)`."""
    if isinstance(model, Instance):
        save(run, model, filepath)


def save_at_checkpoints(run: Runtime, model: Instance, callbacks: Value) -> None:
    """What the `ModelCheckpoint`s that a fit is given write: whole models, at paths that name no epoch."""
    for callback in callbacks if isinstance(callbacks, (list, tuple)) else (callbacks,):
        if not isinstance(callback, Instance) or callback.cls.name != "ModelCheckpoint":
            continue
        path = callback.attributes.get("filepath")
        if isinstance(path, str) and "{" not in path and callback.attributes.get("save_weights_only") is False:
            save(run, model, path)


def to_json(run: Runtime, self: Instance, **kwargs: Value) -> Value:
    """`model.to_json()`: a text that is not known, and which model it describes."""
    text = run.unknown("what to_json gives is not followed")
    session_of(run).described[id(text)] = (text, as_it_is(run, self))
    return text


def saved_at(run: Runtime, path: Value) -> Saved | Unknown | None:
    """The model that was last written to a path; None where this program wrote none there."""
    found: list[Saved] = []
    for model in session_of(run).saved.values():
        files = model.attributes.get(FILES, ())
        if isinstance(files, Unknown):
            return files
        found += [each for each in files if each.path == path]
    return max(found, key=lambda each: each.number, default=None)
