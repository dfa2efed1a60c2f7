"""Lightning's callbacks, as far as they change what trains: those that freeze and unfreeze, and those that gather."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, stored, walk
from flake8_cnnmem.frameworks.torch.nn.modules.normalization import BASES
from flake8_cnnmem.frameworks.torch.optim import parameters_of
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.packages.lightning.arguments import nothing
from flake8_cnnmem.packages.lightning.hooks import stepped
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, StaticMethod, Value, native

CALLBACK = Class("Callback", namespace={"__init__": native("__init__", nothing)}, module="lightning.pytorch.callbacks")

for _name in (
    "setup", "teardown", "on_fit_start", "on_fit_end", "on_train_start", "on_train_end", "on_train_epoch_start",
    "on_train_epoch_end", "on_train_batch_start", "on_train_batch_end", "on_validation_epoch_end", "on_after_backward",
    "on_before_zero_grad", "on_before_backward", "on_before_optimizer_step", "on_save_checkpoint", "state_dict",
    "load_state_dict",
):  # fmt: skip
    CALLBACK.namespace[_name] = native(_name, nothing)

MEMBERS = Members()
BASE_FINETUNING = Class("BaseFinetuning", (CALLBACK,), MEMBERS, module="lightning.pytorch.callbacks")


def is_batch_norm(module: Instance) -> bool:
    return module.cls.derives_from(BASES["_BatchNorm"])


def leaves(run: Runtime, modules: Value, depth: int = 8) -> Iterator[Instance]:
    """Modules without children, and those with parameters of their own, inside of one module or of several."""
    if not isinstance(modules, Instance) or not is_module(modules):
        items = run.items(modules) if depth else []
        for item in [] if isinstance(items, Unknown) else items:
            yield from leaves(run, item, depth - 1)
        return
    for _, module in walk(modules):
        if not stored(module, "_modules") or stored(module, "_parameters"):
            yield module


def set_trainable(module: Instance, trainable: bool) -> None:
    for weight in stored(module, "_parameters").values():
        if isinstance(weight, Weight):
            weight.trainable = trainable


def static(name: str, function: Callable[..., Value]) -> None:
    MEMBERS[name] = StaticMethod(native(name, function))


def freeze(run: Runtime, /, modules: Value, train_bn: Value = True) -> Value:
    for module in list(leaves(run, modules)):
        set_trainable(module, is_batch_norm(module) and train_bn is not False)
    return None


def make_trainable(run: Runtime, /, modules: Value) -> Value:
    for module in list(leaves(run, modules)):
        set_trainable(module, True)
    return None


def trainable_of(run: Runtime, modules: Value, train_bn: Value, trainable: bool = True) -> list[Weight]:
    return [
        weight
        for module in leaves(run, modules)
        if train_bn is not False or not is_batch_norm(module)
        for weight in stored(module, "_parameters").values()
        if isinstance(weight, Weight) and weight.trainable is trainable
    ]


def filter_params(run: Runtime, /, modules: Value, train_bn: Value = True, requires_grad: Value = True) -> Value:
    return iter(trainable_of(run, modules, train_bn, requires_grad is not False))


def unfreeze_and_add(
    run: Runtime, /, modules: Value, optimizer: Value = None, lr: Value = None, initial_denom_lr: Value = 10.0,
    train_bn: Value = True,
) -> Value:  # fmt: skip
    """What is unfrozen becomes another group of the optimizer, unless that holds it already."""
    make_trainable(run, modules)
    held = {id(weight) for weight in parameters_of(optimizer) or ()} if isinstance(optimizer, Instance) else set()
    added = [weight for weight in trainable_of(run, modules, train_bn) if id(weight) not in held]
    if added:
        run.call(run.get(optimizer, "add_param_group"), {"params": added})
    return None


static("freeze", freeze)
static("freeze_module", freeze)
static("make_trainable", make_trainable)
static("filter_params", filter_params)
static("unfreeze_and_add_param_group", unfreeze_and_add)
static("flatten_modules", lambda run, modules: list(leaves(run, modules)))


@MEMBERS.method("setup")
def setup(run: Runtime, self: Instance, trainer: Value, pl_module: Value = None, stage: Value = None) -> Value:
    stepped(run, self, "freeze_before_training", pl_module)
    return None


@MEMBERS.method("on_train_epoch_start")
def on_train_epoch_start(run: Runtime, self: Instance, trainer: Value, pl_module: Value = None) -> Value:
    optimizers = run.get(trainer, "optimizers")
    for at, optimizer in enumerate(optimizers if isinstance(optimizers, list) else []):
        stepped(run, self, "finetune_function", pl_module, run.get(trainer, "current_epoch"), optimizer, at)
    return None


BACKBONE_MEMBERS = Members()
BACKBONE_FINETUNING = Class(
    "BackboneFinetuning", (BASE_FINETUNING,), BACKBONE_MEMBERS, module="lightning.pytorch.callbacks"
)


@BACKBONE_MEMBERS.method("__init__")
def backbone_init(
    run: Runtime, self: Instance, unfreeze_backbone_at_epoch: Value = 10, *args: Value, train_bn: Value = True,
    **kwargs: Value,
) -> Value:  # fmt: skip
    self.attributes.update(unfreeze_backbone_at_epoch=unfreeze_backbone_at_epoch, train_bn=train_bn)
    return None


@BACKBONE_MEMBERS.method("freeze_before_training")
def freeze_backbone(run: Runtime, self: Instance, pl_module: Value) -> Value:
    return freeze(run, run.get(pl_module, "backbone"))


@BACKBONE_MEMBERS.method("finetune_function")
def finetune_backbone(
    run: Runtime, self: Instance, pl_module: Value, epoch: Value, optimizer: Value, *args: Value
) -> Value:
    if epoch == self.attributes.get("unfreeze_backbone_at_epoch"):
        backbone = run.get(pl_module, "backbone")
        unfreeze_and_add(run, backbone, optimizer, train_bn=self.attributes.get("train_bn"))
    return None


def gathering_init(run: Runtime, self: Instance, /, scheduling: Value = None) -> Value:
    self.attributes["scheduling"] = scheduling
    return None


CALLBACKS: dict[str, Value] = {
    "Callback": CALLBACK,
    "BaseFinetuning": BASE_FINETUNING,
    "BackboneFinetuning": BACKBONE_FINETUNING,
    "GradientAccumulationScheduler": Class(
        "GradientAccumulationScheduler", (CALLBACK,), {"__init__": native("__init__", gathering_init)},
        module="lightning.pytorch.callbacks",
    ),
}  # fmt: skip
