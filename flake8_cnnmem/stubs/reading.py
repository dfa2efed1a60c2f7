"""From the text of a stub to what it says: functions, classes, constants and names that it takes from other stubs."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.stubs.shapes import BadShape, Pattern
from flake8_cnnmem.text.files import DISK, Files

ENDING = ".pyi"
LARGEST = 2_000_000
"""Bytes of a stub that are read."""

FLOATING = "floating"
"""The dtype of the first floating tensor: indices may stand before it."""

DTYPES: Mapping[str, str] = {
    "Float16": "float16", "BFloat16": "bfloat16", "Float32": "float32", "Float64": "float64", "Bool": "bool",
    "Int": "int64", "Int8": "int8", "Int16": "int16", "Int32": "int32", "Int64": "int64", "UInt8": "uint8",
    "Complex64": "complex64", "Complex128": "complex128",
    "Float": FLOATING, "Inexact": FLOATING, "Shaped": "", "Num": "", "Real": "",
}  # fmt: skip
"""jaxtyping's names of dtypes that a tensor of a stub may have; an empty one is that of the first tensor given."""

TENSORS = frozenset(("Tensor", "Parameter", "Buffer"))


class BadStub(ValueError):
    """A stub that makes no sense: the message says where and what. Line 0 stands for the file as a whole."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TensorType:
    """`Float[Tensor, "batch channels"]`. `pattern` None: of any shape; `dtype` empty: the first tensor's, FLOATING:
    that of the first floating one."""

    pattern: Pattern | None
    dtype: str = ""
    kind: str = "Tensor"
    """"Parameter" or "Buffer" for what a layer holds."""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """`Literal[True]` or `None`: a signature of several counts where the argument is one of these."""

    values: tuple[Any, ...]


Annotation: TypeAlias = "TensorType | Choice | tuple[Any, ...] | None"
"""What an annotation says of an argument or a result: a tensor, several, values to choose by; None: anything else."""

NO_RESULT = Choice((None,))


@dataclass(frozen=True, slots=True)
class Described:
    """One signature of a function or method."""

    line: int
    signature: inspect.Signature
    arguments: Mapping[str, Annotation]
    result: Annotation
    saved: tuple[str | TensorType, ...] | None = None
    """What its `saves` names; None where it has none."""


@dataclass(frozen=True, slots=True)
class FunctionStub:
    name: str
    described: tuple[Described, ...]
    """In the order in which they are tried."""
    static: bool = False


@dataclass(frozen=True, slots=True)
class ClassStub:
    name: str
    bases: tuple[str, ...]
    methods: Mapping[str, FunctionStub]
    weights: Mapping[str, TensorType]


@dataclass(frozen=True, slots=True)
class Imported:
    """`from .layers import Conv as Conv`: a name of another stub; `name` "*" for all."""

    module: str
    name: str


@dataclass(slots=True)
class StubModule:
    """What one stub says. `frameworks` are the top-level packages that it imports, in order."""

    dotted: str
    path: str
    frameworks: tuple[str, ...] = ()
    members: dict[str, FunctionStub | ClassStub | Imported] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


def located(folder: str, dotted: str, files: Files = DISK) -> tuple[str, bool] | None:
    """The stub of a module by its absolute name, and whether it is a package; None where there is none."""
    base = os.path.join(folder, *dotted.split("."))
    for path, package in ((os.path.join(base, "__init__" + ENDING), True), (base + ENDING, False)):
        if files.is_file(path):
            return path, package
    return None


def read_stub(path: str, dotted: str, package: bool, files: Files = DISK) -> StubModule:
    """What a stub says. Raises BadStub."""
    try:
        text = files.content(path, LARGEST).decode()
        tree = ast.parse(text)
    except SyntaxError as error:
        raise BadStub(path, error.lineno or 1, f"does not parse: {error.msg}") from None
    except (OSError, ValueError) as error:
        raise BadStub(path, 0, f"cannot be read: {error}") from None
    return Reader(path, dotted, package).module(tree)


def check_folder(folder: str, files: Files = DISK) -> None:
    """Read every stub of a folder. Raises BadStub for the first that makes no sense, or where there is none at all."""
    found = False
    for path in every_stub(folder, files):
        relative = os.path.splitext(os.path.relpath(path, folder))[0].split(os.sep)
        package = relative[-1] == "__init__"
        read_stub(path, ".".join(relative[:-1] if package else relative), package, files)
        found = True
    if not found:
        raise BadStub(folder, 0, f"holds no stub ({ENDING})")


def every_stub(folder: str, files: Files = DISK) -> Iterator[str]:
    for name, is_folder in files.entries(folder):
        path = os.path.join(folder, name)
        if is_folder:
            yield from every_stub(path, files)
        elif name.endswith(ENDING):
            yield path


class Reader:
    """Reads one stub: each construct that stub syntax has, or an error with its line."""

    def __init__(self, path: str, dotted: str, package: bool) -> None:
        self.path = path
        self.dotted = dotted
        self.package = package

    def bad(self, node: ast.AST, reason: str) -> BadStub:
        return BadStub(self.path, getattr(node, "lineno", 1), reason)

    def module(self, tree: ast.Module) -> StubModule:
        made = StubModule(self.dotted, self.path)
        tops: list[str] = []
        for node in tree.body:
            if isinstance(node, ast.Import):
                tops += [alias.name.partition(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                self.imported(node, made, tops)
            elif isinstance(node, ast.FunctionDef):
                known = made.members.get(node.name)
                made.members[node.name] = self.function(node, known if isinstance(known, FunctionStub) else None)
            elif isinstance(node, ast.ClassDef):
                made.members[node.name] = self.cls(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                self.constant(node, made)
            elif not is_nothing(node):
                raise self.bad(node, "a stub has imports, constants, functions and classes alone")
        made.frameworks = tuple(dict.fromkeys(tops))
        return made

    def imported(self, node: ast.ImportFrom, made: StubModule, tops: list[str]) -> None:
        """A relative import takes names from other stubs; an absolute one is there for annotations."""
        if not node.level:
            tops.append((node.module or "").partition(".")[0])
            return
        parts = self.dotted.split(".")
        kept = parts[: len(parts) - node.level + self.package]
        module = ".".join([*kept, node.module] if node.module else kept)
        for alias in node.names:
            if alias.name == "*":
                made.stars.append(module)
            else:
                made.members[alias.asname or alias.name] = Imported(module, alias.name)

    def constant(self, node: ast.Assign | ast.AnnAssign, made: StubModule) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if not isinstance(target, ast.Name):
                raise self.bad(node, "a constant is a name")
            if node.value is not None:
                made.constants[target.id] = self.literal(node.value)

    def cls(self, node: ast.ClassDef) -> ClassStub:
        methods: dict[str, FunctionStub] = {}
        weights: dict[str, TensorType] = {}
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                methods[each.name] = self.function(each, methods.get(each.name), within=True)
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                said = self.annotation(each.annotation)
                if isinstance(said, TensorType) and said.kind != "Tensor":
                    if said.pattern is None:
                        raise self.bad(each, f"the shape of {each.target.id} is not said")
                    weights[each.target.id] = said
            elif not is_nothing(each) and not isinstance(each, (ast.Assign, ast.AnnAssign)):
                raise self.bad(each, "a class of a stub has attributes and methods alone")
        made = ClassStub(node.name, tuple(last_name(base) for base in node.bases), methods, weights)
        self.check_weights(node, made)
        return made

    def check_weights(self, node: ast.ClassDef, made: ClassStub) -> None:
        """A weight's sizes are those of the constructor's arguments, and numbers."""
        init = made.methods.get("__init__")
        known = set(init.described[0].signature.parameters) if init is not None else set()
        for name, weight in made.weights.items():
            assert weight.pattern is not None
            open_names = sorted(weight.pattern.names())
            if open_names:
                raise self.bad(node, f"the size {open_names[0]} of {name} is not an argument: write {{argument}}")
            missing = weight.pattern.arguments() - known
            if missing:
                raise self.bad(node, f"{name} has a size by {sorted(missing)[0]}, which __init__ does not take")

    def function(self, node: ast.FunctionDef, before: FunctionStub | None, within: bool = False) -> FunctionStub:
        """A function, or another signature of one that has several (`@overload`)."""
        decorators = {last_name(each): each for each in node.decorator_list}
        static = "staticmethod" in decorators
        unknown = set(decorators) - {"overload", "saves", "staticmethod", "classmethod", "property"}
        if unknown:
            raise self.bad(node, f"a stub's decorators are saves, overload and staticmethod, not {sorted(unknown)[0]}")
        described = self.described(node, decorators.get("saves"), within and not static)
        several = before is not None and "overload" in decorators
        earlier = before.described if before is not None and several else ()
        return FunctionStub(node.name, (*earlier, described), static)

    def described(self, node: ast.FunctionDef, saves: ast.expr | None, is_method: bool) -> Described:
        parameters: list[inspect.Parameter] = []
        said: dict[str, Annotation] = {}
        own = node.args
        positional = [*own.posonlyargs, *own.args]
        if is_method:
            if not positional:
                raise self.bad(node, f"{node.name} takes no self")
            positional = positional[1:]
        defaults = [None] * (len(positional) - len(own.defaults)) + list(own.defaults)
        for at, argument in enumerate(positional):
            by_place = argument in own.posonlyargs
            kind = inspect.Parameter.POSITIONAL_ONLY if by_place else inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(self.parameter(argument, kind, defaults[at]))
        if own.vararg is not None:
            parameters.append(self.parameter(own.vararg, inspect.Parameter.VAR_POSITIONAL, None))
        for argument, default in zip(own.kwonlyargs, own.kw_defaults, strict=True):
            parameters.append(self.parameter(argument, inspect.Parameter.KEYWORD_ONLY, default))
        if own.kwarg is not None:
            parameters.append(self.parameter(own.kwarg, inspect.Parameter.VAR_KEYWORD, None))
        for argument in (*positional, *own.kwonlyargs):
            said[argument.arg] = None if argument.annotation is None else self.annotation(argument.annotation)
        result = None if node.returns is None else self.result(node.returns)
        saved = self.saved(saves, said, result) if saves is not None else None
        try:
            signature = inspect.Signature(parameters)
        except ValueError as error:
            raise self.bad(node, str(error)) from None
        self.check_sizes(node, said, result, saved, is_method)
        return Described(node.lineno, signature, said, result, saved)

    def parameter(self, argument: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
        value = inspect.Parameter.empty if default is None else self.literal(default)
        return inspect.Parameter(argument.arg, kind, default=value)

    def check_sizes(
        self, node: ast.FunctionDef, said: Mapping[str, Annotation], result: Annotation,
        saved: Sequence[str | TensorType] | None, is_method: bool,
    ) -> None:  # fmt: skip
        """Every name that a result's size is counted with stands for an axis of an argument."""
        declared: set[str] = set()
        for each in said.values():
            if isinstance(each, TensorType) and each.pattern is not None:
                declared |= each.pattern.declared()
        given = [*tensors_of(result), *(each for each in saved or () if isinstance(each, TensorType))]
        for each in given:
            if each.pattern is None:
                continue
            missing = sorted(each.pattern.names() - declared)
            if missing:
                raise self.bad(node, f"the size {missing[0]} of ({each.pattern.text}) is no axis of an argument")
            strange = sorted(each.pattern.arguments() - set(said))
            if strange and not is_method:
                raise self.bad(node, f"({each.pattern.text}) counts with {strange[0]}, which is no argument")

    def saved(self, node: ast.expr, said: Mapping[str, Annotation], result: Annotation) -> tuple[str | TensorType, ...]:
        if not isinstance(node, ast.Call) or node.keywords:
            raise self.bad(node, 'saves is called on what is kept: @saves("x", "result")')
        found: list[str | TensorType] = []
        for each in node.args:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                name = each.value
                number = len(tensors_of(result))
                results = {"result", *(f"result[{at}]" for at in range(number))}
                if name not in said and name not in results:
                    raise self.bad(each, f"saves names {name!r}, which is no argument and no result")
                found.append(name)
                continue
            tensor = self.annotation(each)
            if not isinstance(tensor, TensorType) or tensor.pattern is None:
                raise self.bad(each, 'saves takes names of arguments, "result", and tensors with their shape')
            found.append(tensor)
        return tuple(found)

    def result(self, node: ast.expr) -> Annotation:
        """What a function gives: tensors, or None; anything else is not known."""
        if isinstance(node, ast.Constant) and node.value is None:
            return NO_RESULT
        if isinstance(node, ast.Subscript) and last_name(node.value) in ("tuple", "Tuple", "list", "List"):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return tuple(self.result(each) for each in inner)
        return self.annotation(node)

    def annotation(self, node: ast.expr) -> Annotation:
        """What an annotation says of tensors and of values to choose by; None for any other."""
        if isinstance(node, ast.Constant) and node.value is None:
            return NO_RESULT
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self.annotation(ast.copy_location(ast.parse(node.value, mode="eval").body, node))
            except SyntaxError:
                raise self.bad(node, f"{node.value!r} is no annotation") from None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.either(node, [node.left, node.right])
        if isinstance(node, ast.Subscript):
            name = last_name(node.value)
            if name == "Optional":
                return self.either(node, [node.slice, ast.Constant(None)])
            if name == "Union":
                return self.either(node, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
            if name == "Literal":
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                return Choice(tuple(self.literal(each) for each in inner))
            if name in DTYPES:
                return self.tensor(node, name)
            return None
        return TensorType(None, kind=last_name(node)) if last_name(node) in TENSORS else None

    def either(self, node: ast.expr, sides: Sequence[ast.expr]) -> Annotation:
        """A tensor or None is a tensor that may be missing."""
        found = [self.annotation(side) for side in sides]
        tensors = [each for each in found if isinstance(each, TensorType)]
        if not tensors:
            return None
        first = tensors[0]
        return TensorType(first.pattern, first.dtype, first.kind, optional=len(found) > len(tensors) or first.optional)

    def tensor(self, node: ast.Subscript, dtype: str) -> TensorType:
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        shape = inner[1] if len(inner) == 2 else None
        kind = last_name(inner[0])
        if kind not in TENSORS or not isinstance(shape, ast.Constant) or not isinstance(shape.value, str):
            raise self.bad(node, f'a tensor is {dtype}[Tensor, "batch channels ..."]')
        pattern = Pattern(shape.value)
        try:
            pattern.axes  # noqa: B018 - raises where it is none
        except BadShape as error:
            raise self.bad(node, str(error)) from None
        return TensorType(pattern, DTYPES[dtype], kind)

    def literal(self, node: ast.expr) -> Any:
        """A default or constant; Ellipsis stands for one that is not said."""
        if isinstance(node, ast.Constant):
            return node.value
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            raise self.bad(node, "a default is a number, text, True, False, None or ...") from None


def tensors_of(said: Annotation) -> list[TensorType]:
    """The tensors that a result consists of, in order."""
    if isinstance(said, tuple):
        return [tensor for each in said for tensor in tensors_of(each)]
    return [said] if isinstance(said, TensorType) else []


def is_nothing(node: ast.stmt) -> bool:
    """A docstring, `...` or `pass`."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def last_name(node: ast.expr) -> str:
    """`Tensor` of `torch.Tensor`; of a call, the function's."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
