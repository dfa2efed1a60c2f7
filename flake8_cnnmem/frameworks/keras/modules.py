"""Which native module answers for a dotted name, in all the places where versions of Keras have put things.

Everything that Keras has under `keras`, `keras.src`, `tensorflow.keras`, `tensorflow.python.keras` or `tf_keras`
is found here by its last words; `keras.applications` is not: its source is evaluated where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from flake8_cnnmem.frameworks.keras import (
    activations,
    backend,
    configured,
    data,
    operations,
    sequential,
    tensorflow,
    utilities,
)
from flake8_cnnmem.frameworks.keras.layer import LAYER
from flake8_cnnmem.frameworks.keras.layers import registry
from flake8_cnnmem.frameworks.keras.models import FUNCTIONAL, MODEL
from flake8_cnnmem.frameworks.keras.tensors import TENSOR, VARIABLE
from flake8_cnnmem.values import MISSING, Class, Namespace, Native, Value

KERAS_ROOTS = (
    "keras._tf_keras.keras", "keras.api._v1.keras", "keras.api._v2.keras", "keras.api", "keras.src", "keras",
    "tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras", "tensorflow.keras", "tensorflow.python.keras.api",
    "tensorflow.python.keras", "tensorflow.contrib.keras", "tensorflow_core.keras", "tf_keras.api._v2.keras",
    "tf_keras.api", "tf_keras.src", "tf_keras",
)  # fmt: skip
"""Where Keras lives, longest first."""

TENSORFLOW_ROOTS = ("tensorflow.compat.v1", "tensorflow.compat.v2", "tensorflow")

MODELS: dict[str, Value] = {
    "Model": MODEL,
    "Functional": FUNCTIONAL,
    "Sequential": sequential.SEQUENTIAL,
    "Network": MODEL,
    "clone_model": utilities.MEMBERS["clone_model"],
    **{
        name: utilities.MEMBERS[name]
        for name in ("load_model", "save_model", "model_from_json", "model_from_yaml", "model_from_config")
    },
}


class Anything:
    """Members that stand for classes of which nothing matters."""


INPUT_SPEC = tensorflow.absorbing("InputSpec")
STATELESS: dict[str, Value] = {
    "InputSpec": INPUT_SPEC,
    "KerasTensor": TENSOR,
    "Variable": VARIABLE,
    "Operation": LAYER,
    "SeedGenerator": tensorflow.absorbing("SeedGenerator"),
    "StatelessScope": backend.NAME_SCOPE,
    "RematScope": backend.NAME_SCOPE,
    "name_scope": backend.NAME_SCOPE,
    "Function": Native("Function", lambda run, inputs, outputs, name=None: run.construct(MODEL, inputs, outputs), absorb=False),
    "remat": Native("remat", lambda run, f: f, absorb=False),
    "version": Native("version", lambda run: "3.0.0", absorb=False),
    "__version__": "3.0.0",
}


def find_model(name: str) -> Value:
    return MODELS.get(name, MISSING)


def find_layer(name: str) -> Value:
    """A member of `keras.layers`. Star imports of Keras 1 and 2 brought `K`, `np` and their like along."""
    found = registry.find(name)
    if found is not MISSING:
        return found
    if name == "K":
        return module("keras", ("backend",))
    if name in ("InputSpec",):
        return INPUT_SPEC
    if name in ("activations", "initializers", "regularizers", "constraints"):
        return module("keras", (name,))
    if name in ("serialize", "deserialize"):
        return utilities.find(name)
    return MISSING


def find_activation(name: str) -> Value:
    return activations.find(name)


def of_kind(kind: str) -> Callable[[str], Value]:
    return lambda name: configured.member(kind, name)


def find_optimizer(name: str) -> Value:
    if name in ("schedules", "legacy"):
        return module("keras", ("optimizers", name))
    if name.endswith(("Decay", "Schedule", "DecayRestarts")):
        return configured.member("schedules", name)
    return configured.member("optimizers", name)


def find_operation(name: str) -> Value:
    found = operations.OPS.find(name)
    if found is not MISSING:
        return found
    return operations.IMAGE.find(name) if name != "resize" else MISSING


def find_backend(name: str) -> Value:
    """`keras.backend`, and `keras.src.backend` with its classes."""
    found = backend.find(name)
    if found is MISSING:
        found = STATELESS.get(name, MISSING)
    return operations.OPS.find(name) if found is MISSING else found


def find_anything(name: str) -> Value:
    """For modules that moved their members about (`keras.engine`, `keras.legacy`): the first that has the name."""
    for finder in (find_layer, find_model, utilities.find, STATELESS_FIND, find_backend):
        found = finder(name)
        if found is not MISSING:
            return found
    return MISSING


def STATELESS_FIND(name: str) -> Value:
    return STATELESS.get(name, MISSING)


def find_top(name: str) -> Value:
    """A member of `keras` itself that is not a module."""
    if name in ("Model", "Sequential", "Functional"):
        return MODELS[name]
    if name == "Input":
        return registry.MEMBERS["Input"]
    if name in ("Layer", "InputLayer"):
        return registry.MEMBERS[name]
    if name in STATELESS:
        return STATELESS[name]
    if name in ("Initializer", "Loss", "Metric", "Optimizer", "Regularizer", "Constraint"):
        return configured.DEFINED[name]
    if name == "DTypePolicy":
        return utilities.POLICY
    if name == "keras_export":
        return utilities.MEMBERS[name]
    return MISSING


FINDERS: dict[str, Callable[[str], Value]] = {
    "layers": find_layer,
    "models": find_model,
    "backend": find_backend,
    "activations": find_activation,
    "optimizers": find_optimizer,
    "optimizers.schedules": of_kind("schedules"),
    "losses": of_kind("losses"),
    "objectives": of_kind("losses"),
    "metrics": of_kind("metrics"),
    "callbacks": of_kind("callbacks"),
    "initializers": of_kind("initializers"),
    "initializations": of_kind("initializers"),
    "regularizers": of_kind("regularizers"),
    "constraints": of_kind("constraints"),
    "utils": utilities.find,
    "saving": utilities.find,
    "config": lambda name: backend.find(name) if backend.find(name) is not MISSING else utilities.find(name),
    "mixed_precision": utilities.find,
    "dtype_policies": utilities.find,
    "tree": lambda name: MISSING,
    "ops": find_operation,
    "ops.operation_utils": utilities.find,
    "ops.image": operations.IMAGE.find,
    "ops.nn": operations.OPS.find,
    "ops.numpy": operations.OPS.find,
    "random": lambda name: STATELESS[name] if name in STATELESS else operations.RANDOM.find(name),
    "datasets": lambda name: MISSING,
    "preprocessing": data.find,
    "engine": find_anything,
    "legacy": find_anything,
    "experimental": find_anything,
    "distribution": lambda name: MISSING,
    "api_export": utilities.find,
    "wrappers": lambda name: MISSING,
    "visualization": lambda name: MISSING,
    "quantizers": lambda name: MISSING,
    "estimator": lambda name: MISSING,
    "premade": lambda name: MISSING,
    "export": lambda name: MISSING,
    "trainers": lambda name: MISSING,
    "": find_top,
}
"""Modules of Keras by their path below `keras`; a longer path is answered by its longest known beginning."""

INNER: dict[str, frozenset[str]] = {
    "layers": frozenset(
        ["core", "convolutional", "pooling", "merge", "merging", "normalization", "recurrent", "rnn", "wrappers", "embeddings", "local", "noise", "advanced_activations", "activation", "activations", "attention", "regularization", "reshaping", "preprocessing", "experimental", "layer", "input_spec", "kernelized", "cudnn_recurrent", "convolutional_recurrent", "dense_attention", "serialization", "gru", "lstm", "base_layer"]
    ),
    "models": frozenset(["model", "sequential", "functional", "cloning"]),
    "backend": frozenset(["common", "config", "tensorflow", "numpy", "nn", "image", "core", "keras_tensor", "global_state"]),
    "optimizers": frozenset(["schedules", "legacy", "experimental", "optimizer", "sgd", "adam", "adamw", "rmsprop", "optimizer_v2", "optimizer_v1"]),
    "utils": frozenset(
        ["conv_utils", "layer_utils", "data_utils", "np_utils", "generic_utils", "vis_utils", "file_utils", "image_utils", "tf_utils", "io_utils", "training_utils", "control_flow_util", "multi_gpu_utils", "argument_validation", "numerical_utils", "python_utils", "summary_utils", "tracking", "naming", "backend_utils", "traceback_utils", "dataset_utils", "kernel_initializer", "vis_utils_v2", "image_dataset_utils", "module_utils", "rng_utils", "model_visualization", "sequence_utils", "jax_utils", "metrics_utils"]
    ),
    "ops": frozenset(["image", "nn", "numpy", "math", "core", "linalg", "operation_utils", "node", "function", "operation"]),
    "preprocessing": frozenset(["image", "sequence", "text", "timeseries", "image_dataset", "dataset_utils"]),
    "datasets": frozenset(data.DATASETS),
    "engine": frozenset(
        ["topology", "training", "base_layer", "input_layer", "network", "sequential", "functional", "input_spec", "base_layer_utils", "training_utils", "keras_tensor", "base_preprocessing_layer", "data_adapter", "node", "saving", "compile_utils", "training_v1"]
    ),
    "legacy": frozenset(["interfaces", "layers", "models", "preprocessing", "saving", "backend", "losses"]),
    "experimental": frozenset(["preprocessing", "optimizers"]),
    "mixed_precision": frozenset(["experimental", "policy", "loss_scale_optimizer"]),
    "saving": frozenset(["serialization_lib", "object_registration", "saving_lib", "saving_api", "saving_utils", "hdf5_format", "legacy"]),
    "initializers": frozenset(["random_initializers", "constant_initializers", "initializers_v2", "initializer"]),
    "losses": frozenset(["loss", "losses"]),
    "metrics": frozenset(["metric"]),
    "callbacks": frozenset(["callback"]),
    "regularizers": frozenset(["regularizers"]),
    "dtype_policies": frozenset(["dtype_policy", "dtype_policy_map"]),
    "activations": frozenset(["activations"]),
    "random": frozenset(["random", "seed_generator"]),
    "tree": frozenset(["tree_api"]),
    "wrappers": frozenset(["scikit_learn"]),
}
"""Modules inside these, where versions of Keras had or have some."""


@cache
def module(root: str, path: tuple[str, ...]) -> Namespace | None:
    """The module `path` below a root of Keras, or None where we have none."""
    if path and path[0] == "datasets" and len(path) > 1:
        return data.dataset(path[1])
    if path and path[0] not in FINDERS:
        return None
    if len(path) > 1 and not all(word in INNER.get(path[0], ()) or word in COMMON_INNER for word in path[1:]):
        return None
    finder = FINDERS[""]
    for length in range(len(path), -1, -1):
        known = FINDERS.get(".".join(path[:length]))
        if known is not None:
            finder = known
            break
    # the source of what is not ours is looked for under the name by which Keras is installed today
    name = ".".join(("keras", *path))

    def lookup(word: str) -> Value:
        found = finder(word)
        if found is not MISSING:
            return found
        inner = module(root, (*path, word)) if word.islower() else None
        if inner is None and not path and word in ("keras", "src", "_tf_keras", "api"):
            inner = module("keras", ())
        return MISSING if inner is None else inner

    kind = configured.KINDS.get(path[-1]) if path else None
    return Namespace(name, lookup, exported=kind[1].__contains__ if kind is not None else None)


COMMON_INNER = frozenset(
    ["base_conv", "conv1d", "conv2d", "conv3d", "dense", "embedding", "lambda_layer", "input_layer", "batch_normalization", "layer_normalization", "multi_head_attention", "base_pooling", "base_merge", "dropout", "spatial_dropout", "stacked_rnn_cells", "time_distributed", "bidirectional", "image_preprocessing", "v2", "v1", "base_layer"]
)


@cache
def tensorflow_module(path: tuple[str, ...]) -> Namespace | None:
    """`tensorflow`, `tensorflow.nn`, ..., and the modules of Keras below it by attribute."""
    if path[:1] == ("python",) and len(path) > 1 and path[1] != "keras":
        # tensorflow.python.ops.nn_ops and its like: functions under their public names
        return Namespace(".".join(("tensorflow", *path)), find_everywhere)
    if len(path) > 1 or (path and path[0] not in tensorflow.SUBMODULES and path[0] not in ("compat",)):
        return None
    own = path[0] if path else ""
    name = ".".join(("tensorflow", *path))

    def lookup(word: str) -> Value:
        if own == "compat":
            return tensorflow_module(()) if word in ("v1", "v2") else MISSING
        found = tensorflow.find(own, word)
        if found is not MISSING:
            return found
        if own in ("train", "optimizers"):
            return configured.member("optimizers", word) if word.endswith("Optimizer") else MISSING
        if own == "layers":
            return registry.find(word)
        if own == "initializers" or (not path and word.endswith("_initializer")):
            return configured.member("initializers", word.removesuffix("_initializer"))
        if path:
            return MISSING
        if word == "keras":
            return module("tensorflow.keras", ())
        if word in ("losses", "metrics", "optimizers"):
            return module("tensorflow.keras", (word,))
        inner = tensorflow_module((word,)) if word in tensorflow.SUBMODULES or word == "compat" else None
        return MISSING if inner is None else inner

    return Namespace(name, lookup)


def find_everywhere(word: str) -> Value:
    for part in ("", "nn", "math", "image", "random", "linalg"):
        found = tensorflow.find(part, word)
        if found is not MISSING:
            return found
    return find_anything(word)


def find_module(dotted: str) -> Namespace | None:
    """The native module of this dotted name, or None: then its source is looked for."""
    for root in KERAS_ROOTS:
        if dotted == root:
            return module(root, ())
        if dotted.startswith(f"{root}."):
            return module(root, tuple(dotted[len(root) + 1 :].split(".")))
    for root in TENSORFLOW_ROOTS:
        if dotted == root:
            return tensorflow_module(())
        if dotted.startswith(f"{root}."):
            return tensorflow_module(tuple(dotted[len(root) + 1 :].split(".")))
    return None


def source_name(dotted: str) -> str | None:
    """The name under which the source of a module is installed that code imports by another one.

    `tensorflow.keras.applications.vgg16` lies in the package `keras`. None where there is no other name.
    """
    for root in KERAS_ROOTS:
        if root not in ("keras", "keras.src") and dotted.startswith(f"{root}."):
            return f"keras{dotted[len(root) :]}"
    return None


__all__ = ["Class", "find_module", "source_name"]
