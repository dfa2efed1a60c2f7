"""What attention with heads is made of inside: an EinsumDense for each projection, a softmax and a dropout, under the
private names that subclasses, and code which adapts a layer, read and replace
(keras/src/layers/attention/multi_head_attention.py, grouped_query_attention.py)."""

from __future__ import annotations

from string import ascii_lowercase

from flake8_cnnmem.dims import Shape, Size, product
from flake8_cnnmem.frameworks.keras.layer import call_layer
from flake8_cnnmem.frameworks.keras.layers.core import EinsumDense
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.frameworks.keras.tracking import is_layer, make_weight, state_of
from flake8_cnnmem.graph import Op, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Broadcast, Einsum, Linear, Permute, ScaledDotProduct
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Property, Value

PROJECTIONS = {
    "query": "_query_dense", "key": "_key_dense", "value": "_value_dense", "gate": "_gate_dense",
    "output": "_output_dense",
}  # fmt: skip
"""The attribute that holds each projection."""

OWN_STEPS = ("_compute_attention", "_masked_softmax")
"""The methods that a subclass may say itself, and that a call goes through."""


@dataclass(frozen=True, slots=True)
class Heads(Permute):
    """The axes as an einsum takes them: no step of its own in TensorFlow. Its result it gives in any order."""


def applied(run: Runtime, op: Op, *inputs: Value, weights: tuple[Value, ...] = (), function: str = "") -> Value:
    """One call of an op in the graph."""
    return run.apply(op, *inputs, weights=weights, function=function or op.kind, framework="keras")


# --- the projections --------------------------------------------------------------------------------------------------


def equation(free: int, bound: int, outputs: int) -> tuple[str, str]:
    """The einsum of a projection, and the axes of its bias: so many axes stay, are summed over, and come anew."""
    kept, summed = ascii_lowercase[:free], ascii_lowercase[free : free + bound]
    made = ascii_lowercase[free + bound : free + bound + outputs]
    return f"{kept}{summed},{summed}{made}->{kept}{made}", made


def make_projection(run: Runtime, self: Instance, name: str, rank: int, kernel: Shape, bias: Shape) -> None:
    """Make a projection of inputs with `rank` axes (the heads' two not counted apart), with its weights."""
    free = rank - 1
    of, axes = equation(free, len(kernel) - len(bias), len(bias))
    biased = self.attributes.get("use_bias") is not False
    named = "attention_output" if name == "output" else name
    part = run.construct(
        EinsumDense, of, output_shape=(*(None,) * (free - 1), *bias), bias_axes=axes if biased else None, name=named
    )
    if not isinstance(part, Instance):
        return
    state = state_of(run, part)
    state.dtype, state.built = state_of(run, self).dtype, True
    part.attributes["kernel"] = make_weight(run, part, f"{name}/kernel", kernel)
    if biased:
        part.attributes["bias"] = make_weight(run, part, f"{name}/bias", bias)
    run.changed(self)
    self.attributes[PROJECTIONS[name]] = part


def is_plain(part: Value) -> bool:
    """Whether a projection is the one that the layer made itself, as it was made."""
    return isinstance(part, Instance) and part.cls is EinsumDense and part.attributes.get("lora_enabled") is not True


def project(run: Runtime, self: Instance, name: str, x: Value, features: Size, axes: int = 1) -> Value:
    """A dense layer over the last axis, as the EinsumDense inside."""
    part = self.attributes.get(PROJECTIONS[name])
    held = part.attributes if isinstance(part, Instance) else {}
    found = tuple(weight for weight in (held.get("kernel"), held.get("bias")) if isinstance(weight, Weight))
    inputs: Size | None = None
    if found and isinstance(found[0].shape, tuple):
        inputs = product(found[0].shape[:axes])
    return applied(run, Linear(features, inputs, bias=len(found) > 1), x, weights=found, function=name)


# --- a call that a subclass or a replaced part has a say in -----------------------------------------------------------


def has_own_parts(self: Instance) -> bool:
    """Whether a call is not all Keras' own: a method of the class that is written anew, or a part put in its place."""
    methods = (self.cls.find(name) for name in OWN_STEPS)
    held = [self.attributes[name] for name in PROJECTIONS.values() if name in self.attributes]
    return any(not isinstance(method, Native) for method in methods) or not all(is_plain(part) for part in held)


def call_by_parts(
    run: Runtime, self: Instance, query: Value, value: Value, key: Value, mask: Value, scores: Value
) -> Value:
    """A call through the parts, each as it is now."""
    parts = {name: self.attributes.get(word) for name, word in PROJECTIONS.items() if word in self.attributes}
    given = {"query": query, "key": key, "value": value, "gate": query}
    made: dict[str, Value] = {}
    for name, part in parts.items():
        if not is_layer(part):
            return run.unknown(f"the {name} projection is not known")
        if name != "output":
            made[name] = call_layer(run, part, given[name])
    own = self.cls.find("_compute_attention")
    training = session_of(run).training[-1]
    found = run.call(Bound(own, self), made["query"], made["key"], made["value"], mask, training, scores)
    if not isinstance(found, tuple) or len(found) != 2:
        return found if isinstance(found, Unknown) else run.unknown("what _compute_attention() gives is not known")
    result, weights = found
    if "gate" in made:
        result = applied(run, Broadcast("multiply"), result, made["gate"])
    output = parts.get("output")
    result = call_layer(run, output, result) if is_layer(output) else run.unknown("the output projection is not known")
    return (result, weights) if scores is True else result


def compute_attention(
    run: Runtime, self: Instance, query: Value, key: Value, value: Value, attention_mask: Value = None,
    training: Value = None, return_attention_scores: Value = False, use_causal_mask: Value = False,
) -> Value:  # fmt: skip
    """`_compute_attention`: of (N, T, heads, width) the heads' results, and their weights where they are asked for."""
    shapes = [part.shape if isinstance(part, Tensor) else None for part in (query, key, value)]
    rate = self.attributes.get("dropout")
    plain = isinstance(self.cls.find("_masked_softmax"), Native) and return_attention_scores is not True
    if plain and all(isinstance(shape, tuple) and len(shape) == 4 for shape in shapes):
        drops = rate if isinstance(rate, (int, float, Unknown)) and training is not False else 0.0
        op = ScaledDotProduct(drops, use_causal_mask is True, fused=False)
        heads = (applied(run, Heads((0, 2, 1, 3)), part, function="einsum") for part in (query, key, value))
        return applied(
            run, Heads((0, 2, 1, 3)), applied(run, op, *heads, function="attention"), function="einsum"
        ), None
    dot, combine = (self.attributes.get(word) for word in ("_dot_product_equation", "_combine_equation"))
    if not isinstance(dot, str) or not isinstance(combine, str):
        return run.unknown("the equations of an attention are not known")
    weights = applied(run, Einsum(dot), key, query)
    weights = run.call(Bound(self.cls.find("_masked_softmax"), self), weights, attention_mask)
    dropped = self.attributes.get("_dropout_layer")
    dropped = call_layer(run, dropped, weights) if rate and is_layer(dropped) else weights
    return applied(run, Einsum(combine), dropped, value), weights


def masked_softmax(run: Runtime, self: Instance, attention_scores: Value, attention_mask: Value = None) -> Value:
    """`_masked_softmax`: the scores through the layer's softmax."""
    softmax = self.attributes.get("_softmax")
    return call_layer(run, softmax, attention_scores) if is_layer(softmax) else run.unknown("a softmax is not known")


def build_attention(run: Runtime, self: Instance, rank: Value) -> None:
    """`_build_attention`: the equations for heads of `rank` axes, the softmax and the dropout."""
    if not isinstance(rank, int) or "_softmax" in self.attributes:
        return
    given = self.attributes.get("attention_axes")
    given = (given,) if isinstance(given, int) else given
    attended = given if isinstance(given, (list, tuple)) and given else range(1, rank - 2)
    axes = tuple(axis if axis >= 0 else rank - 1 + axis for axis in attended if isinstance(axis, int))
    target = ascii_lowercase[:rank]
    apart = (*(axis for axis in range(rank) if axis not in axes and axis != rank - 1),)
    source = "".join(
        target[axis] if axis in apart or axis == rank - 1 else ascii_lowercase[rank + axes.index(axis)]
        for axis in range(rank)
    )
    scores = "".join((*(target[axis] for axis in apart), *(target[axis] for axis in axes), *(source[a] for a in axes)))
    made = {
        "_dot_product_equation": f"{source},{target}->{scores}",
        "_combine_equation": f"{scores},{source}->{target}",
        "_softmax": run.construct(LAYERS["Softmax"]),
        "_dropout_layer": run.construct(LAYERS["Dropout"], self.attributes.get("dropout")),
    }
    run.changed(self)
    self.attributes.update(made)


# --- names ------------------------------------------------------------------------------------------------------------


def held(word: str) -> Property:
    """A private name for what the layer was constructed with, which code may set too."""

    def read(run: Runtime, self: Instance) -> Value:
        found = self.attributes.get(word)
        if word == "value_dim" and found is None:
            return self.attributes.get("key_dim")
        return (found,) if word in ("output_shape", "attention_axes") and isinstance(found, int) else found

    def write(run: Runtime, self: Instance, value: Value) -> None:
        run.changed(self)
        self.attributes[word] = value

    return Property(Native(word, read, propagate_unknown=False), Native(word, write, propagate_unknown=False))


def part_named(word: str) -> Property:
    """The public name of a projection."""

    def read(run: Runtime, self: Instance) -> Value:
        found = self.attributes.get(word, MISSING)
        if found is MISSING:
            raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{word}'")
        return found

    return Property(Native(word, read, propagate_unknown=False))


def common_kwargs(run: Runtime, self: Instance) -> dict[str, Value]:
    """`_get_common_kwargs_for_sublayer()`: what every projection is constructed with."""
    words = ("kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "kernel_constraint",
             "bias_constraint", "activity_regularizer")  # fmt: skip
    return {word: self.attributes.get(word) for word in words} | {"dtype": state_of(run, self).dtype}


def inverse_root(run: Runtime, self: Instance) -> Value:
    """`_inverse_sqrt_key_dim`."""
    width = self.attributes.get("key_dim", self.attributes.get("head_dim"))
    return width**-0.5 if isinstance(width, int) and width > 0 else run.unknown("a head's width is not known")


def private_names(cls: Class, words: tuple[str, ...]) -> None:
    """Give a class of attention its private names: those of its arguments, its parts and its steps."""
    cls.namespace.update({f"_{word}": held(word) for word in words})
    cls.namespace.update({word.strip("_"): part_named(word) for word in PROJECTIONS.values()})
    for name, step in (
        ("_compute_attention", compute_attention), ("_masked_softmax", masked_softmax),
        ("_build_attention", build_attention), ("_get_common_kwargs_for_sublayer", common_kwargs),
    ):  # fmt: skip
        cls.namespace[name] = Native(name, step, propagate_unknown=False)
    cls.namespace["_inverse_sqrt_key_dim"] = Property(Native("_inverse_sqrt_key_dim", inverse_root))
