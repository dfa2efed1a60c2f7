"""torch.multiprocessing and torch.distributed: processes that run a function of the user's, and groups of them.

One process stands for all of them. How many there are is noted where the program says it.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.distributed.noting import WORLD, tell_world_size, world_size
from flake8_cnnmem.frameworks.torch.distributed.prepared import nothing
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native


def spawn(
    run: Runtime, fn: Value, args: Value = (), nprocs: Value = 1, join: Value = True, daemon: Value = False,
    start_method: Value = "spawn",
) -> Value:  # fmt: skip
    """Every process runs the function; the first one stands for all."""
    given = run.items(args)
    tell_world_size(run, nprocs)
    return run.call(fn, 0, *given) if isinstance(given, list) else given


def process(run: Runtime, self: Instance, group: Value = None, target: Value = None, name: Value = None,
            args: Value = (), kwargs: Value = None, **options: Value) -> Value:  # fmt: skip
    """`mp.Process(target, args, kwargs)`: keeps what `start` is to call."""
    self.attributes.update(target=target, args=args, kwargs=kwargs)
    return None


def start(run: Runtime, self: Instance) -> Value:
    """`process.start()`: the target is called in its place."""
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


# Groups of processes


def init_group(
    run: Runtime, /, backend: Value = None, init_method: Value = None, timeout: Value = None, world_size: Value = -1,
    *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    """`init_process_group(backend, world_size=...)`: the group is there, of the number of processes that it is told."""
    tell_world_size(run, world_size)
    world = run.data(WORLD)
    run.changed(world)
    world["initialised"] = True
    return None


def get_world_size(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    """`get_world_size()`: how many processes train; 1 where nobody says."""
    return world_size(run) or 1


def is_initialised(run: Runtime, /) -> Value:
    """`dist.is_initialized()`: whether a process group was made."""
    return bool(run.data(WORLD).get("initialised"))


def in_place(run: Runtime, /, tensor: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Collectives write into what they are handed; with `async_op=True` they give what waits for that."""
    asynchronous = kwargs.get("async_op", any(value is True for value in args))
    return Instance(WORK) if asynchronous is True else None


WORK = Class(
    "Work",
    namespace={
        **{word: native(word, lambda run, self, *args: True) for word in ("wait", "is_completed", "is_success")},
        "get_future": native("get_future", lambda run, self: run.unknown("the future of a collective is not followed")),
    },
    module="torch.distributed",
)
"""What a collective that runs on gives (torch/csrc/distributed/c10d/Work.hpp): waiting for it gives True."""


GROUPS: dict[str, Value] = {
    "is_available": native("is_available", lambda run: True),
    "is_nccl_available": native("is_nccl_available", lambda run: True),
    "is_initialized": native("is_initialized", is_initialised),
    "is_torchelastic_launched": native("is_torchelastic_launched", lambda run: False),
    "get_rank": native("get_rank", lambda run, *args: 0),
    "get_world_size": native("get_world_size", get_world_size),
    "init_process_group": native("init_process_group", init_group),
    "init_device_mesh": native("init_device_mesh", nothing),
    **{
        name: native(name, in_place)
        for name in ("barrier", "all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor",
                     "reduce_scatter", "destroy_process_group", "broadcast_object_list", "all_gather_object",
                     "new_group", "set_device")
    },
    "ReduceOp": Class("ReduceOp", namespace={word: word for word in ("SUM", "AVG", "MAX", "MIN", "PRODUCT")},
                      module="torch.distributed"),
}  # fmt: skip
