"""How a command line fills in the arguments of Lightning's classes: by the constructor's parameters."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value


def nothing(run: Runtime, /, self: Value = None, *args: Value, **kwargs: Value) -> Value:
    return None


REQUIRED = object()
"""In place of the default of a parameter that has none."""


def signature_of(cls: Value) -> dict[str, Value] | None:
    """The constructor's parameters with their defaults (`REQUIRED` where there is none); None for one of ours."""
    initialiser: Any = cls.find("__init__") if isinstance(cls, Class) else None
    parameters = getattr(initialiser, "parameters", None)
    if initialiser is None or parameters is None:
        return None
    names = parameters.positional[1:]
    defaults = (REQUIRED,) * (len(names) - len(initialiser.defaults)) + tuple(initialiser.defaults)[
        -len(names) or None :
    ]
    found = dict(zip(names, defaults, strict=False))
    return {**found, **{name: initialiser.keyword_defaults.get(name, REQUIRED) for name in parameters.keywords}}


def from_arguments(run: Runtime, /, cls: Class, args: Value = None, **kwargs: Value) -> Value:
    """`from_argparse_args(args)`: those of the arguments that the constructor takes."""
    given = args.attributes if isinstance(args, Instance) else {}
    own = signature_of(cls)
    taken = {word: value for word, value in given.items() if own is None or word in own}
    return run.construct(cls, **{**taken, **kwargs})


def add_arguments(run: Runtime, /, cls: Value, parser: Value = None, **kwargs: Value) -> Value:
    """`add_argparse_args(parser)`: an option for each parameter of the constructor."""
    own = signature_of(cls)
    for name, default in (TRAINER_OPTIONS if own is None else own).items():
        run.call(run.get(parser, "add_argument"), f"--{name}", default=None if default is REQUIRED else default)
    return parser


TRAINER_OPTIONS: dict[str, Value] = {
    "max_epochs": None, "min_epochs": None, "max_steps": -1, "gpus": None, "devices": None, "accelerator": None,
    "strategy": None, "precision": 32, "num_nodes": 1, "accumulate_grad_batches": None, "default_root_dir": None,
    "fast_dev_run": False, "logger": True, "check_val_every_n_epoch": 1, "resume_from_checkpoint": None,
    "limit_train_batches": None, "limit_val_batches": None, "gradient_clip_val": None, "deterministic": False,
}  # fmt: skip
"""What a trainer's options are by default, of the many it has those that scripts read."""
