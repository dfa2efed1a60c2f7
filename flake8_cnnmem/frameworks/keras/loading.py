"""Models that a program reads back: what it wrote itself, as new layers with the same weights and flags."""

from __future__ import annotations

from functools import partial

from flake8_cnnmem.frameworks.keras.cloning import clone_model
from flake8_cnnmem.frameworks.keras.fitting import compile_model
from flake8_cnnmem.frameworks.keras.model_state import COMPILATION, Compilation, graph_of
from flake8_cnnmem.frameworks.keras.saving import Saved, saved_at
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.tracking import all_layers, all_weights, native
from flake8_cnnmem.frameworks.keras.trainable import trainable_ids
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def load_model(
    run: Runtime, filepath: Value = None, custom_objects: Value = None, compile: Value = True, **options: Value
) -> Value:
    """`load_model(filepath)`: a copy of what this program wrote there, compiled as that was; else not followed."""
    saved = saved_at(run, filepath) if isinstance(filepath, str) else None
    if saved is None:
        return run.unknown("what load_model gives is not followed")
    if isinstance(saved, Unknown):
        return saved
    model = restored(run, saved)
    if isinstance(model, Instance) and compile is not False:
        compile_again(run, model, saved)
    return model


def model_from_json(run: Runtime, json_string: Value, custom_objects: Value = None) -> Value:
    """`model_from_json(text)`: a copy of the model that the text was made of, not compiled."""
    text, saved = session_of(run).described.get(id(json_string), (None, None))
    if text is not json_string or not isinstance(saved, Saved):
        return run.unknown("what model_from_json gives is not followed")
    return restored(run, saved)


def restored(run: Runtime, saved: Saved) -> Value:
    """A copy of what was written; Unknown where the model was changed since, or a copy is not made as it is."""
    if not saved.is_unchanged:
        return run.unknown("the model was changed after it was saved")
    lost = next((each for each in map(partial(configuration, run), all_layers(saved.model)) if each is not None), None)
    if lost is not None:
        return lost
    copy = clone_model(run, saved.model)
    if isinstance(copy, Instance) and outline(copy) != outline(saved.model):
        return run.unknown("what a saved model is read back as is not followed")
    return copy


def configuration(run: Runtime, layer: Instance) -> Unknown | None:
    """Why it is not known what a layer is made of anew."""
    found = run.call(run.get(layer, "get_config"))
    return found if isinstance(found, Unknown) and graph_of(layer) is None else None


def outline(model: Instance) -> list[tuple[Value, bool]]:
    """Shape and flag of each weight, in order."""
    trainable = trainable_ids(model)
    return [(weight.shape, id(weight) in trainable) for weight in all_weights(model)]


def compile_again(run: Runtime, model: Instance, saved: Saved) -> None:
    """A copy is compiled as the model was that was written, with an optimizer of its own."""
    if not isinstance(saved.compilation, Compilation):
        if saved.compilation is not None:
            run.changed(model)
            model.attributes[COMPILATION] = saved.compilation
        return
    given = dict(saved.compilation.given)
    optimizer = given.get("optimizer")
    if isinstance(optimizer, Instance):
        arguments = {word: value for word, value in optimizer.attributes.items() if not word.startswith("_")}
        given["optimizer"] = run.construct(optimizer.cls, **arguments)
    compile_model(run, model, **given)


MEMBERS: dict[str, Value] = {"load_model": native(load_model), "model_from_json": native(model_from_json)}
