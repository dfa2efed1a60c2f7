"""optax: optimizers are records of what they keep for each parameter, schedules numbers that change.

What an optimizer keeps was measured (fixtures/truth/flax.json): values for each value of a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeGuard

from flake8_cnnmem.frameworks.flax import trees
from flake8_cnnmem.frameworks.flax.arrays import apply, floating, plain, shape_of
from flake8_cnnmem.frameworks.optimizer_states import OptimizerState, of
from flake8_cnnmem.frameworks.updates import InnerOptimizer, Update
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Broadcast, Reduce
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

STATES: Mapping[str, OptimizerState] = MappingProxyType(
    {
        "sgd": of("sgd"),
        **dict.fromkeys(
            ("adam", "adamw", "adamax", "adamaxw", "nadam", "nadamw", "radam", "lamb", "yogi", "adabelief", "adadelta",
             "rprop"),
            OptimizerState(2),
        ),
        **dict.fromkeys(("adagrad", "lars", "lion", "novograd", "optimisticgradientdescent"), OptimizerState(1)),
        **dict.fromkeys(("noisysgd", "fromage", "signsgd"), OptimizerState()),
        "rmsprop": of("rmsprop"),
        "amsgrad": OptimizerState(3),
        "adan": OptimizerState(4),
        # A vector for the rows and one for the columns of large matrices, at the least.
        "adafactor": OptimizerState(0, factored=True),
    }
)  # fmt: skip
"""By optax's names in small letters, without underscores."""

OWN = {
    name: name.replace("_", "")
    for name in (
        "sgd", "adam", "adamw", "adamax", "adamaxw", "nadam", "nadamw", "radam", "lamb", "yogi", "adabelief",
        "adadelta", "rprop", "adagrad", "lars", "lion", "novograd", "optimistic_gradient_descent", "noisy_sgd",
        "fromage", "sign_sgd", "rmsprop", "amsgrad", "adan", "adafactor",
    )
}  # fmt: skip

SCALING = {
    "scale_by_adam": "adam", "scale_by_rms": "rmsprop", "scale_by_belief": "adabelief", "scale_by_yogi": "yogi",
    "scale_by_radam": "radam", "scale_by_adamax": "adamax", "scale_by_lion": "lion", "scale_by_rss": "adagrad",
    "scale_by_amsgrad": "amsgrad", "trace": "sgd", "ema": "lion", "scale_by_stddev": "rmsprop",
}  # fmt: skip
"""Parts of optimizers that keep something, and the optimizer that keeps as much."""

STATELESS = (
    "clip", "clip_by_global_norm", "clip_by_block_rms", "adaptive_grad_clip", "add_decayed_weights", "scale",
    "scale_by_schedule", "scale_by_learning_rate", "scale_by_trust_ratio", "identity", "set_to_zero", "zero_nans",
    "centralize", "keep_params_nonnegative", "normalize_by_update_norm", "scale_by_param_block_norm",
    "scale_by_param_block_rms", "scale_by_sign", "per_example_global_norm_clip", "add_noise",
)  # fmt: skip
"""Parts that keep a number or two."""

SCHEDULES = (
    "constant_schedule", "cosine_decay_schedule", "cosine_onecycle_schedule", "exponential_decay", "join_schedules",
    "linear_onecycle_schedule", "linear_schedule", "piecewise_constant_schedule", "piecewise_interpolate_schedule",
    "polynomial_schedule", "sgdr_schedule", "warmup_constant_schedule", "warmup_cosine_decay_schedule",
    "warmup_exponential_decay_schedule",
)  # fmt: skip

TRANSFORMATION = Class("GradientTransformationExtraArgs", module="optax")
"""`native` says what it is: its name, its options, and the transformations that it is made of."""


def made(run: Runtime, name: str, options: dict[str, Value], parts: Sequence[Value] = ()) -> Instance:
    """A gradient transformation of optax, with its options and those that it chains."""
    self = Instance(TRANSFORMATION, native={"name": name, "options": options, "parts": list(parts), "weights": []},
                    site=run.here())  # fmt: skip
    kept = run.data("optimizers")
    for part in parts:
        kept.pop(id(part), None)
    if name:
        kept[id(self)] = self
    return self


def own(name: str) -> Native:
    """A function of optax that makes a transformation of this name."""

    def make(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        options = {word: plain(value) for word, value in kwargs.items()}
        if name == "sgd" and len(args) > 1:
            options["momentum"] = plain(args[1])
        if name == "trace":
            options["momentum"] = 0.9
        return made(run, OWN.get(name) or SCALING[name], options)

    return Native(name, make, propagate_unknown=False)


def stateless(name: str) -> Native:
    """A function of optax that makes a transformation without a state."""
    return Native(name, lambda run, *args, **kwargs: made(run, "", {}), propagate_unknown=False)


def chain(run: Runtime, *parts: Value) -> Value:
    """`optax.chain`: one after the other, each with what it keeps."""
    known = [part for part in parts if is_transformation(part)]
    lost = [part for part in parts if not is_transformation(part)]
    keeping = [part for part in known if part.native["name"]]
    if len(keeping) == 1 and not lost:
        run.data("optimizers").pop(id(keeping[0]), None)
        return made(run, keeping[0].native["name"], keeping[0].native["options"], keeping[0].native["parts"])
    return made(run, "chain" if keeping or lost else "", {}, [*keeping, *lost])


def multi_steps(run: Runtime, opt: Value, every_k_schedule: Value = None, *args: Value, **options: Value) -> Value:
    """`optax.MultiSteps`: the mean of the gradients of several batches is kept beside."""
    if not is_transformation(opt):
        return opt
    run.data("optimizers").pop(id(opt), None)
    return made(run, opt.native["name"], {**opt.native["options"], "gradient_accumulation_steps": 2},
                opt.native["parts"])  # fmt: skip


def inject(run: Runtime, inner_factory: Value, *args: Value, **options: Value) -> Value:
    """`optax.inject_hyperparams(optax.adam)`: the same factory."""
    return inner_factory


def not_told(name: str) -> Native:
    """What changes an optimizer in a way that is not followed."""

    def make(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return made(run, name, {}, [run.unknown(f"what optax.{name} keeps is not known")])

    return Native(name, make, propagate_unknown=False)


def is_transformation(value: Value) -> TypeGuard[Instance]:
    """Whether a value is a gradient transformation."""
    return isinstance(value, Instance) and value.cls is TRANSFORMATION


# --- what is done with it ---------------------------------------------------------------------------------------------


def weights_in(tree: Value) -> list[Weight]:
    """The weights among the leaves of a tree."""
    return [leaf for leaf in trees.leaves(tree) if isinstance(leaf, Weight)]


def hold(run: Runtime, transformation: Value, params: Value) -> None:
    """An optimizer is told what it updates."""
    if is_transformation(transformation):
        transformation.native["weights"] = weights_in(params)


STATE = Class("OptState", module="optax")


def opt_init(run: Runtime, self: Instance, params: Value = None) -> Value:
    """`tx.init(params)`: the state."""
    hold(run, self, params)
    return Instance(STATE)


def opt_update(
    run: Runtime, self: Instance, updates: Value, state: Value = None, params: Value = None, **extra: Value
) -> Value:
    """`tx.update(updates, state)`: a step; the updates and the state."""
    run.note("step", self)
    return (updates, Instance(STATE))


def apply_updates(run: Runtime, params: Value, updates: Value) -> Value:
    """`optax.apply_updates(params, updates)`: the parameters."""
    return params


TRANSFORMATION.namespace.update(
    {
        "init": Native("init", opt_init, propagate_unknown=False),
        "update": Native("update", opt_update, propagate_unknown=False),
    }
)


def optimizer_of(value: Value) -> Optimizer | None:
    """What an object of optax is; None for what is none."""
    if not is_transformation(value) or not value.native["name"]:
        return None
    told = value.native["options"]
    options = tuple((word, told[word]) for word in OPTIONS if told.get(word) not in (None, False))
    parts = value.native["parts"]
    if not parts:
        return Optimizer(value.native["name"], options)
    causes = tuple(part for part in parts if isinstance(part, Unknown))
    inner = [found for part in parts if (found := optimizer_of(part)) is not None]
    return Optimizer(
        value.native["name"], options, Update(parts=tuple(map(InnerOptimizer, inner)), causes=causes), not causes
    )


OPTIONS = ("momentum", "centered", "gradient_accumulation_steps")


def updated_by(value: Instance) -> list[Weight] | None:
    """The weights that a transformation updates; None where they are not known."""
    return value.native["weights"] or None if is_transformation(value) else None


# --- losses and schedules ---------------------------------------------------------------------------------------------


def schedule(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A function of the step's number."""
    return Native(
        "schedule", lambda run, count=0: run.unknown("a learning rate").as_something(), propagate_unknown=False
    )


def of_rows(run: Runtime, logits: Value, labels: Value = None, *args: Value, **options: Value) -> Value:
    """A loss for each row of logits."""
    shape = shape_of(run, logits)
    if isinstance(shape, Unknown):
        return shape
    return apply(run, Reduce("logsumexp", -1), logits, function="cross_entropy", dtypes=[floating(logits)])


def of_values(run: Runtime, predictions: Value, targets: Value = None, *args: Value, **options: Value) -> Value:
    """A loss for each value."""
    if not isinstance(targets, Tensor):
        return predictions
    return apply(run, Broadcast("subtract"), predictions, targets, function="loss", dtypes=[floating(predictions)])


def global_norm(run: Runtime, updates: Value) -> Value:
    """`optax.global_norm(updates)`: ()."""
    return Tensor((), "float", framework="flax")


BY_ROWS = (
    "softmax_cross_entropy", "softmax_cross_entropy_with_integer_labels", "poly_loss_cross_entropy",
    "safe_softmax_cross_entropy", "cosine_similarity", "cosine_distance", "kl_divergence",
)  # fmt: skip
BY_VALUES = ("l2_loss", "squared_error", "huber_loss", "sigmoid_binary_cross_entropy", "log_cosh", "hinge_loss")

MEMBERS: dict[str, Value] = {
    **{name: own(name) for name in (*OWN, *SCALING)},
    **{name: stateless(name) for name in STATELESS},
    **{name: Native(name, schedule, propagate_unknown=False) for name in SCHEDULES},
    **{name: Native(name, of_rows, propagate_unknown=False) for name in BY_ROWS},
    **{name: Native(name, of_values, propagate_unknown=False) for name in BY_VALUES},
    **{name: not_told(name)
       for name in ("multi_transform", "masked", "apply_if_finite", "lookahead", "lbfgs", "sm3", "dpsgd",
                    "schedule_free", "adamw_cocob", "partition", "freeze", "polyak_sgd", "dadapt_adamw")},
    "chain": Native("chain", chain, propagate_unknown=False),
    "named_chain": Native("named_chain", lambda run, *parts: chain(
        run, *(part[1] if isinstance(part, tuple) and len(part) == 2 else part for part in parts)),
        propagate_unknown=False),
    "MultiSteps": Native("MultiSteps", multi_steps, propagate_unknown=False),
    "inject_hyperparams": Native("inject_hyperparams", inject, propagate_unknown=False),
    "apply_updates": Native("apply_updates", apply_updates, propagate_unknown=False),
    "global_norm": Native("global_norm", global_norm, propagate_unknown=False),
    "incremental_update": Native("incremental_update", lambda run, new, old, step: new, propagate_unknown=False),
    "GradientTransformation": TRANSFORMATION,
    "GradientTransformationExtraArgs": TRANSFORMATION,
}  # fmt: skip
"""optax, as far as it is followed."""
