"""What holds for every op, whatever its fields and inputs are."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake8_cnnmem import ops
from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Problem, Tensor, WeightSpec
from flake8_cnnmem.ops.base import Plain
from flake8_cnnmem.unknown import Unknown

WORKED_OUT = {"ConvolutionBackward", "Declared", "Derivative", "Filled", "Given", "NotDerived", "Refused", "Restored"}
"""Ops whose fields are shapes, patterns or inputs that their caller has worked out: none are drawn for them."""


def below(cls: type[Plain]) -> Iterator[type[Plain]]:
    for each in cls.__subclasses__():
        yield each
        yield from below(each)


def every_op() -> list[type[Plain]]:
    """Every op of `flake8_cnnmem.ops`, wherever in it: a new one is among them."""
    for found in pkgutil.iter_modules(ops.__path__, f"{ops.__name__}."):
        importlib.import_module(found.name)
    made = {each for each in below(Plain) if each.__module__.startswith(f"{ops.__name__}.")}
    drawn = (each for each in made if dataclasses.is_dataclass(each) and each.__name__ not in WORKED_OUT)
    return sorted(drawn, key=lambda each: each.__qualname__)


OPS = every_op()

unknowns = st.just(Unknown("not known here", "model.py", 3))
sizes = st.one_of(st.integers(1, 8), unknowns, st.integers(1, 3).map(Batch))
odd = st.sampled_from([-1, -7, 0, 10**30, 2**70, 2.5, 8.0, float("nan"), float("inf")])
numbers: st.SearchStrategy[Any] = st.one_of(sizes, sizes, odd)
several: st.SearchStrategy[Any] = st.lists(numbers, min_size=0, max_size=4).map(tuple)
flags = st.one_of(st.booleans(), unknowns)
axes = st.one_of(st.integers(-5, 5), unknowns)
pairs = st.lists(st.tuples(numbers, numbers), max_size=4).map(tuple)
shapes = st.lists(sizes, max_size=5).map(tuple)
items = st.lists(
    st.one_of(
        st.integers(-9, 9),
        st.none(),
        st.booleans(),
        unknowns,
        st.builds(Batch),
        st.builds(slice, st.none() | sizes, st.none() | sizes, st.none() | st.integers(-2, 2)),
        st.lists(st.integers(-2, 2), max_size=2),
        st.builds(Tensor, shapes | unknowns, st.sampled_from(["int64", "bool"])),
    ),
    max_size=4,
)

BY_FIELD: dict[str, st.SearchStrategy[Any]] = {
    "kernel": several,
    "stride": st.one_of(numbers, several),
    "dilation": st.one_of(numbers, several),
    "output_padding": st.one_of(st.none(), numbers, several),
    "padding": st.one_of(numbers, several, pairs, st.sampled_from(["same", "valid", "causal", "odd"])),
    "size": st.one_of(st.none(), several),
    "sizes": st.one_of(numbers, several),
    "scale": st.one_of(st.none(), several, flags),
    "ratio": st.one_of(st.none(), several),
    "target": several,
    "times": several,
    "axes": st.one_of(axes, st.lists(axes, max_size=3).map(tuple)),
    "axis": axes,
    "start": axes,
    "end": axes,
    "a": axes,
    "b": axes,
    "items": items.map(tuple),
    "pads": pairs,
    "crops": pairs,
    "rank": st.integers(1, 3),
    "results": st.integers(1, 2),
    "ranks": st.just(()),
    "shape": st.one_of(st.none(), several),
    "shared_axes": st.one_of(st.none(), st.just((1, 2))),
    "equation": st.sampled_from(["ij,jk->ik", "...ij,...jk", "bi", "i->", "a b , b", "ij,jk->iz", "..i..j"]),
    "kind": st.sampled_from(["relu", "add", "sum", "cumsum", "cross_entropy", "mse", "identity", "dropout"]),
    "mode": st.sampled_from(["max", "average", "nearest", "bilinear", "constant", "reflect", "circular"]),
    "cell": st.sampled_from(["rnn", "lstm", "gru"]),
    "reduction": st.one_of(st.sampled_from(["mean", "none"]), unknowns),
    "layers": numbers,
    "least": st.integers(0, 1),
}
FLAGS = {
    "bias", "transposed", "channels_last", "ceil_mode", "indices", "keepdims", "center", "track", "training", "counted",
    "in_place", "bidirectional", "batch_first", "two_biases", "return_sequences", "return_state", "stacked", "exact",
    "strict", "causal", "fused", "grouped", "inverse", "normalise",
}  # fmt: skip
NO_SCALE_FACTOR = {"BatchNorm", "InstanceNorm", "LayerNorm", "GroupNorm", "RMSNorm"}


def values(cls: type, field: str) -> st.SearchStrategy[Any]:
    """Sensible and odd values for a field of an op."""
    if field == "scale" and cls.__name__ in NO_SCALE_FACTOR:
        return flags
    if field == "size" and cls.__name__ in ("Windows", "LocalResponseNorm"):
        return numbers
    if field in ("size", "sizes") and cls.__name__ in ("Fold", "AdaptivePool", "Unflatten"):
        return several
    if field == "times" and cls.__name__ == "RepeatInterleave":
        return numbers
    if field == "steps" and cls.__name__ == "Restrided":
        return several
    if field == "axes" and cls.__name__ == "Permute":
        return st.lists(axes, max_size=4).map(tuple)
    if field == "axes" and cls.__name__ == "Matmul":
        return st.sampled_from([None, 2, 3])
    if field == "axes" and cls.__name__ == "Dot":
        return st.one_of(axes, st.tuples(axes, axes))
    if field == "padding" and cls.__name__ == "Embedding":
        return st.none() | numbers
    if field in FLAGS:
        return flags
    return BY_FIELD.get(field, numbers)


def made(cls: type) -> st.SearchStrategy[Any]:
    """Ops of a class with any fields; those with a default are sometimes left out."""
    required: dict[Any, st.SearchStrategy[Any]] = {}
    optional: dict[Any, st.SearchStrategy[Any]] = {}
    for field in dataclasses.fields(cls):
        target = required if field.default is dataclasses.MISSING else optional
        target[field.name] = values(cls, field.name)
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: cls(**fields))


def arity(op: Any) -> int:
    """How many tensors an op reads at least."""
    if isinstance(op, (ops.Bilinear, ops.GroupedMatmul, ops.Matmul, ops.Dot)):
        return 2
    return 3 if isinstance(op, (ops.AttentionInputs, ops.MatmulInto, ops.ScaledDotProduct)) else 1


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.__name__)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_raises_nothing_but_mismatch(cls: type, data: st.DataObject) -> None:
    op = data.draw(made(cls))
    least = arity(op)
    inputs = data.draw(st.lists(shapes, min_size=least, max_size=max(least, 3)))
    assert isinstance(op.kind, str)
    assert isinstance(op.view, bool)
    found: Mismatch | None = None
    results: Any = ()
    try:
        results = op.outputs(*inputs)
    except Mismatch as mismatch:
        found = mismatch
    if found is not None:
        assert isinstance(found.problem, Problem)
        assert found.problem.code in ("CNM201", "CNM202")
        assert len(found.problem.what) < 2000
        results = found.recovered or ()
    check_shapes(results)
    for asked in ((), inputs):
        specs = op.weights(*asked)
        assert all(isinstance(spec, WeightSpec) for spec in specs.values())
        check_shapes([spec.shape for spec in specs.values()])
    if hasattr(op, "dropped"):
        assert all(rows > 0 for _, rows in op.dropped(inputs[0]))


def check_shapes(results: Any) -> None:
    """Every size is a number that fits in memory, a multiple of the batch, or Unknown."""
    for shape in results:
        if isinstance(shape, Unknown):
            continue
        assert isinstance(shape, tuple)
        for size in shape:
            assert type(size) in (int, Batch, Unknown), shape
            if type(size) is int:
                assert 0 <= size <= 2**48
            elif isinstance(size, Batch):
                assert 0 < size.multiple <= 2**48


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.__name__)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_never_knows_a_wrong_size(cls: type, data: st.DataObject) -> None:
    """With one size of an input unknown, every size of the output that is known is what it is with that size known."""
    op = data.draw(made(cls))
    least = arity(op)
    plain = st.lists(st.integers(1, 6), min_size=1, max_size=5).map(tuple)
    inputs = data.draw(st.lists(plain, min_size=least, max_size=max(least, 3)))
    which = data.draw(st.integers(0, len(inputs) - 1))
    at = data.draw(st.integers(0, len(inputs[which]) - 1))
    try:
        truth = op.outputs(*inputs)
    except Mismatch:
        return
    blank: Shape = (*inputs[which][:at], Unknown("?"), *inputs[which][at + 1 :])
    found = op.outputs(*inputs[:which], blank, *inputs[which + 1 :])
    for shape, real in zip(found, truth, strict=False):
        if isinstance(shape, Unknown) or isinstance(real, Unknown):
            continue
        assert len(shape) == len(real)
        for size, known in zip(shape, real, strict=True):
            assert isinstance(size, Unknown) or isinstance(known, Unknown) or size == known
