"""Objects that only carry their arguments: optimizers, losses, metrics, callbacks, initializers and their like.

Each is an Instance of a class of Keras' own name whose attributes are the constructor's arguments. What
they compute changes no shape, so whatever else is asked of them is Unknown, or nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from flake8_cnnmem.frameworks.framework import TO_COMPILE_WITH
from flake8_cnnmem.frameworks.keras.ops import losses
from flake8_cnnmem.frameworks.keras.ops.creation import random
from flake8_cnnmem.frameworks.keras.session import session_of, snake_case
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Value, is_callable

COMMON = (
    "weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, "
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name=None"
)

WITHOUT_DECAY = COMMON.removeprefix("weight_decay=None, ")

OPTIMIZERS = {
    "Optimizer": f"learning_rate=0.001, {COMMON}",
    "SGD": f"learning_rate=0.01, momentum=0.0, nesterov=False, {COMMON}",
    "Adam": f"learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, amsgrad=False, {COMMON}",
    "AdamW": (
        "learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-07, amsgrad=False, "
        f"{WITHOUT_DECAY}"
    ),
    "Adamax": f"learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, {COMMON}",
    "Nadam": f"learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, {COMMON}",
    "RMSprop": f"learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-07, centered=False, {COMMON}",
    "Adadelta": f"learning_rate=0.001, rho=0.95, epsilon=1e-07, {COMMON}",
    "Adagrad": f"learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-07, {COMMON}",
    "Adafactor": (
        "learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=0.001, clip_threshold=1.0, "
        f"relative_step=True, {COMMON}"
    ),
    "Ftrl": (
        "learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1, l1_regularization_strength=0.0, "
        f"l2_regularization_strength=0.0, l2_shrinkage_regularization_strength=0.0, beta=0.0, {COMMON}"
    ),
    "Lamb": f"learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, {COMMON}",
    "Lion": f"learning_rate=0.001, beta_1=0.9, beta_2=0.99, {COMMON}",
    "Muon": (
        "learning_rate=0.001, adam_beta_1=0.9, adam_beta_2=0.999, adam_weight_decay=0.004, epsilon=1e-07, "
        "weight_decay=0.004, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, "
        "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name=None, "
        "exclude_layers=None, exclude_embeddings=True, muon_a=3.4445, muon_b=-4.775, muon_c=2.0315, adam_lr_ratio=1, "
        "momentum=0.95, ns_steps=5, nesterov=True, rms_rate=0.2"
    ),
    "ScheduleFreeAdamW": (f"learning_rate=0.0025, beta_1=0.9, beta_2=0.999, epsilon=1e-08, warmup_steps=0, {COMMON}"),
    "LossScaleOptimizer": "inner_optimizer, initial_scale=32768.0, dynamic_growth_steps=2000, name=None",
    "MultiOptimizer": "optimizer_map, loss_scale_factor=None, name=None",
    # TensorFlow 1's
    "GradientDescentOptimizer": "learning_rate, use_locking=False, name=None",
    "MomentumOptimizer": "learning_rate, momentum, use_locking=False, name=None, use_nesterov=False",
    "AdamOptimizer": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False, name=None",
    "RMSPropOptimizer": (
        "learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, name=None"
    ),
    "AdagradOptimizer": "learning_rate, initial_accumulator_value=0.1, use_locking=False, name=None",
    "AdadeltaOptimizer": "learning_rate=0.001, rho=0.95, epsilon=1e-08, use_locking=False, name=None",
    "FtrlOptimizer": "learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1, name=None",
}
"""Keras 3.15's signatures; `lr`, `decay` and other words of older versions are taken too."""

LOSSES = {
    "Loss": "name=None, reduction='sum_over_batch_size', dtype=None",
    "BinaryCrossentropy": "from_logits=False, label_smoothing=0.0, axis=-1, reduction='sum_over_batch_size', name=None",
    "CategoricalCrossentropy": (
        "from_logits=False, label_smoothing=0.0, axis=-1, reduction='sum_over_batch_size', name=None"
    ),
    "SparseCategoricalCrossentropy": (
        "from_logits=False, ignore_class=None, reduction='sum_over_batch_size', axis=-1, name=None"
    ),
    "Huber": "delta=1.0, reduction='sum_over_batch_size', name='huber_loss'",
}
CALLBACKS = {
    "ModelCheckpoint": (
        "filepath, monitor='val_loss', verbose=0, save_best_only=False, save_weights_only=False, mode='auto', "
        "save_freq='epoch', initial_value_threshold=None"
    ),
}
INITIALIZERS = {
    "Constant": "value=0.0", "constant": "value=0.0",
    "RandomNormal": "mean=0.0, stddev=0.05, seed=None", "random_normal": "mean=0.0, stddev=0.05, seed=None",
    "RandomUniform": "minval=-0.05, maxval=0.05, seed=None", "random_uniform": "minval=-0.05, maxval=0.05, seed=None",
    "TruncatedNormal": "mean=0.0, stddev=0.05, seed=None", "truncated_normal": "mean=0.0, stddev=0.05, seed=None",
    "VarianceScaling": "scale=1.0, mode='fan_in', distribution='truncated_normal', seed=None",
    "variance_scaling": "scale=1.0, mode='fan_in', distribution='truncated_normal', seed=None",
    "Orthogonal": "gain=1.0, seed=None", "orthogonal": "gain=1.0, seed=None",
}  # fmt: skip

BUILT_FOR = "_trainable_variables"
"""Where an optimizer keeps what it was built for."""

RENAMED = {"lr": "learning_rate"}
"""Words of Keras 2 that Keras 3 refuses, and what they are called today."""


@cache
def parsed(signature: str) -> tuple[tuple[str, ...], dict[str, Value]]:
    """Parameter names and defaults of a signature in words."""
    function = ast.parse(f"def f({signature}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    names = tuple(argument.arg for argument in function.args.args)
    values = [ast.literal_eval(default) for default in function.args.defaults]
    return names, dict(zip(names[len(names) - len(values) :], values, strict=True))


def keep_arguments(signature: str) -> Native:
    """An `__init__` that keeps its arguments as attributes. Words that it does not know are kept as well."""

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
        names, defaults = parsed(signature)
        given = dict(zip(names, args, strict=False))
        if any(word in RENAMED for word in kwargs):
            session_of(run).older = True
        given.update({RENAMED.get(word, word): value for word, value in kwargs.items()})
        run.changed(self)
        self.attributes.update({**defaults, **given})
        if self.attributes.get("name") is None:
            self.attributes["name"] = snake_case(self.cls.name)

    return Native("__init__", init, propagate_unknown=False)


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Changes no shape."""


def not_followed(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A call of a configuration object whose result is not followed."""
    return run.unknown(f"what {self.cls.name} gives is not followed")


def stepping(run: Runtime, self: Instance, variables: Value) -> None:
    """One step, which updates these variables: all that is told of what an optimizer is for."""
    items = listed(run, variables)
    updated = tuple(item for item in items if isinstance(item, Weight)) if items is not None else ()
    known = items is not None and len(updated) == len(items)
    session_of(run).steps.append((self, updated if known else None))
    if known:
        # Watched, not done by the code: what a branch that may not be taken updates counts.
        held = self.native if isinstance(self.native, dict) else {}
        self.native = {**held, **{id(weight): weight for weight in updated}}
    run.note("step", self)


def listed(run: Runtime, values: Value) -> list[Value] | None:
    """Variables as a list; None where they are not known."""
    found = run.items(values) if isinstance(values, Iterator) else values
    return list(found) if isinstance(found, (list, tuple)) else None


def apply_gradients(run: Runtime, self: Instance, grads_and_vars: Value = None, *args: Value, **kwargs: Value) -> None:
    """`optimizer.apply_gradients(zip(gradients, variables))`: a step that updates the variables of the pairs; which
    ones is not known where a pair is not."""
    pairs = listed(run, grads_and_vars)
    whole = [pair for pair in pairs or () if isinstance(pair, (list, tuple)) and len(pair) == 2]
    stepping(run, self, [pair[1] for pair in whole] if pairs is not None and len(whole) == len(pairs) else None)


def apply(
    run: Runtime, self: Instance, grads: Value = None, trainable_variables: Value = None, **kwargs: Value
) -> None:
    """`apply(gradients, variables)`, or gradients alone of what it was built for."""
    stepping(run, self, self.attributes.get(BUILT_FOR) if trainable_variables is None else trainable_variables)


def build(run: Runtime, self: Instance, variables: Value = None, *args: Value, **kwargs: Value) -> None:
    """`optimizer.build(variables)`: its state is made for these variables."""
    run.changed(self)
    self.attributes[BUILT_FOR] = variables


def minimise(run: Runtime, self: Instance, loss: Value, var_list: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`minimize(loss, variables)`: a function gives the loss, an older program's tensor is it."""
    target = run.call(loss) if is_callable(loss) else loss
    run.note("backward", target)
    variables = run.call(var_list) if is_callable(var_list) else var_list
    stepping(run, self, variables if isinstance(variables, (list, tuple)) else None)
    return run.unknown("what a step gives is not followed")


def get_config(run: Runtime, self: Instance) -> dict[str, Value]:
    """`get_config()`: the arguments by name."""
    return dict(self.attributes)


def from_config(run: Runtime, cls: Class, config: Any, custom_objects: Value = None) -> Value:
    """`Class.from_config(config)`: an instance made with the entries of a config as arguments."""
    return config if isinstance(config, Unknown) else run.construct(cls, **config)


def made_tensor(run: Runtime, self: Instance, shape: Value = None, dtype: Value = None, **kwargs: Value) -> Value:
    """An initializer gives a tensor of the shape that it is asked for."""
    return random(run, shape, dtype)


def doubtful(optimizer: Value) -> Unknown | None:
    """Why it is not known what an optimizer keeps for each variable: one that was not found, one of the user's own."""
    if not isinstance(optimizer, Instance) or not optimizer.cls.derives_from(OPTIMIZER):
        return optimizer if isinstance(optimizer, Unknown) else None
    if any(cls.name in OPTIMIZERS and cls is not OPTIMIZER for cls in optimizer.cls.mro):
        return doubtful(optimizer.attributes.get("inner_optimizer"))
    site = optimizer.site
    where = (site.path, site.line) if site is not None else ("", 0)
    return Unknown(f"what the optimizer {optimizer.cls.name} keeps is not known", *where)


def unchanged(run: Runtime, self: Instance, x: Value = None) -> Value:
    """A method that gives its argument."""
    return x


def native(function: Callable[..., Value]) -> Native:
    """A native of the function's own name that sees unknowns."""
    return Native(function.__name__, function, propagate_unknown=False)


def attribute(run: Runtime, self: Instance, name: str) -> Value:
    """Any other attribute of a configuration object, which is not followed; MISSING for names with two underscores."""
    if name.startswith("__"):
        return MISSING
    return run.unknown(f"{self.cls.name}.{name} is not followed")


BASE = {
    "get_config": native(get_config),
    "from_config": ClassMethod(native(from_config)),
    "__getattr__": Native("__getattr__", attribute, propagate_unknown=False),
    "__call__": native(not_followed),
}


def making(signature: str) -> Native:
    """An optimizer's `__init__`: it is one of those that the code makes."""
    keep = keep_arguments(signature).function

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
        keep(run, self, *args, **kwargs)
        run.data(TO_COMPILE_WITH)[id(self)] = self

    return Native("__init__", init, propagate_unknown=False)


OPTIMIZER = Class(
    "Optimizer",
    namespace={
        **BASE,
        "__init__": making(OPTIMIZERS["Optimizer"]),
        "apply_gradients": native(apply_gradients),
        "apply": native(apply),
        "build": native(build),
        "minimize": native(minimise),
    },
    module="keras.optimizers",
)
SCHEDULE = Class("LearningRateSchedule", namespace={**BASE, "__init__": keep_arguments("initial_learning_rate=None")})


def computed(
    run: Runtime, self: Instance, y_true: Value = None, y_pred: Value = None, sample_weight: Value = None
) -> Value:
    """`loss(y_true, y_pred)`: the user's own `call`, or the function of the class's name."""
    own = self.cls.find("call")
    if own is not MISSING:
        made = run.call(run.get(self, "call"), y_true, y_pred)
    else:
        known = next((found for cls in self.cls.mro if (found := losses.named(cls.name)) is not None), None)
        if known is None:
            return not_followed(run, self)
        made = run.call(known, y_true, y_pred, from_logits=self.attributes.get("from_logits", False))
    return losses.reduced(run, made, self.attributes.get("reduction", "mean"))


LOSS = Class(
    "Loss",
    namespace={**BASE, "__init__": keep_arguments(LOSSES["Loss"]), "__call__": native(computed)},
    module="keras.losses",
)
METRIC = Class(
    "Metric",
    namespace={
        **BASE,
        "__init__": keep_arguments("name=None, dtype=None"),
        "update_state": native(nothing),
        "reset_state": native(nothing),
        "reset_states": native(nothing),
        "result": native(not_followed),
        "add_weight": native(not_followed),
        "add_variable": native(not_followed),
    },
    module="keras.metrics",
)
CALLBACK = Class(
    "Callback",
    namespace={
        "__init__": keep_arguments(""),
        "__getattr__": BASE["__getattr__"],
        **{
            name: native(nothing)
            for name in (
                "on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end", "on_batch_begin", "on_batch_end",
                "on_train_batch_begin", "on_train_batch_end", "set_model", "set_params",
            )
        },
    },
    module="keras.callbacks",
)  # fmt: skip
INITIALIZER = Class(
    "Initializer", namespace={**BASE, "__init__": keep_arguments("seed=None"), "__call__": native(made_tensor)}
)
REGULARIZER = Class("Regularizer", namespace={**BASE, "__init__": keep_arguments("l1=0.0, l2=0.0")})
CONSTRAINT = Class("Constraint", namespace={**BASE, "__init__": keep_arguments(""), "__call__": native(unchanged)})
REDUCTION = Class(
    "Reduction",
    namespace={"AUTO": "auto", "NONE": "none", "SUM": "sum", "SUM_OVER_BATCH_SIZE": "sum_over_batch_size"},
    module="keras.losses",
)
"""Of TensorFlow 2's Keras: what `reduction=` is told, by name."""

DEFINED = {cls.name: cls for cls in (OPTIMIZER, SCHEDULE, LOSS, METRIC, CALLBACK, INITIALIZER, REGULARIZER, CONSTRAINT)}

KINDS: dict[str, tuple[Class, dict[str, str]]] = {
    "optimizers": (OPTIMIZER, OPTIMIZERS),
    "schedules": (SCHEDULE, {}),
    "losses": (LOSS, LOSSES),
    "metrics": (METRIC, {}),
    "callbacks": (CALLBACK, CALLBACKS),
    "initializers": (INITIALIZER, INITIALIZERS),
    "regularizers": (REGULARIZER, {}),
    "constraints": (CONSTRAINT, {}),
}
"""Each module: the base class of its members, and the signatures that matter."""

ALIASES = {
    "initializers": ("zeros", "ones", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal",
                     "lecun_uniform", "identity", "zero", "one", "normal", "uniform"),
    "regularizers": ("l1", "l2", "l1_l2", "l1l2", "orthogonal_regularizer"),
    "constraints": ("max_norm", "maxnorm", "non_neg", "nonneg", "unit_norm", "unitnorm", "min_max_norm"),
}  # fmt: skip
"""Lower-case names that are classes of their module all the same."""


@cache
def member(module: str, name: str) -> Value:
    """A class of one of these modules, made when it is first asked for; MISSING for what is no class name."""
    base, signatures = KINDS[module]
    if name == base.name:
        return base
    if module == "losses" and name == REDUCTION.name:
        return REDUCTION
    if name in signatures:
        init = making(signatures[name]) if base is OPTIMIZER else keep_arguments(signatures[name])
        return Class(name, (base,), {"__init__": init}, module=f"keras.{module}")
    if name[:1].isupper() or name in ALIASES.get(module, ()):
        return Class(name, (base,), {}, module=f"keras.{module}")
    if name in ("get", "deserialize", "serialize"):
        return Native(name, getter(module, name), propagate_unknown=False)
    if name[:1].islower() and module in ("losses", "metrics"):
        return loss_function(name)
    return MISSING


def getter(module: str, name: str) -> Callable[..., Value]:
    """`keras.initializers.get("he_normal")`: the object of that name; anything else as it is."""

    def get(run: Runtime, identifier: Value = None, *args: Value, **kwargs: Value) -> Value:
        if isinstance(identifier, str) and name != "serialize":
            wanted = identifier
            if module == "optimizers":
                # By any spelling of the name (keras/src/optimizers/__init__.py).
                wanted = next((each for each in OPTIMIZERS if each.lower() == identifier.lower()), identifier)
            for word in (wanted, SPELLINGS.get(wanted, ""), "".join(part.title() for part in wanted.split("_"))):
                found = member(module, word) if word else MISSING
                if isinstance(found, Class):
                    return run.construct(found)
                if isinstance(found, Native) and word == wanted:
                    return found
        if isinstance(identifier, dict) and isinstance(identifier.get("class_name"), str) and name != "serialize":
            found = member(module, SPELLINGS.get(identifier["class_name"], identifier["class_name"]))
            if isinstance(found, Class):
                return from_config(run, found, identifier.get("config", {}))
        return identifier

    return get


SPELLINGS = {"sgd": "SGD", "rmsprop": "RMSprop", "adamw": "AdamW", "adam": "Adam"}


@cache
def loss_function(name: str) -> Native:
    """A function of `keras.losses` by its name."""
    known = losses.named(name)
    if known is not None:
        return known

    def loss(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"the loss {name} is not followed")

    return Native(name, loss, propagate_unknown=False)
