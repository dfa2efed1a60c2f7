"""Signatures as data: a framework's functions in Python's own stub syntax, each bound to what computes it.

A stub (`signatures/*.pyi` of a framework's folder) is one namespace: the framework's own signatures, one below the
other. The decorator of a function names what computes it, which the stub imports from this package:

    @reduce("argmax", dtype="int64")
    def argmax(input: Tensor, dim=None, keepdim=False) -> Tensor: ...

Called in the analysed program, `argmax(x, 1)` is `reduce(run, "argmax", input=x, dim=1, keepdim=False, dtype="int64")`:
what the decorator says, and of the function's parameters those that the computation has under the same name; the others
change no figure. A parameter that is called otherwise is named: `@matrix_product(2, other=mat2)`. `function`, where the
computation takes it, is the function's own name. A class of ops is run on the parameters annotated as Tensor:
`@PixelShuffle(size(upscale_factor))`. Without a decorator it is the namespace's own computation.

`@in_place` says that the framework has the function's in-place form as well: `add_` of `add`. `multiply = mul` is
another name of a function. `@of_values` says that what `parameter.data` gives is looked at for itself, and not in the
place of the parameter. `@of_lists` says that the function looks itself at a list of which nobody knows how many
numbers it holds; to the others such a list is not known.

A stub is looked through for names when its framework is imported; a function is parsed when it is first called.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from flake8_cnnmem.runtime import Runtime, with_known_lengths
from flake8_cnnmem.values import Native, Value

Wrapper: TypeAlias = Callable[[Callable[..., Value]], Callable[..., Value]]

ENTRY = re.compile(r"^(?:@.+\n(?:[ )].*\n)*)*def (\w+)\(|^(\w+) = (\w+)$", re.M)
IN_PLACE = "@in_place"
OF_VALUES = "@of_values"
OF_LISTS = "@of_lists"
MARKS = frozenset((IN_PLACE[1:], OF_VALUES[1:], OF_LISTS[1:]))
"""Decorators that name no computation."""


def beside(file: str, name: str) -> str:
    """The path of a framework's stub, beside one of its modules (`__file__`)."""
    return os.path.join(os.path.dirname(file), "signatures", name + ".pyi")


class Stub:
    """One namespace of functions. `computation` is that of functions without a decorator, by its name in the stub;
    `apply(run, op, *inputs, function=name)` runs an op; `finish` is what calls go through (NumPy's argument names)."""

    def __init__(
        self, path: str, apply: Callable[..., Value], computation: str = "", finish: Wrapper | None = None
    ) -> None:
        self.path = path
        self.apply = apply
        self.computation = computation
        self.finish = finish
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.texts: dict[str, str] = {}
        """The stub of each function."""
        self.aliases: dict[str, str] = {}
        found = list(ENTRY.finditer(self.text))
        ends = [*(entry.start() for entry in found), len(self.text)]
        for entry, end in zip(found, ends[1:], strict=True):
            name = entry[1]
            if name is None:
                self.aliases[entry[2]] = entry[3]
            else:
                self.texts[name] = self.text[entry.start() : end]
        self.start = ends[0]

    def __iter__(self) -> Iterator[str]:
        """The names of all functions: in-place forms not among them, since they may be another namespace's."""
        yield from self.texts
        yield from self.aliases

    def __contains__(self, name: str) -> bool:
        return name in self.texts or name in self.aliases

    def written_in_place(self, name: str) -> bool:
        """Whether a function has an in-place form: those without a decorator have one wherever the framework does."""
        text = self.texts[self.aliases.get(name, name)]
        return IN_PLACE in text or (bool(self.computation) and not text.startswith("@"))

    def reads_lists(self, name: str) -> bool:
        """Whether a function looks itself at lists of which nobody knows how many numbers they hold."""
        return OF_LISTS in self.texts.get(self.aliases.get(name, name), "")

    def native(self, name: str) -> Native:
        """The function of this name, or the in-place form of one ("add_")."""
        of_values = OF_VALUES in self.texts.get(self.aliases.get(name, name), "")
        return Native(name, Waiting(self, name), propagate_unknown=False, of_values=of_values)

    @cached_property
    def imports(self) -> Mapping[str, tuple[str, str]]:
        """By name in the stub: the module and the name there."""
        head = ast.parse(self.text[: self.start])
        return {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in head.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def imported(self, name: str) -> Any:
        """What a name of the stub stands for. KeyError where the stub does not import it."""
        module, member = self.imports[name]
        return getattr(importlib.import_module(module), member)

    def compiled(self, name: str) -> Callable[..., Value]:
        """The function that binds arguments as the stub says and calls what computes it."""
        own = self.aliases.get(name, name)
        in_place = own not in self.texts
        if in_place:
            own = self.aliases.get(name[:-1], name[:-1])
        (node,) = ast.parse(self.texts[own]).body
        assert isinstance(node, ast.FunctionDef)
        return self.bound(node, own + "_" * in_place, in_place)

    def bound(self, node: ast.FunctionDef, name: str, in_place: bool) -> Callable[..., Value]:
        """A function of the stub with the call of its computation for a body."""
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        tensors = [each.arg for each in every if each.annotation is not None and "Tensor" in ast.dump(each.annotation)]
        for each in every:
            each.annotation = None
        names = [each.arg for each in every]
        record = next((each for each in node.decorator_list if ast.unparse(each) not in MARKS), None)
        called, fixed, named = parts(record) if record is not None else (self.computation, [], [])
        used = [load(called), *fixed, *(keyword.value for keyword in named)]
        words = {each.id for part in used for each in ast.walk(part) if isinstance(each, ast.Name)}
        known = {word: self.imported(word) for word in words if word == called or word not in names}
        computation = known.pop(called)
        known["_computation"], known["_apply"] = computation, self.apply
        if isinstance(computation, type):
            op = ast.Call(load("_computation"), fixed, named)
            body = call("_apply", [op, *map(load, tensors)], {"function": ast.Constant(name)})
        else:
            taken = taken_by(computation, len(fixed))
            said = {keyword.arg for keyword in named}
            passed = {word: load(word) for word in taken if word in names and word not in said}
            if "function" in taken and "function" not in said:
                passed["function"] = ast.Constant(name)
            if in_place and "inplace" in taken:
                passed["inplace"] = ast.Constant(True)
            body = call("_computation", fixed, passed, named)
        arguments.args.insert(0, ast.arg("run"))
        node.body, node.decorator_list, node.returns, node.name = [ast.Return(body)], [], None, name
        exec(compile(ast.fix_missing_locations(ast.Module([node], [])), self.path, "exec"), known)
        function: Callable[..., Value] = known[name]
        return function

    def signature(self, name: str) -> inspect.Signature:
        """As the stub has it."""
        own = inspect.signature(self.compiled(name))
        return own.replace(parameters=list(own.parameters.values())[1:])


def parts(record: ast.expr) -> tuple[str, list[ast.expr], list[ast.keyword]]:
    """A decorator: what it names, and its arguments."""
    if isinstance(record, ast.Call):
        return ast.unparse(record.func), record.args, record.keywords
    return ast.unparse(record), [], []


def load(name: str) -> ast.expr:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def call(
    function: str, args: list[ast.expr], named: Mapping[str, ast.expr], more: Collection[ast.keyword] = ()
) -> ast.Call:
    """`function(run, *args, **named)`"""
    keywords = [ast.keyword(word, value) for word, value in named.items()]
    return ast.Call(load(function), [load("run"), *args], [*more, *keywords])


def taken_by(function: Callable[..., Value], fixed: int) -> tuple[str, ...]:
    """The parameters that a computation takes by name, behind `run` and as many as the decorator gives."""
    code = function.__code__
    first = min(1 + fixed, code.co_argcount)
    return code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount]


class Waiting:
    """A function of a stub, parsed when it is called for the first time."""

    __slots__ = ("function", "name", "stub")

    def __init__(self, stub: Stub, name: str) -> None:
        self.stub = stub
        self.name = name
        self.function: Callable[..., Value] | None = None

    def __call__(self, run: Runtime, *args: Value, **kwargs: Value) -> Value:
        """Call the function, compiled from the stub the first time."""
        function = self.function
        if function is None:
            function = self.stub.compiled(self.name)
            if self.stub.finish is not None:
                function = self.stub.finish(function)
            if not self.stub.reads_lists(self.name):
                function = with_known_lengths(function)
            self.function = function
        return function(run, *args, **kwargs)
