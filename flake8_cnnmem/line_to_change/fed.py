"""What a program feeds a model with, and holds against what it gives: data, labels, losses."""

from __future__ import annotations

import ast
import re

from flake8_cnnmem.dims import show
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import name_of, worked_out, written_at
from flake8_cnnmem.graph import Call, Site, Tensor, calls_behind
from flake8_cnnmem.line_to_change.case import Case, NumberedLine, decider, differing, sizes_of, unchanged_from
from flake8_cnnmem.ops import Linear, Loss, OneHot, Permute, Recurrent, Transpose


def samples_fed(case: Case) -> Site | None:
    """Samples of other sizes than a Keras model takes: where the data is made, if its axes are in another order or the
    model was trained on other data; else the input that the model states."""
    call, site = case.call, case.problem.site
    if not case.problem.problem.what.startswith("takes samples of ") or len(call.inputs) < 2:
        return None
    given, asked = sizes_of(call.inputs[0])[1:], sizes_of(call.inputs[1])[1:]
    node = site.node if isinstance(site, StatementSite) else None
    if not isinstance(node, ast.Call) or not node.args or len(given) != len(asked):
        return None
    if sorted(map(str, given)) == sorted(map(str, asked)):
        return made_before(case, node.args[0], node.lineno)
    leaves = [each for one in case.built.model.calls for each in one.inputs if each.call is None]
    one_sample = any(size == 1 != wanted for size, wanted in zip(given, asked, strict=True))
    if one_sample or any(sizes_of(each)[1:] == given for each in leaves):
        # Another input takes them: they are handed over in another order. A sample is no batch of one.
        return None
    handed = next((each.value for each in node.keywords if each.arg == "validation_data"), None)
    if isinstance(handed, ast.Tuple) and handed.elts:
        made = made_before(case, handed.elts[0], node.lineno)
        if made is not None and {size for size in given if size not in asked} <= numbers_in(made.node):
            return made
    if call.function != "fit":
        return made_before(case, node.args[0], node.lineno)
    return case.here(call.inputs[1].site)


def made_before(case: Case, argument: ast.expr, line: int) -> StatementSite | None:
    """The last line before another one that gives a variable its value."""
    index = case.index()
    if index is None or not isinstance(argument, ast.Name):
        return None
    function = next(iter(index.around(line)), None)
    values = [each for each in index.values_of(argument.id, function) if each.lineno < line]
    values += [
        value
        for each in index.assigns
        for target in each.targets
        if isinstance(target, ast.Tuple) and isinstance(each.value, ast.Tuple) and each.lineno < line
        for name, value in zip(target.elts, each.value.elts, strict=False)
        if isinstance(name, ast.Name) and name.id == argument.id
    ]
    return StatementSite(case.path, values[-1]) if values else None


def numbers_in(node: ast.AST) -> set[object]:
    """The numbers that are written in an expression."""
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and type(each.value) is int}


def axes_before_loss(case: Case) -> Site | None:
    """Labels of another number of axes than a Keras model's result: the layer that lacks the flattening before it, or
    gives its last step alone; the loss that is named for other labels."""
    call = case.call
    if not isinstance(call.op, Loss) or len(call.inputs) < 2 or not case.channels_last:
        return None
    output, target = sizes_of(call.inputs[0]), sizes_of(call.inputs[1])
    behind = list(calls_behind(call.inputs[:1]))
    if len(output) == MAPS and len(target) <= 2:
        dense = [each for each in behind if isinstance(each.op, Linear) and len(sizes_of(each.inputs[0])) == MAPS]
        return case.layer_of(min(dense, key=lambda each: each.number)) if dense else None
    sparse = call.function == "sparse_categorical_crossentropy"
    recurrent = [each for each in behind if isinstance(each.op, Recurrent)]
    if sparse and recurrent and len(output) == len(target) == 2 and output != target:
        last = max(recurrent, key=lambda each: each.number)
        return case.layer_of(last) if target[1:] == sizes_of(last.inputs[0])[-2:-1] else None
    numbers = output[:-1] == target or (output[:-1] == target[:-1] and output[-1:] != target[-1:] == (1,))
    one_hot = call.function == "categorical_crossentropy" and numbers
    return loss_named(case) if one_hot or (sparse and output == target) else None


MAPS = 4
"""The axes of a batch of feature maps."""


def loss_named(case: Case) -> Site | None:
    """The one line that names a model's loss."""
    index = case.index()
    calls = [each for each in (index.calls if index is not None else ()) if name_of(each.func) == "compile"]
    if len(calls) != 1:
        return None
    named = next((each.value for each in calls[0].keywords if each.arg == "loss"), None)
    named = calls[0].args[1] if named is None and len(calls[0].args) > 1 else named
    return StatementSite(case.path, named) if isinstance(named, ast.Constant) else None


def classes_of_labels(case: Case) -> Site | None:
    """Labels with one number for each class, of another number of classes than the model tells apart: of the two the
    one whose number is written less often."""
    call, index = case.call, case.index()
    if not isinstance(call.op, Loss) or len(call.inputs) < 2 or index is None:
        return None
    output, target = call.inputs[:2]
    asked, given = sizes_of(output)[-1:], sizes_of(target)[-1:]
    if len(sizes_of(output)) != len(sizes_of(target)) or asked == given or not asked:
        return None
    if asked == (1,):
        # A softmax over one class gives nothing but ones.
        return case.layer_of(decider(output, -1)) if call.function == "categorical_crossentropy" else None
    if differing(output, target) != [-1]:
        return None
    made = [
        each
        for each in index.calls
        if name_of(each.func) in ("to_categorical", "one_hot")
        and given[0] in {worked_out(one) for one in (*each.args, *(word.value for word in each.keywords))}
    ]
    if len(made) != 1:
        return None
    layer = case.layer_of(decider(output, -1))
    own = numbers_in(layer.node) if isinstance(layer, StatementSite) else {asked[0]}
    # A number that stands in the place of a name is the one that is unlike the rest.
    rarer = written_in_calls(case, given[0]) < written_in_calls(case, asked[0]) or (
        asked[0] not in own and given[0] in numbers_in(made[0])
    )
    return StatementSite(case.path, made[0]) if rarer else layer


def written_in_calls(case: Case, size: object) -> int:
    """How often a number stands among the arguments of the file's calls."""
    index = case.index()
    given = [each for call in (index.calls if index is not None else ()) for each in call.args]
    return sum(isinstance(each, ast.Constant) and type(each.value) is int and each.value == size for each in given)


def data_of_another_order(case: Case) -> Site | None:
    """What the one data set of the file gives for a sample, where it has the channels last."""
    problem, tensor, index = case.problem.problem, case.call.inputs[0], case.index()
    sizes = sizes_of(tensor)
    if index is None or tensor.call is not None or case.channels_last or problem.elsewhere != len(sizes) - 1:
        return None
    given = [
        function
        for each in index.classes
        for function in each.body
        if isinstance(function, ast.FunctionDef) and function.name == "__getitem__"
    ]
    returns = [each for each in ast.walk(given[0]) if isinstance(each, ast.Return)] if len(given) == 1 else []
    return StatementSite(case.path, returns[0]) if len(returns) == 1 and len(sizes) == MAPS else None


def numbers_too_large(case: Case) -> Site | None:
    """Of class numbers or indices that are too large: the table or the layer that has too few rows or classes, unless
    the program itself works the numbers out."""
    call, what = case.call, case.problem.problem.what
    if what.startswith("takes indices below "):
        return number_or_layer(case, call)
    if not what.startswith("takes classes below ") or len(call.inputs) < TWO:
        return None
    numbers, output = call.inputs
    if numbers.data is not None:
        site = case.problem.site
        node = site.node if isinstance(site, StatementSite) else None
        handed = node.args[1:TWO] if isinstance(node, ast.Call) else []
        return made_before(case, handed[0], site.line) if handed else None
    maker = decider(output, 1 - len(sizes_of(output)))
    return number_or_layer(case, maker) if maker is not None else None


def number_or_layer(case: Case, call: Call) -> Site | None:
    """Where the declared number is written that a layer is made with; else where the layer is made."""
    layer, size = case.layer_of(call), case.problem.problem.declared
    place = written_at(layer, size, case.root.run) if layer is not None and size is not None else None
    return NumberedLine(*place) if place is not None and place[0] == case.path else layer


TWO = 2


def classes_behind(case: Case) -> Site | None:
    """Labels as rows of ones and zeros, with their classes last, that are held against maps with theirs before the
    sides: where the rows are made."""
    shapes = [sizes_of(each) for each in case.call.inputs]
    for tensor in case.call.inputs:
        maker, own = unchanged_from(tensor).call, sizes_of(tensor)
        if maker is None or not isinstance(maker.op, OneHot) or not isinstance(maker.op.axis, int) or len(own) < MAPS:
            continue
        if maker.op.axis % len(own) == len(own) - 1 and (own[0], own[-1], *own[1:-1]) in shapes:
            return case.called_at(maker)
    return None


GIVEN = re.compile(r"takes .*? of (\(.*?\)).* is given (\(.*?\))$")


def order_too_many(case: Case) -> Site | None:
    """Where the axes of an operand are put into another order, which had the shape before that is asked for."""
    shapes = GIVEN.match(case.problem.problem.what)
    for tensor in case.call.inputs if shapes is not None else ():
        maker = unchanged_from(tensor).call
        if shapes is None or maker is None or not isinstance(maker.op, (Permute, Transpose)):
            continue
        before = sizes_of(maker.inputs[0])
        if (show(before), show(sizes_of(tensor))) == shapes.groups():  # type: ignore[arg-type]
            return case.called_at(maker)
    return None


def mask_given(case: Case) -> Site | None:
    """Where a mask is made that does not fit what it masks, if it is a local variable of one value."""
    site, index = case.called_at(case.call), case.index()
    node = site.node if isinstance(site, StatementSite) else None
    if index is None or site is None or not isinstance(node, ast.Call):
        return None
    filled = "mask" in name_of(node.func) and any(each.call is None and each.site is None for each in case.call.inputs)
    if not case.problem.problem.what.startswith("masks ") and not filled:
        return None
    given = [each.value for each in node.keywords if each.arg and "mask" in each.arg] + (
        node.args[:1] if filled else []
    )
    masks = [each for each in given if isinstance(each, ast.Name)]
    return made_before(case, masks[0], site.line) if len(masks) == 1 else None


def model_beside_data(case: Case, output: Tensor) -> Site | None:
    """What gives a result's sides, where the data that it is held against has others: the layer, or the construction
    of the model if the layer is handed its numbers."""
    layer, whole = case.layer_of(decider(output, -1)), case.here(case.built.model.site)
    if isinstance(layer, StatementSite) and isinstance(whole, StatementSite):
        return whole if not numbers_in(layer.node) and numbers_in(whole.node) else layer
    return layer
