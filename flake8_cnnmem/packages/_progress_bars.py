"""Progress bars (tqdm, rich's `track`, fastprogress, ...): they give the items that they are given, and what they
print is not followed. A bar over a loader is iterated as the loader is.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.functions import functions
from flake8_cnnmem.evaluate.builtins.sequences import RANGE
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Native, StaticMethod, Value

bars = Names()


@bars.function("__init__", propagate_unknown=False)
def init(run: Runtime, self: Instance, iterable: Value = None, *args: Value, **kwargs: Value) -> None:
    self.native = [iterable]
    run.changed(self)
    self.attributes.update(iterable=iterable, n=0, total=kwargs.get("total"), desc=kwargs.get("desc"), postfix=None)
    self.attributes.update(disable=kwargs.get("disable", False), leave=kwargs.get("leave", True))


def held(self: Instance) -> Value:
    return self.native[0] if isinstance(self.native, list) else None


@bars.function("__iter__", propagate_unknown=False)
def iterate(run: Runtime, self: Instance) -> Value:
    return run.iterate(held(self))


@bars.function("__len__", propagate_unknown=False)
def length(run: Runtime, self: Instance) -> Value:
    return run.call(functions["len"], held(self))


bars["__enter__"] = Native("__enter__", lambda run, self: self, propagate_unknown=False)
bars["__bool__"] = ignored("__bool__", True)
for _name in (
    "__exit__", "set_description", "set_description_str", "set_postfix", "set_postfix_str", "update", "close",
    "refresh", "reset", "clear", "unpause", "display", "moveto", "write_bytes",
):  # fmt: skip
    bars[_name] = ignored(_name)
for _name in ("write", "set_lock", "pandas", "monitor"):
    bars[_name] = StaticMethod(ignored(_name))
bars["get_lock"] = StaticMethod(ignored("get_lock"))
BAR = native_class("tqdm", dict(bars), module="tqdm")


def over_range(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`trange(10)`."""
    return run.construct(BAR, run.call(RANGE, *args), **kwargs)


names: dict[str, Value] = {
    "tqdm": BAR,
    "trange": Native("trange", over_range),
    "tqdm_notebook": BAR,
    "tnrange": Native("tnrange", over_range),
}

# Bars of other packages, which take the iterable first or give it back

FAST = native_class(
    "ProgressBar",
    {**bars, "__init__": Native("__init__", init, propagate_unknown=False), "comment": ""},
    module="fastprogress",
)
PROGRESS: dict[str, Value] = {
    word: ignored(word, 0) for word in ("add_task", "advance", "update", "start", "stop", "remove_task", "reset")
}
PROGRESS.update({
    "__init__": ignored("__init__"), "__exit__": ignored("__exit__"),
    "__enter__": Native("__enter__", lambda run, self: self, propagate_unknown=False), "finished": False,
})  # fmt: skip
PROGRESS["track"] = Native("track", lambda run, self, sequence, *args, **kwargs: sequence, propagate_unknown=False)

FASTPROGRESS: dict[str, Value] = {"progress_bar": FAST, "master_bar": FAST}
PROGRESSBAR: dict[str, Value] = {
    "progressbar": identity("progressbar"),
    "ProgressBar": native_class(
        "ProgressBar",
        {"__init__": ignored("__init__"),
         "__call__": Native("__call__", lambda run, self, it: it, propagate_unknown=False),
         "start": Native("start", lambda run, self: self), "update": ignored("update"), "finish": ignored("finish")},
        module="progressbar",
    ),
}  # fmt: skip
RICH: dict[str, Value] = {"track": identity("track"), "Progress": native_class("Progress", PROGRESS, module="rich")}
