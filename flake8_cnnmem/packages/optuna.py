"""optuna: a search over settings. One trial stands for all; what is suggested is known where there is one choice."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native


def of_choices(run: Runtime, self: Instance, name: Value, choices: Value) -> Value:
    items = run.items(choices)
    drawn = run.unknown("which of its choices a trial takes is not known")
    return run.one_of(items, drawn) if isinstance(items, list) and items else drawn


def of_range(kind: str) -> Value:
    def suggest(run: Runtime, self: Instance, name: Value, low: Value, high: Value, *args: Value, **kw: Value) -> Value:
        if low == high and isinstance(low, (int, float)):
            return low
        return run.unknown("what a trial suggests is not known").drawn(kind, low, high, True)

    return native("suggest", suggest)


TRIAL = native_class(
    "Trial",
    {
        "suggest_categorical": native("suggest_categorical", of_choices),
        "suggest_int": of_range("int"),
        **{f"suggest_{word}": of_range("float") for word in ("float", "uniform", "loguniform", "discrete_uniform")},
        "should_prune": native("should_prune", lambda run, self: run.unknown("whether a trial is ended is not known")),
        **{word: ignored(word) for word in ("report", "set_user_attr", "set_system_attr")},
        "__getattr__": native("__getattr__", lambda run, self, name: run.unknown(f"a trial's {name} is not known")),
    },
    module="optuna.trial",
)


def fixed(run: Runtime, params: Value, number: Value = 0) -> Value:
    """`FixedTrial({"lr": 0.1})`: what it suggests is what it was told."""
    return Instance(FIXED, {"params": params})


FIXED = Class(
    "FixedTrial",
    (TRIAL,),
    {
        word: native(word, lambda run, self, name, *args, **kwargs: run.index(self.attributes["params"], name))
        for word in TRIAL.namespace
        if word.startswith("suggest")
    },
    module="optuna.trial",
)


def optimize(run: Runtime, self: Instance, func: Value, *args: Value, **kwargs: Value) -> None:
    """All trials do the same but for what is suggested to them."""
    run.attempt(func, Instance(TRIAL))


STUDY = native_class(
    "Study",
    {
        "optimize": native("optimize", optimize),
        **{word: ignored(word) for word in ("enqueue_trial", "set_user_attr", "add_trial")},
        "__getattr__": native("__getattr__", lambda run, self, name: run.unknown(f"a study's {name} is not known")),
    },
    module="optuna.study",
)
create = native("create_study", lambda run, *args, **kwargs: Instance(STUDY))
PRUNED = Class("TrialPruned", (EXCEPTIONS["Exception"],), module="optuna.exceptions")

MODULES = {
    "optuna": {"create_study": create, "load_study": create, "Trial": TRIAL, "Study": STUDY, "TrialPruned": PRUNED},
    "optuna.trial": {"Trial": TRIAL, "FixedTrial": native("FixedTrial", fixed)},
    "optuna.exceptions": {"TrialPruned": PRUNED},
    "optuna.study": {"Study": STUDY, "create_study": create},
}
