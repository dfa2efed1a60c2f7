"""Layers that are one matrix: linear (dense), bilinear, embedding."""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.dims import BATCH, Shape, Size, known, per_sample, product
from flake8_cnnmem.graph import Mismatch, Problem, WeightSpec
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Flag, Plain, add_if, channels_problem, extent, rank_problem, whole_problem
from flake8_cnnmem.ops.expected import UNSTATED, Expected, open_axes
from flake8_cnnmem.unknown import Unknown

NOT_CALLED = Unknown("the layer's input features are not known before its first call")


def features_problem(shape: Shape, declared: Size | None) -> Problem | None:
    """An input whose last axis is not as wide as declared. Advises flattening where that gives the width."""
    problem = channels_problem(shape, len(shape) - 1, declared, "features")
    if problem and len(shape) > 2 and known(shape[1:]) and per_sample(product(shape[1:])) == declared:
        sides = " x ".join(repr(size) for size in shape[1:])
        return Problem(
            "CNM201", problem.what, f"its input is to be flattened first: {sides} = {declared}", problem.given,
            problem.declared,
        )  # fmt: skip
    return problem


@dataclass(frozen=True, slots=True)
class Linear(Plain):
    """(..., inputs) -> (..., features). `inputs` None takes the input's.

    Weight (features, inputs), bias (features,).
    """

    features: Size
    inputs: Size | None = None
    bias: Flag = True
    least: int = 0
    """The features that there have to be: torch allows layers of none, and warns; Keras does not."""

    kind = "linear"
    adds_bias = True
    volume = "own"
    multiplies = True
    product = "rows"

    @property
    def row_features(self) -> Size:
        """The declared input features; 0 where the first call decides them."""
        return 0 if self.inputs is None else self.inputs

    @property
    def expected_input(self) -> Expected | None:
        """(batch, features), or with more axes between; None for features that the first call decides."""
        if self.inputs is None or self.inputs == 0:
            return None
        others = tuple((BATCH, *between, self.inputs) for between in open_axes(1, 2, 3))
        return Expected((BATCH, self.inputs), (), leading=True, others=others)

    def leaves_open(self, *inputs: Shape) -> bool:
        """Where the number of features is known: what stands before is not looked at."""
        return not isinstance(inputs[0][-1], Unknown)

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., inputs) to (..., features). Mismatch for another last axis."""
        shape = inputs[0]
        output: Shape = (*shape[:-1], extent(self.features))
        if not shape:
            raise Mismatch(rank_problem(shape, "at least 1 axis"), (output,))
        declared = self.inputs
        if type(declared) is int and declared == shape[-1] and type(self.features) is int and self.features > 0:
            return (output,)
        problem = (
            whole_problem("number of features", (self.features,), self.least)
            or whole_problem("number of input features", (declared,), 0)
            or features_problem(shape, declared)
        )
        if problem:
            raise Mismatch(problem, (output,))
        return (output,)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" (features, inputs) and "bias" (features,); inputs of the call where none are declared."""
        features = extent(self.features)
        if self.inputs is not None:
            width = extent(self.inputs)
        else:
            width = extent(inputs[0][-1]) if inputs and inputs[0] else NOT_CALLED
        specs = {"weight": WeightSpec((features, width))}
        add_if(specs, self.bias, "bias", (features,))
        return specs


@dataclass(frozen=True, slots=True)
class Bilinear(Plain):
    """(..., left) and (..., right) -> (..., features). Weight (features, left, right)."""

    left: Size
    right: Size
    features: Size
    bias: Flag = True

    kind = "bilinear"
    volume = "own"
    multiplies = True

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """(..., left) and (..., right) to (..., features). Mismatch for other last axes."""
        shape = inputs[0]
        output: Shape = (*shape[:-1], extent(self.features))
        problem = whole_problem("number of features", (self.left, self.right, self.features))
        for given, declared in zip(inputs, (self.left, self.right), strict=False):
            if not given:
                problem = problem or rank_problem(given, "at least 1 axis")
            else:
                problem = problem or features_problem(given, declared)
        if problem:
            raise Mismatch(problem, (output,))
        return (output,)

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" (features, left, right) and "bias" (features,)."""
        features = extent(self.features)
        specs = {"weight": WeightSpec((features, extent(self.left), extent(self.right)))}
        add_if(specs, self.bias, "bias", (features,))
        return specs


@dataclass(frozen=True, slots=True)
class Embedding(Plain):
    """Indices of any shape -> (*shape, width). `padding` is the row that gets no gradient; with `sparse` the weight's
    gradient is that of the rows that were read. Weight (count, width)."""

    count: Size
    width: Size
    padding: Size | None = None
    sparse: bool = False

    kind = "embedding"
    volume = "own"
    looks_up = True

    @property
    def expected_input(self) -> Expected:
        """Indices (batch, length), int64."""
        return Expected((BATCH, UNSTATED), (1,), "int64", others=tuple((BATCH, *behind) for behind in open_axes(0, 2)))

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Indices (...) to rows (..., width)."""
        output: Shape = (*inputs[0], extent(self.width))
        problem = whole_problem("number of embeddings", (self.count,)) or whole_problem("width", (self.width,))
        if problem:
            raise Mismatch(problem, (output,))
        return (output,)

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`table`: the values of the whole weight."""
        return product((extent(self.count), extent(self.width)))

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """ "weight" (count, width)."""
        return {"weight": WeightSpec((extent(self.count), extent(self.width)))}


@dataclass(frozen=True, slots=True)
class EmbeddingBag(Embedding):
    """Indices (bags, positions) -> (bags, width): the rows of a bag are reduced as they are read."""

    kind = "embedding_bag"
    looks_up = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Indices (bags, length) to one row a bag: (bags, width)."""
        (rows,) = Embedding.outputs(self, *inputs)
        return ((*rows[:-2], rows[-1]),)


@dataclass(frozen=True, slots=True)
class OffsetBag(EmbeddingBag):
    """Offsets (bags,) into indices of any number -> (bags, width)."""

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """Where each bag begins (bags,) to one row a bag: (bags, width)."""
        return Embedding.outputs(self, *inputs)
