"""`multiprocessing`, `concurrent.futures`: what is handed to other processes or threads is run here, in its order."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value, native


def promised(run: Runtime, function: Value, args: Value = (), kwds: Value = None) -> Instance:
    """A result that is there at once."""
    given = run.items(args)
    named = kwds if isinstance(kwds, dict) else {}
    result = given if isinstance(given, Unknown) else run.call(function, *given, **named)
    return Instance(RESULT, {"value": result})


RESULT = native_class(
    "Future",
    {
        **{
            name: native(name, lambda run, self, *args, **kwargs: self.attributes.get("value"))
            for name in ("get", "result")
        },
        **{name: ignored(name, True) for name in ("ready", "successful", "done")},
        **{name: ignored(name) for name in ("wait", "add_done_callback", "exception")},
        **{name: ignored(name, False) for name in ("cancel", "cancelled", "running")},
    },
    module="concurrent.futures",
)


def each(run: Runtime, self: Value, function: Value, *iterables: Value, **kwargs: Value) -> Value:
    """`map(f, a, b)`; a pool's second iterable is the size of its chunks."""
    columns = [run.items(iterable) for iterable in iterables if not isinstance(iterable, int)]
    unknown = next((column for column in columns if isinstance(column, Unknown)), None)
    if unknown is not None:
        return unknown
    return [run.call(function, *items) for items in zip(*columns, strict=False)]


def spread(run: Runtime, self: Value, function: Value, iterable: Value, *args: Value, **kwargs: Value) -> Value:
    """`pool.map(function, iterable)`: the function of each item, one after the other."""
    rows = run.items(iterable)
    if isinstance(rows, Unknown):
        return rows
    taken = [run.items(row) for row in rows]
    return [row if isinstance(row, Unknown) else run.call(function, *row) for row in taken]


pools = Names({
    "__init__": ignored("__init__"), "__enter__": native("__enter__", lambda run, self: self),
    "__exit__": ignored("__exit__", False),
    **{name: ignored(name) for name in ("close", "join", "terminate", "shutdown")},
    **{name: native(name, each) for name in ("map", "imap", "imap_unordered")},
    **{name: native(name, spread) for name in ("starmap",)},
    "apply": native("apply", lambda run, self, func, args=(), kwds=None: promised(run, func, args, kwds)
                    .attributes["value"]),
    "apply_async": native("apply_async", lambda run, self, func, args=(), kwds=None, *more, **named:
                          promised(run, func, args, kwds)),
    "submit": native("submit", lambda run, self, fn, *args, **kwargs: promised(run, fn, args, kwargs)),
    "map_async": native("map_async", lambda run, self, func, iterable, *args, **kwargs:
                        Instance(RESULT, {"value": each(run, self, func, iterable)})),
})  # fmt: skip
POOL = native_class("Pool", dict(pools), module="multiprocessing.pool")


def process_init(run: Runtime, self: Instance, group: Value = None, target: Value = None, name: Value = None,
                 args: Value = (), kwargs: Value = None, **options: Value) -> None:  # fmt: skip
    """`Process(target, args, kwargs)`"""
    self.attributes.update(target=target, args=args, kwargs=kwargs)


def process_start(run: Runtime, self: Instance) -> None:
    """`process.start()`: the target is called, with its arguments."""
    if self.attributes.get("target") is not None:
        promised(run, self.attributes["target"], self.attributes.get("args"), self.attributes.get("kwargs"))


PROCESS = native_class(
    "Process",
    {
        "__init__": native("__init__", process_init), "start": native("start", process_start),
        "run": native("run", process_start),
        **{name: ignored(name) for name in ("join", "terminate", "kill", "close")},
        "is_alive": ignored("is_alive", False),
    },
    module="multiprocessing",
)  # fmt: skip

processes: dict[str, Value] = {
    "Pool": POOL, "Process": PROCESS,
    **{name: ignored(name) for name in ("set_start_method", "freeze_support", "set_executable")},
    "get_start_method": ignored("get_start_method", "fork"),
    **{name: unfollowed(f"multiprocessing.{name}") for name in
       ("cpu_count", "Queue", "SimpleQueue", "Pipe", "Manager", "Value", "Array", "Lock", "RLock", "Event", "Barrier",
        "Semaphore", "current_process", "active_children")},
}  # fmt: skip
CONTEXT = native_class(
    "Context",
    {
        name: native(name, lambda run, self, *args, value=value, **kwargs: run.call(value, *args, **kwargs))
        for name, value in processes.items()
    },
    module="multiprocessing",
)
processes["get_context"] = native("get_context", lambda run, method=None: Instance(CONTEXT))

MODULES: dict[str, dict[str, Value]] = {
    "multiprocessing": processes,
    "multiprocessing.pool": {"Pool": POOL, "ThreadPool": POOL},
    "multiprocessing.dummy": {"Pool": POOL},
    "concurrent": {},
    "concurrent.futures": {
        "ThreadPoolExecutor": POOL, "ProcessPoolExecutor": POOL, "Future": RESULT,
        "as_completed": native("as_completed", lambda run, fs, *args, **kwargs: fs),
    },
}  # fmt: skip
