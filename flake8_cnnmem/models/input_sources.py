"""The inputs of a model that are stated: by calls of it, by the data that it is trained on, by a directive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import BATCH, Shape
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import Evidence, sample_shape, seen_through
from flake8_cnnmem.evidence.batches import given_one_by_one, tensors_of
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.models.outcome import tensors_in
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.stated import (
    IMAGE_AXES,
    InputShape,
    StatedCall,
    agrees,
    are_plain,
    batched,
    each_of,
    leading_size,
    place,
)
from flake8_cnnmem.ops.expected import UNSTATED, Expected
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


class InputSources:
    """Where the inputs of one model are stated, and the tensors that they say."""

    def __init__(self, root: Root, instance: Instance, framework: Framework, evidence: Evidence) -> None:
        self.root = root
        self.run: Interpreter = root.run
        self.instance = instance
        self.framework = framework
        self.evidence = evidence
        self.trained = evidence.trained

    def samples(self, data: Value, own: Sequence[Tensor]) -> list[InputShape] | None:
        """The shapes of one sample of each input, which `fit` is given in their order or by their names."""
        each = data if isinstance(data, (list, tuple)) and len(data) == len(own) > 1 else [data]
        if isinstance(data, dict):
            names = [self.framework.get(self.run, tensor, "name") for tensor in own]
            each = [data[name] for name in names if isinstance(name, str) and name in data]
        found = [sample_shape(self.run, item) for item in each]
        return [shape for shape in found if shape is not None] if None not in found else None

    def drawn(self, expected: Sequence[Expected | None]) -> tuple[Tensor, Site | None] | None:
        """One sample of what the model is trained on, where its call is not seen and it takes a single input. What ops
        have made of a batch before the call (another size each time) is no sample of the loader's, and data that the
        program is seen to call another model on are that one's."""
        if len(expected) != 1 or self.is_made_by_ops() or self.is_beside_others():
            return None
        loaders = [(loader, loader.site) for loader in self.evidence.loaders]
        for data, site in (*((said.value, said.site) for said in self.evidence.data), *loaders):
            shape = sample_shape(self.run, data)
            if shape is not None and agrees(shape, expected[0]):
                dtype = expected[0].dtype if expected[0] is not None else "float"
                return self.tensor((BATCH, *shape), dtype), site
        return None

    def is_beside_others(self) -> bool:
        """Whether the program calls other models alone, and does not train this one: a transform of the data set. One
        of another framework may have taken it in."""
        if self.root.is_training or self.root.calls:
            return False
        others = (seen_through(call.instance) for call in self.run.trace.root_calls if not self.is_whole(call))
        return any(frameworks.of_layer(each) is self.framework for each in others)

    def is_made_by_ops(self) -> bool:
        """Whether the training calls the model on the result of ops whose size is not known."""
        if self.trained is None or not self.is_whole(self.trained):
            return False
        given = next(tensors_of(self.trained), None)
        shape = given.shape if given is not None and given.call is not None else ()
        return isinstance(shape, tuple) and not dims.known(shape[1:])

    def coded(self) -> tuple[Sequence[Value], Site | None] | None:
        """The tensors that the code itself calls the model on, their first axis the batch."""
        calls = [self.trained] if self.trained is not None and self.is_whole(self.trained) else []
        for call in [*calls, *self.root.calls]:
            values = self.taken_from(call)
            if values:
                return values, call.site
        stated = self.run.data("stated inputs").get(id(self.instance))
        if stated is not None:
            shapes, site = stated
            return [self.tensor((BATCH, *shape)) for shape in shapes], site
        return None

    def completed(self, expected: Sequence[Expected | None]) -> tuple[Tensor, Site | None] | None:
        """What the code calls the model on, where all that is open in it is what the first layer takes: an image of a
        known size whose channels the data set does not tell."""
        calls = [self.trained] if self.trained is not None and self.is_whole(self.trained) else []
        for call in [*calls, *self.root.calls]:
            if len(call.args) != 1 or call.kwargs or not isinstance(call.args[0], Tensor):
                continue
            shape, taken = call.args[0].shape, expected[0] if len(expected) == 1 else None
            if isinstance(shape, Unknown) or taken is None or len(shape) != len(taken.shape):
                continue
            pairs = zip(shape, taken.shape, strict=True)
            filled = [own if isinstance(mine, Unknown) else mine for mine, own in pairs]
            if dims.known(filled[1:]):
                return self.tensor((BATCH, *filled[1:]), call.args[0].dtype), call.site
        return None

    def is_whole(self, call: RootCall) -> bool:
        """Whether a training loop calls this model, not a part of it."""
        return seen_through(call.instance) is self.instance

    def taken_from(self, call: RootCall) -> StatedCall | None:
        """What a call gives the model, if these are tensors of known shape, and numbers and words beside them."""
        named = {word: value for word, value in call.kwargs.items() if word != "training"}
        given = (*call.args, *named.values())
        tensors = list(tensors_in(given))
        shaped = all(not isinstance(t.shape, Unknown) and t.shape and dims.known(t.shape) for t in tensors)
        if tensors and shaped and are_plain(given):
            return StatedCall(batched(given), tuple(named), leading_size(given))
        return None

    def one_by_one(
        self, directive: InputShape | None, option: InputShape | None
    ) -> tuple[StatedCall, InputShape | None, str] | None:
        """What the training calls the model with, where that is a list of images and a list of what is to be found in
        each: as many as the batch in force, each (channels, height, width) of the directive, of the code, or where that
        does not say it of the option. With that shape, and where it comes from."""
        call = self.trained
        if call is None or not self.is_whole(call) or given_one_by_one(call) is None:
            return None
        values: list[Value] = [*call.args, *call.kwargs.values()]
        lists = {at: [*value] for at, value in enumerate(values) if isinstance(value, (list, tuple)) and value}
        at, beside = list(lists)[:2]
        count = self.run.batch or len(lists[at])
        for where in (at, beside):
            values[where] = [*lists[where], *lists[where][-1:] * count][:count]
        own = lists[at][0].shape
        shape = tuple(size if isinstance(size, int) else None for size in own) if isinstance(own, tuple) else None
        source = place(call.site)
        stated = directive if directive is not None else option if shape is None or None in shape else None
        if stated is not None and len(each_of(stated)) == 1 and len(stated) == IMAGE_AXES:
            shape, source = stated, "directive" if directive is not None else "option"
            sizes = tuple(UNSTATED if size is None else size for size in stated)
            values[at] = [Tensor(sizes, framework=self.framework.name) for _ in range(count)]
        return StatedCall(values, tuple(call.kwargs)), shape, source

    def directed(self, shape: InputShape, expected: Sequence[Expected | None]) -> list[Tensor]:
        """The inputs where a directive states one shape: the first has it, and every other one that can have it."""
        first, *others = expected or [None]
        shapes = each_of(shape)
        if len(shapes) > 1:
            return [self.shaped(own, each) for own, each in zip(shapes, [first, *others], strict=False)]
        return [
            self.shaped(shape, first),
            *(self.shaped(shape, each) if agrees(shape, each) else self.unstated(each) for each in others),
        ]

    def missing(self) -> Unknown:
        """Why the size of the input is not known: the first cause among what the code calls the model on, by the
        training's call before others; that it is not stated where no call has one."""
        calls = [self.trained] if self.trained is not None and self.is_whole(self.trained) else []
        for call in [*calls, *self.root.calls]:
            cause = next((each for each in map(unknown_in, given_by(call)) if each is not None and each.path), None)
            if cause is not None:
                return Unknown(f"the input is not known: {cause.reason}", cause.path, cause.line)
        return UNSTATED

    def tensor(self, shape: Shape, dtype: str = "float") -> Tensor:
        """An input of this shape, which begins with the batch."""
        return Tensor(shape, dtype, framework=self.framework.name)

    def shaped(self, shape: InputShape, expected: Expected | None = None) -> Tensor:
        """An input of a stated shape, in the dtype that its first layer takes: class numbers for an embedding."""
        sizes = (UNSTATED if size is None else size for size in shape)
        return self.tensor((BATCH, *sizes), expected.dtype if expected is not None else "float")

    def unstated(self, expected: Expected | None) -> Tensor:
        """An input of the shape that the layers expect, or of one that nobody states."""
        missing = self.missing()
        if expected is None:
            return Tensor(missing, framework=self.framework.name)
        return self.tensor(tuple(missing if size == UNSTATED else size for size in expected.shape), expected.dtype)


def given_by(call: RootCall) -> Iterator[Value]:
    """What a call gives a model, one by one, also of a batch that is handed on as it is."""
    waiting: list[Value] = [*call.args, *call.kwargs.values()]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, (tuple, list)):
            waiting[:0] = value[:16]
        elif isinstance(value, dict):
            waiting[:0] = list(value.values())[:16]
        else:
            yield value


def unknown_in(value: Value) -> Unknown | None:
    """Why a value is not known, or a size of a tensor behind its first axis; None where all of it is."""
    if isinstance(value, Unknown):
        return value
    shape = value.shape if isinstance(value, Tensor) else ()
    return shape if isinstance(shape, Unknown) else dims.first_unknown(shape[1:])
