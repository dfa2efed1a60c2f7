"""`threading`: one thread, locks that are always free, and objects local to it."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Native, Value, native

lock: dict[str, Value] = {
    "__init__": ignored("__init__"),
    "acquire": ignored("acquire", True),
    "release": ignored("release"),
    "locked": ignored("locked", False),
    "__enter__": Native("__enter__", lambda run, self: True),
    "__exit__": ignored("__exit__", False),
}

LOCALS = "objects local to threads"
"""Scratch of the run: the instances of `threading.local`, by id. A thread that is started sees none of what others
have put into them."""


def local_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`threading.local()`"""
    run.data(LOCALS)[id(self)] = self


names: dict[str, Value] = {
    "local": native_class("local", {"__init__": native("__init__", local_init)}, module="threading"),
    "get_ident": ignored("get_ident", 1),
    "active_count": ignored("active_count", 1),
}
for _name in ("Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition"):
    names[_name] = native_class(_name, dict(lock), module="threading")
for _name in ("current_thread", "main_thread", "enumerate", "Thread", "Event", "Timer", "Barrier"):
    names[_name] = unfollowed(f"threading.{_name}")


def thread_init(
    run: Runtime, self: Instance, group: Value = None, target: Value = None, name: Value = None, args: Value = (),
    kwargs: Value = None, *, daemon: Value = None,
) -> None:  # fmt: skip
    """`Thread(target=function, args=(...))`"""
    self.attributes.update(_target=target, _args=args, _kwargs=kwargs)


def run_target(run: Runtime, self: Instance) -> None:
    """`thread.run()`: calls its target."""
    own = self.attributes
    target, args, kwargs = own.get("_target"), own.get("_args"), own.get("_kwargs")
    if target is not None and isinstance(args, (list, tuple)):
        before = [(each, dict(each.attributes)) for each in run.data(LOCALS).values()]
        for each, _ in before:
            run.changed(each)
            each.attributes.clear()
        run.call(target, *args, **(kwargs if isinstance(kwargs, dict) else {}))
        for each, attributes in before:
            each.attributes.clear()
            each.attributes.update(attributes)


def start(run: Runtime, self: Instance) -> None:
    """`thread.start()`: how far it comes, and when, nobody knows."""
    cause = run.unknown("how far a thread has come is not known")
    run.perhaps_done(cause, lambda: run.call(run.get(self, "run")))


names["Thread"] = native_class(
    "Thread",
    {
        **{word: ignored(word) for word in ("join", "setDaemon", "is_alive")},
        "__init__": native("__init__", thread_init),
        "run": native("run", run_target),
        "start": native("start", start),
    },
    module="threading",
)

MODULES = {"threading": names}
