"""Modules whose doings leave no trace in a model: warnings, logging, clocks, garbage collection."""

from __future__ import annotations

import logging

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

MODULES: dict[str, dict[str, Value]] = {}


def silent(module: str, words: str, **more: Value) -> dict[str, Value]:
    """A module of functions that do nothing and give None."""
    table: dict[str, Value] = {word: ignored(word) for word in words.split()}
    table.update(more)
    MODULES[module] = table
    return table


context: dict[str, Value] = {
    "__init__": ignored("__init__"),
    "__enter__": Native("__enter__", lambda run, self: []),
    "__exit__": ignored("__exit__", False),
}
silent(
    "warnings",
    "warn warn_explicit filterwarnings simplefilter resetwarnings showwarning formatwarning",
    catch_warnings=native_class("catch_warnings", context, module="warnings"),
    deprecated=Native("deprecated", lambda run, *args, **kwargs: identity("decorator"), propagate_unknown=False),
    filters=[],
)

# logging

SAYING = ["debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"]

logger = Names({word: ignored(word) for word in [
    *SAYING, "setLevel", "addHandler", "removeHandler", "addFilter", "removeFilter", "handle", "flush", "close",
    "setFormatter", "emit", "format", "acquire", "release", "set_name", "formatTime", "callHandlers",
]})  # fmt: skip


@logger.function("__init__", propagate_unknown=False)
def logger_init(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> None:
    """A logger with its name; nothing that it is told is kept."""
    run.changed(self)
    self.attributes.update(
        {"name": args[0] if args else "root", "handlers": [], "filters": [], "level": 0, "propagate": True,
         "disabled": False, "parent": None}
    )  # fmt: skip


logger["getChild"] = Native("getChild", lambda run, self, suffix: run.construct(self.cls, suffix))
logger["hasHandlers"] = ignored("hasHandlers", False)
logger["getEffectiveLevel"] = ignored("getEffectiveLevel", logging.WARNING)
logger["isEnabledFor"] = Native("isEnabledFor", lambda run, self, level: level >= logging.WARNING)
LOGGER = native_class("Logger", dict(logger), module="logging")


@logger.function("_get", propagate_unknown=False)
def get_logger(run: Runtime, name: Value = None) -> Value:
    """The same logger for the same name."""
    loggers = run.data("loggers")
    word = payload(name)
    if isinstance(word, Unknown):
        return run.construct(LOGGER, word)
    if word not in loggers:
        run.changed(loggers)
        loggers[word] = run.construct(LOGGER, word or "root")
    return loggers[word]


loggings = silent(
    "logging",
    " ".join([*SAYING, "basicConfig", "disable", "shutdown", "captureWarnings", "addLevelName", "setLoggerClass"]),
    getLogger=logger.pop("_get"),
    getLevelName=Native("getLevelName", lambda run, level: logging.getLevelName(level)),
    getLoggerClass=ignored("getLoggerClass", LOGGER),
    Logger=LOGGER,
    lastResort=None,
    raiseExceptions=False,
    **{
        word: getattr(logging, word)
        for word in ["NOTSET", "DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL"]
    },
)
for _name in (
    "Handler",
    "StreamHandler",
    "FileHandler",
    "NullHandler",
    "Formatter",
    "Filter",
    "LoggerAdapter",
    "LogRecord",
):
    loggings[_name] = native_class(_name, dict(logger), module="logging")

# Clocks and the rest

times = silent("time", "sleep tzset")
for _name in ("time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns", "thread_time",
              "strftime",
              "localtime", "gmtime", "ctime", "asctime", "mktime", "strptime", "monotonic_ns",
              "process_time_ns"):  # fmt: skip
    times[_name] = unfollowed(f"time.{_name}")

silent("gc", "enable disable freeze unfreeze set_threshold set_debug", collect=ignored("collect", 0),
       isenabled=ignored("isenabled", True), get_objects=unfollowed("gc.get_objects"))  # fmt: skip
silent("traceback", "print_exc print_stack print_exception print_tb", format_exc=unfollowed("traceback.format_exc"),
       extract_stack=unfollowed("traceback.extract_stack"),
       format_stack=unfollowed("traceback.format_stack"))  # fmt: skip
silent("atexit", "unregister", register=identity("register"))
silent(
    "pprint", "pprint pp", pformat=Native("pformat", lambda run, value, *args, **kwargs: run.unknown("pprinted text"))
)
MODULES["pprint"]["PrettyPrinter"] = native_class(
    "PrettyPrinter", {"__init__": ignored("__init__"), "pprint": ignored("pprint")}, module="pprint"
)
silent(
    "signal", "signal alarm siginterrupt", SIGINT=2, SIGTERM=15, SIGKILL=9, SIGUSR1=10, SIGALRM=14, SIG_IGN=1, SIG_DFL=0
)
silent("faulthandler", "enable disable dump_traceback register")
