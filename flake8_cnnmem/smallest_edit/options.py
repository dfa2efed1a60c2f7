"""Edits of a layer's options: a switch that was forgotten, what the same layers beside it are told, a stride."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem.ops import Linear
from flake8_cnnmem.smallest_edit.scene import Candidate, Place, Scene, called
from flake8_cnnmem.text.edits import Edit, with_keyword

SEQUENCES = ("return_sequences",)

SWITCHES: dict[bool, dict[str, tuple[str, ...]]] = {
    False: {
        "LSTM": ("batch_first", "bidirectional"), "GRU": ("batch_first", "bidirectional"),
        "RNN": ("batch_first", "bidirectional"), "MultiheadAttention": ("batch_first",),
        "TransformerEncoderLayer": ("batch_first",), "TransformerDecoderLayer": ("batch_first",),
        "Transformer": ("batch_first",),
    },
    True: {"LSTM": SEQUENCES, "GRU": SEQUENCES, "SimpleRNN": SEQUENCES, "ConvLSTM2D": SEQUENCES},
}  # fmt: skip
"""The switches of a layer that decide shapes. Whoever switches one on means it: it is forgotten rather."""

KEEPS = ("sum", "mean", "max", "min", "amax", "amin", "reduce_mean", "reduce_sum", "reduce_max")


def layers(scene: Scene) -> Iterator[tuple[Place, ast.Call]]:
    for place in scene.places:
        if place.role in ("layer", "block", "op") and isinstance(place.node, ast.Call):
            yield place, place.node


def switches(scene: Scene) -> Iterator[Candidate]:
    """A switch that was forgotten, or is off."""
    for place, call in layers(scene):
        given = {word.arg: word.value for word in call.keywords}
        names = SWITCHES[scene.channels_last].get(called(call), ())
        if called(call) in KEEPS and scene.text(call.func).partition(".")[0] != "self":
            names = ("keepdim",)
        for name in names:
            value = given.get(name)
            if value is None and name.startswith("keepdim"):
                name = "keepdims" if "reduce_" in called(call) or "axis" in given else "keepdim"
            if value is None or (isinstance(value, ast.Constant) and value.value is False):
                node = call if value is None else value
                edit = with_keyword(call, scene.lines, name, "True")
                yield Candidate(9 + place.distance / 8, node.lineno, node.col_offset + 1, (edit,))


FREE = 2
"""The first arguments of a layer are its widths, which differ from layer to layer."""

WINDOWS = ("stride", "strides", "padding", "kernel_size", "dilation", "dilation_rate", "output_padding", "pool_size")


def as_its_siblings(scene: Scene) -> Iterator[Candidate]:
    """What layers of the same type beside it are told of window, stride and padding."""
    if not scene.is_spatial:
        return
    for place, call in layers(scene):
        name = called(call)
        if not any(word in name for word in ("Conv", "Pool", "conv", "pool", "Upsample", "UpSampling")):
            continue
        around = scene.scope_of(call)
        alike = [
            each
            for each in ast.walk(around)
            if isinstance(each, ast.Call) and each is not call and called(each) == name and each.lineno != call.lineno
        ]
        own = options_of(call)
        tails: dict[str, tuple[ast.Call, int]] = {}
        for each in alike:
            text = ast.dump(ast.Tuple(options_of(each)))
            tails[text] = each, tails.get(text, (each, 0))[1] + 1
        for text, (other, times) in tails.items():
            if text == ast.dump(ast.Tuple(own)):
                continue
            edit = whole_tail(scene, call, other)
            if edit is not None and (times > 1 or isinstance(scene.call.op, Linear)):
                yield Candidate(
                    (13 if times > 1 else 17) + place.distance / 4, call.lineno, call.col_offset + 1, (edit,)
                )


def first_free(call: ast.Call) -> int:
    """How many of a call's first arguments are widths, and no options."""
    name = called(call)
    infers_input = "Conv2D" in name or "Conv1D" in name or "Conv3D" in name
    return 0 if "ool" in name or "Up" in name else 1 if infers_input else FREE


def options_of(call: ast.Call) -> list[ast.expr]:
    words = sorted((word for word in call.keywords if word.arg in WINDOWS), key=lambda word: word.arg or "")
    return [*call.args[first_free(call) :], *(ast.Tuple([ast.Constant(word.arg), word.value]) for word in words)]


def whole_tail(scene: Scene, call: ast.Call, other: ast.Call) -> Edit | None:
    """The edit that gives a call the options of another one behind its own widths."""
    free = first_free(call)
    if any(isinstance(each, ast.Starred) for each in (*call.args, *other.args)) or len(call.args) < free:
        return None
    widths = [scene.text(each) for each in call.args[:free]]
    taken = [scene.text(each) for each in other.args[free:]]
    kept = [word for word in call.keywords if word.arg not in WINDOWS]
    words = [word for word in other.keywords if word.arg in WINDOWS]
    names = [f"{word.arg}={scene.text(word.value)}" for word in (*words, *kept)]
    return scene.edit(call, f"{scene.text(call.func)}({', '.join((*widths, *taken, *names))})")


def strides(scene: Scene) -> Iterator[Candidate]:
    """A stride of two where there is none, a pooling to one value, a padding that keeps the sides."""
    if not scene.is_spatial:
        return
    padded = any(word.arg == "padding" for each in scene.index.calls for word in each.keywords)
    for place, call in layers(scene):
        name = called(call)
        given = {word.arg: word.value for word in call.keywords}
        rank = 18 + place.distance / 8
        for word in call.keywords:
            if word.arg in ("stride", "strides", "padding") and "Conv" in name and given_twice(scene, call, word):
                kept = [scene.text(each) for each in call.args]
                kept += [f"{each.arg}={scene.text(each.value)}" for each in call.keywords if each is not word]
                edit = scene.edit(call, f"{scene.text(call.func)}({', '.join(kept)})")
                yield Candidate(rank + 2.5, word.value.lineno, word.value.col_offset + 1, (edit,))
        if "Conv" in name and "ranspose" not in name:
            infers_input = name[-2:] in ("1D", "2D", "3D")
            option = "strides" if infers_input else "stride"
            parameters = {word for word in names_around(scene, call) if word in ("stride", "strides")}
            if option not in given and (infers_input or len(call.args) < 4):
                for value in (*parameters, "2"):
                    edit = with_keyword(call, scene.lines, option, value)
                    yield Candidate(rank - 6 * (value != "2"), call.lineno, call.col_offset + 1, (edit,))
            flat = isinstance(scene.call.op, Linear)
            if infers_input and "padding" not in given and padded:
                edit = with_keyword(call, scene.lines, "padding", '"same"')
                yield Candidate(rank - 4 + (5 if flat else 0), call.lineno, call.col_offset + 1, (edit,))
            if not infers_input and "padding" not in given and padded and len(call.args) < 5:
                size = scene.number(given.get("kernel_size", call.args[2] if len(call.args) > 2 else call))
                if size is not None and size > 1:
                    edit = with_keyword(call, scene.lines, "padding", str(size // 2))
                    yield Candidate(rank + (5 if flat else 0), call.lineno, call.col_offset + 1, (edit,))
        if name.startswith("Adaptive") and call.args and scene.number(call.args[0]) not in (None, 1):
            yield scene.candidate(12 + place.distance / 8, call.args[0], "1")
        if name in ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose") and padded and "padding" not in given:
            edit = with_keyword(call, scene.lines, "padding", '"same"')
            yield Candidate(14 + place.distance / 8, call.lineno, call.col_offset + 1, (edit,))
        if "ranspose" in name and "Conv" in name and "output_padding" not in given:
            edit = with_keyword(call, scene.lines, "output_padding", "1")
            yield Candidate(18 + place.distance / 4, call.lineno, call.col_offset + 1, (edit,), solved=True)


def given_twice(scene: Scene, call: ast.Call, word: ast.keyword) -> bool:
    """Whether the name that an option has the value of decides the same option of another layer of the function."""
    if not isinstance(word.value, ast.Name):
        return False
    others = [
        each
        for each in ast.walk(scene.scope_of(call))
        if isinstance(each, ast.keyword) and each is not word and getattr(each.value, "id", "") == word.value.id
    ]
    return bool(others)


def names_around(scene: Scene, node: ast.AST) -> set[str]:
    """The parameters of the functions around an expression."""
    found: set[str] = set()
    at = scene.function_of(node)
    while at is not None:
        found |= {each.arg for each in (*at.args.args, *at.args.kwonlyargs)}
        at = scene.function_of(at)
    return found
