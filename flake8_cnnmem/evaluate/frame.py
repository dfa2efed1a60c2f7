"""Where names live while code runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Literal

from flake8_cnnmem.evaluate.own_names import own_names
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.functions import Function
    from flake8_cnnmem.evaluate.interpreter import Interpreter
    from flake8_cnnmem.evaluate.modules import Module

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Kind = Literal["module", "class", "function", "comprehension"]

Breaks = list[tuple[dict[str, Value], Unknown, int]]
"""Variables as they stood where a loop, or a round of it, may have been left, the test that nobody knows, and the
number of the last op before it."""


class Frame:
    """One running body: of a module, a class, a function call or a comprehension.

    `parent` is the frame in which the code is written (not its caller): closures look names up along it.
    It is None for what stands at the top of a module, whose names the module itself answers for.
    """

    __slots__ = (
        "body", "breaks", "called_from", "caller", "cell", "declared", "depth", "function", "handling", "kind", "left",
        "line", "module", "parent", "parted", "pending", "raises", "receiver", "run", "variables", "yielded",
    )  # fmt: skip

    def __init__(
        self,
        run: Interpreter,
        module: Module,
        kind: Kind,
        variables: dict[str, Value],
        parent: Frame | None = None,
        line: int = 0,
    ) -> None:
        self.run = run
        self.module = module
        self.kind = kind
        self.variables = variables
        self.parent = parent
        self.line = line
        self.function: Function | None = None
        self.cell: list[Class] | None = None
        """In a class body: where the class will be found once it is made."""
        self.receiver: Value = MISSING
        self.caller: Frame | None = None
        """For a comprehension, the frame it runs in."""
        self.called_from: Frame | None = None
        """For a function, the frame that was running when it was called."""
        self.declared: dict[str, Frame | None] = {}
        """Names that `global` (None) or `nonlocal` (the frame) hand to another scope."""
        self.pending: list[tuple[Value, Unknown, int]] = []
        """What the function may already have returned, the test that nobody knows, and the number of the last op."""
        self.raises: tuple[Instance, Unknown] | None = None
        """An exception that may have been raised, and taken by the program, and the test that nobody knows."""
        self.left: Unknown | None = None
        """The test by which a branch may have returned that stands inside of another one."""
        self.parted: list[Any] | None = [] if kind == "module" else None
        """The ways out that the running code may have taken, the last one last; None where that is not asked."""
        self.breaks: Breaks = []
        self.yielded: list[Value] | None = None
        """What a statement of a generator function that is run ahead has yielded."""
        self.depth = 0
        """For a generator function: how deeply calls are nested where it goes on."""
        self.body: ast.ClassDef | None = None
        """Of a class body: the statement."""
        self.handling: Value = None
        """The exception that the innermost `except` block is dealing with."""

    def closure(self) -> Frame | None:
        """The frame that functions written here are closed over: a class body's names are not seen by them."""
        if self.kind == "module":
            return None
        return self.parent if self.kind == "class" else self

    def outside_comprehension(self) -> Frame:
        """The frame in which a comprehension's walrus stores."""
        frame = self
        while frame.caller is not None:
            frame = frame.caller
        return frame

    def look_up(self, word: str) -> Value:
        """A name that is not among this frame's own variables."""
        if word in self.declared:
            owner = self.declared[word]
            return self.module.global_name(self.run, word) if owner is None else owner.variables.get(word, MISSING)
        if self.function is not None and self.kind == "function":
            scope = getattr(self.function.site, "statement", None)
            if isinstance(scope, FUNCTIONS) and scope.name == self.function.name and word in own_names(scope):
                what = f"cannot access local variable '{word}' where it is not associated with a value"
                raise self.run.error("UnboundLocalError", what)
        # What the body of a class binds itself is no variable of the functions around it.
        own = self.body is not None and word in own_names(self.body)
        frame = None if own else self.parent
        while frame is not None:
            value = frame.variables.get(word, MISSING)
            if value is not MISSING:
                return value
            frame = frame.parent
        module = self.module
        if word not in module.waiting and (module.begun or not module.lazy):
            value = module.variables.get(word, MISSING)
            if value is MISSING and not module.stars:
                value = self.run.builtins.get(word, MISSING)
            if value is not MISSING:
                return value
        return module.global_name(self.run, word)

    def store(self, word: str, value: Value) -> None:
        """Bind a name: here, or where `global` and `nonlocal` say."""
        variables = self.variables
        if self.declared and word in self.declared:
            owner = self.declared[word]
            if owner is None:
                # What the module itself gives the name comes first, as it would have on import.
                self.module.settle_name(self.run, word)
            variables = self.module.variables if owner is None else owner.variables
        if self.run.journal is not None:
            self.run.changed(variables)
        before = variables.get(word)
        if before is not None:
            self.run.left_behind(before)
        if type(value) is Tensor and not value.born and value.call is None:
            value.born = self.run.numbered
        variables[word] = value

    def discard(self, word: str) -> bool:
        """Delete a name; whether it was there."""
        if self.run.journal is not None:
            self.run.changed(self.variables)
        before = self.variables.pop(word, MISSING)
        self.run.left_behind(before)
        return before is not MISSING
