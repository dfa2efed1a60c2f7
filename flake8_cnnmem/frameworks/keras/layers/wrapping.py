"""Layers around another layer: Wrapper, TimeDistributed, and what they share."""

from __future__ import annotations

from flake8_cnnmem.dims import Size, multiply
from flake8_cnnmem.frameworks.keras.layer import BUILD, call_layer
from flake8_cnnmem.frameworks.keras.session import map_structure
from flake8_cnnmem.frameworks.keras.shapes import shown
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import is_layer, state_of
from flake8_cnnmem.frameworks.keras.trainable import apply_trainable
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Steps, StepsAgain, StepsTogether
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Instance, Native, Value


def build_inner(run: Runtime, inner: Value, shape: Value) -> None:
    """Build the layer inside, if it is not built yet."""
    if not is_layer(inner) or state_of(run, inner).built:
        return
    build = inner.cls.find("build")
    if isinstance(build, Native):
        if build is not BUILD:
            build.function(run, inner, shape)
    else:
        run.call(Bound(build, inner), shown(shape) if isinstance(shape, tuple) else shape)
    state = state_of(run, inner)
    state.built = True
    apply_trainable(inner)


def call_wrapper(run: Runtime, self: Instance, inputs: Value, *args: Value, **options: Value) -> Value:
    """A call of Wrapper: of the layer that it holds."""
    inner = self.attributes.get("layer")
    return call_layer(run, inner, inputs, *args) if is_layer(inner) else run.unknown("the layer inside is not known")


def build_nothing(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """A layer that makes no weights of its own."""
    state_of(run, self).built = True


@layer(call=call_wrapper, build=build_nothing)
def Wrapper(layer: Value, **kwargs: Value) -> Ops:
    """A layer that holds another one."""
    return ()


def again(steps: Tensor, count: Size) -> StepsAgain:
    """An op that stands for the other steps of a layer that runs step by step."""
    return StepsAgain(() if isinstance(steps.shape, Unknown) else steps.shape, count)


def call_time_distributed(run: Runtime, self: Instance, inputs: Value, **options: Value) -> Value:
    """The layer is applied to one time step after the other, and the results are stacked (keras/src/layers/rnn/
    time_distributed.py): to (N * T, ...) in one call here."""
    inner = self.attributes["layer"]
    if not is_layer(inner) or not isinstance(inputs, Tensor):
        return run.unknown("what TimeDistributed is applied to is not known")
    shape = inputs.shape
    if isinstance(shape, Unknown):
        # Not how many steps there are, but what came before, and why it is not known.
        return call_layer(run, inner, inputs)
    if len(shape) < 2:
        raise run.error("ValueError", "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dims")
    merged = multiply(shape[0], shape[1])
    before = inputs.call.inputs[0] if inputs.call is not None and isinstance(inputs.call.op, StepsTogether) else None
    op, given = (Steps((merged, *shape[2:])), inputs) if before is None else (again(before, shape[1]), before)
    flat = run.apply(op, given, function="reshape", framework="keras")
    result = call_layer(run, inner, flat)

    def unfold(leaf: Value) -> Value:
        if not isinstance(leaf, Tensor) or isinstance(leaf.shape, Unknown):
            return leaf
        target = (shape[0], shape[1], *leaf.shape[1:])
        if run.invocation is not None:
            # Another layer of this kind reads the steps before they are put together.
            run.invocation.gives = target
        return run.apply(StepsTogether(target), leaf, function="reshape", framework="keras")

    return map_structure(unfold, result)


@layer(bases=(Wrapper,), call=call_time_distributed, build=build_nothing)
def TimeDistributed(layer: Value, **kwargs: Value) -> Ops:
    """A layer for each step: (N, T, ...) to (N, T, ...)."""
    return ()
