"""`threading`: one thread, locks that are always free, and objects local to it."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.values import Native, Value

lock: dict[str, Value] = {
    "__init__": ignored("__init__"),
    "acquire": ignored("acquire", True),
    "release": ignored("release"),
    "locked": ignored("locked", False),
    "__enter__": Native("__enter__", lambda run, self: True),
    "__exit__": ignored("__exit__", False),
}

names: dict[str, Value] = {
    "local": native_class("local", {}, module="threading"),
    "get_ident": ignored("get_ident", 1),
    "active_count": ignored("active_count", 1),
}
for _name in ("Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition"):
    names[_name] = native_class(_name, dict(lock), module="threading")
for _name in ("current_thread", "main_thread", "enumerate", "Thread", "Event", "Timer", "Barrier"):
    names[_name] = unfollowed(f"threading.{_name}")
names["Thread"] = native_class(
    "Thread",
    {word: ignored(word) for word in ("__init__", "start", "join", "run", "setDaemon", "is_alive")},
    module="threading",
)

MODULES = {"threading": names}
