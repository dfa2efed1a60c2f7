"""keras_tuner, where its source is not found: a search builds a model for each trial and fits it.

What a trial draws is decided by chance. Of numbers the largest is counted, of anything else the first, which is its
default; a boolean is not known, so that both ways count. Which was counted is the cause of a bound, for
each training from then on.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value


def native(name: str, function: object) -> Native:
    """A native that sees unknowns."""
    assert callable(function)
    return Native(name, function, propagate_unknown=False)


def drawn(run: Runtime, self: Instance, name: str, value: Value, said: str) -> Value:
    """A value that was counted of several, noted with what it is one of. What is no whole number and no word decides no
    size."""
    held = self.native if isinstance(self.native, dict) else {}
    self.native = {**held, name: value}
    if isinstance(value, (int, str)):
        session_of(run).drawn[name] = run.unknown(f"{said}: {value} was counted")
    return value


def number(
    run: Runtime, self: Instance, name: Value, min_value: Value = None, max_value: Value = None, *args: Value,
    **options: Value,
) -> Value:  # fmt: skip
    """`hp.Int(name, min_value, max_value, ...)` and `hp.Float`: the largest."""
    if not isinstance(name, str) or not isinstance(max_value, (int, float)):
        return max_value if isinstance(max_value, Unknown) else run.unknown("the range of a search is not known")
    return drawn(run, self, name, max_value, f"the search draws {name} from {min_value} to {max_value}")


def choice(run: Runtime, self: Instance, name: Value, values: Value = None, *args: Value, **options: Value) -> Value:
    """`hp.Choice(name, values)`: the largest number, or the first of anything else."""
    if not isinstance(name, str) or not isinstance(values, (list, tuple)) or not values:
        return values if isinstance(values, Unknown) else run.unknown("the choices of a search are not known")
    numbers = [value for value in values if isinstance(value, (int, float))]
    value = max(numbers) if len(numbers) == len(values) else values[0]
    return drawn(run, self, name, value, f"the search draws {name} from {len(values)} values")


def boolean(run: Runtime, self: Instance, name: Value, *args: Value, **options: Value) -> Value:
    """`hp.Boolean(name)`"""
    return run.unknown(f"the search draws {name}" if isinstance(name, str) else "a boolean of a search is not known")


def fixed(run: Runtime, self: Instance, name: Value, value: Value = None, *args: Value) -> Value:
    """`hp.Fixed(name, value)`"""
    return value


def get(run: Runtime, self: Instance, name: Value, *args: Value) -> Value:
    """`hp.get(name)`: what was drawn."""
    held = self.native if isinstance(self.native, dict) else {}
    found = held.get(name) if isinstance(name, str) else None
    return found if found is not None else run.unknown("a hyperparameter is not known")


HYPERPARAMETERS = Class(
    "HyperParameters",
    namespace={
        "Int": native("Int", number),
        "Float": native("Float", number),
        "Choice": native("Choice", choice),
        "Boolean": native("Boolean", boolean),
        "Fixed": native("Fixed", fixed),
        "get": native("get", get),
        "__getitem__": native("__getitem__", get),
    },
    module="keras_tuner",
)


def fit_model(run: Runtime, self: Instance, hp: Value, model: Value, *args: Value, **options: Value) -> Value:
    """`HyperModel.fit(hp, model, ...)`: the model's own."""
    return run.call(run.get(model, "fit"), *args, **options)


HYPERMODEL = Class("HyperModel", namespace={"fit": native("fit", fit_model)}, module="keras_tuner")


def make_hypermodel(run: Runtime, self: Instance, build: Value) -> None:
    """A function that builds, as a hypermodel."""
    run.changed(self)
    self.attributes["build"] = build


BY_FUNCTION = Class(
    "DefaultHyperModel", (HYPERMODEL,), {"__init__": native("__init__", make_hypermodel)}, module="keras_tuner"
)


def make_tuner(run: Runtime, self: Instance, hypermodel: Value = None, *args: Value, **options: Value) -> None:
    """`RandomSearch(hypermodel, objective, ...)` and its like."""
    own = isinstance(hypermodel, Instance) and hypermodel.cls.derives_from(HYPERMODEL)
    run.changed(self)
    self.attributes["hypermodel"] = hypermodel if own else run.construct(BY_FUNCTION, hypermodel)


def search(run: Runtime, self: Instance, *args: Value, **options: Value) -> None:
    """`tuner.search(x, y, ...)`: a trial stands for all."""
    hypermodel = run.get(self, "hypermodel")
    hp = Instance(HYPERPARAMETERS)
    model = run.call(run.get(hypermodel, "build"), hp)
    run.call(run.get(hypermodel, "fit"), hp, model, *args, **options)


def best_hyperparameters(run: Runtime, self: Instance, num_trials: Value = 1) -> list[Value]:
    """`tuner.get_best_hyperparameters(n)`"""
    return [Instance(HYPERPARAMETERS) for _ in range(num_trials if isinstance(num_trials, int) else 1)]


def best_models(run: Runtime, self: Instance, num_models: Value = 1) -> list[Value]:
    """`tuner.get_best_models(n)`: built anew."""
    build = run.get(run.get(self, "hypermodel"), "build")
    count = num_models if isinstance(num_models, int) else 1
    return [run.call(build, hp) for hp in best_hyperparameters(run, self, count)]


def nothing(run: Runtime, self: Instance, *args: Value, **options: Value) -> None:
    """What only tells."""


TUNER = Class(
    "Tuner",
    namespace={
        "__init__": native("__init__", make_tuner),
        "search": native("search", search),
        "get_best_hyperparameters": native("get_best_hyperparameters", best_hyperparameters),
        "get_best_models": native("get_best_models", best_models),
        **{name: native(name, nothing) for name in ("search_space_summary", "results_summary", "reload", "save")},
    },
    module="keras_tuner",
)
NAMES: dict[str, Value] = {
    "HyperParameters": HYPERPARAMETERS, "HyperParameter": HYPERPARAMETERS, "HyperModel": HYPERMODEL, "Tuner": TUNER,
    **{
        name: Class(name, (TUNER,), {}, module="keras_tuner")
        for name in ("RandomSearch", "BayesianOptimization", "Hyperband", "GridSearch")
    },
}  # fmt: skip


def find(name: str) -> Value:
    """A name of it, in whichever of its modules; what is not followed, by its name."""
    if name in NAMES:
        return NAMES[name]
    return MISSING if name.startswith("__") else Unknown(f"the source of 'keras_tuner' is not found: {name}")


STAND_INS = {"keras_tuner": find, "keras_tuner.*": find}
