"""What a PyTorch model is fed with: the shapes that its first layers and its Linear layers allow.

A module does not say what it takes. Its first layer tells the rank and the channels; the only image
size that its Linear layers allow is searched for, square sizes alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product

from flake8_cnnmem import dims
from flake8_cnnmem.dims import BATCH, Batch
from flake8_cnnmem.graph import Call, Mismatch, Problem, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.expected import Expected
from flake8_cnnmem.unknown import Unknown

OPEN_RANK = Unknown("how many axes the input has is not stated: the model takes rows, and sequences of them as well")

USUAL_SIZES = (
    224, 32, 28, 227, 64, 256, 128, 299, 96, 112, 48, 384, 512, 84, 160, 192, 100, 150, 200, 300, 416, 40, 50, 16,
    105,
)  # fmt: skip
"""Image sizes that data sets and papers use, the most usual first; where several fit, one of these is meant."""

LARGEST_SIZE = 2048

MANY = LARGEST_SIZE // 2
"""A layer that takes an image of this size does not ask for one size."""


def same_for_all(expected: Sequence[Expected | None]) -> Expected | None:
    """What all inputs of a model are, where they are alike (two images to compare); None where they differ."""
    first = expected[0] if expected else None
    return first if all(each == first for each in expected) else None


Choice = tuple["Expected | None", ...]
"""One of what its layers take for each input of a model."""


def alike(expected: Sequence[Expected | None]) -> list[Choice]:
    """The inputs of a model by what their layers take, their ranks going together."""
    choices = alternatives(expected)
    longest = max(map(len, choices), default=1)
    return [tuple(each[min(at, len(each) - 1)] for each in choices) for at in range(longest)]


def mixed(expected: Sequence[Expected | None]) -> list[Choice]:
    """All other combinations, where they are few."""
    choices = alternatives(expected)
    if sum(len(each) > 1 for each in choices) > MIXED:
        return []
    known = alike(expected)
    return [choice for choice in product(*choices) if choice not in known]


def alternatives(expected: Sequence[Expected | None]) -> list[Choice]:
    """For each input the shapes that its layers would take as well; (None,) where they ask for none."""
    return [each.alternatives() if each is not None else (None,) for each in expected]


MIXED = 2
"""So many inputs whose rank is open are tried in every combination."""


def expected_by(calls: Sequence[Call], tensor: Tensor) -> Expected | None:
    """What the first layer that reads a tensor, or what is made of it value by value, says of its shape."""
    found = declaring(calls, tensor)
    return found[1] if found is not None else None


def is_contradicted(calls: Sequence[Call], tensor: Tensor, cut_short: bool) -> bool:
    """Whether a tensor cannot be what it was taken for: the very layer that was asked does not take what is made of it,
    or something on the way there does not. `cut_short`: the calls end where the model could not go on."""
    found = declaring(calls, tensor)
    until = calls if found is None else calls[: found[0] + 1]
    return (cut_short and found is None) or any(call.problem is not None for call in until)


def declaring(calls: Sequence[Call], tensor: Tensor) -> tuple[int, Expected] | None:
    """The place of the first layer that says something of a tensor's shape, and what."""
    reading = Reading(tensor)
    for at, call in enumerate(calls):
        if reading.ends_with(call):
            return None if reading.expected is None else (at, reading.expected)
    return None


class Reading:
    """What a model's calls say of one of its inputs, one call after the other."""

    __slots__ = ("alike", "expected", "flattened", "over", "parts", "reshaped")

    def __init__(self, tensor: Tensor) -> None:
        self.alike = {id(tensor)}
        self.flattened: set[int] = set()
        self.reshaped = self.parts = False
        self.over = False
        """Whether no later call says more."""
        self.expected: Expected | None = None

    def ends_with(self, call: Call) -> bool:
        """Whether this call says what the tensor is, or that nobody will."""
        if call.guarded or not call.inputs or not call.outputs:
            return False
        first = id(call.inputs[0])
        op = call.op
        if op.row_features is not None and self.reshaped:
            # What it reads may be patches or rows of the input: it says nothing of the input itself.
            self.over = True
        elif first in self.flattened and op.row_features not in (None, 0):
            self.expected = Expected((BATCH, op.row_features), (), flat=True, parts=self.parts)
            self.over = True
        elif first in self.alike:
            self.expected = op.expected_input
            self.over = self.expected is not None
            if op.keeps_axes:
                self.alike.add(id(call.outputs[0]))
            elif op.flattens:
                self.flattened.add(id(call.outputs[0]))
                self.parts = self.parts or op.joins_samples
            elif op.kind == "view":
                self.reshaped = True
        elif first in self.flattened and (op.keeps_axes or op.flattens):
            self.flattened.add(id(call.outputs[0]))
        return self.over


def reads_batch(call: Call) -> bool:
    """Whether a layer is given the batch along an axis whose size it declares: its input has lost an axis."""
    expected: Expected | None = call.op.expected_input if call.inputs else None
    shape = call.inputs[0].shape if expected is not None else None
    if expected is None or not isinstance(shape, tuple) or not shape:
        return False
    if expected.leading:
        return isinstance(shape[-1], Batch)
    pairs = zip(shape, expected.shape, strict=False) if len(shape) == len(expected.shape) else ()
    return any(isinstance(size, Batch) and isinstance(known, int) for size, known in pairs)


def leaves_size_open(call: Call) -> bool:
    """Whether a call on maps of an open size takes them of any size for certain, and, where the size ends in it (a
    global pool), leaves known features."""
    shapes = [tensor.shape for tensor in (*call.inputs, *call.weights)]
    if call.problem is not None or any(isinstance(shape, Unknown) for shape in shapes):
        return False
    given = [shape for tensor in call.inputs if isinstance(shape := tensor.shape, tuple)]
    return all(dims.known(shape) for shape in given) or call.op.leaves_open(*given)


Verdict = Callable[[int], "Problem | None"]
"""For an image size: the first problem that the model has with it, if any."""

Guess = Callable[[int], "tuple[int, int] | None"]
"""For an image size that was tried: the smallest and the largest that should fit, if that can be said."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """The image sizes that a model takes, from `low` to `high`, and the one that it is counted for."""

    size: int
    low: int
    high: int

    @property
    def cause(self) -> Unknown | None:
        """Why the model is not known at this size: others fit as well."""
        if self.low == self.high:
            return None
        reason = f"the size of the input is not stated: {self.low} to {self.high} fit, and {self.size} was counted"
        return Unknown(reason, upper=self.size == self.high)


def fitting_sizes(
    first_problem: Verdict, dropped: Callable[[int], int], guessed: Guess = lambda size: None
) -> Fitting | None:
    """The image sizes that the model's own layers ask for, or None where they take any size or none.

    The features that reach a Linear layer grow with the size, so the sizes that it takes lie together. Among them a
    usual one is meant, and rather one of which no stride or pool leaves over a row: where that is the largest or the
    smallest, the model is counted for it, else for the smallest, so that its figures are a bound. `guessed` guesses the
    sizes from the call on one that was tried; a guess that the model does not bear out is none.
    """
    first_problem = cache(first_problem)
    small, usual_size = first_problem(64), first_problem(224)
    if (small is None and usual_size is None) or first_problem(MANY) is None:
        return None
    least, most = 1, LARGEST_SIZE
    for size in (64, 224, MANY):
        problem = first_problem(size)
        if problem is None or not too_small(problem):
            most = size
            break
        least = size + 1
    guess = next(filter(None, map(guessed, (224, 64))), None)
    if guess is not None and is_smallest(first_problem, guess[0], least, most):
        low: int | None = guess[0]
    else:
        if most == 224 and usual_size is None:
            # Where 64 is too small and 224 is not, the smallest size lies between the two; most often it is the usual
            # one.
            below = first_problem(223)
            least = 224 if below is not None and too_small(below) else least
        low = first_fitting(first_problem, least, most)
    if low is None:
        return None
    guess = guessed(low) or guess
    if guess is not None and is_largest(first_problem, low, guess[1]):
        high = guess[1]
    else:
        high = last_fitting(first_problem, low)
    meant = low
    usual = [size for size in USUAL_SIZES if low <= size <= high]
    if usual:
        whole = next((size for size in usual if dropped(size) == 0), None)
        meant = min(usual, key=lambda size: (dropped(size), USUAL_SIZES.index(size))) if whole is None else whole
    elif high - low < 64:
        meant = min(range(low, high + 1), key=lambda size: (dropped(size), size))
    return Fitting(meant if meant == high else low, low, high)


def is_smallest(first_problem: Verdict, size: int, least: int, most: int) -> bool:
    """Whether bisection from `least` to `most` would come to this size: it fits, and the one before it is too small."""
    if not least <= size <= most or first_problem(size) is not None:
        return False
    below = first_problem(size - 1) if size > least else None
    return size == least or (below is not None and too_small(below))


def is_largest(first_problem: Verdict, low: int, size: int) -> bool:
    """Whether this size, not below the smallest one that fits, fits, and the next one does not."""
    return low <= size < MANY - 1 and first_problem(size) is None and first_problem(size + 1) is not None


def last_fitting(first_problem: Verdict, low: int) -> int:
    """The largest of the sizes that fit from `low` on."""
    high, step = low, 1
    while step:
        if high + step < MANY and first_problem(high + step) is None:
            high += step
            step *= 2
        elif step > 1 and first_problem(high + 1) is not None:
            # Strides that halve the size k times take 2**k sizes for one: this was the last of them.
            break
        else:
            step //= 2
    return high


def first_fitting(first_problem: Verdict, low: int, high: int) -> int | None:
    """The smallest size without a problem, by bisection on "too small"."""
    while low < high:
        middle = (low + high) // 2
        problem = first_problem(middle)
        if problem is not None and too_small(problem):
            low = middle + 1
        else:
            high = middle
    return low if first_problem(low) is None else None


def too_small(problem: Problem) -> bool:
    """Whether a problem is that of a map with too few values a side: a larger input may not have it."""
    if problem.code == "CNM202":
        return True
    return problem.given is not None and problem.declared is not None and problem.given < problem.declared


def rows_dropped(calls: Sequence[Call]) -> int:
    """Rows and columns that strides and pools leave over, in all."""
    return sum(count for call in calls for _, count in drops_of(call))


def sizes_alike(calls: Sequence[Call], size: int, problem: Problem | None) -> tuple[int, int] | None:
    """The smallest and the largest image of which the last maps are as large as those of an image of this size, as far
    as each layer's own sizes tell. Where a layer behind them has a problem with the features of these maps, those of
    which they would be as large as it declares; None where no maps would."""
    windows: list[Call] = []
    side = size
    axes = 2
    for call in calls:
        given = call.inputs[0].shape if len(call.inputs) == 1 else ()
        gives = call.outputs[0].shape if call.outputs else ()
        if isinstance(given, Unknown) or isinstance(gives, Unknown) or not len(given) == len(gives) > 2:
            continue
        last = gives[-1]
        if isinstance(last, int) and 0 < last < side == given[-1]:
            windows.append(call)
            side, axes = last, len(given) - 2
    if problem is not None:
        found = side_for(side, axes, problem)
        if found is None:
            return None
        side = found
    low = high = side
    for call in reversed(windows):
        sides = partial(side_given, call)
        low = bisect_left(range(LARGEST_SIZE), low, key=sides)
        high = bisect_right(range(LARGEST_SIZE), high, key=sides) - 1
    return low, high


def side_for(side: int, axes: int, problem: Problem) -> int | None:
    """The side of maps that have as many features as a layer declares, of which maps of this side have as many as it is
    given; None where no whole number is that side."""
    if not problem.given or not problem.declared:
        return None
    found = round(side * (problem.declared / problem.given) ** (1 / axes))
    return found if found**axes * problem.given == side**axes * problem.declared else None


def side_given(call: Call, side: int) -> int:
    """The last side of what a call would give for maps of this side; 0 where it would not take them."""
    shape = call.inputs[0].shape
    assert isinstance(shape, tuple)
    taken = tuple(side if at > 1 and size == shape[-1] else size for at, size in enumerate(shape))
    try:
        given = call.op.outputs(taken)[0]
    except Mismatch:
        return 0
    last = given[-1] if isinstance(given, tuple) else 0
    return last if isinstance(last, int) else 0


def drops_of(call: Call) -> Iterator[tuple[int, int]]:
    """`(axis, rows)` of a call's input that its stride does not reach."""
    if call.inputs and not isinstance(call.inputs[0].shape, Unknown):
        yield from call.op.dropped(call.inputs[0].shape)
