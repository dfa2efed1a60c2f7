"""Private names: `__x` in the code of a class stands for `_Class__x`, so that a class derived from it may have its own.

https://docs.python.org/3/reference/expressions.html#private-name-mangling
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.frame import Frame


def is_private(word: str) -> bool:
    """Whether Python spells an attribute with the name of its class (`__name`)."""
    return word.startswith("__") and not word.endswith("__")


def spelled_out(frame: Frame, word: str) -> str:
    """What a private name stands for in the code of this frame."""
    name = class_around(frame).lstrip("_")
    return f"_{name}{word}" if name else word


def class_around(frame: Frame) -> str:
    """The name of the innermost class in whose body the code of a frame is written; "" outside of classes."""
    at: Frame | None = frame
    while at is not None:
        if at.kind == "class":
            return str(at.variables["__qualname__"])
        function = at.function
        if function is not None and function.cell:
            return function.cell[0].name
        if function is not None and function.owner:
            return function.owner
        at = at.parent or at.caller
    return ""


def as_stored(frame: Frame, word: str) -> str:
    """The name under which a class body keeps what it assigns to `word`. A function's own variables are seen by nobody
    else, so that they may be called as they are written."""
    return spelled_out(frame, word) if frame.kind == "class" and is_private(word) else word
