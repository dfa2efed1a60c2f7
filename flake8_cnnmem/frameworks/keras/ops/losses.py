"""Losses as functions: `keras.losses.mse(y_true, y_pred)` is one number a sample, `K.binary_crossentropy` one a value.

They are written out as TensorFlow computes them (keras/src/backend/tensorflow/nn.py, keras/src/losses/losses.py); what
is one op of TensorFlow is one op here.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.keras.ops.elementwise import binary, cast, clip, unary
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

EPSILON = 1e-7


def each_value(run: Runtime, target: Value, output: Value, from_logits: Value = False) -> Value:
    """Binary cross entropy of each value."""
    if from_logits is True:
        return apply(run, Loss("bce_with_logits", "none"), output, target)
    output = clip(run, output, EPSILON, 1.0 - EPSILON)
    hit = binary(run, target, unary(run, output, kind="log"), kind="multiply")
    missed = binary(run, 1, target, kind="subtract")
    missed = binary(run, missed, unary(run, binary(run, 1, output, kind="subtract"), kind="log"), kind="multiply")
    return unary(run, binary(run, hit, missed, kind="add"), kind="neg")


def binary_crossentropy(run: Runtime, y_true: Value, y_pred: Value, from_logits: Value, axis: Value) -> Value:
    """The loss of each sample: the mean over an axis."""
    return reduce(run, each_value(run, y_true, y_pred, from_logits), axis, kind="mean")


def of_classes(kind: str) -> Callable[..., Value]:
    """One number for each place that has a class."""

    def loss(run: Runtime, target: Value, output: Value, *args: Value, **kwargs: Value) -> Value:
        return apply(run, Loss(kind, "none"), output, target)

    return loss


CATEGORICAL, SPARSE = of_classes("categorical_crossentropy"), of_classes("sparse_categorical_crossentropy")


def of_difference(kind: str) -> Callable[..., Value]:
    """A loss of the difference of truth and prediction: its mean over an axis, after an op of this kind."""

    def loss(run: Runtime, y_true: Value, y_pred: Value, from_logits: Value, axis: Value) -> Value:
        difference = binary(run, y_pred, y_true, kind="subtract")
        return reduce(run, unary(run, difference, kind=kind), -1, kind="mean")

    return loss


def of_values(kind: str, reduction: str = "mean") -> Callable[..., Value]:
    """A loss of truth and prediction value by value, reduced over an axis."""

    def loss(run: Runtime, y_true: Value, y_pred: Value, from_logits: Value, axis: Value) -> Value:
        return reduce(run, apply(run, Loss(kind, "none"), y_pred, y_true), -1, kind=reduction)

    return loss


LOSSES: dict[str, Callable[..., Value]] = {
    "binary_crossentropy": binary_crossentropy,
    "binary_focal_crossentropy": binary_crossentropy,
    "categorical_crossentropy": CATEGORICAL,
    "categorical_focal_crossentropy": CATEGORICAL,
    "sparse_categorical_crossentropy": SPARSE,
    "mean_squared_error": of_difference("square"),
    "mse": of_difference("square"),
    "mean_absolute_error": of_difference("abs"),
    "mae": of_difference("abs"),
    "kl_divergence": of_values("kl_div", "sum"),
    "kld": of_values("kl_div", "sum"),
    "kullback_leibler_divergence": of_values("kl_div", "sum"),
    "huber": of_values("huber"),
    "huber_loss": of_values("huber"),
    "log_cosh": of_values("huber"),
    "logcosh": of_values("huber"),
    "poisson": of_values("poisson_nll"),
    "hinge": of_values("hinge_embedding"),
    "squared_hinge": of_values("hinge_embedding"),
}

ALIASES = {"kldivergence": "kl_divergence", "meansquarederror": "mse", "meanabsoluteerror": "mae"}


def named(name: str) -> Native | None:
    """The loss function of this name, of a class's name too (`BinaryCrossentropy`); None for one that is not known."""
    plain = name.replace("_", "").lower()
    found = next((word for word in LOSSES if word.replace("_", "") == plain), ALIASES.get(plain))
    return Native(name, function(found), propagate_unknown=False) if found is not None else None


def function(name: str) -> Callable[..., Value]:
    """A function of `keras.losses` by its name."""
    formula = LOSSES[name]

    def loss(
        run: Runtime, y_true: Value, y_pred: Value, from_logits: Value = False, label_smoothing: Value = 0.0,
        axis: Value = -1, **options: Value,
    ) -> Value:  # fmt: skip
        for value in (y_true, y_pred):
            if isinstance(value, Unknown):
                return value
        if not isinstance(y_pred, Tensor):
            return run.unknown(f"the loss {name} of what is not a tensor is not followed")
        if isinstance(y_true, Tensor) and not name.startswith("sparse"):
            y_true = cast(run, y_true, y_pred.dtype)
        return formula(run, y_true, y_pred, from_logits, axis)

    return loss


def reduced(run: Runtime, value: Value, reduction: Value) -> Value:
    """What a loss object makes of one number a sample."""
    if reduction in (None, "none") or not isinstance(value, Tensor):
        return value
    return reduce(run, value, None, kind="sum" if reduction == "sum" else "mean")


BACKEND: dict[str, Value] = {
    "binary_crossentropy": Native("binary_crossentropy", each_value),
    "categorical_crossentropy": Native("categorical_crossentropy", CATEGORICAL),
    "sparse_categorical_crossentropy": Native("sparse_categorical_crossentropy", SPARSE),
}
"""`keras.backend`'s and `keras.ops`': not yet a mean."""


def from_logits(name: str, formula: Callable[..., Value]) -> Native:
    """A loss of `tf.nn` that takes labels and logits."""

    def loss(run: Runtime, labels: Value = None, logits: Value = None, *args: Value, **kwargs: Value) -> Value:
        return formula(run, labels, logits, True)

    return Native(name, loss)


TENSORFLOW: dict[str, Value] = {
    name: from_logits(name, formula)
    for name, formula in (
        ("sigmoid_cross_entropy_with_logits", each_value),
        ("softmax_cross_entropy_with_logits", CATEGORICAL),
        ("softmax_cross_entropy_with_logits_v2", CATEGORICAL),
        ("sparse_softmax_cross_entropy_with_logits", SPARSE),
    )
}
"""`tf.nn`'s."""
