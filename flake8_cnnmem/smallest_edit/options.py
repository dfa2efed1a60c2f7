"""Edits of a layer's options: a switch that was forgotten, what the same layers beside it are told, a stride."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from flake8_cnnmem.ops import AttentionInputs, Broadcast, Linear, Loss, Reshape
from flake8_cnnmem.smallest_edit.scene import Candidate, Place, Scene, called
from flake8_cnnmem.text.edits import Edit, with_keyword


def layers(scene: Scene) -> Iterator[tuple[Place, ast.Call]]:
    for place in scene.places:
        if place.role in ("layer", "block", "op") and isinstance(place.node, ast.Call):
            yield place, place.node


def switches(scene: Scene) -> Iterator[Candidate]:
    """A switch that was forgotten, or is off."""
    shapes = [each.shape for each in scene.call.inputs[:2] if isinstance(each.shape, tuple)]
    shapes = shapes if isinstance(scene.call.op, Loss) else []
    compared = bool(shapes) and len(shapes) > 1 and len(shapes[0]) == len(shapes[1])
    compared = compared and "takes a target" not in scene.problem.problem.what
    for place, call in layers(scene):
        given = {word.arg: word.value for word in call.keywords}
        names = scene.spelling.switches.get(called(call), ())
        if compared and scene.infers_input:
            # Steps that are kept would be compared as well.
            names = ()
        kept = scene.spelling.keeps.get(called(call))
        if kept is not None and scene.is_of_axes and scene.text(call.func).partition(".")[0] != "self":
            names = ("keepdims" if "axis" in given else kept,)
        for name in names:
            value = given.get(name)
            if isinstance(value, ast.Constant) and value.value is True and has_more_axes(shapes):
                yield scene.candidate(9 + place.distance / 8, value, "False")
            if value is None or (isinstance(value, ast.Constant) and value.value is False):
                node = call if value is None else value
                edit = with_keyword(call, scene.lines, name, "True")
                rank = (KEPT if name.startswith("keep") and is_met(scene, call) else 9) + place.distance / 8
                yield Candidate(rank, node.lineno, node.col_offset + 1, (edit,))


KEPT = 4.5
"""The rank of an axis that is to be kept for the result to meet what it was made of."""


def is_met(scene: Scene, call: ast.Call) -> bool:
    """Whether what a call takes an axis of has the shape of a tensor that its result meets."""
    given = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    shapes = [scene.shape(each) for each in (*given, *call.args[:1])]
    met = [each.shape for each in scene.call.inputs]
    return isinstance(scene.call.op, Broadcast) and any(shape is not None and shape in met for shape in shapes)


def own_switches(scene: Scene) -> Iterator[Candidate]:
    """A switch of the program's own block or function, the other way: `Block(8, 16)` where another one is told
    `concat=False`."""
    made = {
        each.name: each for each in scene.inside_of(scene.tree) if isinstance(each, (ast.ClassDef, ast.FunctionDef))
    }
    for place in scene.places:
        call = place.node
        if place.role not in ("block", "caller") or not isinstance(call, ast.Call) or called(call) not in made:
            continue
        node: ast.AST | None = made[called(call)]
        if isinstance(node, ast.ClassDef):
            node = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
        if not isinstance(node, ast.FunctionDef) or any(word.arg is None for word in call.keywords):
            continue
        given = {word.arg: word.value for word in call.keywords}
        names = [*node.args.args[len(node.args.args) - len(node.args.defaults) :], *node.args.kwonlyargs]
        for name, default in zip(names, (*node.args.defaults, *node.args.kw_defaults), strict=True):
            value = given.get(name.arg, default)
            if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
                continue
            at = node.args.args.index(name) - 1 if name in node.args.args else len(call.args)
            if name.arg in given:
                yield scene.candidate(12 + place.distance / 8, value, str(not value.value))
            elif at >= len(call.args):
                edit = with_keyword(call, scene.lines, name.arg, str(not value.value))
                yield Candidate(12 + place.distance / 8, call.lineno, call.col_offset + 1, (edit,))


def has_more_axes(shapes: Sequence[tuple[object, ...]]) -> bool:
    """Whether what a loss is given has an axis more than its target has."""
    return len(shapes) > 1 and len(shapes[0]) == len(shapes[1]) + 1 > FREE


def widths_of_keys(scene: Scene) -> Iterator[Candidate]:
    """An attention's keys and values have another width than its queries, and nobody has told it."""
    given = scene.problem.problem.given
    if not isinstance(scene.call.op, AttentionInputs) or given is None:
        return
    for place, call in layers(scene):
        first, *others = scene.spelling.widths_of_keys.get(called(call), ("",))
        if first and not any(word.arg == first for word in call.keywords):
            value = ", ".join([str(given), *(f"{other}={given}" for other in others)])
            edit = with_keyword(call, scene.lines, first, value)
            yield Candidate(8 + place.distance / 8, call.lineno, call.col_offset + 1, (edit,))


FREE = 2
"""The first arguments of a layer are its widths, which differ from layer to layer."""


def as_its_siblings(scene: Scene) -> Iterator[Candidate]:
    """What layers of the same type beside it are told of window, stride and padding."""
    if not scene.is_spatial:
        return
    for place, call in layers(scene):
        name = called(call)
        if not any(word in name for word in scene.spelling.window_layers):
            continue
        around = scene.scope_of(call)
        alike = [
            each
            for each in ast.walk(around)
            if isinstance(each, ast.Call) and each is not call and called(each) == name and each.lineno != call.lineno
        ]
        own = options_of(scene, call)
        tails: dict[str, tuple[ast.Call, int]] = {}
        for each in alike:
            text = ast.dump(ast.Tuple(options_of(scene, each)))
            tails[text] = each, tails.get(text, (each, 0))[1] + 1
        for text, (other, times) in tails.items():
            if text == ast.dump(ast.Tuple(own)):
                continue
            edit = whole_tail(scene, call, other)
            more = {ast.dump(each) for each in options_of(scene, other)} > {ast.dump(each) for each in own}
            if edit is not None and (times > 1 or more or isinstance(scene.call.op, (Linear, Loss))):
                rest = [
                    {scene.text(word) for word in one.keywords if word.arg not in scene.spelling.windows}
                    for one in (call, other)
                ]
                unlike = rest[0] != rest[1]
                far = unlike + place.distance / (8 if len(options_of(scene, other)) < len(own) else 4)
                left_out = names_in(own) - names_in(options_of(scene, other))
                yield Candidate(
                    (13 if times > 1 or more else 17) + far + HANDED * bool(left_out),
                    call.lineno,
                    call.col_offset + 1,
                    (edit,),
                )


HANDED = 6
"""What speaks against leaving out an option that is handed a name: it was meant to be decided elsewhere."""


def names_in(nodes: Sequence[ast.expr]) -> set[str]:
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def first_free(scene: Scene, call: ast.Call) -> int:
    """How many of a call's first arguments are widths, and no options."""
    return 0 if scene.spelling.convolution not in called(call) else 1 if scene.infers_input else FREE


def options_of(scene: Scene, call: ast.Call) -> list[ast.expr]:
    windows = scene.spelling.windows
    words = sorted((word for word in call.keywords if word.arg in windows), key=lambda word: word.arg or "")
    return [*call.args[first_free(scene, call) :], *(ast.Tuple([ast.Constant(word.arg), word.value]) for word in words)]


def whole_tail(scene: Scene, call: ast.Call, other: ast.Call) -> Edit | None:
    """The edit that gives a call the options of another one behind its own widths."""
    free = first_free(scene, call)
    windows = scene.spelling.windows
    if any(isinstance(each, ast.Starred) for each in (*call.args, *other.args)) or len(call.args) < free:
        return None
    widths = [scene.text(each) for each in call.args[:free]]
    taken = [scene.text(each) for each in other.args[free:]]
    kept = [word for word in call.keywords if word.arg not in windows]
    words = [word for word in other.keywords if word.arg in windows]
    names = [f"{word.arg}={scene.text(word.value)}" for word in (*words, *kept)]
    return scene.edit(call, f"{scene.text(call.func)}({', '.join((*widths, *taken, *names))})")


def strides(scene: Scene) -> Iterator[Candidate]:
    """A stride of two where there is none, a pooling to one value, a padding that keeps the sides."""
    if not scene.is_spatial:
        return
    spelling = scene.spelling
    flat = FLAT * isinstance(scene.call.op, Linear)
    cropped = isinstance(scene.call.op, Broadcast) and any(0 < a - b <= CROPPED for a, b in scene.sides)
    padded = cropped or any(is_padded(scene, each) for each in scene.index.calls)
    for place, call in layers(scene):
        name = called(call)
        given = {word.arg: word.value for word in call.keywords}
        rank = 18 + place.distance / 8

        def added(rank: float, option: str, value: str, solved: bool = False, call: ast.Call = call) -> Candidate:
            edit = with_keyword(call, scene.lines, option, value)
            return Candidate(rank, call.lineno, call.col_offset + 1, (edit,), solved=solved)

        if spelling.adaptive and name.startswith(spelling.adaptive) and call.args:
            size = call.args[0]
            sides = [scene.number(each) for each in size.elts] if isinstance(size, ast.Tuple) else [scene.number(size)]
            if None not in sides and set(sides) != {1}:
                squared = scene.pooled_side is not None and set(sides) == {scene.pooled_side}
                yield scene.candidate((8 if squared else 12) + place.distance / 8, size, "1")
        windows = {scene.number(each) for each in call.args}
        if (
            "ool" in name
            and spelling.stride not in given
            and any(a == b * w for a, b in scene.sides for w in windows if w)
        ):
            yield added(13 + place.distance / 8, spelling.stride, "1")
        if spelling.convolution not in name or not scene.is_halving:
            continue
        if isinstance(scene.call.op, (Linear, Reshape)) and "padding" in given and spelling.same:
            kept = [scene.text(each) for each in call.args]
            kept += [f"{word.arg}={scene.text(word.value)}" for word in call.keywords if word.arg != "padding"]
            edit = scene.edit(call, f"{scene.text(call.func)}({', '.join(kept)})")
            yield Candidate(rank, call.lineno, call.col_offset + 1, (edit,))
        for word in call.keywords:
            if word.arg in (spelling.stride, "padding") and given_twice(scene, call, word):
                kept = [scene.text(each) for each in call.args]
                kept += [f"{each.arg}={scene.text(each.value)}" for each in call.keywords if each is not word]
                edit = scene.edit(call, f"{scene.text(call.func)}({', '.join(kept)})")
                yield Candidate(rank + 2.5, word.value.lineno, word.value.col_offset + 1, (edit,))
        transposed = spelling.transposed in name
        if spelling.stride not in given and (scene.infers_input or len(call.args) < STRIDED):
            parameters = {
                word for word in names_around(scene, call) if word in (spelling.stride, spelling.stride.rstrip("s"))
            }
            for value in (*parameters, "2"):
                # Of several layers of a block the first one has the stride.
                rarer = -(6 + place.distance / 4) * (value != "2") - 3 * (
                    transposed and has_twin(scene, call, spelling.stride, value)
                )
                yield added(rank + rarer, spelling.stride, value)
        keeping = unusual_padding(scene, call, given) if not transposed and not spelling.same else None
        if keeping is not None:
            yield scene.candidate(9 + flat + place.distance / 8, *keeping)
        if "padding" not in given and padded:
            if spelling.same:
                yield added(rank - 4 + flat, "padding", spelling.same)
            elif len(call.args) < PADDED and not transposed:
                kernel = given.get("kernel_size", call.args[2] if len(call.args) > 2 else call)
                window = scene.number(kernel)
                if window is None and isinstance(kernel, (ast.Name, ast.Attribute)):
                    yield added(rank - 4 + flat, "padding", f"{scene.text(kernel)} // 2")
                elif window is not None and window > 1:
                    yield added(rank + flat, "padding", str(window // 2))
        if transposed and "output_padding" not in given:
            yield added(18 + place.distance / 4, "output_padding", "1", solved=True)


def unusual_padding(scene: Scene, call: ast.Call, given: Mapping[str | None, ast.expr]) -> tuple[ast.expr, str] | None:
    """The padding of a convolution without a stride that does not keep the sides, and the one that does."""
    kernel = given.get("kernel_size", call.args[2] if len(call.args) > FREE else None)
    padding = given.get("padding", call.args[PADDED - 1] if len(call.args) >= PADDED else None)
    stride = given.get(scene.spelling.stride, call.args[STRIDED - 1] if len(call.args) >= STRIDED else None)
    size, around = (scene.number(each) if each is not None else None for each in (kernel, padding))
    if padding is None or size is None or around is None or not size % 2 or "dilation" in given:
        return None
    strided = stride is not None and scene.every_number(stride) != {1}
    return None if strided or not around or around == size // 2 else (padding, str(size // 2))


FLAT = 5
"""How much less plausible another padding is before a layer of features."""

CROPPED = 6
"""As many values a map loses at its sides to windows without a padding."""
STRIDED, PADDED = 4, 5
"""The arguments of a convolution with its stride, and with its padding, where it is told its input as well."""


def is_padded(scene: Scene, call: ast.Call) -> bool:
    """Whether a call is told a padding."""
    by_place = not scene.infers_input and scene.spelling.convolution in called(call) and len(call.args) >= PADDED
    return by_place or any(word.arg == "padding" for word in call.keywords)


def has_twin(scene: Scene, call: ast.Call, option: str, value: str) -> bool:
    """Whether a layer beside it has all of its options and this one."""
    own = {scene.text(each) for each in [*call.args[1:], *call.keywords]} | {f"{option}={value}"}
    return any(
        own == {scene.text(each) for each in [*other.args[1:], *other.keywords]}
        for other in scene.inside_of(scene.scope_of(call))
        if isinstance(other, ast.Call) and called(other) == called(call)
    )


def factors(scene: Scene) -> Iterator[Candidate]:
    """A stride, a window or a factor of sides that are so many times too large or too small."""
    if not scene.is_spatial:
        return
    ratios = {(a // gcd(a, b), b // gcd(a, b)) for a, b in scene.sides}
    pooled = scene.pooled_side
    for place, call in layers(scene):
        if not any(word in called(call) for word in scene.spelling.window_layers):
            continue
        free = first_free(scene, call)
        # Of a convolution the stride; of a pooling and an upsampling all.
        given = [*(call.args[free + 1 : free + 2] if free else call.args)]
        given += [word.value for word in call.keywords if word.arg in (scene.spelling.stride, *FACTORS)]
        for each in given:
            number = scene.number(each) if isinstance(each, ast.Constant) else None
            for times, parts in ratios if number is not None else ():
                if number is not None and number * times % parts == 0 and number * times // parts > 1:
                    wanted = str(number * times // parts)
                    yield scene.candidate(17 + place.distance / 8, each, wanted)
            if pooled is not None and number is not None and place.distance <= AT_END and "ool" in called(call):
                yield scene.candidate(6, each, str(number * pooled))


FACTORS = ("scale_factor", "size", "pool_size")
AT_END = 3
"""How many calls before a layer of features the last pooling stands."""


def given_twice(scene: Scene, call: ast.Call, word: ast.keyword) -> bool:
    """Whether the name that an option has the value of decides the same option of another layer of the function."""
    if not isinstance(word.value, ast.Name):
        return False
    others = [
        each
        for each in scene.inside_of(scene.scope_of(call))
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
