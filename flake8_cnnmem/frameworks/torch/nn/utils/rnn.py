"""torch.nn.utils.rnn: batches of sequences of different lengths, packed and padded."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

MEMBERS = Members()
PACKED = Class("PackedSequence", namespace=MEMBERS, module="torch.nn.utils.rnn")
"""A padded batch of sequences, which the layers work on. Where the lengths are not known, the steps that padding would
take are counted with it."""

FIELDS = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
"""In their order: a packed sequence is a tuple, too."""


def packed(padded: Value, batch_first: Value, lengths: Value = None) -> Instance:
    """A packed sequence around the padded tensor, (T, N, ...) or (N, T, ...)."""
    return Instance(PACKED, {"padded": padded, "batch_first": batch_first, "lengths": lengths})


@MEMBERS.method("__init__")
def made(run: Runtime, self: Instance, data: Value, *others: Value, **named: Value) -> None:
    """`PackedSequence(rows, other.batch_sizes)`: rows in the order of another one; whose sequences are not known."""
    unknown = run.unknown("the sequences that rows were packed of are not known")
    self.attributes.update(padded=unknown, batch_first=False, lengths=None, rows=data)


@MEMBERS.getter("data")
def rows_of(run: Runtime, self: Instance) -> Value:
    """The steps of all sequences, one row each: (sum of the lengths, ...)."""
    from flake8_cnnmem.frameworks.torch.functions.shapes import flatten, narrow

    held = self.attributes
    if "rows" in held:
        return held["rows"]
    rows = flatten(run, held["padded"], 0, 1)
    steps = total(held["lengths"])
    shape = rows.shape if isinstance(rows, Tensor) else None
    padded = isinstance(shape, tuple) and steps is not None and isinstance(shape[0], int) and steps < shape[0]
    return narrow(run, rows, 0, 0, steps) if padded else rows


def total(lengths: Value) -> int | None:
    """The sum of the lengths, where they are written out."""
    if not isinstance(lengths, (list, tuple)) or not all(type(each) is int for each in lengths):
        return None
    return sum(lengths)


@MEMBERS.method("__getitem__")
def field_of(run: Runtime, self: Instance, key: Value) -> Value:
    """`packed[0]`: a field by its place; which sequence is where is not known."""
    if not isinstance(key, int) or not -len(FIELDS) <= key < len(FIELDS):
        return run.unknown("a part of a packed sequence is not known")
    return run.find(self, FIELDS[key])


@MEMBERS.getter("batch_sizes", "sorted_indices", "unsorted_indices")
def order_of(run: Runtime, self: Instance) -> Value:
    """What only the lengths say."""
    return run.unknown("the lengths of packed sequences are not known")


@MEMBERS.method("to", "cuda", "cpu", "pin_memory")
def moved(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """The same sequences elsewhere."""
    return self


def pack_padded_sequence(
    run: Runtime, input: Value, lengths: Value, batch_first: Value = False, enforce_sorted: Value = True
) -> Value:
    """A packed sequence of a padded one, (T, N, ...) or (N, T, ...), with a length for each of its N sequences."""
    padded, counted = tensor_of(input), tensor_of(lengths)
    shape = padded.shape if isinstance(padded, Tensor) and isinstance(padded.shape, tuple) else ()
    batch = shape[0 if batch_first is True else 1 :][:1]
    count: tuple[object, ...] = ()
    if isinstance(lengths, (list, tuple)):
        count = (len(lengths),)
    elif isinstance(counted, Tensor) and isinstance(counted.shape, tuple):
        count = counted.shape
    if len(count) == len(batch) == 1 and all(type(each) is int for each in (*batch, *count)) and count != batch:
        what = f"takes {batch[0]} lengths, one for each sequence, but is given {count[0]}"
        input = apply(run, Refused(Problem("CNM201", what)), padded, function="pack_padded_sequence")
    return packed(input, batch_first is True, lengths)


def pad_packed_sequence(
    run: Runtime, sequence: Value, batch_first: Value = False, padding_value: Value = 0.0, total_length: Value = None
) -> Value:
    """A padded sequence of a packed one, and its lengths."""
    from flake8_cnnmem.frameworks.torch.functions.shapes import swap

    if not isinstance(sequence, Instance) or sequence.cls is not PACKED:
        return sequence if isinstance(sequence, Unknown) else run.unknown("what is unpacked is no packed sequence")
    data = sequence.attributes["padded"]
    if sequence.attributes["batch_first"] is not (batch_first is True):
        data = swap(run, data, 0, 1)
    tensor = tensor_of(data)
    known = isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and len(tensor.shape) == 3
    batch = tensor.shape[0 if batch_first is True else 1] if known else run.unknown("the batch is not known")  # type: ignore[union-attr,index]
    return data, Tensor((batch,), "int64")


def pack_sequence(run: Runtime, sequences: Value, enforce_sorted: Value = True) -> Value:
    """A packed sequence of a list of tensors, whose lengths are not known."""
    return packed(run.unknown("the lengths of packed sequences are not known"), False)


def pad_sequence(
    run: Runtime,
    sequences: Value,
    batch_first: Value = False,
    padding_value: Value = 0.0,
    padding_side: Value = "right",
) -> Value:
    """Outside of models, where batches are put together: (longest, count, ...), or the count first."""
    items = run.items(sequences)
    if isinstance(items, Unknown) or run.invocation is not None:
        return run.unknown("the length of the longest sequence is not known") if isinstance(items, list) else items
    tensors = [item for item in items if isinstance(item, Tensor)]
    shapes = [item.shape for item in tensors if isinstance(item.shape, tuple) and item.shape]
    if not shapes or len(shapes) < len(items) or any(shape[1:] != shapes[0][1:] for shape in shapes):
        return run.unknown("the length of the longest sequence is not known")
    lengths = [shape[0] for shape in shapes if isinstance(shape[0], int)]
    unknown = run.unknown("the length of the longest sequence is not known")
    longest = max(lengths) if len(lengths) == len(shapes) else unknown
    lead = (len(shapes), longest) if batch_first is True else (longest, len(shapes))
    return Tensor((*lead, *shapes[0][1:]), tensors[0].dtype)


RNN_UTILITIES: dict[str, Value] = {
    "PackedSequence": PACKED,
    **{
        function.__name__: Native(function.__name__, function, propagate_unknown=False)
        for function in (pack_padded_sequence, pad_packed_sequence, pack_sequence, pad_sequence)
    },
}
