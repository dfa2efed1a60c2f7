"""Running frames and code objects, for functions that look at who called them: `save_hyperparameters()` of one's own.

A frame is read when it is asked for: what its function does to its variables later is not seen in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.functions import Parameters
from flake8_cnnmem.evaluate.stdlib.collections import named_tuple_class
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame
MOST = 8
"""Frames behind one another that are read."""

CODE = native_class("code", {}, module="types")
FRAME = native_class("frame", {}, module="types")
VALUES = named_tuple_class("ArgInfo", ["args", "varargs", "keywords", "locals"], {})
CALLED = named_tuple_class(
    "FrameInfo", ["frame", "filename", "lineno", "function", "code_context", "index"], {}
)  # fmt: skip


def code_of(name: str, path: str, parameters: Parameters, line: int) -> Instance:
    """What is known of a function's code: its arguments, in the order in which code objects have them."""
    starred = [word for word in (parameters.star, parameters.double_star) if word is not None]
    return Instance(CODE, {
        "co_name": name, "co_qualname": name, "co_filename": path, "co_firstlineno": line,
        "co_varnames": (*parameters.positional, *parameters.keywords, *starred),
        "co_argcount": len(parameters.positional), "co_kwonlyargcount": len(parameters.keywords),
        "co_posonlyargcount": parameters.positional_only,
    })  # fmt: skip


def frames_from(run: Runtime, depth: int) -> list[Frame]:
    """The frame that runs, its caller, that one's caller and so on, from the `depth`th on."""
    frame: Any = getattr(run, "frame", None)
    found: list[Frame] = []
    while frame is not None and len(found) < depth + MOST:
        frame = frame.outside_comprehension()
        found.append(frame)
        frame = frame.called_from
    return found[depth:]


def frame_object(run: Runtime, frames: list[Frame]) -> Value:
    """The first frame as code sees it, the others behind it."""
    made: Value = run.unknown("who called this is not followed") if len(frames) >= MOST else None
    for frame in reversed(frames):
        function = frame.function
        parameters = function.parameters if function is not None else Parameters()
        name = function.name if function is not None else "<module>"
        made = Instance(FRAME, {
            "f_locals": dict(frame.variables), "f_lineno": frame.line, "f_back": made,
            "f_code": code_of(name, frame.module.path, parameters, frame.line),
            "f_globals": Unknown("the names of a frame's module are not followed"),
        })  # fmt: skip
    return made


def running(run: Runtime, depth: Value = 0) -> Value:
    """`sys._getframe(depth)` and `inspect.currentframe()`."""
    frames = frames_from(run, depth) if type(depth) is int and 0 <= depth < MOST else []
    return frame_object(run, frames) if frames else run.unknown("who called this is not followed")


def argument_values(run: Runtime, frame: Value) -> Value:
    """`inspect.getargvalues(frame)`."""
    if not isinstance(frame, Instance) or frame.cls is not FRAME:
        return run.unknown("the arguments of a frame are not known")
    code = frame.attributes["f_code"].attributes
    count = code["co_argcount"]
    starred = code["co_varnames"][count + code["co_kwonlyargcount"] :]
    variables = frame.attributes["f_locals"]
    # One name behind the arguments is that of `*args` if it holds a tuple.
    star = next((word for word in starred if isinstance(variables.get(word), tuple)), None)
    double = next((word for word in starred if word != star), None)
    return Instance(VALUES, payload=(list(code["co_varnames"][:count]), star, double, variables))


def stack(run: Runtime, context: Value = 1) -> Value:
    """`inspect.stack()`: one entry for each frame, the innermost first."""
    found = []
    frame = frame_object(run, frames_from(run, 0))
    while isinstance(frame, Instance):
        code, line = frame.attributes["f_code"].attributes, frame.attributes["f_lineno"]
        entry = (frame, code["co_filename"], line, code["co_name"], None, None)
        found.append(Instance(CALLED, payload=entry))
        frame = frame.attributes["f_back"]
    return found
