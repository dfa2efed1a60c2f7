"""Lines before a call: where a state, a target or an input is made whose sizes or axes are not those asked for."""

from __future__ import annotations

import ast

from flake8_cnnmem.dims import show
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import BY_SIZES, Function, SyntaxIndex, name_of, parameters
from flake8_cnnmem.graph import Site, Tensor, Weight, calls_behind
from flake8_cnnmem.line_to_change.case import (
    Case,
    decider,
    declares,
    differing,
    later,
    maker_of,
    sizes_of,
    unchanged_from,
)
from flake8_cnnmem.line_to_change.fed import model_beside_data
from flake8_cnnmem.line_to_change.given import made_by_program
from flake8_cnnmem.ops import (
    AttentionInputs,
    Chunk,
    Loss,
    Permute,
    Recurrent,
    RecurrentCell,
    Reshape,
    Split,
    Transpose,
)
from flake8_cnnmem.ops.given import Refused


def state_at_its_making(case: Case) -> Site | None:
    """A recurrent state: the zeros that the code makes, or the layer where `batch_first` is what it lacks; a decoder
    that an encoder's state does not fit."""
    call, op = case.call, case.call.op
    if not isinstance(op, (Recurrent, RecurrentCell)) or not case.problem.problem.what.startswith("takes a state"):
        return None
    given = case.problem.problem.what.rpartition("is given ")[2]
    state = next((each for each in call.inputs[1:] if show(each.shape) == given), None)  # type: ignore[arg-type]
    if state is None:
        return None
    made = case.made_at(state) or made_by_program(case, state)
    shape, sequence = sizes_of(state), sizes_of(call.inputs[0])
    if made is None:
        return case.layer_of(call) if getattr(op, "stacked", True) is False else None
    if isinstance(unchanged_from(state), Weight):
        return None
    by_time = isinstance(op, Recurrent) and op.batch_first is False and len(sequence) == 3
    return case.layer_of(call) if by_time and shape[-2:-1] == sequence[:1] else sizes_written(case, made)


def sizes_written(case: Case, made: Site) -> Site:
    """Where the sizes stand that a tensor is made of: its own line, or that of the one name for all of them, which may
    be a parameter."""
    node, index = made.node if isinstance(made, StatementSite) else None, case.index()
    given = [*node.args, *(word.value for word in node.keywords)] if isinstance(node, ast.Call) else []
    if index is None or not isinstance(node, ast.Call) or not given or len(node.args) > 1:
        return made
    name = given[0]
    if not isinstance(name, ast.Name):
        return made
    function = next(iter(index.around(made.line)), None)
    values = index.values_of(name.id, function)
    if not values and function is not None and name.id in parameters(function):
        values = handed_to(index, function, name.id)
    elif not values:
        values = index.values_of(name.id, None)
    return StatementSite(case.path, values[0]) if len(values) == 1 and isinstance(values[0], ast.Tuple) else made


def handed_to(index: SyntaxIndex, function: Function, name: str) -> list[ast.expr]:
    """What the calls of a function hand it for a parameter; its default, where none does."""
    calls = [each for each in index.calls if name_of(each.func) == function.name]
    names = parameters(function)
    found = [word.value for call in calls for word in call.keywords if word.arg == name]
    found += [call.args[names.index(name)] for call in calls if len(call.args) > names.index(name)]
    defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
    return found or [defaults[name]] if found or name in defaults else []


def target_at_its_making(case: Case) -> Site | None:
    """The target of a loss: where the code makes it. The layer that gives the prediction, where the target is what the
    model was given, or where no line is known to make it and the last axes alone differ; of two predictions that are
    compared the layer that is written later."""
    if not isinstance(case.call.op, Loss) or len(case.call.inputs) < 2:
        return None
    if case.call.op.kind == "ctc":
        return lengths_of_sequences(case)
    output, target = case.call.inputs[:2]
    behind = {id(each) for call in calls_behind((output,)) for each in call.inputs}
    maker = maker_of(output)
    alike = len(sizes_of(output)) == len(sizes_of(target))
    if id(unchanged_from(target)) in behind:
        return case.layer_of(maker) if alike else None
    if case.problem.problem.what.startswith("has weights for "):
        return case.layer_of(case.call)
    if "of whole numbers" in case.problem.problem.what:
        return case.called_at(maker_of(target))
    side = side_beside_input(case, output, target)
    if side is not None:
        return case.line_of(decider(output, side))
    made = case.made_at(target)
    if made is not None:
        # Of a sequence's scores the classes have to stand second: the target is right, their order is not. Data that
        # lacks an axis is as it comes.
        shape, asked = sizes_of(target), sizes_of(output)
        if (shape == asked[:-1] and len(shape) > 1) or (is_data(made) and axis_of_one(asked, shape)):
            return case.problem.site
        sides = alike and len(asked) == len(IMAGES) and set(differing(output, target)) <= set(IMAGES[-2:])
        return (model_beside_data(case, output) if sides and is_data(made) else None) or made
    if not alike or differing(output, target) != [-1] or not declares(maker, sizes_of(output)[-1]):
        return None
    other = case.layer_of(maker_of(target))
    return case.layer_of(maker) if other is None else later(case.layer_of(maker), other)


def lengths_of_sequences(case: Case) -> Site | None:
    """Of a CTC loss the one input that has another batch than the probabilities; where all others agree, what gave
    these their order of axes."""
    output, *others = case.call.inputs
    batches = [sizes_of(each)[:1] for each in others if len(sizes_of(each)) == 1 or each is others[0]]
    wrong = [each for each in others if sizes_of(each)[:1] != sizes_of(output)[1:2]]
    if len(wrong) == 1:
        return case.made_at(wrong[0])
    if len(wrong) < len(others) or len(set(batches)) > 1:
        return None
    ordered = next((call for call in reversed(calls_behind((output,))) if isinstance(call.op, ORDERING)), None)
    return case.called_at(ordered)


ORDERING = (Permute, Transpose)


def parts_of_layer(case: Case) -> Site | None:
    """The layer whose features are taken apart into another number of parts than the code asks for."""
    parts = case.call.inputs[0].call
    if not isinstance(case.call.op, Refused) or parts is None or not isinstance(parts.op, (Chunk, Split)):
        return None
    axis = getattr(parts.op, "axis", None)
    before = sizes_of(parts.inputs[0])
    if not isinstance(axis, int) or not before:
        return None
    layer = decider(parts.inputs[0], axis - len(before) if axis >= 0 else axis)
    return case.layer_of(layer) if isinstance(parts.op, Split) else None


def axis_of_one(asked: tuple[object, ...], given: tuple[object, ...]) -> bool:
    """Whether an axis of size 1 is all that a target lacks, or that maps of classes have too many."""
    values = [size for size in given if size != 1]
    if len(given) < len(asked):
        return values == [size for size in asked if size != 1]
    return given != asked and len(given) > 2 and values == [size for size in (*asked[:1], *asked[2:]) if size != 1]


IMAGES = (-4, -3, -2, -1)
"""The axes of a batch of images."""


def is_data(site: Site) -> bool:
    """Whether a line stands for data that is loaded: values drawn at random, several tensors at once."""
    if not isinstance(site, StatementSite):
        return False
    drawn = isinstance(site.node, ast.Call) and name_of(site.node.func) in ("randn", "rand", "randint", "normal")
    return drawn or isinstance(getattr(site.statement, "value", None), ast.Tuple)


def side_beside_input(case: Case, output: Tensor, target: Tensor) -> int | None:
    """The axis (counted from the last) of a prediction's side, where the target has the sides of the model's input and
    the prediction has not."""
    given, asked, wanted = case.built.input_shape, sizes_of(output), sizes_of(target)
    first = 0 if case.channels_last else 1
    if given is None or len(given) != 3 or len(asked) != 4 or len(wanted) not in (3, 4):
        return None
    sides = given[first : first + 2]
    own = wanted[1:3] if case.channels_last else wanted[-2:]
    its = asked[1:3] if case.channels_last else asked[-2:]
    if tuple(own) != tuple(sides) or tuple(its) == tuple(sides):
        return None
    return (-3 if case.channels_last else -2) + (its[0] == sides[0])


def sequence_before(case: Case) -> Site | None:
    """The recurrent layer that hands its last step on, where every step is asked for, and the other way round; what
    gives the channels that are shuffled into pixels; the attention that lacks `batch_first`; a mask's last view."""
    problem, call = case.problem.problem, case.call
    if "return_sequences=True" in problem.advice or "pixels for each channel" in problem.what:
        return case.layer_of(maker_of(call.inputs[0]))
    if "with batch_first=True" in problem.advice:
        return case.layer_of(call)
    if isinstance(call.op, Loss) and len(call.inputs) > 1 and len(sizes_of(call.inputs[1])) == 1:
        behind = [each for each in calls_behind(call.inputs[:1]) if isinstance(each.op, Recurrent)]
        every = behind and len(sizes_of(call.inputs[0])) > len(sizes_of(behind[-1].inputs[0])) - 1
        return case.layer_of(behind[-1]) if every and case.channels_last else None
    if isinstance(call.op, AttentionInputs) and "mask of padding" in problem.what:
        viewed = next(
            (each.call for each in reversed(call.inputs) if each.call is not None and each.call.op.view), None
        )
        return case.here(viewed.site) if viewed is not None else None
    return None


def input_as_stated(case: Case) -> Site | None:
    """The stated input that lacks an axis."""
    stated = case.built.stated_by
    if not case.channels_last or stated is None or maker_of(case.call.inputs[0]) is not None:
        return None
    return case.here(stated) if case.problem.problem.what.startswith("takes an input of") else None


def order_of_axes(case: Case) -> Site | None:
    """An input whose axes are in another order: where the program makes it, or the embedding that gives it."""
    if case.problem.problem.elsewhere is None or "channels" not in case.problem.problem.what:
        return None
    maker = maker_of(case.call.inputs[0])
    if maker is not None:
        around = maker.within
        return case.here(around.site) if maker.function == "Embedding" and around is not None else None
    stated = case.built.stated_by
    if not isinstance(stated, StatementSite) or stated.path != case.path or not isinstance(stated.node, ast.Call):
        return None
    index, arguments = case.index(), stated.node.args
    if name_of(stated.node.func) in BY_SIZES or not arguments or index is None:
        return None
    first = arguments[0]
    if isinstance(first, ast.Name):
        scope = next(iter(index.around(stated.line)), None)
        values = index.values_of(first.id, scope) or index.values_of(first.id, None)
        [first] = values if len(values) == 1 else [first]
    by_sizes = isinstance(first, ast.Call) and name_of(first.func) in BY_SIZES
    return StatementSite(case.path, first) if by_sizes else None


def channels_first(case: Case) -> Site | None:
    """The `Input` of an image whose channels stand first, where the layer asks for them last."""
    stated, shape = case.built.stated_by, sizes_of(case.call.inputs[0])
    if not case.channels_last or maker_of(case.call.inputs[0]) is not None or len(shape) != 4:
        return None
    if len(case.call.inputs) > 1:
        return None
    _, first, rows, columns = shape
    swapped = first in (1, 3) and rows == columns and isinstance(rows, int) and rows > 4
    return case.here(stated) if swapped else None


def layer_before_reshape(case: Case) -> Site | None:
    """A layer whose width is split up right behind it, where its width is no multiple of what it is split into."""
    call = case.call
    if not isinstance(call.op, Reshape) or "sizes whose product" not in case.problem.problem.advice:
        return None
    maker = maker_of(call.inputs[0])
    width = sizes_of(call.inputs[0])
    if len(width) > 2 or not any(declares(maker, size) for size in width[1:]):
        # Of a sequence's features the heads are split off, by numbers that stand in the reshape.
        return None
    given, asked = case.problem.problem.given, case.problem.problem.declared
    several = isinstance(given, int) and isinstance(asked, int) and asked and given % asked == 0
    return None if several else case.layer_of(maker)
