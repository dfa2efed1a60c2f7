"""torch.optim.lr_scheduler: what changes a learning rate changes nothing that is held."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


SCHEDULER = Class(
    "LRScheduler",
    namespace={
        "__init__": Native(
            "__init__",
            lambda run, self, optimizer, *args, **kwargs: self.attributes.update(optimizer=optimizer),
            propagate_unknown=False,
        ),
        "step": Native("step", nothing, propagate_unknown=False),
        "load_state_dict": Native("load_state_dict", nothing, propagate_unknown=False),
        "state_dict": Native("state_dict", lambda run, self: {}, propagate_unknown=False),
        "get_last_lr": Native("get_last_lr", lambda run, self: run.unknown("a learning rate is not followed")),
        "get_lr": Native("get_lr", lambda run, self: run.unknown("a learning rate is not followed")),
    },
    module="torch.optim.lr_scheduler",
)
SCHEDULERS: dict[str, Class] = {}


def scheduler(name: str) -> Value:
    """Any scheduler by its name: none changes what a step needs."""
    if not name[:1].isupper():
        return MISSING
    if name not in SCHEDULERS:
        SCHEDULERS[name] = SCHEDULER if name in ("LRScheduler", "_LRScheduler") else Class(
            name, (SCHEDULER,), {}, module="torch.optim.lr_scheduler"
        )  # fmt: skip
    return SCHEDULERS[name]
