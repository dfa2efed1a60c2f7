"""The steps that `keras_steps.py` measures: whole applications, small models, optimizers, and layers one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth"
OWN = "fixtures/memory/keras"

APPLICATIONS: list[dict[str, Any]] = [
    {key: case[key] for key in ("target", "batch_size", "optimizer")}
    for case in json.loads((TRUTH / "keras_tensorflow.json").read_text())["models"]
]

MODELS: list[dict[str, Any]] = [
    {"target": f"{OWN}/unet.py::unet()", "batch_size": 8, "optimizer": "adam"},
    {"target": f"{OWN}/unet.py::unet()", "batch_size": 1, "optimizer": "adam"},
    {"target": f"{OWN}/unet.py::unet()", "batch_size": 32, "optimizer": "sgd"},
    {"target": f"{OWN}/unet.py::unet()", "batch_size": 8, "optimizer": "adam", "dtype": "mixed_float16"},
    {"target": f"{OWN}/attention.py::text()", "batch_size": 8, "optimizer": "adam"},
    {"target": f"{OWN}/attention.py::vision()", "batch_size": 8, "optimizer": "adam"},
    {"target": f"{OWN}/attention.py::vision()", "batch_size": 8, "optimizer": "adam", "dtype": "mixed_float16"},
    {"target": f"{OWN}/attention.py::vision()", "batch_size": 32, "optimizer": "sgd"},
    {"target": f"{OWN}/frozen.py::head_only()", "batch_size": 8, "optimizer": "adam"},
    {"target": f"{OWN}/frozen.py::last_block()", "batch_size": 8, "optimizer": "adam"},
    *(
        {"target": f"{OWN}/low_rank.py::{name}()", "batch_size": batch, "optimizer": "adam"}
        for name, batch in (("dense", 8), ("dense", 64), ("maps", 8), ("maps", 64), ("built_so", 64), ("built_maps", 8))
    ),
    {
        "target": "keras/src/applications/resnet.py::ResNet50(weights=None)",
        "batch_size": 8,
        "optimizer": "adam",
        "dtype": "mixed_float16",
    },
    {
        "target": "keras/src/applications/mobilenet_v2.py::MobileNetV2(weights=None)",
        "batch_size": 8,
        "optimizer": "adam",
        "dtype": "mixed_float16",
    },
    {
        "target": "keras/src/applications/efficientnet.py::EfficientNetB0(weights=None)",
        "batch_size": 8,
        "optimizer": "adam",
        "dtype": "mixed_float16",
    },
]

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"weight_decay": 0.01}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9}),
    ("RMSprop", {"centered": True}),
    ("RMSprop", {"centered": True, "momentum": 0.9}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("Adam", {"weight_decay": 0.01}),
    ("Adam", {"clipnorm": 1.0}),
    ("Adam", {"clipvalue": 1.0}),
    ("Adam", {"global_clipnorm": 1.0}),
    ("Adam", {"use_ema": True}),
    ("Adam", {"gradient_accumulation_steps": 4}),
    ("AdamW", {}),
    ("Adadelta", {}),
    ("Adagrad", {}),
    ("Adamax", {}),
    ("Nadam", {}),
    ("Ftrl", {}),
    ("Lion", {}),
    ("Lamb", {}),
    ("Adafactor", {}),
    ("Muon", {}),
    ("ScheduleFreeAdamW", {}),
    ("LossScaleOptimizer", {"inner": "Adam"}),
]

STACKS: list[dict[str, Any]] = [
    {"target": f"{OWN}/stacks.py::dense_stack()", "batch_size": 16, "optimizer": name, "options": options}
    for name, options in OPTIMIZERS
]

MAPS = [
    "Activation('relu')",
    "ReLU()",
    "ReLU(max_value=6.0)",
    "ReLU(negative_slope=0.1)",
    "LeakyReLU()",
    "PReLU()",
    "ELU()",
    "Softmax()",
    *(
        f"Activation('{name}')"
        for name in [
            "elu",
            "selu",
            "sigmoid",
            "tanh",
            "softplus",
            "softsign",
            "silu",
            "hard_sigmoid",
            "hard_silu",
            "gelu",
            "mish",
            "exponential",
            "log_sigmoid",
            "log_softmax",
            "relu6",
            "leaky_relu",
            "celu",
            "tanh_shrink",
            "hard_tanh",
            "hard_shrink",
            "soft_shrink",
            "squareplus",
            "sparse_plus",
            "sparsemax",
            "sparse_sigmoid",
        ]
    ),
    "BatchNormalization()",
    "BatchNormalization(scale=False)",
    "LayerNormalization()",
    "GroupNormalization(4)",
    "RMSNormalization()",
    "UnitNormalization()",
    "Dropout(0.3)",
    "SpatialDropout2D(0.3)",
    "GaussianDropout(0.3)",
    "AlphaDropout(0.3)",
    "GaussianNoise(0.3)",
    "MaxPooling2D()",
    "AveragePooling2D(2)",
    "AdaptiveAveragePooling2D(4)",
    "AdaptiveMaxPooling2D(4)",
    "ZeroPadding2D(2)",
    "Cropping2D(2)",
    "UpSampling2D(2)",
    "UpSampling2D(2, interpolation='bilinear')",
    "Permute((2, 1, 3))",
    "Rescaling(2.0)",
    "Conv2D(16, 3, padding='same')",
    "Conv2D(16, 3, padding='same', activation='relu')",
    "DepthwiseConv2D(3, padding='same')",
    "SeparableConv2D(16, 3, padding='same')",
    "Conv2DTranspose(16, 2, strides=2)",
    "Dense(16)",
    "Dense(64, activation='gelu')",
    "EinsumDense('...x,xy->...y', output_shape=(32, 32, 20))",
    "Resizing(48, 48)",
    "RandomFlip()",
    "RandomRotation(0.1)",
    "RandomZoom(0.1)",
    "RandomContrast(0.1)",
    "RandomBrightness(0.1)",
    "RandomTranslation(0.1, 0.1)",
    "Lambda(lambda x: x * 2.0)",
]
MERGES = [
    "Add()",
    "Subtract()",
    "Average()",
    "Multiply()",
    "Maximum()",
    "Minimum()",
    "Concatenate()",
]
SEQUENCES = [
    "SimpleRNN(32, return_sequences=True)",
    "MultiHeadAttention(4, 12)",
    "GlobalAveragePooling1D(keepdims=True)",
    "GlobalMaxPooling1D(keepdims=True)",
    "MaxPooling1D()",
    "AveragePooling1D(2)",
    "Conv1D(48, 3, padding='same')",
    "SeparableConv1D(48, 3, padding='same')",
    "RepeatVector(4)",
    "Reshape((48, 64))",
    "UpSampling1D(2)",
    "TimeDistributed(layers.Dense(32))",
]
VOLUMES = ["Conv3D(16, 3, padding='same')", "MaxPooling3D()", "AveragePooling3D(2)", "Conv3DTranspose(8, 2, strides=2)"]


def around(function: str, layers: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "target": f"{OWN}/stacks.py::{function}({call(layer)})",
            "batch_size": 16,
            "optimizer": "sgd",
        }
        for layer in layers
    ]


def call(layer: str) -> str:
    """An expression for the layer; attention is given the sequence twice."""
    if layer.startswith("MultiHeadAttention"):
        return f"lambda x: layers.{layer}(x, x)"
    if layer.startswith("RepeatVector"):
        return f"lambda x: layers.{layer}(layers.Flatten()(x))"
    return f"layers.{layer}"


LAYERS = [
    *around("between", MAPS),
    *around("merged", MERGES),
    *around("along", SEQUENCES),
    *around("through", VOLUMES),
]

STATES: list[dict[str, Any]] = [{"target": f"{OWN}/low_rank.py::text()", "batch_size": 8, "optimizer": "adam"}]
"""Models of which what stays is compared, not what a step needs: einsums take scratch that a GPU's do not."""

WHOLE: list[dict[str, Any]] = [
    {"target": f"{OWN}/whole.py::{name}()", "batch_size": batch, "optimizer": optimizer}
    for name, batch, optimizer in (
        ("augmented", 32, "adam"), ("contrasted", 32, "adam"), ("dilated", 16, "adam"), ("causal", 32, "adam"),
        ("video", 16, "adam"), ("step_by_step", 64, "adam"), ("residual", 32, "adam"), ("inception", 32, "adam"),
        ("two_inputs", 32, "adam"), ("dense", 128, "adam"), ("dense", 128, "rmsprop"), ("small_cnn", 128, "adam"),
    )
]  # fmt: skip
"""Small models of the kinds that people train."""

TUTORIALS = [
    "digits", "digits_dropped", "objects", "linear_maps", "pictures", "flipped", "padded", "dropped_dense",
    "three_dense", "five_dense", "normed_dense", "wide_dense", "mirrored", "inception", "critic", "signals", "text",
    "volumes", "two_inputs", "siamese",
]  # fmt: skip
SMALL: list[dict[str, Any]] = [
    {"target": f"{OWN}/small.py::{name}()", "batch_size": batch, "optimizer": optimizer}
    for names, batch, optimizers in (
        (TUTORIALS, 32, ("adam",)),
        (["three_dense", "objects"], 64, ("sgd", "rmsprop")),
    )
    for name in names
    for optimizer in optimizers
]  # fmt: skip
"""Networks of tutorials: little beside each op, so that it shows what else is under way."""

CASES = {
    "applications": APPLICATIONS,
    "models": MODELS,
    "optimizers": STACKS,
    "layers": LAYERS,
    "states": STATES,
    "whole": WHOLE,
    "small": SMALL,
}
"""By the key under which they stand in fixtures/truth/keras_steps.json."""


def at_batch(case: dict[str, Any], batch: int) -> dict[str, Any]:
    return {**case, "batch_size": batch}


ON_TORCH = {
    "applications": [
        *(at_batch(case, 2) for case in APPLICATIONS if not any(name in case["target"] for name in ("B4(", "V2S("))),
        {"target": "keras/src/applications/xception.py::Xception(weights=None)", "batch_size": 2, "optimizer": "adam"},
    ],
    "models": [case for case in MODELS if "dtype" not in case and not case["target"].startswith("keras/")],
    "optimizers": [
        case
        for case in STACKS
        # The one is for half precision, the other's third step is no update.
        if case["optimizer"] != "LossScaleOptimizer" and "gradient_accumulation_steps" not in case["options"]
    ],
    "layers": LAYERS,
}
"""The same for fixtures/truth/keras_torch_steps.json."""


def build(target: str) -> Any:
    """The model of `path.py::expression`."""
    import keras

    path, _, expression = target.partition("::")
    if path.startswith("keras/"):
        return eval(f"keras.applications.{expression}", {"keras": keras})
    scope: dict[str, Any] = {}
    exec(compile((ROOT / path).read_text(), path, "exec"), scope)
    return eval(expression, scope)


def optimizer_of(case: dict[str, Any]) -> Any:
    import keras

    options = dict(case.get("options", {}))
    inner = options.pop("inner", None)
    name = inner or case["optimizer"]
    made = getattr(keras.optimizers, name)(**options) if name[0].isupper() else keras.optimizers.get(name)
    return keras.optimizers.LossScaleOptimizer(made) if inner else made


def name_of(case: dict[str, Any]) -> str:
    return json.dumps(
        {key: case[key] for key in ("target", "batch_size", "optimizer", "options", "dtype") if key in case}
    )


def input_of(model: Any, batch: int) -> Any:
    """A batch of ones for a model of one input."""
    import numpy as np

    (given,) = model.inputs
    return np.ones((batch, *given.shape[1:]), str(given.dtype))


EAGER: list[dict[str, Any]] = [
    {"target": f"{OWN}/unet.py::unet()", "batch_size": 8, "optimizer": "adam"},
    {"target": f"{OWN}/stacks.py::dense_stack()", "batch_size": 16, "optimizer": "adam"},
    {"target": f"{OWN}/stacks.py::dense_stack()", "batch_size": 16, "optimizer": "sgd"},
    {"target": f"{OWN}/stacks.py::between(layers.AveragePooling2D(2))", "batch_size": 64, "optimizer": "sgd"},
    {"target": f"{OWN}/stacks.py::between(layers.Dropout(0.5))", "batch_size": 64, "optimizer": "sgd"},
]
"""Loops without a graph, for keras_steps.json, too."""
