"""Which native module answers for a dotted name of flax, jax and optax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from flake8_cnnmem.frameworks.flax import fields, initializers, optimizers, train_state, trees
from flake8_cnnmem.frameworks.flax.arrays import BFLOAT16, dtype_named, shape_of
from flake8_cnnmem.frameworks.flax.computing import pooled
from flake8_cnnmem.frameworks.flax.jax import creation, lax, members, products, random, shaping, transforms
from flake8_cnnmem.frameworks.flax.jax.elementwise import ACTIVATIONS, NUMPY
from flake8_cnnmem.frameworks.flax.linen import layers as linen_layers
from flake8_cnnmem.frameworks.flax.linen import module as linen
from flake8_cnnmem.frameworks.flax.linen import recurrent as linen_recurrent
from flake8_cnnmem.frameworks.flax.names import NAMES
from flake8_cnnmem.frameworks.flax.nnx import layers as nnx_layers
from flake8_cnnmem.frameworks.flax.nnx import module as nnx
from flake8_cnnmem.frameworks.numpy.dtypes import SCALARS
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Value, native


def first(run: Runtime, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    """What gives back its first argument: devices and shardings are not followed."""
    return value


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A function that gives None."""
    return None


def stand_in(name: str, what: str) -> Class:
    """A class whose objects nobody asks for sizes."""

    def lost(run: Runtime, self: Value, *args: Value) -> Value:
        return run.unknown(what)

    return Class(
        name,
        namespace={"__init__": native("__init__", nothing), "__getattr__": native("__getattr__", lost)},
        module="jax",
    )


def popped(run: Runtime, tree: Value, name: Value) -> Value:
    """`flax.core.pop(variables, "params")`: the others, and what was taken out."""
    if not isinstance(tree, dict) or name not in tree:
        return tree if isinstance(tree, Unknown) else run.unknown("what is taken out of a tree is not known")
    return ({key: value for key, value in tree.items() if key != name}, tree[name])


def shape(run: Runtime, a: Value) -> Value:
    """`jnp.shape(a)`."""
    return shape_of(run, a)


def rank(run: Runtime, a: Value) -> Value:
    """`jnp.ndim(a)`."""
    found = shape_of(run, a)
    return found if isinstance(found, Unknown) else len(found)


LIMITS = {
    "float16": (65504.0, 2.0**-10), "bfloat16": (3.3895313892515355e38, 2.0**-7),
    "float": (3.4028234663852886e38, 2.0**-23),
    "int8": (127, 1), "uint8": (255, 1), "int16": (32767, 1), "int32": (2**31 - 1, 1), "uint32": (2**32 - 1, 1),
}  # fmt: skip
"""The largest value of a dtype, and the step after 1."""

LIMIT = Class("finfo", module="jax.numpy")


def limits(run: Runtime, dtype: Value) -> Value:
    """`jnp.finfo(dtype)`."""
    name = dtype_named(dtype)
    if name not in LIMITS:
        return run.unknown("the limits of a dtype are not known")
    most, step = LIMITS[name]
    least = 0 if name.startswith("uint") else -most if isinstance(most, float) else -most - 1
    return Instance(LIMIT, {"max": most, "min": least, "eps": step, "tiny": 1.1754943508222875e-38})


POOLS = {"max_pool": native("max_pool", pooled("max")), "avg_pool": native("avg_pool", pooled("average"))}

MASKS = {
    "make_causal_mask": native("make_causal_mask", lax.causal_mask),
    "make_attention_mask": native("make_attention_mask", lax.attention_mask),
    "combine_masks": native("combine_masks", lax.combined_masks),
}

DTYPES: dict[str, Value] = {
    **{name: SCALARS[name] for name in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "complex64", "complex128")},
    "bool_": SCALARS["bool"], "bool": SCALARS["bool"], "float_": SCALARS["float64"], "int_": SCALARS["int64"],
    "bfloat16": BFLOAT16,
    "uint": SCALARS["uint32"], "single": SCALARS["float32"], "half": SCALARS["float16"],
}  # fmt: skip

TREE_UTIL = {f"tree_{name}": value for name, value in trees.FUNCTIONS.items()}

TRANSFORMS: dict[str, Value] = {
    **{name: native(name, transforms.unchanged) for name in ("jit", "named_call", "named_scope")},
    "pmap": native("pmap", transforms.pmap),
    **{name: native(name, transforms.checkpoint) for name in ("checkpoint", "remat")},
    "grad": native("grad", transforms.of_gradient(False)),
    "value_and_grad": native("value_and_grad", transforms.of_gradient(True)),
    "vmap": native("vmap", transforms.vmap),
}

MODULES: dict[str, Mapping[str, Value]] = {
    "jax": {
        **TRANSFORMS,
        "Array": members.ARRAY,
        **{name: native(name, transforms.device_count)
           for name in ("device_count", "local_device_count", "process_count")},
        **{name: native(name, lambda run, *args, **kwargs: 0) for name in ("process_index", "host_id")},
        **{name: native(name, first)
           for name in ("device_put", "device_get", "block_until_ready", "device_put_replicated")},
        **{name: native(name, transforms.devices) for name in ("devices", "local_devices")},
        **{name: native(name, transforms.with_own_rule) for name in ("custom_vjp", "custom_jvp")},
        "default_backend": native("default_backend", lambda run: "gpu"),
        "tree_map": trees.FUNCTIONS["map"],
        "tree_leaves": trees.FUNCTIONS["leaves"],
        "ShapeDtypeStruct": native("ShapeDtypeStruct", lambda run, shape, dtype=None, **options: (
            run.call(NUMPY["zeros"], shape, dtype))),
        "eval_shape": native("eval_shape", lambda run, fun, *args, **kwargs: run.call(fun, *args, **kwargs)),
    },
    "jax.numpy": {
        **NUMPY, **DTYPES,
        "ndarray": members.ARRAY, "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None,
        "shape": native("shape", shape), "ndim": native("ndim", rank),
        "size": native("size", lambda run, a, axis=None: run.call(native("size", members.size_of), a)),
        "linspace": native("linspace", creation.linspace),
        **{name: native(name, limits) for name in ("finfo", "iinfo")},
    },
    "jax.numpy.linalg": {"norm": native("norm", products.norm)},
    "jax.nn": {**ACTIVATIONS},
    "jax.nn.initializers": initializers.INITIALISERS,
    "jax.lax": lax.FUNCTIONS,
    "jax.random": random.FUNCTIONS,
    "jax.tree": trees.FUNCTIONS,
    "jax.tree_util": TREE_UTIL,
    "jax.scipy.special": {"logsumexp": ACTIVATIONS["logsumexp"]},
    "jax.image": {"resize": native("resize", shaping.resized)},
    "jax.config": {"update": native("update", nothing)},
    "jax.typing": {"ArrayLike": members.ARRAY},
    "flax": {},
    "flax.linen": {
        **ACTIVATIONS, **POOLS, **linen_layers.LAYERS, **linen_recurrent.CELLS,
        "Module": linen.MODULE,
        "compact": native("compact", linen.compact),
        "nowrap": native("nowrap", linen.nowrap),
        "jit": native("jit", transforms.unchanged),
        **{name: native(name, linen_layers.remat) for name in ("remat", "checkpoint")},
        "merge_param": native("merge_param", lambda run, name, a, b: b if a is None else a),
        **{name: native(name, initializers.of_first) for name in ("with_partitioning", "with_logical_partitioning")},
        **{name: native(name, first) for name in ("with_logical_constraint", "unbox", "meta")},
        **MASKS,
    },
    "flax.linen.initializers": initializers.INITIALISERS,
    "flax.nnx": {
        **MASKS, **ACTIVATIONS, **POOLS, **nnx.MEMBERS, **nnx_layers.LAYERS,
        **{name: native(name, transforms.unchanged) for name in ("jit", "cached_partial")},
        "pmap": native("pmap", transforms.pmap),
        **{name: native(name, transforms.checkpoint) for name in ("checkpoint", "remat")},
        "grad": native("grad", transforms.of_gradient(False)),
        "value_and_grad": native("value_and_grad", transforms.of_gradient(True)),
    },
    "flax.nnx.initializers": initializers.INITIALISERS,
    "flax.struct": fields.STRUCT,
    "flax.core": {},
    "flax.core.frozen_dict": {},
    "flax.training": {},
    "flax.training.train_state": {"TrainState": train_state.TRAIN_STATE},
    "flax.training.common_utils": {
        "onehot": native("onehot", lambda run, labels, num_classes, *a, **k: (
            run.call(ACTIVATIONS["one_hot"], labels, num_classes))),
        "shard": native("shard", transforms.shard),
    },
    "flax.jax_utils": {name: native(name, first) for name in ("replicate", "unreplicate", "prefetch_to_device")},
    "flax.traverse_util": {},
    "optax": optimizers.MEMBERS,
    "optax.losses": optimizers.MEMBERS,
    "optax.schedules": optimizers.MEMBERS,
}  # fmt: skip
"""Modules by their names, each with what is followed of it."""

for _dotted in ("flax.core", "flax.core.frozen_dict"):
    MODULES[_dotted] = {
        **{name: native(name, first) for name in ("freeze", "unfreeze", "FrozenDict", "copy")},
        "pop": native("pop", popped),
    }  # fmt: skip

SAME = {"flax.linen.transforms": "flax.linen", "flax.linen.linear": "flax.linen", "flax.linen.attention": "flax.linen",
        "flax.linen.normalization": "flax.linen", "flax.experimental.nnx": "flax.nnx", "jax.ad_checkpoint": "jax",
        "flax.linen.module": "flax.linen", "flax.linen.recurrent": "flax.linen"}  # fmt: skip
"""Modules whose members are found in another one, too."""

TOPS = ("flax", "jax", "jaxlib", "optax")


SUBMODULES = {
    "jax": "api_util core custom_batching custom_derivatives debug distributed dlpack dtypes errors experimental export"
    " extend ffi flatten_util interpreters lib monitoring ops profiler ref scipy sharding stages version util",
    "jax.numpy": "fft",
    "jax.lax": "linalg",
    "optax": "assignment contrib experimental microbatching perturbations projections second_order transforms tree"
    " tree_utils",
    "flax.linen": "activation batch_apply combinators dtypes fp8_ops kw_only_dataclasses pooling spmd stochastic"
    " summary partitioning",
    "flax.nnx": "bridge compat extract filterlib graph graphlib helpers metrics nn object optimizer rnglib spmd"
    " statelib summary tracers training transforms traversals variablelib visualization wrappers",
}
"""Modules of which nothing is followed, inside those whose names are written down."""


@cache
def find_module(dotted: str) -> Namespace | None:
    """A module of Flax, JAX or optax; of those of which nothing is followed everything is not known."""
    if dotted.partition(".")[0] not in TOPS:
        return None
    known = MODULES.get(SAME.get(dotted, dotted))
    holds = NAMES.among(dotted)

    def lookup(word: str) -> Value:
        found = known.get(word, MISSING) if known is not None else MISSING
        if found is not MISSING:
            return found
        inner = f"{dotted}.{word}"
        is_inner = inner in MODULES or inner in SAME or any(name.startswith(f"{inner}.") for name in MODULES)
        return find_module(inner) or MISSING if is_inner else MISSING

    if known is not None or any(name.startswith(f"{dotted}.") for name in MODULES):
        return Namespace(dotted, lookup, holds)
    package, _, last = dotted.rpartition(".")
    if NAMES.among(package) is not None and last not in SUBMODULES.get(package, "").split():
        return None
    return Namespace(dotted, lambda word: MISSING)
