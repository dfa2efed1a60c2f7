"""What runs a training loop elsewhere or wraps what takes part in it, and gives it back: Hugging Face's accelerate,
Lightning's Fabric, torch.multiprocessing. The loop itself is the user's own.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.gradients import backward as backward_pass
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.regions import AUTOCAST, QUIET
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.values import Class, Instance, Native, Run, Value, is_callable

MIXED = {
    "fp16": "float16", "bf16": "bfloat16", "16-mixed": "float16", "bf16-mixed": "bfloat16", "16": "float16",
}  # fmt: skip
"""`mixed_precision` of accelerate and `precision` of Fabric, by the dtype that models then run in."""


def native(name: str, function: Value) -> Native:
    return Native(name, function, absorb=False)


def nothing(run: Run, *args: Value, **kwargs: Value) -> Value:
    return None


def given_back(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A model that is prepared runs in autocast from then on, where mixed precision is asked for."""
    mixed = MIXED.get(str(self.attributes.get("precision")))
    if mixed is not None:
        run.autocast = mixed
    return args[0] if len(args) == 1 else args


def first(run: Run, self: Instance, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    return value


def backward(run: Run, self: Instance, loss: Value, *args: Value, **kwargs: Value) -> Value:
    if isinstance(loss, Tensor):
        backward_pass(run, loss)
    return None


def autocast(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    mixed = MIXED.get(str(self.attributes.get("precision")))
    return Instance(QUIET) if mixed is None else Instance(AUTOCAST, {"fast_dtype": mixed, "enabled": True})


def quiet(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return Instance(QUIET)


def launched(run: Run, self: Instance, function: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`fabric.launch(main)` runs the function with Fabric itself."""
    return run.call(function, self, *args, **kwargs) if is_callable(function) else None


def other(run: Run, self: Instance, name: Value) -> Value:
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of {self.cls.name} is not known")


COMMON: dict[str, Value] = {
    "backward": native("backward", backward),
    "autocast": native("autocast", autocast),
    "no_backward_sync": native("no_backward_sync", quiet),
    "no_sync": native("no_sync", quiet),
    "__getattr__": native("__getattr__", other),
    "launch": native("launch", launched),
    **{
        name: native(name, given_back)
        for name in ("prepare", "prepare_model", "prepare_optimizer", "prepare_data_loader", "prepare_scheduler",
                     "setup", "setup_module", "setup_optimizers", "setup_dataloaders")
    },
    **{
        name: native(name, first)
        for name in ("unwrap_model", "gather", "gather_for_metrics", "reduce", "pad_across_processes", "to_device",
                     "all_gather", "broadcast")
    },
    **{
        name: native(name, nothing)
        for name in ("print", "wait_for_everyone", "clip_grad_norm_", "clip_grad_value_", "clip_gradients", "save",
                     "save_state", "load_state", "save_model", "log", "log_dict", "init_trackers", "end_training",
                     "free_memory", "register_for_checkpointing", "barrier", "seed_everything", "call", "load")
    },
}  # fmt: skip


def accelerator_init(
    run: Run, self: Instance, device_placement: Value = True, split_batches: Value = False,
    mixed_precision: Value = None, gradient_accumulation_steps: Value = 1, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    self.attributes.update(
        precision=mixed_precision, gradient_accumulation_steps=gradient_accumulation_steps, is_main_process=True,
        is_local_main_process=True, num_processes=1, process_index=0, local_process_index=0, sync_gradients=True,
        mixed_precision=mixed_precision, optimizer_step_was_skipped=False,
    )  # fmt: skip
    return None


def fabric_init(
    run: Run, self: Instance, accelerator: Value = "auto", strategy: Value = "auto", devices: Value = "auto",
    num_nodes: Value = 1, precision: Value = None, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    self.attributes.update(precision=precision, is_global_zero=True, global_rank=0, local_rank=0, world_size=1)
    return None


ACCELERATOR_MEMBERS = Members({
    **COMMON, "__init__": native("__init__", accelerator_init), "accumulate": native("accumulate", quiet),
    "main_process_first": native("main_process_first", quiet),
    "local_main_process_first": native("local_main_process_first", quiet),
    "join_uneven_inputs": native("join_uneven_inputs", quiet), "profile": native("profile", quiet),
})  # fmt: skip
ACCELERATOR = Class("Accelerator", namespace=ACCELERATOR_MEMBERS, module="accelerate")
FABRIC = Class(
    "Fabric",
    namespace={**COMMON, "__init__": native("__init__", fabric_init)},
    module="lightning.fabric",
)


def spawn(
    run: Run, fn: Value, args: Value = (), nprocs: Value = 1, join: Value = True, daemon: Value = False,
    start_method: Value = "spawn",
) -> Value:  # fmt: skip
    """Every process runs the function; the first one stands for all."""
    given = run.items(args)
    return run.call(fn, 0, *given) if isinstance(given, list) else given


def process(run: Run, self: Instance, group: Value = None, target: Value = None, name: Value = None,
            args: Value = (), kwargs: Value = None, **options: Value) -> Value:  # fmt: skip
    self.attributes.update(target=target, args=args, kwargs=kwargs)
    return None


def start(run: Run, self: Instance) -> Value:
    given = run.items(self.attributes.get("args"))
    named = self.attributes.get("kwargs")
    if isinstance(given, list) and self.attributes.get("target") is not None:
        run.call(self.attributes["target"], *given, **(named if isinstance(named, dict) else {}))
    return None


PROCESS = Class(
    "Process",
    namespace={
        "__init__": native("__init__", process), "start": native("start", start), "run": native("run", start),
        **{name: native(name, nothing) for name in ("join", "terminate", "kill", "close")},
    },
    module="torch.multiprocessing",
)  # fmt: skip

MULTIPROCESSING: dict[str, Value] = {
    "spawn": native("spawn", spawn),
    "Process": PROCESS,
    **{name: native(name, nothing) for name in ("set_start_method", "set_sharing_strategy", "freeze_support")},
    "get_start_method": native("get_start_method", lambda run, *args, **kwargs: "spawn"),
}


def launched_in_notebook(run: Run, function: Value, args: Value = (), *more: Value, **kwargs: Value) -> Value:
    given = run.items(args)
    return run.call(function, *given) if isinstance(given, list) else given


ACCELERATE: dict[str, Value] = {
    "Accelerator": ACCELERATOR,
    "notebook_launcher": native("notebook_launcher", launched_in_notebook),
}
