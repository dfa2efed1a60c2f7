"""Compiling and fitting: what the code says of training, and what held of the model then, is kept for later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.frameworks.keras import callbacks as hooks
from flake8_cnnmem.frameworks.keras import targets
from flake8_cnnmem.frameworks.keras.as_fitted import structure_of, weights_then
from flake8_cnnmem.frameworks.keras.batches import batch_of, data_shapes, is_nested, is_source, samples_in
from flake8_cnnmem.frameworks.keras.compiled_losses import USUAL_STEP
from flake8_cnnmem.frameworks.keras.config_objects import doubtful, member
from flake8_cnnmem.frameworks.keras.fed import compare_counts, compare_inputs
from flake8_cnnmem.frameworks.keras.looks import USUAL_BATCH, note_look, note_validation
from flake8_cnnmem.frameworks.keras.model_state import (
    COMPILATION,
    Compilation,
    compilation_of,
    graph_of,
    model_state,
)
from flake8_cnnmem.frameworks.keras.pipeline_elements import facts_of
from flake8_cnnmem.frameworks.keras.saving import save_at_checkpoints
from flake8_cnnmem.frameworks.keras.session import BY_XLA, session_of, tensors_in
from flake8_cnnmem.frameworks.keras.tracking import all_weights, state_of, sublayers
from flake8_cnnmem.frameworks.keras.trainable import trainable_ids, undecided
from flake8_cnnmem.frameworks.keras.version import asks_for_2
from flake8_cnnmem.frameworks.numpy.arrays import as_array
from flake8_cnnmem.graph import Tensor, Weight, calls_behind
from flake8_cnnmem.ops.base import MIXED
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown, largest
from flake8_cnnmem.values import MISSING, Instance, Native, Value

COMPILE = (
    "optimizer", "loss", "metrics", "loss_weights", "weighted_metrics", "run_eagerly", "steps_per_execution",
    "jit_compile", "auto_scale_loss",
)  # fmt: skip
"""Keras 2 had loss_weights after metrics too; by position hardly anyone gives more than three."""


FIT = {
    "fit": ("x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data"),
    "fit_generator": ("generator", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data"),
    "train_on_batch": ("x", "y", "sample_weight", "class_weight"),
}


MOST_FITS = 256
"""Calls of `fit` that are kept: training loops say the same again and again."""

USUAL_OPTIMIZER = "rmsprop"
"""What `compile` takes where it is told none (keras/src/trainers/trainer.py)."""


def compile_model(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`model.compile(optimizer, loss, ...)`: noted with its site."""
    given = {"optimizer": USUAL_OPTIMIZER} | dict(zip(COMPILE, args, strict=False)) | kwargs
    if given.get("run_eagerly") is not True:
        session_of(run).graphed = True
    run.changed(self)
    for word in ("optimizer", "loss"):
        if word in given:
            self.attributes[word] = given[word]
    if isinstance(given.get("optimizer"), (str, dict)):
        # What a step of the code's own finds as `self.optimizer`.
        self.attributes["optimizer"] = run.call(member("optimizers", "get"), given["optimizer"])
    known = frozenset(id(weight) for weight in all_weights(self))
    trainable = frozenset(trainable_ids(self))
    doubt, optimizer = undecided(self), self.attributes["optimizer"]
    made = Compilation(given, run.here(), trainable, known, asks_for_2(run), session_of(run), doubt, optimizer)
    model_state(run, self).compiled.append(made)
    self.attributes[COMPILATION] = made


def trained_then(model: Instance) -> frozenset[int]:
    """The weights that the model trains as it was compiled. What was built since follows its layers' flags, as all of a
    model does that was not compiled."""
    trained = frozenset(trainable_ids(model))
    compilation = compilation_of(model)
    held = compilation.in_force if isinstance(compilation, Compilation) else None
    return trained if held is None else held[0] | (trained - held[1])


def trace(run: Runtime, model: Instance) -> None:
    """Keep what trains when a compiled model runs its first step."""
    session, compilation = session_of(run), compilation_of(model)
    if not isinstance(compilation, Compilation) or id(compilation) in session.traced:
        return
    now = frozenset(trainable_ids(model))
    if now and isinstance(compilation.optimizer, Instance):
        built_for = session.optimizers.setdefault(id(compilation.optimizer), (compilation.optimizer, now))[1]
        # "This optimizer can only be called for the variables it was originally built with": a ValueError in Keras 3.
        session.older |= not now <= built_for
    session.traced[id(compilation)] = now, frozenset(id(weight) for weight in all_weights(model))
    if compilation.in_force is session.traced[id(compilation)] and now & compilation.known != compilation.trainable:
        reason = "flags set after compile() count as in Keras 3, and code that runs later asks for Keras 2"
        session.counted_new[id(compilation)] = run.unknown(reason)


def told_late(run: Runtime, model: Instance) -> Unknown | None:
    """Why it is not known what trained, where only what ran after the first step told that the code is Keras 2's."""
    return session_of(run).counted_new.get(id(compilation_of(model))) if session_of(run).older else None


def fitter(method: str) -> Native:
    """`fit`, `train_on_batch` or their like: noted with batch size and data."""
    names = FIT[method]

    def fit(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        given = {name: as_arrays(run, each) for name, each in (dict(zip(names, args, strict=False)) | kwargs).items()}
        if method == "fit_generator" or "nb_epoch" in given:
            session_of(run).older = True
        data = given.get("x", given.get("generator"))
        if isinstance(data, Unknown) and data.instead is not None:
            data = data.instead
        usual = usual_batch(data, given) if method == "fit" else None
        epochs = given.get("epochs", given.get("nb_epoch"))
        # Keras 3 passes over a batch size beside what gives batches itself; Keras 2 refuses it.
        stated = None if is_source(data) else largest(given.get("batch_size"))
        size = no_more_than_there_are(stated, data, given)
        asked = Fit(data, size, run.here(), usual, epochs=epochs, replicas=session_of(run).replicas)
        asked = replace(asked, with_targets=given.get("y") is not None)
        if session_of(run).hooks:
            return run.unknown("what training gives is not followed")
        callbacks, compilation = hooks.own_callbacks(given.get("callbacks")), compilation_of(self)
        hooks.before_the_step(run, self, callbacks)
        trace(run, self)
        told = as_it_stands(run, asked, self)
        fitted = model_state(run, self).fitted
        at = len(fitted)
        # As what else is watched, and unlike what the code has: what a branch that may not be taken does counts.
        fitted.extend([told] if at < MOST_FITS else ())
        run.note("fit", self, data=data, batch_size=asked.batch_size, usual=usual)
        followed = one_step(run, self, told, given)
        followed = replace(followed, structure=structure_of(run, self), weights=weights_then(self))
        if callbacks:
            hooks.after_the_step(run, callbacks, epochs)
            doubts = hooks.compiled_meanwhile(run, self, compilation)
            followed = replace(followed, doubts=(*followed.doubts, *doubts))
            hooks.call_hooks(run, callbacks, ("on_train_end",), 0)
        fitted[at:] = [followed for _ in fitted[at:]]
        note_validation(run, self, given, asked.usual if asked.batch_size is None else asked.batch_size)
        save_at_checkpoints(run, self, given.get("callbacks"))
        return run.unknown("what training gives is not followed")

    return Native(method, fit, propagate_unknown=False)


def as_arrays(run: Runtime, data: Value) -> Value:
    """What a table (of pandas, say) gives as an array is an array to Keras, alone or among several; else as it is."""
    if isinstance(data, tuple) and any(isinstance(each, Instance) for each in data):
        return tuple(as_arrays(run, each) for each in data)
    if isinstance(data, Instance) and data.cls.find("__array__") is not MISSING:
        return as_array(run, data)
    return data


def one_step(run: Runtime, self: Instance, told: Fit, given: dict[str, Value]) -> Fit:
    """A fit with the batch that it draws first and what it trains: the model is built by it, and a step of the code's
    own is run once."""
    batch = batch_of(run, told.data, given.get("y"), told.batch_size, told.usual)
    build_from_data(run, self, told.data, batch)
    fit = replace(told, batch=batch)
    uneven, session_of(run).uneven = session_of(run).uneven, None
    uneven = facts_of(fit.data).get("doubt", uneven) if isinstance(fit.data, Instance) else uneven
    if fit.batch_size is None and not isinstance(fit.data, Instance) and not any(map(is_counted, tensors_in(batch))):
        fit = replace(fit, batch_size=samples_a_step(given))
    if not has_own_step(self):
        stands = with_own_loss(run, as_it_stands(run, fit, self), self)
        stands = stands if uneven is None else replace(stands, doubts=(*stands.doubts, uneven))
        compare_inputs(run, self, batch[0] if isinstance(batch, tuple) and batch else batch)
        targets.compare(run, self, stands, given.get("y"))
        look_at_arrays(run, self, stands, given)
        try_batch(run, self, batch)
        if stands.unfollowed:
            with run.repeated():
                run.attempt(USUAL_STEP, self, batch)
        return stands
    session, steps = session_of(run), session_of(run).steps
    before = len(steps)
    whole = run.unknown(f"the train_step of {self.cls.name} runs more than this")
    for part in sublayers(self):
        if len(all_weights(part)) < len(all_weights(self)):
            session.parts_of_steps.setdefault(id(part), whole)
    outside, session.called_unknown = session.called_unknown, []
    # Each fit is a loop of its own: what two of them train is not trained together. A step of the code's own says
    # itself which of its calls are training.
    usual, session.training = session.training, [None]
    with run.repeated():
        run.attempt(run.get(self, "train_step"), batch)
    session.training = usual
    unknown, session.called_unknown = session.called_unknown, outside
    for cause in (unknown or ())[:1]:
        # It may be a model beside the parts that are known, which the step trains, too.
        for part in sublayers(self):
            session.parts_of_steps[id(part)] = cause
    # Only now are the layers built that nothing but the step calls.
    followed = updating(as_it_stands(run, fit, self), steps[before:])
    other = (*usual_step_on_others(run, self, batch), *([uneven] if uneven is not None else []))
    return replace(followed, doubts=tuple(dict.fromkeys((*followed.doubts, *(unknown or ()), *other))))


def try_batch(run: Runtime, model: Instance, batch: Value) -> None:
    """Call a model on its first batch where it depends on how many samples that has whether its sizes fit: where one of
    its axes meets another number."""
    graph, nodes = graph_of(model), state_of(run, model).nodes
    outputs = graph.flat_outputs if graph is not None else nodes[-1].outputs if nodes else ()
    inputs = batch[0] if isinstance(batch, tuple) and batch else batch
    given = tensors_in(inputs)
    if not given or not all(map(is_counted, given)):
        return
    made = (tensor.shape for call in calls_behind(outputs) for tensor in call.outputs)
    sizes = (size for shape in made if isinstance(shape, tuple) for size in shape)
    if any(isinstance(size, Unknown) and size.reason == MIXED.reason for size in sizes):
        run.attempt(model, inputs)


def usual_step_on_others(run: Runtime, model: Instance, batch: Value) -> tuple[Unknown, ...]:
    """The doubt that a step of the code's own is, which runs the usual one (`super().train_step(data)`) on inputs of
    other sizes than the fit's: those are what the usual step holds."""
    given, session_of(run).usual_steps = session_of(run).usual_steps, []
    return tuple(cause for data, cause in given if input_sizes(data) != input_sizes(batch))[:1]


def input_sizes(batch: Value) -> list[Value]:
    """The shapes of the inputs in a batch, which stand before its targets."""
    inputs = batch[0] if isinstance(batch, (list, tuple)) and batch else batch
    return [tensor.shape for tensor in tensors_in(inputs)]


def usual_step(run: Runtime, self: Instance, data: Value = None) -> Value:
    """`super().train_step(data)`: the step that was counted for the fit, on its own batch."""
    doubt = run.unknown(f"the train_step of {self.cls.name} runs the usual one on other tensors than it is given")
    session_of(run).usual_steps.append((data, doubt))
    return run.unknown("what train_step gives is not followed")


def look_at_arrays(run: Runtime, self: Instance, fit: Fit, given: dict[str, Value]) -> None:
    """Say it where arrays are not of as many samples as one another, or those to validate with are of other sizes."""
    if fit.usual is not None:
        compare_counts(run, self, fit.data, given.get("y"))
    held_out = given.get("validation_data")
    if isinstance(held_out, (list, tuple)) and len(held_out) > 1:
        compare_counts(run, self, held_out[0], held_out[1])
        compare_inputs(run, self, held_out[0])
        targets.compare(run, self, replace(fit, batch=tuple(held_out)), held_out[1])


def evaluate(
    run: Runtime, self: Instance, x: Value = None, y: Value = None, batch_size: Value = None, *args: Value,
    **kwargs: Value,
) -> Value:  # fmt: skip
    """`model.evaluate(x, y)`: its data are held against the inputs and the loss as those of a fit."""
    batch = batch_of(run, x, y, None, None)
    if is_source(x):
        note_look(run, self, batch, whole=True, loss=True)
    else:
        note_look(run, self, x, batch_size, loss=True)
    compare_inputs(run, self, batch[0] if isinstance(batch, tuple) and batch else batch, "evaluate")
    if not is_source(x):
        compare_counts(run, self, x, y, "evaluate")
    targets.compare(run, self, as_it_stands(run, Fit(x, None, run.here(), None, batch=batch), self), y)
    return run.unknown("what evaluate gives is not followed")


EVALUATE = Native("evaluate", evaluate, propagate_unknown=False)


def note_unfollowed(run: Runtime, cause: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A step calls with tensors what is not known: it may be a model, whose weights are in memory, too."""
    called = session_of(run).called_unknown
    if called is not None and any(isinstance(value, Tensor) for value in (*args, *kwargs.values())):
        called.append(cause)
    return cause


def usual_batch(data: Value, given: dict[str, Value]) -> int:
    """What `fit` takes of arrays where it is told no batch size: an epoch's samples divided by its steps, if it is told
    those, else 32 (keras/src/trainers/data_adapters/array_data_adapter.py)."""
    steps, count = given.get("steps_per_epoch"), samples_in(data)
    if type(steps) is int and steps > 0 and count is not None:
        return -(-count // steps)
    size = no_more_than_there_are(USUAL_BATCH, data, given)
    return size if isinstance(size, int) else USUAL_BATCH


def no_more_than_there_are(size: Value, data: Value, given: dict[str, Value]) -> Value:
    """A batch size of arrays, or all the samples that are trained on, where they are fewer."""
    count, share = samples_in(data), given.get("validation_split", 0.0)
    if type(size) is not int or count is None or not isinstance(share, (int, float)) or is_source(data):
        return size
    trained = int(count * (1.0 - share))
    return min(size, trained) if trained > 0 else size


def samples_a_step(given: dict[str, Value]) -> int | None:
    """The batch size of a generator, where an epoch's steps are said to be so many samples divided by it:
    `steps_per_epoch=len(files) // 16`. What has a length of its own is counted in batches."""
    steps = given.get("steps_per_epoch")
    return steps.divisor or None if isinstance(steps, Unknown) else None


def is_counted(tensor: Tensor) -> bool:
    """Whether it is known how many samples there are in a batch."""
    return isinstance(tensor.shape, tuple) and bool(tensor.shape) and isinstance(tensor.shape[0], int)


def as_it_stands(run: Runtime, fit: Fit, model: Instance) -> Fit:
    """A fit with what holds of its model now: what `compile` was told, and what trains."""
    compilation = compilation_of(model)
    if isinstance(compilation, Unknown):
        return replace(fit, optimizer=compilation, loss=compilation, trainable=None, doubts=(compilation,))
    now = undecided(model)
    doubts: tuple[Unknown, ...]
    if compilation is None:
        doubts = () if now is None else (now,)
        return replace(fit, trainable=frozenset(trainable_ids(model)), doubts=doubts)
    optimizer = optimizer_of(model, compilation)
    own = (compilation.doubt, doubtful(optimizer))
    drawn = session_of(run).drawn.values()
    doubts = (*(each for each in own if each is not None), *compiled_by_xla(compilation), *drawn)
    return replace(
        fit,
        trainable=trained_then(model),
        optimizer=optimizer,
        loss=compilation.given.get("loss"),
        compiled_site=compilation.site,
        doubts=doubts,
    )


def optimizer_of(model: Instance, compilation: Compilation) -> Value:
    """The optimizer that `compile` was told, an object where that is its configuration; or what the code has set as
    `model.optimizer` since."""
    now, told = model.attributes.get("optimizer"), compilation.given.get("optimizer")
    return told if now is compilation.optimizer and isinstance(told, str) else now


def compiled_by_xla(compilation: Compilation) -> tuple[Unknown, ...]:
    """XLA fuses ops and places their tensors its own way: what is counted is the step without it."""
    if compilation.given.get("jit_compile") is not True:
        return ()
    site = compilation.site
    where = (site.path, site.line) if site is not None else ("", 0)
    return (Unknown(BY_XLA, *where),)


def has_own_step(self: Instance) -> bool:
    """Whether the code says what a step is: it is called with a batch, once here for all of them."""
    return type(self.cls.find("train_step")).__name__ == "Function"


def with_own_loss(run: Runtime, fit: Fit, model: Instance) -> Fit:
    """A fit with the doubt that a `compute_loss` of the code's own is: it may call another model, a teacher."""
    if type(model.cls.find("compute_loss")).__name__ != "Function":
        return fit
    cause = run.unknown(f"what the compute_loss of {model.cls.name} keeps is not followed")
    return replace(fit, unfollowed=(cause,))


def updating(fit: Fit, steps: Sequence[tuple[Instance, tuple[Weight, ...] | None]]) -> Fit:
    """A fit whose step the code writes: it trains what its optimizers update, the one of the most first."""
    known = [(optimizer, weights) for optimizer, weights in steps if weights is not None]
    if not known or len(known) != len(steps):
        return fit
    trained = frozenset(id(weight) for _, weights in known for weight in weights)
    most, _ = max(known, key=lambda each: len(each[1]))
    return replace(fit, trainable=trained, optimizer=most)


def build_from_data(run: Runtime, self: Instance, data: Value, batch: Value) -> None:
    """A model that was not built yet is built by what it is fitted on."""
    state = state_of(run, self)
    if state.nodes or graph_of(self) is not None:
        return
    first = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
    shapes = data_shapes(first) if is_nested(first) else data_shapes(data)
    if shapes is None:
        shapes = data_shapes(first)
    if shapes is not None:
        state.built = False
        run.call(run.get(self, "build"), shapes)


def not_followed(what: str) -> Native:
    """A method of models that gives an unknown."""

    def answer(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"what {what} gives is not followed")

    return Native(what, answer, propagate_unknown=False)
