"""What ops share: the defaults of the op protocol, axes, and the checks of arguments.

Rules of the house for every op: a field or a size may be Unknown or a multiple of the batch anywhere;
nothing but `Mismatch` is ever raised; what cannot be decided is Unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Literal, TypeAlias

from flake8_cnnmem.dims import Batch, Shape, Size, floor_divide, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem, WeightSpec
from flake8_cnnmem.ops.expected import Expected
from flake8_cnnmem.ops.quantities import by_shape
from flake8_cnnmem.ops.strides import contiguous, reshape
from flake8_cnnmem.unknown import Unknown

Flag: TypeAlias = bool | Unknown
"""A yes or no that may not be known."""


LIMIT = 2**48
"""No machine holds a tensor with an axis of more values; a larger number is a slip, and Unknown here."""

NOT_A_SIZE = Unknown("a size is not a whole number")
TOO_LARGE = Unknown("a size is beyond any memory")
SHRUNK = Unknown("the size shrank to nothing")
UNSURE = Unknown("a size depends on a value that is not known")
MIXED = Unknown("the batch meets another number along an axis")
BATCH_CUT = Unknown("a window or slice cuts through the batch")


def asked(value: object, also: object = True) -> Flag:
    """An argument that is read as a yes or no, as Python's `if` reads it: a tensor or object is a yes, None and 0 are a
    no. With `also` another that has to be a yes as well."""
    both = [truth(value), truth(also)]
    if False in both:
        return False
    return next((each for each in both if isinstance(each, Unknown)), True)


def truth(value: object) -> Flag:
    """A flag as Python tests it: True or False, or Unknown for what is not known."""
    if isinstance(value, (bool, Unknown)):
        return value
    return bool(value) if value is None or isinstance(value, (int, float, str, list, tuple, dict)) else True


Volume: TypeAlias = Literal["none", "own", "merge"]
"""What an op writes in the textbook count: nothing (it works in place, or moves values about), a volume of its own, or
one where it joins several feature maps."""


NARROW = frozenset({"bool", "uint8", "int8", "int16", "int32"})
"""Whole numbers that are added up in wider ones."""

ViewGradient: TypeAlias = Literal["reshape", "permute", "sum", "fill", "join", "stack", "scaled"]
"""A reshape's gradient is a reshape, a slice's a tensor of zeros with the slice filled in, a split's joins what its
parts get, an unbind's stacks it (torch/csrc/autograd/FunctionsManual.cpp); "scaled" is that times a number."""


Repeats: TypeAlias = Literal["", "operands", "gradient"]
"""What arithmetic does with operands smaller than its result: it computes with each repeated to the result's shape, and
sums the gradients that it makes so; or it hands the result's gradient on, which is summed alone."""


Product: TypeAlias = Literal["", "rows", "batches", "equation", "steps"]
"""How a product of matrices reads its operands: the first one as the rows of one matrix, by which the second is
multiplied ("rows"); each as a batch of matrices ("batches"), or by its equation as such; "steps" is an op that computes
such products in steps of its own."""


class Plain:
    """The record of an op, beside its outputs and weights: what the rest of the program asks of it, with the answers
    of most. What training holds of an op is the framework's to say (`saved_tensors.py` in its folder), by the op's
    `kind`.
    """

    __slots__ = ()

    @property
    def view(self) -> bool:
        """Whether the outputs share the first input's storage."""
        return False

    @property
    def in_place(self) -> bool:
        """Whether the output is written into the first input's storage."""
        return False

    @property
    def idle(self) -> bool:
        """Whether it surely does nothing, and hands its first input on."""
        return False

    @property
    def hands_on(self) -> bool:
        """Whether its result is its first input itself, and no view of it."""
        return self.idle

    @property
    def random(self) -> bool:
        """Whether two runs on the same inputs may give different values."""
        return False

    @property
    def batch_axis(self) -> int:
        """The axis of its first input that it takes for the batch; 1 where time comes first."""
        return 0

    @property
    def like_input(self) -> bool:
        """Whether it is an op of one tensor whose result has its shape, and its values in the same order."""
        return False

    @property
    def casts(self) -> bool:
        """Whether it gives its input's values in another dtype, which the code asks for."""
        return False

    @property
    def keeps_dtype(self) -> bool:
        """Whether its result has its operands' dtype, whatever autocast does."""
        return False

    @property
    def layout_asked(self) -> Literal["", "contiguous", "channels last"]:
        """The order of axes in which the code asks for its result: its input itself, where that lies so."""
        return ""

    @property
    def cuts_gradient(self) -> bool:
        """Whether no gradient goes through it, whatever its inputs ask for."""
        return False

    @property
    def writes_part(self) -> bool:
        """Whether it writes its other inputs into a part of the first one."""
        return False

    @property
    def rebases(self) -> bool:
        """Whether it stands for a tensor, or a view of one, since another view of it was written in place."""
        return False

    @property
    def looks_up(self) -> bool:
        """Whether it gives rows of its weight as they are."""
        return False

    @property
    def volume(self) -> Volume:
        """What it writes in the textbook count."""
        return "none"

    @property
    def multiplies(self) -> bool:
        """Whether it multiplies matrices, and so uses a library's workspace."""
        return False

    @property
    def multiplies_back(self) -> bool:
        """Whether its way back does."""
        return self.multiplies

    @property
    def product(self) -> Product:
        """How a product of matrices reads its operands; "" for what is none."""
        return ""

    @property
    def convolves(self) -> bool:
        """Whether it slides kernels over maps, for which a library takes a workspace of its own."""
        return False

    @property
    def pools_powers(self) -> bool:
        """Whether it is the root of the sum of powers within each window."""
        return False

    @property
    def complex_within(self) -> bool:
        """Whether it makes complex numbers, as many as its result has values, where that is real."""
        return False

    @property
    def adds_bias(self) -> bool:
        """Whether a bias may stand behind its input and its weight."""
        return False

    @property
    def repeats(self) -> Repeats:
        """What it does with operands that are smaller than its result; "" where none may be."""
        return ""

    @property
    def declares(self) -> bool:
        """Whether a wrong size leaves its outputs' shapes as they are declared; else they are anybody's guess."""
        return True

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """The variants of its kind's rule that it is, the more special first: what its fields and its operands change
        about what is kept. Its class is one more, and is not named here."""
        return ()

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """How many values a rule speaks of by this name ("rows", "probabilities"), for inputs of these shapes."""
        return by_shape(name, inputs, getattr(self, "axis", 1))

    def view_strides(
        self, sizes: tuple[int, ...], strides: tuple[int, ...], result: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """Of an op that may share its input's storage: the strides of the (first) result of sizes `result`; None where
        it has to copy."""
        return reshape(sizes, strides, result)

    @property
    def view_gradient(self) -> ViewGradient:
        """How the gradient of a view's input comes about."""
        return "reshape"

    def view_gradient_strides(self, sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...] | None:
        """The strides that a result's gradient has when it is read as the input's (for "permute"); None for a copy."""
        return contiguous(sizes)

    def before_last_slice(self, shape: Shape) -> Shape | None:
        """The shape before the last axis is sliced, of a slice of several axes; None for one axis or none."""
        return None

    @property
    def expected_input(self) -> Expected | None:
        """What it says of the shape of its input; None where it takes many."""
        return None

    @property
    def row_features(self) -> Size | None:
        """How many features it takes along the last axis, whatever stands before; 0 where that is not known yet."""
        return None

    @property
    def keeps_axes(self) -> bool:
        """Whether the channels behind it are still those of its input."""
        return False

    @property
    def flattens(self) -> bool:
        """Whether it makes one row of values of each sample. Patches are reshaped too, and are no samples."""
        return False

    @property
    def joins_samples(self) -> bool:
        """Whether the axis of the samples may become one with others: its rows may be parts of samples."""
        return False

    def leaves_open(self, *inputs: Shape) -> bool:
        """Whether it takes inputs with open sides for certain, whatever they are (if only they are large enough)."""
        return False

    def dropped(self, shape: Shape) -> tuple[tuple[int, int], ...]:
        """`(axis, rows)` of its input that a stride leaves unread at the end."""
        return ()


for _name, _asked in list(vars(Plain).items()):
    # Nearly all answers are these: a plain attribute is read three times as fast as a property is asked.
    if isinstance(_asked, property) and _asked.fget is not None and not _asked.fget.__code__.co_names:
        setattr(Plain, _name, _asked.fget(None))


class Weightless(Plain):
    """An op without weights."""

    __slots__ = ()

    def weights(self, *inputs: Shape) -> Mapping[str, WeightSpec]:
        """None."""
        return {}


def whole(value: object) -> Size:
    """A field as a size: whole numbers and Unknowns as they are, anything else (a batch, a fraction) Unknown.

    64.0 is 64 here: it is reported by `whole_problem`, and goes on as what it is meant to be.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return int(value) if -LIMIT <= value <= LIMIT else TOO_LARGE
    if isinstance(value, Unknown):
        return value
    return Unknown("a size depends on the batch") if isinstance(value, Batch) else NOT_A_SIZE


def extent(value: object, batch: bool = False) -> Size:
    """A field as the size of an axis: as `whole`, but Unknown when negative. With `batch`, a batch is a size."""
    if isinstance(value, Batch):
        return bounded(value) if batch else whole(value)
    size = whole(value)
    return NOT_A_SIZE if isinstance(size, int) and size < 0 else size


def bounded(size: Size) -> Size:
    """A computed size, Unknown when it is beyond any memory, so that numbers cannot grow without end."""
    if type(size) is int:
        return size if -LIMIT <= size <= LIMIT else TOO_LARGE
    if isinstance(size, Batch) and not 0 < size.multiple <= LIMIT:
        return TOO_LARGE if size.multiple > 0 else BATCH_CUT
    return size


def axis_of(axis: object, rank: int) -> int | Unknown:
    """A possibly negative axis counted from 0. Mismatch where a tensor of this rank has no such axis."""
    if not isinstance(axis, int):
        return axis if isinstance(axis, Unknown) else Unknown("an axis is not known")
    at = axis + rank if axis < 0 else axis
    if not 0 <= at < rank:
        raise Mismatch(
            Problem(
                "CNM201", f"works on axis {axis}, but its input has {count(rank, 'axis', 'axes')}", error="IndexError"
            )
        )
    return at


def axes_of(axes: object, rank: int) -> tuple[int, ...] | Unknown:
    """Axes (one or several) counted from 0. Mismatch where there is no such axis."""
    found = []
    for axis in axes if isinstance(axes, (tuple, list, range, set, frozenset)) else (axes,):
        at = axis_of(axis, rank)
        if isinstance(at, Unknown):
            return at
        found.append(at)
    return tuple(found)


def unknown_among(*flags: object) -> Unknown | None:
    """The first flag that is not known, which has no truth value."""
    return next((flag for flag in flags if isinstance(flag, Unknown)), None)


def blurred(shape: Shape, cause: Unknown, rank: int | None = None) -> Shape:
    """A shape of which only the batch is known: as many axes as the input, or `rank`."""
    number = len(shape) if rank is None else rank
    if shape and isinstance(shape[0], Batch) and number:
        return (shape[0], *(cause,) * (number - 1))
    return (cause,) * number


def add_if(specs: dict[str, WeightSpec], flag: object, name: str, shape: Shape) -> None:
    """A weight that a flag asks for. One that may or may not be there is there, with an unknown shape."""
    if isinstance(flag, Unknown):
        specs[name] = WeightSpec((flag,))
    elif flag:
        specs[name] = WeightSpec(shape)


def count(number: int, one: str, many: str) -> str:
    """`1 axis`, `2 axes`."""
    return f"{number} {one if number == 1 else many}"


def by(sizes: Iterable[Size]) -> str:
    """`28x28`: the sides of a map as messages print them."""
    return "x".join("?" if isinstance(size, Unknown) else repr(size) for size in sizes)


def article(noun: str) -> str:
    """`a` or `an`."""
    return "an" if noun[0] in "aeiou" else "a"


def whole_problem(name: str, values: Iterable[object], least: int = 1) -> Problem | None:
    """What is wrong with numbers that must be whole and at least `least`; None when nothing surely is."""
    for value in values:
        if type(value) is int:
            if value < least:
                return Problem("CNM201", f"takes {article(name)} {name} of at least {least}, but is given {value}")
        elif isinstance(value, float):
            advice = "'//' divides to a whole number" if isfinite(value) else ""
            return Problem("CNM201", f"takes a whole number as its {name}, but is given {value}", advice)
    return None


def rank_problem(shape: Shape, expected: str, error: str = "") -> Problem:
    """An input with another number of axes than `expected` ("4 axes (N, C, H, W)")."""
    return Problem("CNM201", f"takes an input of {expected}, but is given {show(shape)}", error=error)


AXIS_NAMES = {1: "L", 2: "H, W", 3: "D, H, W"}


def layout(shape: Shape, rank: int, channels_last: Flag) -> tuple[int, int]:
    """The channel axis and the first spatial axis of an input with `rank` spatial axes, batched or not."""
    extra = len(shape) - rank
    if extra != 2 and extra != 1:
        sides = AXIS_NAMES.get(rank, f"{rank} sides")
        names = f"(N, {sides}, C)" if channels_last else f"(N, C, {sides})"
        raise Mismatch(rank_problem(shape, f"{rank + 2} axes {names}"))
    return (len(shape) - 1, extra - 1) if channels_last else (extra - 1, extra)


def first_not_known(values: Iterable[object], otherwise: Unknown = UNSURE) -> Unknown:
    """The first Unknown among the values, so that the first cause is kept."""
    return next((value for value in values if isinstance(value, Unknown)), otherwise)


def channels_problem(shape: Shape, axis: int, declared: Size | None, noun: str = "channels") -> Problem | None:
    """An input with another number of channels (or features) than declared; None when that is not certain."""
    given = shape[axis]
    if type(given) is not int or type(declared) is not int or given == declared:
        return None
    advice = f"{given} {noun} would fit"
    others = [at for at, size in enumerate(shape) if at and at != axis and size == declared]
    elsewhere = others[0] if len(others) == 1 and len(shape) > 2 else None
    if elsewhere is not None:
        advice += f", or the axes in another order: axis {elsewhere} has {declared}"
    what = f"takes {declared} {noun}, but is given {given}"
    fitting = given if elsewhere is None else None
    return Problem("CNM201", what, advice, given, declared, elsewhere=elsewhere, fitting=fitting)


def divides_problem(number: object, divisor: object, number_name: str, divisor_name: str) -> Problem | None:
    """A count that must divide another one and surely does not."""
    if type(number) is int and type(divisor) is int and divisor > 0 and number % divisor:
        what = f"has {divisor} {divisor_name}, which do not divide its {number} {number_name}"
        return Problem("CNM201", what, nearest_divisor(number, divisor, divisor_name), number, divisor)
    return None


def nearest_divisor(number: int, divisor: int, name: str) -> str:
    """The divisors of a number just below and above, as advice. Looks no further than a thousand away."""
    reach = range(1, 1000)
    below = next((divisor - d for d in reach if divisor - d > 0 and number % (divisor - d) == 0), None)
    above = next((divisor + d for d in reach if divisor + d <= number and number % (divisor + d) == 0), None)
    fits = [str(n) for n in (below, above) if n]
    return f"{' or '.join(fits)} {name} would fit" if fits else ""


def quotient(number: Size, divisor: Size) -> Size:
    """number // divisor; Unknown where that has no meaning."""
    try:
        return floor_divide(number, divisor)
    except ZeroDivisionError:
        return NOT_A_SIZE
