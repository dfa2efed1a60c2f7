"""Sizes that do not fit together: what a report says of a model that cannot run as its code calls it.

A model's own calls are looked at on the inputs that it is fed with; what the program does with it, losses and tensors
from outside among it, as the program ran it, with the batches that it states.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from os.path import basename

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import show
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import written_at
from flake8_cnnmem.graph import Call, Model, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.layer_rows import name_of, place, rows_of
from flake8_cnnmem.line_to_change import line_to_change, maker_of
from flake8_cnnmem.models import Built, Root
from flake8_cnnmem.ops import Flatten, Heads, Loss, Reshape
from flake8_cnnmem.results import LayerProblem, ModelReport
from flake8_cnnmem.text.lines import in_words
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance


def problems_of(root: Root, builds: Sequence[Built], path: str) -> tuple[LayerProblem, ...]:
    """The sizes that are wrong for certain in models that one step trains: whatever the input, or for the one that the
    code or a directive states; where there are none, the first that the program itself comes to with one of them."""
    found = [
        line_to_change(with_numbers(problem_of(built.model, call, path, stated_input(built)), root), built, root)
        for built in builds
        for call in built.certain
        if not follows_from_another(call)
    ]
    if not found:
        for built, call in met_by_program(root, builds):
            problem = problem_of(built.model, call, path, "")
            problem = with_numbers(problem, root)
            other = None if isinstance(call.op, Loss) else other_input(root, built, call)
            if other is not None and not is_computed(call):
                return (replace(problem, site=other),)
            # What another model gives is as it is: the one that takes it states its input where it is made.
            return (line_to_change(problem, built, root),)
    return tuple(found)


def with_numbers(problem: LayerProblem, root: Root) -> LayerProblem:
    """The problem with the one other line in which a number of it is written, where that is known: the size that is
    declared, or one that a tensor was made with."""
    found: dict[int, str] = {}
    for site, size in numbers_of(problem):
        place = written_at(site, size, root.run)
        line = place[1] if place is not None and place[0] == problem.site.path else problem.site.line
        if line != problem.site.line and not re.search(rf"\b{in_words(line)}\b", problem.message):
            found.setdefault(line, f"{size} is written in {in_words(line)}")
    said = [*list(found.values())[:MOST_NUMBERS], *list(said_of_other_files(problem, root))[:MOST_ELSEWHERE]]
    return replace(problem, written=", ".join(said))


def said_of_other_files(problem: LayerProblem, root: Root) -> Iterator[str]:
    """Where in other files than that of the finding the sizes come from: the layer or call that refuses them, the one
    that gave them or the line that made them, and the lines in which their numbers are written."""
    call = problem.call
    if call is None:
        return
    declared, given = problem.problem.declared, problem.problem.given
    sides: list[tuple[str, Call | None, Site | None, int | None]] = [("it", call, None, declared)]
    for tensor in call.inputs[:MOST_ORIGINS]:
        maker = maker_of(tensor)
        sides.append((show_shape(tensor), maker, None if maker is not None else leaf_of(tensor).site, given))
        before = maker
        while isinstance(before, Call) and isinstance(before.op, (Flatten, Reshape)) and before.inputs:
            # What made the maps that are one row of features now.
            tensor, before = before.inputs[0], maker_of(before.inputs[0])
            sides.append((show_shape(tensor), before, None, None))
    seen = {(problem.site.path, problem.site.line)}
    for name, made, leaf, number in sides:
        sites = [leaf] if leaf is not None else list(innermost_sites(made)) if made is not None else []
        for site in sites[:1]:
            if site is not None and site.path != problem.site.path and (site.path, site.line) not in seen:
                seen.add((site.path, site.line))
                verb = "stands in" if made is call else "comes from"
                yield f"{name} {verb} {in_words(site.line)} of {basename(site.path)}"
        for site in sites:
            place = written_at(site, number, root.run) if number else None
            if place is not None and place[0] != problem.site.path and place not in seen:
                seen.add(place)
                yield f"{number} is written in {in_words(place[1])} of {basename(place[0])}"
                break


def innermost_sites(call: Call) -> Iterator[Site]:
    """Where a call's layer is made or an op called, from the inside outwards."""
    layer = call.within.layer if call.within is not None else None
    if call.site is not None and (not isinstance(layer, Instance) or layer.cls.site is not None):
        yield call.site
    for invocation in call.ancestry():
        if isinstance(invocation.layer, Instance) and invocation.layer.site is not None:
            yield invocation.layer.site


MOST_ELSEWHERE = 5
"""Lines of other files that one message names."""


def numbers_of(problem: LayerProblem) -> Iterator[tuple[Site | None, int]]:
    """Numbers that the wrong sizes may come from, each with where it is used."""
    call = problem.call
    if call is None:
        return
    declared = problem.problem.declared
    sites = [each.layer.site for each in call.ancestry() if isinstance(each.layer, Instance)]
    if declared is not None:
        yield from ((site, declared) for site in (problem.site, *sites))
    if isinstance(call.op, Heads):
        heads, width = call.op.heads, call.op.width
        yield from ((site, size) for size in (heads, width) for site in sites if isinstance(size, int))
    for tensor in call.inputs:
        leaf = leaf_of(tensor)
        if leaf.site is not None and isinstance(leaf.shape, tuple):
            yield from ((leaf.site, size) for size in (declared, problem.problem.given) if size in leaf.shape and size)


MOST_NUMBERS = 2
"""Numbers whose lines are named in one message."""


def follows_from_another(call: Call) -> bool:
    """Whether a size comes from a layer that cannot be built as it is declared (groups that divide nothing), or from
    one whose input has its axes in another order: what it would give is anybody's guess."""
    maker = maker_of(call.inputs[0]) if call.inputs else None
    if maker is not None and maker.problem is not None and maker.problem.what.startswith("has "):
        return True
    before = (each.problem for each in calls_behind(call.inputs))
    return any(problem is not None and problem.elsewhere is not None for problem in before)


def other_input(root: Root, built: Built, call: Call) -> Site | None:
    """The program's call of a model on another input than the one that it is right for, if that is what is wrong."""
    outermost = list(call.ancestry())[-1:]
    for made in root.run.trace.root_calls:
        if outermost and made.site is not None and made.site == outermost[0].site:
            shape = next((value.shape for value in made.args if isinstance(value, Tensor)), None)
            known = shape[1:] if isinstance(shape, tuple) else None
            stated = tuple(built.input_shape) if built.input_shape is not None else None
            return made.site if known is not None and stated is not None and known != stated else None
    return None


def is_computed(call: Call) -> bool:
    """Whether what a model is given comes out of another one."""
    outermost = list(call.ancestry())[-1:]
    return any(outermost != list(each.ancestry())[-1:] for each in calls_behind(call.inputs))


def met_by_program(root: Root, builds: Sequence[Built]) -> Iterator[tuple[Built, Call]]:
    """The wrong sizes that the program itself comes to, in order, inside of a model or in what it makes of a result."""
    if not root.run.trace.problems:
        return
    models = [(built, built.model) for built in builds]
    inside = [
        (built, {id(model.root), *frameworks.named(model.framework).paths(model.root)}) for built, model in models
    ]
    for call in root.run.trace.problems:
        for calls in ((call,), calls_behind(call.inputs)):
            layers = {id(each.layer) for one in calls for each in one.ancestry()}
            met = next((built for built, own in inside if own & layers), None)
            if met is not None:
                yield met, call
                break
        else:
            met = made_before(root, call, inside)
            if met is not None:
                yield met, call


def made_before(root: Root, call: Call, inside: Sequence[tuple[Built, Collection[int]]]) -> Built | None:
    """The model that was being constructed, or was made last, when the program came to sizes that no model has to do
    with: a table of positions that is filled, a batch that is written into, noise that is added to one; before all
    models the first. Only of tensors whose sizes are all written in the code."""
    if call.guarded or call.doubtful or call.within is not None or not all(map(written_out, call.inputs)):
        return None
    last = root.run.trace.made_before.get(call.number)
    if last == NONE_MADE and inside:
        return inside[0][0]
    return next((built for built, own in inside if last in own), None)


NONE_MADE = 0
"""What a trace notes for the layer that was made last where there is none."""


def written_out(tensor: Tensor) -> bool:
    """Whether a tensor is a constant, a leaf of the code's own or computed from such alone, with nothing but numbers
    for sizes."""
    behind = calls_behind((tensor,))
    if any(call.weights or call.within is not None or call.doubtful or call.guarded for call in behind):
        return False
    leaves = [each for call in behind for each in call.inputs if each.call is None]
    return numbered(tensor) and all(is_own_leaf(each) for each in (leaves if behind else [tensor]))


def is_own_leaf(tensor: Tensor) -> bool:
    return not tensor.symbolic and not isinstance(tensor, Weight) and numbered(tensor)


def numbered(tensor: Tensor) -> bool:
    """Whether all sizes of a tensor are known, whatever the batch size is."""
    return isinstance(tensor.shape, tuple) and all(isinstance(size, int) for size in tensor.shape)


def unfit(
    report: ModelReport, model: Model, training: Training, problems: Sequence[LayerProblem], path: str
) -> ModelReport:
    """The report of a model with wrong sizes: no figure, what is wrong, and the layers as far as it comes."""
    wrong = [call for call in model.calls if call.problem is not None]
    said = [(each.message, each.place) for each in problems] or [
        (problem_of(model, call, path, "").message, place(call, path, model)) for call in wrong
    ]
    causes = tuple(dict.fromkeys(Unknown(what, site.path, site.line) for what, site in said))
    last = min((call.number for call in wrong), default=None)
    reached = [call for call in model.calls if last is None or call.number <= last]
    return replace(
        report,
        framework=model.framework,
        causes=causes,
        problems=tuple(problems),
        rows=lambda: rows_of(replace(model, calls=tuple(reached)), training),
        model=model,
    )


def problem_of(model: Model, call: Call, path: str, context: str) -> LayerProblem:
    """The finding, at the line that has to change as far as that is known; the lines that made the sizes are named."""
    assert call.problem is not None
    name, site = name_of(model, call), place(call, path, model)
    mixed = batch_mixed_by(call)
    if mixed is not None:
        # The samples of a batch were taken apart on the way: what is wrong is that, and not where it is noticed.
        before, after = show_shape(mixed.inputs[0]), show_shape(mixed.outputs[0])
        what = f"makes {after} of {before}, another batch: {name} of {in_words(site.line)} {call.problem.what}"
        problem = replace(call.problem, what=what, advice="")
        return LayerProblem(problem, name_of(model, mixed), place(mixed, path, model), context, call=mixed)
    context = ", ".join(filter(None, (context, built_in(model, call, site))))
    return LayerProblem(call.problem, name, site, context, origin_of(model, call, path, site), call)


def built_in(model: Model, call: Call, site: Site) -> str:
    """`in the model built in line 24`: where a layer writes none of its sizes itself, the construction that hands them
    over is what has to change."""
    layer = call.within.layer if call.within is not None else None
    own, whole = getattr(layer, "site", None), model.site
    if not isinstance(own, StatementSite) or not isinstance(own.node, ast.Call) or whole is None:
        return ""
    if whole.path != site.path or whole.line in (site.line, own.line):
        return ""
    given = (*own.node.args, *(word.value for word in own.node.keywords))
    written = any(type(getattr(node, "value", None)) is int for each in given for node in ast.walk(each))
    return "" if written or not given else f"in the model built in {in_words(whole.line)}"


def batch_mixed_by(call: Call) -> Call | None:
    """The reshape, on the way to a loss, that has changed the number of samples: `x.view(-1, 400)` where each has 800
    values."""
    if not isinstance(call.op, Loss) or len(call.inputs) < 2:
        return None
    wanted, at = first_size(call.inputs[1]), call.inputs[0].call
    if wanted is None or first_size(call.inputs[0]) in (None, wanted):
        return None
    while at is not None and at.inputs:
        if isinstance(at.op, (Reshape, Flatten)) and first_size(at.inputs[0]) == wanted:
            return at if first_size(at.outputs[0]) != wanted else None
        at = at.inputs[0].call
    return None


def first_size(tensor: Tensor) -> int | None:
    shape = tensor.shape
    size = shape[0] if isinstance(shape, tuple) and shape else None
    return size if isinstance(size, int) else None


def show_shape(tensor: Tensor) -> str:
    return "a tensor" if isinstance(tensor.shape, Unknown) else show(tensor.shape)


def origin_of(model: Model, call: Call, path: str, site: Site) -> str:
    """`by flatten (line 20)`, `(from conv1, line 8, and up, line 10)`: the ops that gave the call's inputs their
    shapes, where they stand in other lines."""
    found: dict[tuple[str, str], None] = {}
    for tensor in call.inputs[:MOST_ORIGINS]:
        maker = maker_of(tensor)
        if maker is None:
            leaf = leaf_of(tensor)
            if leaf.site is not None and leaf.site.path == path and leaf.site.line != site.line:
                found[called(model, leaf), in_words(leaf.site.line)] = None
            continue
        where = place(maker, path, model, at_layer=True)
        if where.path == path and where.line != site.line:
            found[name_of(model, maker), in_words(where.line)] = None
    problem = call.problem
    if len(found) == 1 and problem is not None and problem.what.endswith(f"is given {problem.given}"):
        [(name, line)] = found
        return f"by {name} ({line})"
    return f"(from {' and '.join(f'{name}, {line}' for name, line in found)})" if found else ""


MOST_ORIGINS = 3


def called(model: Model, leaf: Tensor) -> str:
    """What a tensor that no op made is called in a message: a parameter's own name, if it has one."""
    return (leaf.name if isinstance(leaf, Weight) else "") or f"{show_shape(leaf)}"


def leaf_of(tensor: Tensor) -> Tensor:
    """The tensor that another one of the same shape is computed from, value by value."""
    while tensor.call is not None and tensor.call.inputs:
        tensor = tensor.call.inputs[0]
    return tensor


def stated_input(built: Built) -> str:
    """`for the 28x28 input of line 40`, where the code states it."""
    if built.stated_by is None or built.input_shape is None:
        return ""
    shape = built.input_shape
    if len(shape) == 3:
        # An image is known by its sides; where its channels stand is the framework's layout.
        shape = shape[:2] if frameworks.named(built.model.framework).channels_last else shape[1:]
    size = "x".join("?" if side is None else str(side) for side in shape)
    return f"for the {size} input of {in_words(built.stated_by.line)}"
