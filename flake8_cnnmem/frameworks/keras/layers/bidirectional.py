"""Both directions of a recurrent layer (keras/src/layers/rnn/bidirectional.py)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.layer import call_layer
from flake8_cnnmem.frameworks.keras.layers.recurrent import flag
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import LAYER, is_layer, native, state_of
from flake8_cnnmem.graph import Op
from flake8_cnnmem.ops import Average, Broadcast, Concatenate, Flip
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Property, Value


def init_bidirectional(run: Runtime, self: Instance) -> None:
    """Make the layer of the other direction, from the configuration of the first, unless one is given."""
    inner = self.attributes.get("layer")
    if not is_layer(inner):
        return
    self.attributes.pop("layer")
    self.attributes["forward_layer"] = inner
    other = self.attributes.pop("backward_layer", None)
    if not is_layer(other):
        config = run.call(run.get(inner, "get_config"))
        if isinstance(config, dict):
            config = dict(config)
            state = state_of(run, inner)
            config["name"] = f"backward_{state.name}"
            config["go_backwards"] = not flag(config.get("go_backwards"))
            other = run.call(run.get(inner.cls, "from_config"), config)
        state_of(run, inner).name = f"forward_{state_of(run, inner).name}"
    self.attributes["backward_layer"] = other


def call_bidirectional(
    run: Runtime, self: Instance, sequences: Value = None, initial_state: Value = None, *args: Value, **options: Value
) -> Value:
    """A call of Bidirectional: both directions, joined as `merge_mode` says."""
    forward, backward = self.attributes.get("forward_layer"), self.attributes.get("backward_layer")
    if not is_layer(forward) or not is_layer(backward):
        return run.unknown("the layer inside a Bidirectional is not known")
    if isinstance(sequences, (list, tuple)):
        sequences = sequences[0]
    first, second = call_layer(run, forward, sequences), call_layer(run, backward, sequences)
    states: list[Value] = []
    if isinstance(first, list) and isinstance(second, list):
        states = first[1:] + second[1:]
        first, second = first[0], second[0]
    if flag(forward.attributes.get("return_sequences")):
        second = run.apply(Flip(1), second, function="reverse", framework="keras")
    mode = self.attributes.get("merge_mode")
    if mode is None:
        return [first, second, *states]
    op = MERGES.get(mode) if isinstance(mode, str) else None
    if op is None:
        return run.unknown(f"Bidirectional has no merge_mode {mode!r}")
    merged = run.apply(op, first, second, function=op.kind, framework="keras")
    return [merged, *states] if states else merged


MERGES: dict[str, Op] = {
    "concat": Concatenate(-1), "sum": Broadcast("add"), "mul": Broadcast("multiply"), "ave": Average(),
}  # fmt: skip


def get_inner(run: Runtime, self: Instance) -> Value:
    """`layer.layer`: that of the forward direction."""
    return self.attributes.get("forward_layer")


@layer(
    bases=(LAYER,),
    call=call_bidirectional,
    build=build_nothing,
    init=init_bidirectional,
    extra={"layer": Property(native(get_inner))},
)
def Bidirectional(
    layer: Value, merge_mode: Value = "concat", weights: Value = None, backward_layer: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """A recurrent layer in both directions."""
    return ()
