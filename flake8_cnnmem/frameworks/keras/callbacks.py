"""What the callbacks of a program's own do to the model that is being fitted: flags that they set, and its `compile`.

Measured in TensorFlow 2.21 with Keras 3.15.1 and with tf-keras 2.21: what is set before the first batch has been run
counts in the step, which is traced then; what is set later changes nothing of this fit. `compile` takes the step away:
the next batch raises a TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flake8_cnnmem.frameworks.keras.model_state import Compilation, compilation_of
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.trainable import trainable_ids
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

BEFORE_THE_STEP = ("on_train_begin", "on_epoch_begin", "on_train_batch_begin", "on_batch_begin")
AFTER_THE_STEP = ("on_train_batch_end", "on_batch_end", "on_epoch_end")
OF_AN_EPOCH = ("on_epoch_begin", "on_epoch_end")
WITHOUT_A_NUMBER = ("on_train_begin", "on_train_end")
MOST_EPOCHS = 64
"""Epochs that are gone through, for what is done in a later one."""
STEPS = 2000
"""Of evaluation, for one call of a hook: those that draw pictures or measure need more, and change no flags."""


def own_callbacks(callbacks: Value) -> list[Instance]:
    """Those that the program writes itself, and those that Keras makes of its functions (`LambdaCallback`)."""
    given = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    return [each for each in given if isinstance(each, Instance) and any(hooks_of(each))]


def hooks_of(callback: Instance) -> Iterator[str]:
    """The names of the hooks that are the program's own code."""
    for name in (*BEFORE_THE_STEP, *AFTER_THE_STEP, "on_train_end"):
        found = callback.attributes.get(name, callback.cls.find(name))
        if type(found).__name__ == "Function":
            yield name


def call_hooks(run: Runtime, callbacks: list[Instance], names: tuple[str, ...], epoch: Value) -> None:
    """Call the hooks of these names, each of all callbacks, as Keras does; batches are the first of their epoch."""
    session = session_of(run)
    for name in names:
        for callback in callbacks:
            if name not in hooks_of(callback):
                continue
            numbers = () if name in WITHOUT_A_NUMBER else (epoch if name in OF_AN_EPOCH else 0,)
            hook, logs = run.get(callback, name), run.unknown("what a step logs is not followed")
            session.hooks += 1
            run.aside(Native(name, limited(hook), propagate_unknown=False), *numbers, logs)
            session.hooks -= 1


def limited(hook: Value) -> Callable[..., Value]:
    """A hook that is left where it takes too long."""
    return lambda run, *args: run.within(STEPS, hook, *args)


def before_the_step(run: Runtime, model: Instance, callbacks: list[Instance]) -> None:
    """What happens until the first batch is run."""
    for callback in callbacks:
        callback.attributes["model"] = model
        run.changed(callback)
    before, session, compilation = trainable_ids(model), session_of(run), compilation_of(model)
    call_hooks(run, callbacks, BEFORE_THE_STEP, 0)
    now = trainable_ids(model)
    if now != before and isinstance(compilation, Compilation) and id(compilation) not in session.traced:
        trained = (compilation.trainable - (before - now)) | (now - before)
        session.hooked[id(compilation)] = trained, compilation.known


def after_the_step(run: Runtime, callbacks: list[Instance], epochs: Value) -> None:
    """What happens from then on: the rest of the first epoch, and the later ones."""
    call_hooks(run, callbacks, AFTER_THE_STEP, 0)
    count = 1 if epochs is None else epochs
    known = isinstance(count, int) and count <= MOST_EPOCHS
    later: list[Value] = [*range(1, count)] if known and isinstance(count, int) else []
    for epoch in later if known else [run.unknown("how many epochs a fit has is not known")]:
        call_hooks(run, callbacks, OF_AN_EPOCH, epoch)


def compiled_meanwhile(run: Runtime, model: Instance, before: Value) -> tuple[Unknown, ...]:
    """The doubt that a callback is which compiles the model while it is fitted."""
    if compilation_of(model) is before:
        return ()
    return (run.unknown("a callback compiles the model while it is fitted: Keras raises TypeError at the next batch"),)
