"""fastai: its Learner, which runs the loop of a model on data loaders. Its models and data blocks are its source's.

By fastai/learner.py (2.8): the model on all but the last part of a batch, the loss of that and the last part, backward,
the optimizer's step, the gradients cleared. Its optimizers take one parameter after the other.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.autograd.backward import backward_of
from flake8_cnnmem.frameworks.torch.autograd.regions import NO_OP
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.namespaces import find_module
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, stored, walk, weights_of
from flake8_cnnmem.frameworks.torch.nn.modules.normalization import BASES
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZERS
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Property, Value, native

HELD = "what a Learner holds from one batch to the next is not counted"


def itself(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    return self


def nothing(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    return None


def no_op(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    return Instance(NO_OP)


def optimizer(name: str) -> Native:
    """`Adam(params, lr=...)`: its state is that of torch's, its step goes parameter by parameter."""

    def make(run: Runtime, /, params: Value, lr: Value = 1e-3, *args: Value, **kwargs: Value) -> Value:
        options = {"momentum": kwargs["mom"]} if name == "SGD" and kwargs.get("mom") else {}
        return run.construct(OPTIMIZERS[name], params, lr=lr, foreach=False, **options)

    return native(name, make)


UPDATES = {
    "Adam": optimizer("Adam"),
    "SGD": optimizer("SGD"),
    "RMSProp": optimizer("RMSprop"),
    "RAdam": optimizer("RAdam"),
}

# Data

LOADERS_MEMBERS = Members({"to": native("to", itself), "cuda": native("cuda", itself), "cpu": native("cpu", itself)})
LOADERS = Class(
    "DataLoaders",
    namespace=LOADERS_MEMBERS,
    unknown_base=Unknown("the source of fastai is not found: what else its DataLoaders can do is not known"),
    module="fastai.data.core",
)


@LOADERS_MEMBERS.method("__init__")
def loaders_init(run: Runtime, self: Instance, *loaders: Value, path: Value = ".", device: Value = None) -> Value:
    run.changed(self)
    found = list(loaders)
    self.attributes.update(loaders=found, train=found[0] if found else None, valid=found[1] if len(found) > 1 else None)
    self.attributes.update(train_dl=self.attributes["train"], valid_dl=self.attributes["valid"])
    return None


def from_datasets(run: Runtime, /, cls: Class, *datasets: Value, bs: Value = 64, **kwargs: Value) -> Value:
    return run.construct(cls, *(run.construct(DATA_LOADER, each, batch_size=bs) for each in datasets))


LOADERS_MEMBERS["from_dsets"] = ClassMethod(native("from_dsets", from_datasets))

# Learner

MEMBERS = Members()
LEARNER = Class("Learner", namespace=MEMBERS, module="fastai.learner")


@MEMBERS.method("__init__")
def init(
    run: Runtime, self: Instance, dls: Value, model: Value, loss_func: Value = None, opt_func: Value = None,
    lr: Value = 1e-3, splitter: Value = None, cbs: Value = None, metrics: Value = None, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    run.changed(self)
    self.attributes.update(
        dls=dls, model=model, loss_func=loss_func, opt_func=UPDATES["Adam"] if opt_func is None else opt_func, lr=lr,
        splitter=splitter, cbs=cbs, metrics=metrics, _half=None, _opt=None,
    )  # fmt: skip
    if loss_func is None and isinstance(dls, Instance):
        self.attributes["loss_func"] = run.unknown("the loss that a Learner takes from its data is not known")
    return None


def groups_of(run: Runtime, self: Instance) -> list[list[Weight]]:
    """The parameters by group, as the splitter tells them apart; all in one where there is none."""
    own = self.attributes
    model = own["model"]
    if own["splitter"] is None:
        return [[weight for weight in weights_of(model) if not weight.buffer]] if is_module(model) else []
    found = run.items(run.attempt(own["splitter"], model))
    groups = []
    for each in [] if isinstance(found, Unknown) else found:
        items = run.items(each)
        groups.append([one for one in items if isinstance(one, Weight)] if isinstance(items, list) else [])
    return groups


def freeze_to(run: Runtime, self: Instance, n: Value) -> Value:
    """No group before this one trains, but for its batch norms."""
    groups = groups_of(run, self)
    model = self.attributes["model"]
    if not isinstance(n, int) or not is_module(model):
        return None
    norms = {
        id(weight)
        for _, module in walk(model) if module.cls.derives_from(BASES["_BatchNorm"])
        for weight in stored(module, "_parameters").values()
    }  # fmt: skip
    first = n if n >= 0 else len(groups) + n
    for at, group in enumerate(groups):
        for weight in group:
            weight.trainable = at >= first or id(weight) in norms
    return None


MEMBERS["freeze_to"] = native("freeze_to", freeze_to)
MEMBERS["freeze"] = native("freeze", lambda run, self: freeze_to(run, self, -1))
MEMBERS["unfreeze"] = native("unfreeze", lambda run, self: freeze_to(run, self, 0))


def in_half(dtype: str | None) -> Native:
    def method(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
        run.changed(self)
        self.attributes["_half"] = dtype
        return self

    return native("to_fp16", method)


for _name, _dtype in (
    ("to_fp16", "float16"), ("to_native_fp16", "float16"), ("to_non_native_fp16", "float16"), ("to_bf16", "bfloat16"),
    ("to_fp32", None), ("to_native_fp32", None),
):  # fmt: skip
    MEMBERS[_name] = in_half(_dtype)
for _name in ("add_cb", "add_cbs", "remove_cb", "remove_cbs", "load", "to_distributed"):
    MEMBERS[_name] = native(_name, itself)
for _name in ("no_bar", "no_logging", "no_mbar", "distrib_ctx", "parallel_ctx", "removed_cbs", "added_cbs"):
    MEMBERS[_name] = native(_name, no_op)
for _name in ("save", "export", "show_results", "validate", "summary"):
    MEMBERS[_name] = native(_name, nothing)


def create_opt(run: Runtime, self: Instance, *args: Value) -> Value:
    """One for all parameters, in the splitter's groups: what is frozen stays in it."""
    own = self.attributes
    if own["_opt"] is None:
        groups = [{"params": list(group)} for group in groups_of(run, self)]
        run.changed(self)
        own["_opt"] = run.attempt(own["opt_func"], groups, lr=own["lr"]) if groups else run.unknown("no parameters")
        if isinstance(own["_opt"], Instance):
            own["_opt"].site = self.site
    return own["_opt"]


MEMBERS["create_opt"] = native("create_opt", create_opt)
MEMBERS["opt"] = Property(native("opt", create_opt))


def turn(run: Runtime, self: Instance) -> None:
    """One batch, and what is done with it."""
    own = self.attributes
    made = create_opt(run, self)
    note_cause(run, own["model"], "Learner", HELD)
    with run.repeated():
        loader = run.find(own["dls"], "train")
        items = run.unknown("what a Learner trains on is not known") if loader is MISSING else run.iterate(loader)
        batch = items if isinstance(items, Unknown) else next((item for item in items), None)
        batch = all_to_device(run, batch)
        parts = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        inputs, targets = (parts[:-1], parts[-1:]) if len(parts) > 1 else (parts, [])
        run.call(run.get(own["model"], "train"))
        outer, run.autocast = run.autocast, own["_half"] or run.autocast
        try:
            predicted = run.attempt(own["model"], *inputs)
            loss = run.attempt(own["loss_func"], predicted, *targets)
        finally:
            run.autocast = outer
        backward_of(run, loss)
        if isinstance(made, Instance):
            run.call(run.get(made, "step"))
            run.call(run.get(made, "zero_grad"))
        run.let_go(batch, predicted, loss)


def fit(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    turn(run, self)
    return None


def fine_tune(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """The head alone, then everything."""
    freeze_to(run, self, -1)
    turn(run, self)
    freeze_to(run, self, 0)
    turn(run, self)
    return None


for _name in ("fit", "fit_one_cycle", "fit_flat_cos", "fit_sgdr"):
    MEMBERS[_name] = native(_name, fit)
MEMBERS["fine_tune"] = native("fine_tune", fine_tune)


@MEMBERS.method("__getattr__")
def other(run: Runtime, self: Instance, name: Value) -> Value:
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a Learner is not known")


NAMES: dict[str, Value] = {"Learner": LEARNER, "DataLoaders": LOADERS, "ImageDataLoaders": LOADERS, **UPDATES}
PLACED: dict[str, Mapping[str, Value]] = {
    "fastai.learner": {"Learner": LEARNER}, "fastai.optimizer": UPDATES, "fastai.data.core": {"DataLoaders": LOADERS},
}  # fmt: skip
BROUGHT = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim"}
"""Modules that `from fastai.vision.all import *` brings along."""


def without_source(word: str) -> Value:
    """What is not known of it is told, with its name."""
    if word in NAMES:
        return NAMES[word]
    if word in BROUGHT:
        return find_module(BROUGHT[word]) or MISSING
    if word.startswith("_") or hasattr(builtins, word):
        return MISSING
    return Unknown(f"the source of fastai is not found: {word} is not known")


STAND_INS = {"fastai.*": without_source}
