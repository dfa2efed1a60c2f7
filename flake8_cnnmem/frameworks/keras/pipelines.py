"""tf.data: pipelines know one element, which stands for all: its tensors' shapes, through `map`, `batch` and the
rest."""

from __future__ import annotations

import math

from flake8_cnnmem.dims import BATCH, Size, same
from flake8_cnnmem.frameworks.keras import element_counts
from flake8_cnnmem.frameworks.keras.constants import constant
from flake8_cnnmem.frameworks.keras.element_counts import count_in, count_of_range, counted
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.pipeline_elements import (
    DEPTH,
    NOT_KNOWN,
    WINDOW,
    changed_in,
    element_of,
    fact,
    facts_of,
    lead,
    native,
    pipeline,
)
from flake8_cnnmem.frameworks.keras.pipeline_items import first_of, plain_dtype, whole
from flake8_cnnmem.frameworks.keras.session import tensors_in
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown, largest
from flake8_cnnmem.values import Class, Instance, Native, StaticMethod, Stream, Value


def iterate(run: Runtime, self: Instance) -> Value:
    """An iterator over a data set: one element stands for all, but for a last batch with fewer samples where no model
    was called before it."""
    element, count = element_of(self), length(run, self)
    known = count if isinstance(count, int) else 0
    fewer = element_counts.last_of(facts_of(self), lead(self))
    last = element if fewer is None else changed_in(element, lambda tensor: of_samples(tensor, fewer))
    again = run.drawn_again(known or None)

    def draw() -> Value:
        return last if again.passing and again.drawn and again.drawn + 1 == known else element

    def rest(drawn: int) -> list[Value]:
        left = known - drawn if known <= LARGEST_LIST else 0
        return [*[element] * (left - 1), last] if left > 0 else []

    stream = Stream(draw, again)
    stream.rest = rest
    return stream


LARGEST_LIST = 10_000
"""Elements of a list of all that a data set gives."""


def of_samples(tensor: Tensor, samples: int) -> Tensor:
    """A batch with so many samples."""
    behind = tensor.shape[1:] if isinstance(tensor.shape, tuple) else ()
    return Tensor((samples, *behind), tensor.dtype, framework="keras") if isinstance(tensor.shape, tuple) else tensor


ITERATOR = Class(
    "Iterator",
    namespace={
        "__iter__": native(iterate),
        "__next__": Native("__next__", lambda run, self: element_of(self), propagate_unknown=False),
        "get_next": Native("get_next", lambda run, self, name=None: element_of(self), propagate_unknown=False),
        "initializer": None,
    },
    module="tensorflow.data",
)
"""`dataset.make_one_shot_iterator()` of TensorFlow 1: the facts of its data set."""


def made_iterator(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """`dataset.make_one_shot_iterator()`, `tf.compat.v1.data.make_initializable_iterator(dataset)`."""
    return pipeline(ITERATOR, facts_of(self))


def length(run: Runtime, self: Instance) -> Value:
    """`len(dataset)`"""
    return element_counts.length(run, facts_of(self))


def cardinality(run: Runtime, self: Instance) -> Value:
    """`dataset.cardinality()`: a tensor of one whole number."""
    found = length(run, self)
    return constant(found, "int64") if isinstance(found, int) else found


def kept(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """`shuffle`, `prefetch` and their like: the same data."""
    return Instance(self.cls, native=dict(facts_of(self)))


def keeping(name: str) -> Native:
    """A method that keeps elements as they are: those of another number by the rule of its name."""
    rule = element_counts.RULES[name]

    def method(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
        numbers = [*args, *(value for word, value in kwargs.items() if word != "name")]
        return Instance(self.cls, native=rule(run, dict(facts_of(self)), *numbers))

    return Native(name, method, propagate_unknown=False)


def size_of_batch(size: Value) -> Size:
    """A batch size as a size; the batch itself where it is not known."""
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else BATCH


def batched(
    run: Runtime, self: Instance, batch_size: Value = None, drop_remainder: Value = False, *args: Value, **kwargs: Value
) -> Instance:
    """`dataset.batch(batch_size)`: each tensor led by the batch."""
    batch_size = largest(batch_size)
    asked = size_of_batch(batch_size)
    facts, remainder = facts_of(self), drop_remainder is True
    size: Size | Unknown
    size, doubt = element_counts.size_of(run, facts, asked, remainder)
    if WINDOW in facts:
        count = facts[WINDOW]
        size = min(count, batch_size) if isinstance(count, int) and isinstance(batch_size, int) else NOT_KNOWN

    def stacked(tensor: Tensor) -> Tensor:
        shape = tensor.shape if isinstance(tensor.shape, Unknown) else (size, *tensor.shape)
        return Tensor(shape, tensor.dtype, framework="keras")

    element = changed_in(element_of(self), stacked)
    drawn = batch_size if size == asked else size
    numbers = element_counts.after_batching(facts, asked, remainder) | ({} if doubt is None else {"doubt": doubt})
    found = {**element_counts.without(facts), **numbers, "element": element, "batch_size": drawn, "site": run.here()}
    return pipeline(self.cls, found)


def padded(
    run: Runtime, self: Instance, batch_size: Value = None, padded_shapes: Value = None, padding_values: Value = None,
    drop_remainder: Value = False, *args: Value, **kwargs: Value,
) -> Instance:  # fmt: skip
    """Sides are padded to what is asked for; those that are left open to the longest, which is still unknown."""
    made = batched(run, self, batch_size, drop_remainder)
    if padded_shapes is None:
        return made
    facts = facts_of(made)
    return pipeline(made.cls, {**facts, "element": filled_up(facts.get("element"), padded_shapes)})


def filled_up(value: Value, wanted: Value, depth: int = DEPTH) -> Value:
    """Batched tensors with the sides that are asked for behind the batch."""
    if isinstance(value, Tensor) and isinstance(value.shape, tuple) and isinstance(wanted, (tuple, list)):
        own = value.shape[1:]
        if len(own) != len(wanted):
            return value
        sides = tuple(side if type(side) is int and side > 0 else mine for side, mine in zip(wanted, own, strict=True))
        return Tensor((value.shape[0], *sides), value.dtype, framework="keras")
    if depth and isinstance(value, dict) and isinstance(wanted, dict):
        return {key: filled_up(item, wanted.get(key), depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (tuple, list)) and isinstance(wanted, (tuple, list)) and len(value) == len(wanted):
        return tuple(filled_up(item, shape, depth - 1) for item, shape in zip(value, wanted, strict=True))
    return value


def unbatched(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """`dataset.unbatch()`: each tensor without its first axis."""
    own = facts_of(self)
    facts = {word: value for word, value in own.items() if word not in ("batch_size", "site", *element_counts.FACTS)}
    facts |= element_counts.after_unbatching(own, lead(self))

    def row(tensor: Tensor) -> Tensor:
        return Tensor(tensor.shape if isinstance(tensor.shape, Unknown) else tensor.shape[1:], tensor.dtype,
                      framework="keras")  # fmt: skip

    return pipeline(self.cls, {**facts, "element": changed_in(element_of(self), row)})


def batched_anew(
    run: Runtime, self: Instance, batch_size: Value = None, drop_remainder: Value = False, *args: Value, **kwargs: Value
) -> Instance:
    """`dataset.rebatch(batch_size)`: its samples in batches of another size."""
    return batched(run, unbatched(run, self), batch_size, drop_remainder)


def concatenated(run: Runtime, self: Instance, dataset: Value = None, *args: Value, **kwargs: Value) -> Instance:
    """`dataset.concatenate(other)`: the one after the other; the one with the larger batches stands for both."""
    sizes = [lead(each) if isinstance(each, Instance) else None for each in (self, dataset)]
    own, other = sizes
    larger = isinstance(dataset, Instance) and isinstance(own, int) and isinstance(other, int) and other > own
    found = dataset if larger and isinstance(dataset, Instance) else self
    both = [facts_of(each) for each in (self, dataset) if isinstance(each, Instance)]
    numbers = element_counts.of_all(both, sum) if len(both) > 1 else {}
    return Instance(found.cls, native={**element_counts.without(facts_of(found)), **numbers})


def mapped(run: Runtime, self: Instance, map_func: Value = None, *args: Value, **kwargs: Value) -> Instance:
    """The function is called on the element; one of several parts is spread over its parameters."""
    element = element_of(self)
    made = run.attempt(map_func, *element) if isinstance(element, tuple) else run.attempt(map_func, element)
    element = tuple(made) if isinstance(made, list) else made
    found = pipeline(self.cls, {**facts_of(self), "element": element})
    before, now = lead(self), lead(found)
    if "batch_size" in facts_of(self) and isinstance(before, int) and isinstance(now, int) and now != before:
        # A function of whole batches may leave samples out, or add some.
        found.native |= {"batch_size": now}
    return found


def inner(run: Runtime, self: Instance, map_func: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`interleave`, `flat_map`: the function gives a pipeline for each element."""
    element = element_of(self)
    made = run.attempt(map_func, *element) if isinstance(element, tuple) else run.attempt(map_func, element)
    if not isinstance(made, Instance):
        return pipeline(self.cls, {})
    numbers = element_counts.of_each(facts_of(self), facts_of(made))
    if not holds_windows(element):
        return Instance(made.cls, native={**element_counts.without(facts_of(made)), **numbers})
    # What batches the rows of a window makes no batch of the training.
    return pipeline(made.cls, {**numbers, "element": element_of(made)})


def holds_windows(element: Value) -> bool:
    """Whether an element consists of data sets: windows of another one."""
    items = element.values() if isinstance(element, dict) else element if isinstance(element, tuple) else (element,)
    return any(isinstance(item, Instance) and WINDOW in facts_of(item) for item in items)


def windowed(
    run: Runtime, self: Instance, size: Value = None, shift: Value = None, stride: Value = 1,
    drop_remainder: Value = False, name: Value = None,
) -> Instance:  # fmt: skip
    """`dataset.window(size, shift, stride, drop_remainder)`: elements are data sets of `size` elements, one for each
    tensor of the structure. Of the last ones, which may have fewer, is only said that they may."""
    own = {word: value for word, value in facts_of(self).items() if word not in ("batch_size", "site")}
    inside: dict[str, Value] = {**counted(size), WINDOW: size}
    windows = changed_in(element_of(self), lambda tensor: pipeline(self.cls, {**inside, "element": tensor}))
    own = element_counts.windows(run, own, size, size if shift is None else shift, stride, drop_remainder)
    return pipeline(self.cls, {**own, "element": windows})


def applied(run: Runtime, self: Instance, transformation_func: Value = None) -> Value:
    """`dataset.apply(function)`: what the function makes of the data set; one of unknown elements where that is not
    followed."""
    made = run.attempt(transformation_func, self)
    return made if isinstance(made, Instance) else pipeline(self.cls, {})


def numbered(run: Runtime, self: Instance, start: Value = 0) -> Instance:
    """`dataset.enumerate()`: pairs of number and element."""
    return pipeline(self.cls, {**facts_of(self), "element": (Tensor((), "int64", framework="keras"), element_of(self))})


def specification(run: Runtime, self: Instance) -> Value:
    """`dataset.element_spec`: tensors of the shapes and dtypes of an element, in its structure."""
    return changed_in(element_of(self), lambda tensor: tensor)


# Sources


def rows_of(run: Runtime, value: Value, depth: int = DEPTH) -> Value:
    """One row of each array of a structure: what slicing along the first axis gives."""
    if isinstance(value, Tensor):
        shape = value.shape if isinstance(value.shape, Unknown) else value.shape[1:]
        return Tensor(shape, plain_dtype(value), framework="keras")
    if depth and isinstance(value, dict):
        return {key: rows_of(run, item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, tuple):
        return tuple(rows_of(run, item, depth - 1) for item in value)
    if isinstance(value, list) and value:
        return whole(run, value[0])
    return value if isinstance(value, Unknown) else run.unknown("the items of a data set are not known")


def from_tensor_slices(run: Runtime, tensors: Value, name: Value = None) -> Instance:
    """`Dataset.from_tensor_slices(tensors)`: elements without the first axis, of which all have as many."""
    known = [each for each in tensors_in(tensors) if isinstance(each.shape, tuple) and each.shape]
    other = next((each for each in known if same(each.shape[0], known[0].shape[0]) is False), None)  # type: ignore[index]
    if other is not None:
        sizes = [each.shape[0] for each in (known[0], other)]  # type: ignore[index]
        problem = Problem("CNM201", f"takes tensors of as many samples, but is given {sizes[0]} and {sizes[1]}")
        apply(run, Refused(problem), known[0], other, function="from_tensor_slices")
    return pipeline(DATASET, {**counted(count_in(tensors)), "element": rows_of(run, tensors)})


def from_tensors(run: Runtime, tensors: Value, name: Value = None) -> Instance:
    """`Dataset.from_tensors(tensors)`: one element."""
    return pipeline(DATASET, {**counted(1), "element": changed_in(tensors, lambda tensor: whole(run, tensor))})


def from_generator(
    run: Runtime, generator: Value, output_types: Value = None, output_shapes: Value = None, args: Value = (),
    output_signature: Value = None, name: Value = None,
) -> Instance:  # fmt: skip
    """By the signature, else by the first thing that the generator yields."""
    if output_signature is not None:
        return pipeline(DATASET, {"element": of_signature(output_signature)})
    first = run.attempt(
        Native("first", first_of, propagate_unknown=False), generator, *(args if isinstance(args, tuple) else ())
    )
    return pipeline(DATASET, {"element": changed_in(first, lambda tensor: whole(run, tensor))})


def of_signature(value: Value, depth: int = DEPTH) -> Value:
    """Tensors of a structure of `tf.TensorSpec`; a side that is left open is not known."""
    if isinstance(value, Instance) and isinstance(value.native, dict) and "shape" in value.native:
        shape = value.native["shape"]
        if not isinstance(shape, (tuple, list)):
            return Tensor(NOT_KNOWN, "float", framework="keras")
        return Tensor(tuple(NOT_KNOWN if side is None else side for side in shape), value.native["dtype"],
                      framework="keras")  # fmt: skip
    if depth and isinstance(value, dict):
        return {key: of_signature(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (tuple, list)):
        return tuple(of_signature(item, depth - 1) for item in value)
    return NOT_KNOWN


def files(run: Runtime, *args: Value, **kwargs: Value) -> Instance:
    """`list_files`, records, lines of text: each element is a text."""
    return pipeline(DATASET, {"element": Tensor((), "string", framework="keras")})


def numbers(run: Runtime, *args: Value, **kwargs: Value) -> Instance:
    """`Dataset.range(...)`: whole numbers."""
    return pipeline(DATASET, {**counted(count_of_range(args)), "element": Tensor((), "int64", framework="keras")})


def chances(run: Runtime, *args: Value, **kwargs: Value) -> Instance:
    """`Dataset.random(...)`: whole numbers, without end."""
    return pipeline(DATASET, {**counted(math.inf), "element": Tensor((), "int64", framework="keras")})


def zipped(run: Runtime, *args: Value, datasets: Value = None, name: Value = None) -> Instance:
    """`Dataset.zip(datasets)`: elements of all, nested as the data sets are."""
    parts = datasets if datasets is not None else args[0] if len(args) == 1 else args
    if isinstance(parts, dict):
        numbers = element_counts.of_all([facts_of(part) for part in parts.values()], min)
        return pipeline(DATASET, {**numbers, "element": {key: element_of(part) for key, part in parts.items()}})
    found = [part for part in parts if isinstance(part, Instance)] if isinstance(parts, (tuple, list)) else []
    batch: dict[str, Value] = next((facts_of(part) for part in found if "batch_size" in facts_of(part)), {})
    shared: dict[str, Value] = {word: batch[word] for word in ("batch_size", "site") if word in batch}
    shared |= element_counts.of_all([facts_of(part) for part in found], min)
    return pipeline(DATASET, {**shared, "element": tuple(element_of(part) for part in found)})


def sampled(run: Runtime, datasets: Value = (), *args: Value, **kwargs: Value) -> Value:
    """`sample_from_datasets`, `choose_from_datasets`: the first stands for all."""
    first = datasets[0] if isinstance(datasets, (list, tuple)) and datasets else None
    if not isinstance(first, Instance):
        return pipeline(DATASET, {}) if first is None else first
    return Instance(first.cls, native=element_counts.without(facts_of(first)))


def made_of_files(run: Runtime, cls: Class, *args: Value, **kwargs: Value) -> Instance:
    """A data set of records or lines of files."""
    return files(run)


METHODS: dict[str, Value] = {
    "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, propagate_unknown=False),
    "__getattr__": Native("__getattr__", fact, propagate_unknown=False),
    "__iter__": native(iterate),
    "__len__": native(length),
    "cardinality": native(cardinality),
    "batch": native(batched),
    "padded_batch": native(padded),
    "ragged_batch": native(padded),
    "unbatch": native(unbatched),
    "rebatch": native(batched_anew),
    "concatenate": native(concatenated),
    "map": native(mapped),
    "map_with_legacy_function": native(mapped),
    "flat_map": native(inner),
    "interleave": native(inner),
    "window": native(windowed),
    "apply": native(applied),
    "enumerate": native(numbered),
    "as_numpy_iterator": native(iterate),
    "make_one_shot_iterator": native(made_iterator),
    "make_initializable_iterator": native(made_iterator),
    "get_single_element": Native("get_single_element", lambda run, self: element_of(self), propagate_unknown=False),
    **{name: native(kept) for name in ("shuffle", "prefetch", "cache", "with_options", "snapshot")},
    **{name: keeping(name) for name in element_counts.RULES},
}

DATASET = Class(
    "Dataset",
    namespace={
        **METHODS,
        "from_tensor_slices": StaticMethod(native(from_tensor_slices)),
        "from_tensors": StaticMethod(native(from_tensors)),
        "from_generator": StaticMethod(native(from_generator)),
        "list_files": StaticMethod(native(files)),
        "range": StaticMethod(native(numbers)),
        "random": StaticMethod(native(chances)),
        "zip": StaticMethod(native(zipped)),
        "sample_from_datasets": StaticMethod(native(sampled)),
        "choose_from_datasets": StaticMethod(native(sampled)),
    },
    module="tensorflow.data",
)
OF_FILES = Class(
    "TFRecordDataset",
    (DATASET,),
    {"__new__": Native("__new__", made_of_files, propagate_unknown=False)},
    module="tensorflow.data",
)
