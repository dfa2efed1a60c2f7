"""Which native module answers for a dotted name, in all the places where versions of Keras have put things.

Everything that Keras has under `keras`, `keras.src`, `tensorflow.keras`, `tensorflow.python.keras` or `tf_keras`
is found here by its last words; `keras.applications` is not: its source is evaluated where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from flake8_cnnmem.frameworks import numpy
from flake8_cnnmem.frameworks.keras import (
    activations,
    config_objects,
    data,
    imagenet,
    sequential,
    tensorflow,
    utilities,
)
from flake8_cnnmem.frameworks.keras.layers import registry
from flake8_cnnmem.frameworks.keras.models import FUNCTIONAL, MODEL
from flake8_cnnmem.frameworks.keras.module_paths import IMAGENET_UTILS, KERAS_ROOTS, TENSORFLOW_ROOTS, is_gone, is_inner
from flake8_cnnmem.frameworks.keras.names import NAMES, OLDER
from flake8_cnnmem.frameworks.keras.ops import backend, losses, operations
from flake8_cnnmem.frameworks.keras.ops.control import checkpointed
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.strategies import DISTRIBUTION
from flake8_cnnmem.frameworks.keras.tensors import TENSOR, VARIABLE
from flake8_cnnmem.frameworks.keras.tracking import LAYER
from flake8_cnnmem.frameworks.keras.version import RECURRENT, ROOTS
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Namespace, Native, Value

MODELS: dict[str, Value] = {
    "Model": MODEL,
    "Functional": FUNCTIONAL,
    "Sequential": sequential.SEQUENTIAL,
    "Network": MODEL,
    "Container": MODEL,
    "clone_model": utilities.MEMBERS["clone_model"],
    **{
        name: utilities.MEMBERS[name]
        for name in ("load_model", "save_model", "model_from_json", "model_from_yaml", "model_from_config")
    },
}


INPUT_SPEC = Class(
    "InputSpec",
    namespace={
        "__init__": config_objects.keep_arguments(
            "dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None, "
            "allow_last_axis_squeeze=False, name=None, optional=False"
        )
    },
    module="keras.layers",
)
"""What a layer says that it takes. Layers of one's own read their input's sizes back from it."""


STATELESS: dict[str, Value] = {
    "InputSpec": INPUT_SPEC,
    "KerasTensor": TENSOR,
    "Variable": VARIABLE,
    "Operation": LAYER,
    "SeedGenerator": tensorflow.absorbing("SeedGenerator"),
    "StatelessScope": backend.NAME_SCOPE,
    "RematScope": backend.NAME_SCOPE,
    "name_scope": backend.NAME_SCOPE,
    "Function": Native(
        "Function",
        lambda run, inputs, outputs, name=None: run.construct(MODEL, inputs, outputs),
        propagate_unknown=False,
    ),
    "remat": Native("remat", checkpointed, propagate_unknown=False),
    "version": Native("version", lambda run: "3.0.0", propagate_unknown=False),
    "__version__": "3.0.0",
}


def find_model(name: str) -> Value:
    """A name of `keras.models`, or MISSING."""
    return MODELS.get(name, MISSING)


def find_layer(name: str) -> Value:
    """A member of `keras.layers`. Star imports of Keras 1 and 2 brought `K`, `np` and their like along."""
    found = registry.find(name)
    if found is not MISSING:
        return found
    if name == "K":
        return module("keras", ("backend",))
    if name == "np":
        return numpy.find_module("numpy") or MISSING
    if name in ("InputSpec",):
        return INPUT_SPEC
    if name in ("activations", "initializers", "regularizers", "constraints"):
        return module("keras", (name,))
    if name in ("serialize", "deserialize"):
        return utilities.find(name)
    return MISSING


def find_activation(name: str) -> Value:
    """A name of `keras.activations`, or MISSING."""
    return activations.find(name)


def of_kind(kind: str) -> Callable[[str], Value]:
    """The members of one kind of configuration objects."""
    return lambda name: config_objects.member(kind, name)


def find_optimizer(name: str) -> Value:
    """A name of `keras.optimizers`, or MISSING."""
    if name in ("schedules", "legacy"):
        return module("keras", ("optimizers", name))
    if name.endswith(("Decay", "Schedule", "DecayRestarts")):
        return config_objects.member("schedules", name)
    # Keras 1 and 2 had each class under its name in small letters as well.
    return config_objects.member("optimizers", OLD_OPTIMIZERS.get(name, name))


OLD_OPTIMIZERS = {
    "sgd": "SGD", "rmsprop": "RMSprop", "adagrad": "Adagrad", "adadelta": "Adadelta", "adam": "Adam",
    "adamax": "Adamax", "nadam": "Nadam",
}  # fmt: skip


def find_operation(name: str) -> Value:
    """A name of `keras.ops`, or MISSING."""
    found = operations.OPS.find(name)
    if found is MISSING:
        found = losses.BACKEND.get(name, MISSING)
    if found is not MISSING:
        return found
    return operations.IMAGE.find(name) if name != "resize" else MISSING


def find_backend(name: str) -> Value:
    """`keras.backend`, and `keras.src.backend` with its classes."""
    found = backend.find(name)
    if found is MISSING:
        found = STATELESS.get(name, MISSING)
    if name == "tf":
        # Keras 1 and 2 imported TensorFlow here under this name: `K.tf.image.resize_images`
        return tensorflow_module(())
    return operations.OPS.find(name) if found is MISSING else found


def find_anything(name: str) -> Value:
    """For modules that moved their members about (`keras.engine`, `keras.legacy`): the first that has the name."""
    for finder in (find_layer, find_model, utilities.find, STATELESS_FIND, find_backend):
        found = finder(name)
        if found is not MISSING:
            return found
    return MISSING


def STATELESS_FIND(name: str) -> Value:
    """A name of the random functions with a seed, or MISSING."""
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
        return config_objects.DEFINED[name]
    if name == "DTypePolicy":
        return utilities.POLICY
    if name == "keras_export":
        return utilities.MEMBERS[name]
    return MISSING


def tree(name: str) -> Value:
    """A name of `keras.tree`, or MISSING."""
    return tensorflow.SUBMODULES["nest"].get(name, MISSING)


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
    "tree": tree,
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
    "distribution": lambda name: DISTRIBUTION.get(name, MISSING),
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


@cache
def module(root: str, path: tuple[str, ...]) -> Namespace | None:
    """The module `path` below a root of Keras, or None where we have none."""
    if path and path[0] == "datasets" and len(path) > 1:
        return data.dataset(path[1])
    if path and path[0] not in FINDERS:
        return None
    if len(path) > 1 and not is_inner(path[0], path[1:]):
        return None
    finder = FINDERS[""]
    for length in range(len(path), -1, -1):
        known = FINDERS.get(".".join(path[:length]))
        if known is not None:
            finder = known
            break
    # the source of what is not ours is looked for under the name by which Keras is installed today
    name = ".".join(("keras", *path))
    holds = NAMES.among(name)

    def lookup(word: str) -> Value:
        found = finder(word) if holds is None or holds(word) else MISSING
        if found is not MISSING:
            return found
        inner = module(root, (*path, word)) if word.islower() else None
        if inner is None and not path and word in ("keras", "src", "_tf_keras", "api"):
            inner = module("keras", ())
        return MISSING if inner is None else inner

    def note(run: Runtime, word: str) -> None:
        if is_gone(root, path, word):
            session_of(run).older = True
        if word in RECURRENT:
            run.data(ROOTS).setdefault(word, set()).add(root)

    kind = config_objects.KINDS.get(path[-1]) if path else None
    exported = kind[1].__contains__ if kind is not None else None
    return Namespace(name, lookup, holds, exported=exported, older=OLDER.among(name, private=False), noted=note)


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
            return first_version() if word == "v1" else tensorflow_module(()) if word == "v2" else MISSING
        found = tensorflow.find(own, word)
        if found is not MISSING:
            return found
        if own in ("train", "optimizers"):
            return config_objects.member("optimizers", word) if word.endswith("Optimizer") else MISSING
        if own == "layers":
            return registry.find(word)
        if own == "initializers" or (not path and word.endswith("_initializer")):
            return config_objects.member("initializers", word.removesuffix("_initializer"))
        if path:
            return MISSING
        if word == "keras":
            return module("tensorflow.keras", ())
        if word in ("losses", "metrics", "optimizers"):
            return module("tensorflow.keras", (word,))
        inner = tensorflow_module((word,)) if word in tensorflow.SUBMODULES or word == "compat" else None
        return MISSING if inner is None else inner

    return Namespace(name, lookup)


@cache
def first_version() -> Namespace:
    """`tensorflow.compat.v1`: TensorFlow's names, and the Keras of TensorFlow 1."""
    today = tensorflow_module(())
    assert today is not None

    def lookup(word: str) -> Value:
        return module("tensorflow.compat.v1.keras", ()) if word == "keras" else today.lookup(word)

    return Namespace("tensorflow", lookup)


def find_everywhere(word: str) -> Value:
    """A name of any of TensorFlow's modules of functions, or MISSING."""
    for part in ("", "nn", "math", "image", "random", "linalg"):
        found = tensorflow.find(part, word)
        if found is not MISSING:
            return found
    return find_anything(word)


def find_module(dotted: str) -> Namespace | None:
    """The native module of this dotted name, or None: then its source is looked for."""
    if dotted in IMAGENET_UTILS:
        return Namespace(dotted, imagenet.find)
    for root in KERAS_ROOTS:
        if dotted == root:
            return module(root, ())
        if dotted.startswith(f"{root}."):
            return module(root, tuple(dotted[len(root) + 1 :].split(".")))
    for root in TENSORFLOW_ROOTS:
        if dotted == root:
            return first_version() if root.endswith("v1") else tensorflow_module(())
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
