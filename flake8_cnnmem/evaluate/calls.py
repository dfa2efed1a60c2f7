"""Calls as they are written: arguments, and the few builtins that look at the frame they are called in."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.blocks import compile_statement, pair
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler, expression
from flake8_cnnmem.evaluate.comprehensions import one_by_one
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function, Super
from flake8_cnnmem.evaluate.unsaid_arguments import unsaid_arguments
from flake8_cnnmem.frameworks.framework import BACKWARD_PASSES, TO_COMPILE_WITH, UNKNOWN_FITS, UNKNOWN_STEPS, Fit
from flake8_cnnmem.source import Source, SourceError
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


@expression(cst.Call)
def call(compiler: Compiler, node: cst.Call) -> Code:
    """Code for a call: function, arguments with stars, in the order in which Python evaluates them."""
    if isinstance(node.func, cst.Name) and node.func.value in FRAME_BUILTINS:
        return frame_builtin(compiler, node, node.func.value)
    function = compiler.expression(node.func)
    positional: list[tuple[bool, Code]] = []
    keywords: list[tuple[str | None, Code]] = []
    for arg in node.args:
        code = drawn_by(compiler, node.func, arg.value) or compiler.expression(arg.value)
        if arg.keyword is not None:
            keywords.append((arg.keyword.value, code))
        elif arg.star == "**":
            keywords.append((None, code))
        else:
            positional.append((arg.star == "*", code))
    site = compiler.site()
    trains, fits, finds = word_of_training(node), word_of_fitting(node), is_search(node)

    if not keywords and not any(starred for starred, _ in positional):
        codes = tuple(code for _, code in positional)
        alone = codes[0] if len(codes) == 1 else None

        def simple(frame: Frame) -> Value:
            run = frame.run
            callee = function(frame)
            args = (alone(frame),) if alone is not None else tuple([code(frame) for code in codes]) if codes else ()
            outer = run.site
            run.site = site
            made = run.layers_made
            if trains and type(callee) is Unknown:
                note_training(run, trains, callee)
            elif fits and type(callee) is Unknown:
                note_fitting(run, fits, callee, args, {})
            result = run.invoke(callee, args, {})
            if run.layers_made != made:
                run.trace.built(result, made, site)
            run.site = outer
            return result.as_number("int") if finds and type(callee) is Unknown and type(result) is Unknown else result

        return simple

    def general(frame: Frame) -> Value:
        run = frame.run
        callee = function(frame)
        args: list[Value] = []
        for starred, code in positional:
            value = code(frame)
            if starred:
                spread = run.items(value)
                if isinstance(spread, Unknown):
                    return run.call_with_unknown(callee, spread)
                args.extend(spread)
            else:
                args.append(value)
        kwargs: dict[str, Value] = {}
        unsaid: Unknown | None = None
        for word, code in keywords:
            value = code(frame)
            if word is not None:
                if word in kwargs:
                    raise given_twice(run, callee, word)
                kwargs[word] = value
                continue
            mapping = run.mapping(value)
            if isinstance(mapping, Unknown):
                unsaid = unsaid or mapping
                continue
            for key, item in mapping.items():
                if not isinstance(key, str):
                    raise run.error("TypeError", "keywords must be strings")
                if key in kwargs:
                    raise given_twice(run, callee, key)
                kwargs[key] = item
        if unsaid is not None:
            words = unsaid_arguments(callee, len(args))
            if words is None:
                return run.call_with_unknown(callee, unsaid)
            kwargs = {**dict.fromkeys(words, unsaid.loose()), **kwargs}
        outer = run.site
        run.site = site
        made = run.layers_made
        if fits and type(callee) is Unknown:
            note_fitting(run, fits, callee, args, kwargs)
        result = run.invoke(callee, tuple(args), kwargs)
        if run.layers_made != made:
            run.trace.built(result, made, site)
        run.site = outer
        return result

    return general


def given_twice(run: Interpreter, callee: Value, word: str) -> Raised:
    """What Python raises for `f(a=1, **{"a": 2})`."""
    named = run.find(callee, "__qualname__") if isinstance(callee, (Function, Class)) else MISSING
    words = f"{named}()" if isinstance(named, str) else "the function"
    return run.error("TypeError", f"{words} got multiple values for keyword argument '{word}'")


UNKNOWN_BACKWARD = "unknown backward"
"""Scratch of the run: whether a backward pass was run from something that is not known."""


def drawn_by(compiler: Compiler, function: cst.BaseExpression, argument: cst.BaseExpression) -> Code | None:
    """`sum(loss(a, b) for a, b in pairs)`, `maps.extend(layer(maps[-1]) for layer in layers)`: what is added to before
    the next is asked for; and what may stop before its end, so that the rest of it does nothing
    (`any(build(w) for w in widths)`)."""
    if not isinstance(argument, cst.GeneratorExp):
        return None
    drawn = isinstance(function, cst.Name) and function.value in ("sum", "any", "all", "next")
    # How many items there are has to be known of a list: no tests.
    plain = not argument.for_in.ifs and argument.for_in.inner_for_in is None
    extended = isinstance(function, cst.Attribute) and function.attr.value == "extend" and plain
    return one_by_one(compiler, argument) if drawn or extended else None


def word_of_training(node: cst.Call) -> str:
    """ "step" and "backward" of a method that is called as `optimizer.step()` and `loss.backward()` are."""
    if not isinstance(node.func, cst.Attribute):
        return ""
    word = node.func.attr.value
    return word if word == "backward" or (word == "step" and not node.args) else ""


def is_search(node: cst.Call) -> bool:
    """Whether it asks, of what is not known, where something stands in it: `classes.index(name)`. What a method of that
    name in the program gives is its own affair."""
    return isinstance(node.func, cst.Attribute) and node.func.attr.value == "index" and len(node.args) == 1


def word_of_fitting(node: cst.Call) -> str:
    """ "compile" and "fit" of `model.compile("adam")` and `model.fit(data)`."""
    word = node.func.attr.value if isinstance(node.func, cst.Attribute) and node.args else ""
    return word if word in ("compile", "fit") else ""


def note_training(run: Interpreter, word: str, unknown: Unknown) -> None:
    """Something that is not known makes a step, or a backward pass. A step before any of those is not an optimizer's;
    what does it where a known optimizer steps is a scheduler or a profiler."""
    if word == "backward":
        run.data(UNKNOWN_BACKWARD)["seen"] = True
        # Whatever asks for a gradient may have one from then on.
        passes = run.data(BACKWARD_PASSES)
        passes["number"] = passes.get("number", 0) + 1
        run.note("unclear", unknown)
    elif run.data(UNKNOWN_BACKWARD) or any(event.kind == "backward" for event in run.trace.events):
        run.data(UNKNOWN_STEPS).setdefault(id(run.site), (unknown, run.site))


def note_fitting(
    run: Interpreter, word: str, unknown: Unknown, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    """Something that is not known is compiled with an optimizer, or is fitted."""
    if word == "fit":
        data = args[0] if args else kwargs.get("x", kwargs.get("generator"))
        batch_size = kwargs.get("batch_size")
        told = Fit(data, batch_size, run.site, with_targets=len(args) > 1 or kwargs.get("y") is not None)
        run.data(UNKNOWN_FITS).setdefault(id(run.site), (unknown, run.site, told))
        return
    optimizer = kwargs.get("optimizer", args[0] if args else None)
    if isinstance(optimizer, str):
        run.data(TO_COMPILE_WITH)[id(run.site)] = optimizer


FRAME_BUILTINS = ("super", "locals", "globals", "vars", "eval", "exec")


def frame_builtin(compiler: Compiler, node: cst.Call, word: str) -> Code:
    """`super()`, `locals()` and their like need the frame. A user's own function of that name comes first."""
    codes = [compiler.expression(arg.value) for arg in node.args]
    site = compiler.site()

    def code(frame: Frame) -> Value:
        run = frame.run
        own = frame.variables.get(word, MISSING)
        if own is MISSING:
            own = frame.module.variables.get(word, MISSING)
        args = tuple([each(frame) for each in codes])
        if own is not MISSING:
            run.site = site
            return run.invoke(own, args, {})
        if word == "super":
            return make_super(frame, args)
        if word == "globals":
            return frame.module.namespace(run)
        if word == "locals" or (word == "vars" and not args):
            return dict(frame.outside_comprehension().variables)
        if word == "vars":
            return run.get(args[0], "__dict__")
        if word == "eval" and args and isinstance(args[0], str) and len(args[0]) <= EVALUATED_TEXT:
            return evaluate_text(frame, args[0], args[1:])
        if word == "exec":
            if args and isinstance(args[0], str) and len(args[0]) <= EVALUATED_TEXT:
                execute_text(frame, args[0], args[1:])
                return None
            # It may do anything to anybody.
            raise Exhausted("exec() of a text that is not known is not followed")
        return run.unknown(f"{word}() is not followed")

    return code


EVALUATED_TEXT = 2000
"""Characters of an expression that `eval` follows: names of classes, small arithmetic."""


def evaluate_text(frame: Frame, text: str, scopes: tuple[Value, ...]) -> Value:
    """`eval(text)`: the expression is evaluated as if it stood here, or over the dicts that are given."""
    source = Source(frame.module.path, f"({text}\n)")
    try:
        twin, node = source.tree.body[0], source.cst.body[0]
    except (SourceError, IndexError):
        raise frame.run.error("SyntaxError", "invalid syntax") from None
    inner = node.body[0] if isinstance(node, cst.SimpleStatementLine) else node
    if not isinstance(inner, cst.Expr) or len(source.tree.body) != 1:
        raise frame.run.error("SyntaxError", "invalid syntax")
    ast.increment_lineno(twin, frame.line - 1)
    given = [scope for scope in scopes if isinstance(scope, dict)]
    if given:
        names = {word: value for scope in given for word, value in scope.items()}
        frame = Frame(frame.run, frame.module, "function", names, None, frame.line)
    return Compiler(frame.module.path, twin).expression(inner.value)(frame)


def execute_text(frame: Frame, text: str, scopes: tuple[Value, ...]) -> None:
    """`exec(text)`: the statements run as if they stood here, or over the dict that is given. What they assign to names
    inside of a function is lost, as in Python."""
    run, source = frame.run, Source(frame.module.path, text)
    run.spend(len(text))
    try:
        pairs = pair(source.cst.body, source.tree.body)
    except SourceError:
        raise run.error("SyntaxError", "invalid syntax") from None
    given = [scope for scope in scopes if isinstance(scope, dict)]
    if given:
        run.changed(given[-1])
        frame = Frame(run, frame.module, "function", given[-1], None, frame.line)
    elif frame.kind not in ("module", "class") and frame.function is not None:
        frame = Frame(run, frame.module, "function", dict(frame.variables), frame.parent, frame.line)
    for node, twin in pairs:
        ast.increment_lineno(twin, frame.line - 1)
        compile_statement(frame.module.path, node, twin)(frame)


def make_super(frame: Frame, args: tuple[Value, ...]) -> Value:
    """`super()` and `super(cls, self)`: the class it starts behind, and the instance. RuntimeError outside of a
    method."""
    run = frame.run
    if len(args) >= 2:
        cls, receiver = args[0], args[1]
        if isinstance(cls, Unknown) or isinstance(receiver, Unknown):
            return cls if isinstance(cls, Unknown) else receiver
        if isinstance(cls, Class):
            if isinstance(receiver, (Instance, Class)):
                return Super(cls, receiver)
            return run.unknown("super() of something that is not an instance")
        return run.unknown("super() of something that is not a class")
    at: Frame | None = frame
    while at is not None:
        if at.function is not None and at.function.cell and at.receiver is not MISSING:
            receiver = at.receiver
            if isinstance(receiver, (Instance, Class)):
                return Super(at.function.cell[0], receiver)
            return run.unknown("super() of something that is not an instance")
        at = at.parent or at.caller
    return run.unknown("super() outside a method")
